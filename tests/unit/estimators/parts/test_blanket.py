import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import tanbark as tb
from strategies import make_table
from tanbark.structure.blanket.scores import SCORERS


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    return pd.DataFrame({
        "noise": rng.choice(["x", "y", "z"], 400),
        "colour": np.where(rng.random(400) < 0.8, np.array(["red", "blue"])[y], "green"),
        "age": np.where(rng.random(400) < 0.1, np.nan, 40 + 12 * y + rng.normal(0, 8, 400)),
        "same": 1,
    }), pd.Series(np.array(["no", "yes"])[y], name="bought")  # fmt: skip


def test_any_table_in_and_the_same_kind_out(people):
    X, y = people
    selector = tb.MarkovBlanketMML().fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["colour", "age"]
    assert selector.order_.tolist() == [1, 2]
    small = selector.transform(X)
    assert isinstance(small, pd.DataFrame)
    assert list(small.columns) == ["colour", "age"]
    pd.testing.assert_frame_equal(small, X[["colour", "age"]])
    assert selector.transform(pl.DataFrame(X)).columns == ["colour", "age"]
    turned = selector.transform(X[["same", "age", "noise", "colour"]])
    assert list(turned.columns) == ["colour", "age"]
    with pytest.raises(tb.errors.InputError, match="colour"):
        selector.transform(X[["noise", "age", "same"]])


def test_arrays(people):
    X, y = people
    selector = tb.MarkovBlanketMML().fit(X.to_numpy(object), y.to_numpy())
    assert selector.get_support(indices=True).tolist() == [1, 2]
    assert selector.transform(X.to_numpy(object)).shape == (400, 2)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert list(selector.transform(X).columns) == ["colour", "age"]
    assert selector.get_feature_names_out().tolist() == ["x1", "x2"]


def test_pipelines(people):
    X, y = people
    pipe = make_pipeline(tb.MarkovBlanketMML(), tb.TAN()).fit(X, y)
    assert pipe[-1].n_features_in_ == 2
    assert pipe.score(X, y) > 0.8
    grid = GridSearchCV(pipe, {"markovblanketmml__criterion": ["cpt", "nb_joint"]}, cv=2).fit(X, y)
    assert grid.best_params_["markovblanketmml__criterion"] in ("cpt", "nb_joint")
    framed = tb.MarkovBlanketMML().set_output(transform="pandas").fit(X.to_numpy(object), y)
    assert list(framed.transform(X.to_numpy(object)).columns) == ["x1", "x2"]


@pytest.mark.parametrize("score", SCORERS)
def test_every_length(score, people):
    X, y = people
    for direction in ("forward", "both"):
        selector = tb.MarkovBlanketMML(score, direction=direction).fit(X, y)
        assert selector.support_.tolist()[1:] == [True, score != "cpt", False]  # a full table starves
        assert selector.trace_[-1].length == pytest.approx(selector.message_length_.total, abs=1e-6)
        assert selector.score(X, y) == pytest.approx(-selector.message_length_.total, abs=1e-6)
        assert "stop" in str(selector.trace_)
    assert clone(selector).get_params()["criterion"] == score
    assert pickle.loads(pickle.dumps(selector)).support_.tolist() == selector.support_.tolist()


def test_each_option_changes_something(people):
    X, y = people
    X = X.assign(whole=np.where(X["age"].isna(), 0, X["age"].fillna(0).round()))

    def length(score, **options):
        return tb.MarkovBlanketMML(score, **options).fit(X, y).trace_[1].tried

    assert length("nb_logit", alpha=3.0) != length("nb_logit")
    assert length("logit", sigma=1.0) != length("logit")
    assert length("cpt", stated="all") != length("cpt")
    assert length("cpt", discretize="median") != length("cpt")
    assert length("cpt", categorical_features="all") != length("cpt")
    table = make_table(np.random.default_rng(1), (*[2] * 7, 2), 300)
    copies = np.vstack([table.codes[:-1], (table.codes[0] + table.codes[3]) % 2])
    seeds = [tb.MarkovBlanketMML("mbp", random_state=k).fit(copies[:7].T, copies[7]).trace_ for k in (0, 0, 1)]
    assert seeds[0] == seeds[1]


def test_nothing_selected(people):
    X, y = people
    selector = tb.MarkovBlanketMML().fit(X[["noise", "same"]], y)
    with pytest.warns(tb.errors.NothingSelectedWarning, match="no candidate shortens"):
        assert selector.transform(X[["noise", "same"]]).shape == (400, 0)
    with pytest.warns(tb.errors.NothingSelectedWarning):
        assert tb.MarkovBlanketMML().fit_transform(np.ones((4, 2)), [0, 1, 0, 1]).shape == (4, 0)


def test_weights_are_repeats(people):
    X, y = people
    times = np.random.default_rng(5).integers(0, 3, len(X))
    weighted = tb.MarkovBlanketMML().fit(X, y, sample_weight=times)
    repeated = tb.MarkovBlanketMML().fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert weighted.trace_[-1].length == pytest.approx(repeated.trace_[-1].length, abs=1e-6)
    with pytest.raises(tb.errors.OptionError, match="weigh"):
        tb.MarkovBlanketMML("mbp").fit(X, y, sample_weight=times)


def test_wrong_options(people):
    for options, told in (
        ({"criterion": "nblogit"}, "Did you mean 'nb_logit'"),
        ({"direction": "backward"}, "direction"),
        ({"alpha": "one"}, "alpha"),
        ({"stated": "every"}, "stated"),
    ):
        with pytest.raises(tb.errors.OptionError, match=told):
            tb.MarkovBlanketMML(**options).fit(*people)


def test_selective_naive_bayes(people, tmp_path):
    X, y = people
    clf = tb.SelectiveNaiveBayes(criterion="mml").fit(X, y)
    assert {child for _, child in clf.dag_.arcs()} == {"colour", "age"}
    assert clf.history_[-1].reason == "no candidate shortens the message"
    assert clf.structure_score_ == -clf.history_[-1].length
    assert clf.score(X, y) > 0.8
    assert clf.history_.to_frame("pandas")["taken"].sum() == 3
    assert np.array_equal(tb.SelectiveNaiveBayes(criterion="nb_logit").fit(X, y).predict_proba(X), clf.predict_proba(X))
    clf.save(tmp_path / "model.json")
    assert np.array_equal(tb.load(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))
    with pytest.raises(tb.errors.OptionError, match="criterion must be one of"):
        tb.SelectiveNaiveBayes(criterion="bic").fit(X, y)
    searched = tb.SelectiveNaiveBayes(cv=3, random_state=0, tol=0).fit(X, y)
    assert searched.history_[0].move == "start"


def test_the_shortest_tree():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = tb.TAN(criterion="mml").fit(X, y)
    rooted = tb.TAN(criterion="mml", root="sepal length (cm)").fit(X, y)
    assert rooted.network_.families()["sepal length (cm)"] == ["target"]
    assert rooted.structure_score_ <= clf.structure_score_
    alone = tb.NaiveBayes().fit(X, y)
    report = {(arc.parent, arc.child): arc.mml for arc in tb.arc_report(clf, X, y, n_bootstrap=0)}
    arcs = [arc for arc in clf.dag_.arcs() if "target" not in arc]
    assert arcs
    lengths = [tb.scores.mml.family_score(table.T) for table in alone.family_counts_[:-1]]
    base = sum(lengths) + tb.scores.mml.family_score(alone.family_counts_[-1][None])
    assert clf.structure_score_ == pytest.approx(base + sum(report[arc] for arc in arcs))


class Axes:
    """Notes what a drawing asks of matplotlib."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *args, **kwargs: self.calls.append((name, args, kwargs))


def test_the_picture_of_a_search(people, monkeypatch):
    trace = tb.MarkovBlanketMML().fit(*people).trace_
    axes = Axes()
    assert trace.plot(axes) is axes
    (plotted,) = [args for name, args, _ in axes.calls if name == "plot"]
    assert plotted[1] == [step.length for step in trace[:-1]]
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(tb.errors.MissingPackageError, match=r"pip install .tanbark\[plot\]"):
        trace.plot()


def test_an_identifier_is_left_out_and_named(people):
    X, y = people
    odd = X.copy()
    odd.insert(1, "id", [f"c-{k:05d}" for k in np.random.default_rng(1).permutation(len(X))])
    with pytest.warns(tb.errors.SuspiciousColumnWarning, match="'id'"):
        selector = tb.MarkovBlanketMML().fit(odd, y)
    plain = tb.MarkovBlanketMML().fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["colour", "age"]
    assert selector.order_.tolist() == [2, 3]
    assert selector.get_support().tolist() == [False, False, True, True, False]
    assert list(selector.transform(odd).columns) == list(selector.transform(X).columns) == ["colour", "age"]
    assert selector.score(odd, y) == plain.score(X, y)
    assert [column.name for column in selector.data_report_.columns if column.finding] == ["id"]
    with pytest.raises(tb.errors.InputError, match="'id'"):
        tb.MarkovBlanketMML(suspicious="error").fit(odd, y)
    with pytest.raises(tb.errors.OptionError, match="suspicious"):
        tb.MarkovBlanketMML(suspicious="perhaps").fit(X, y)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = tb.MarkovBlanketMML().data_report_
