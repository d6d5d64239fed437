"""Classifiers from general graphs, and what gaps mean in training."""

import itertools

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from fixtures_small import f500
from strategies import make_table

ROWS = f500()
GRAPHS = [
    tb.ChowLiuTree(),
    tb.ChowLiuTree(criterion="bic", root="A"),
    tb.GBN(),
    tb.GBN(criterion="bdeu", ess=5.0, blanket_only=True, tabu=0),
    tb.GBN(
        required=[("A", "W")], forbidden=[["W", "V"]], start=[("A", "B")], restarts=1, random_state=3, parameters="k2"
    ),
    tb.BAN(),
    tb.BAN(conditional=False, max_parents=1, criterion="aic"),
    tb.SparseCandidateGBN(2),
    tb.NaiveBayes(missing="category"),
    tb.TAN(missing="category", discretize="median"),
    tb.TAN(missing="drop"),
    tb.TAN(missing="em"),
    tb.GBN(parameters=tb.EM(max_iter=3)),
    tb.BayesNetClassifier("hill-climb", options={"criterion": "aic"}, missing="em"),
    tb.BayesNetClassifier("sparse-candidate", options={"n_candidates": 1}),
]


def frame(gaps=False):
    X, y = pd.DataFrame(ROWS[:, 1:], columns=list("ABWVU")).astype(float), pd.Series(ROWS[:, 0], name="C")
    if gaps:
        t = np.arange(500)
        X.loc[t % 5 == 0, "W"] = np.nan
        X.loc[t % 7 == 0, "A"] = np.nan
    return X, y


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("model", GRAPHS, ids=str)
def test_a_model_comes_back_whole(model, gaps, tmp_path):
    X, y = frame(gaps)
    clf = model.fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert again.dag_ == clf.dag_
    assert getattr(again, "structure_score_", None) == getattr(clf, "structure_score_", None)
    assert all(map(np.array_equal, again.family_counts_, clf.family_counts_))
    assert clf.score(X, y) > 0.7


def test_complete_rows_need_the_blanket_only():
    X, y = frame()
    whole, cut = tb.GBN().fit(X, y), tb.GBN(blanket_only=True).fit(X, y)
    assert cut.network_.markov_blanket() == whole.network_.markov_blanket()
    assert cut.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-12)
    gaps, _ = frame(gaps=True)
    assert not np.allclose(cut.predict_proba(gaps), whole.predict_proba(gaps))


def test_the_history_tells_the_way():
    X, y = frame()
    clf = tb.GBN(tabu=0).fit(X, y)
    assert clf.history_[1].move == "add W -> V"
    assert clf.history_[-1].score == pytest.approx(clf.structure_score_)
    assert list(clf.history_.to_frame("pandas")["score"]) == sorted(step.score for step in clf.history_)


def test_no_arc_at_all_predicts_the_commonest_class():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 4)), (rng.random(300) < 0.3).astype(int)
    clf = tb.GBN().fit(X, y)
    assert clf.network_.markov_blanket() == []
    assert set(clf.predict(X)) == {0}


def test_a_chow_liu_tree_learns_step_by_step():
    X, y = frame(gaps=True)
    parts = tb.ChowLiuTree().partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    whole = tb.ChowLiuTree().fit(X, y)
    assert parts.dag_ == whole.dag_
    assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))
    for clf in (tb.GBN(), tb.BAN(), tb.SparseCandidateGBN(), tb.TAN(missing="em")):
        assert not hasattr(clf, "partial_fit")


def test_a_table_that_is_too_large_is_not_chosen():
    X, y = frame()
    clf = tb.GBN(criterion="loglik", max_cells=8).fit(X, y)
    assert max(table.size for table in clf.network_.tables) <= 8


# ---------------------------------------------------------------------- gaps in training


def test_dropping_is_leaving_the_rows_out():
    X, y = frame(gaps=True)
    whole = X.notna().all(axis=1)
    dropped, left = tb.TAN(missing="drop").fit(X, y), tb.TAN().fit(X[whole], y[whole])
    assert np.array_equal(dropped.predict_proba(X), left.predict_proba(X))
    weights = np.arange(500) % 3
    dropped = tb.TAN(missing="drop").fit(X, y, sample_weight=weights)
    left = tb.TAN().fit(X[whole], y[whole], sample_weight=weights[whole])
    assert np.array_equal(dropped.predict_proba(X), left.predict_proba(X))
    with pytest.raises(tb.errors.InputError, match="leaves no row"):
        tb.NaiveBayes(missing="drop").fit([[None, 1], [0, None]], [0, 1])


@pytest.mark.parametrize("values", ["numbers", "words", "continuous"])
def test_a_gap_as_a_category_is_as_a_value_of_its_own(values):
    X, y = frame(gaps=True)
    X["A"] = np.where(y == 1, np.nan, X["A"])  # that a value is missing tells the class
    if values == "words":
        X = X.apply(lambda column: column.map({0.0: "zero", 1.0: "one", 2.0: "two"}))
        filled = X.fillna("(missing)")
    elif values == "continuous":
        X["B"] += np.random.default_rng(0).normal(size=500)
        X.loc[::9, "B"] = np.nan
        filled = None
    else:
        filled = X.fillna(-1.0)
    clf = tb.TAN(missing="category").fit(X, y)
    marked = [column.name for column in clf.schema_.features if column.missing_state]
    assert marked == [name for name in X if X[name].isna().any()]
    assert clf.score(X, y) > 0.9
    if filled is not None:
        assert clf.predict_proba(X) == pytest.approx(tb.TAN().fit(filled, y).predict_proba(filled), abs=1e-12)
    assert clf.schema_.columns[0].labels()[0] == "(missing)"
    assert clf.schema_.columns[0].states()[0] == "(missing)"


def test_values_never_seen_are_still_summed_out():
    X, y = frame(gaps=True)
    clf = tb.NaiveBayes(missing="category").fit(X, y)
    row = X.iloc[[1]].assign(W=7.0)
    with pytest.warns(tb.errors.UnseenCategoryWarning):
        strange = clf.predict_joint_log_proba(row)
    states = [X.iloc[[1]].assign(W=w) for w in (np.nan, 0.0, 1.0, 2.0)]
    summed = np.exp([clf.predict_joint_log_proba(state)[0] for state in states]).sum(axis=0)
    assert np.exp(strange[0]) == pytest.approx(summed)


def test_a_gap_in_a_column_that_had_none_is_summed_out():
    X, y = frame(gaps=True)
    clf, plain = tb.NaiveBayes(missing="category").fit(X, y), tb.NaiveBayes().fit(X, y)
    row = X.iloc[[1]].assign(U=np.nan)
    assert clf.predict_proba(row) == pytest.approx(plain.predict_proba(row), abs=0.05)
    assert not clf.schema_.columns[4].missing_state


def test_gaps_as_a_category_learn_step_by_step_and_forget():
    X, y = frame(gaps=True)
    words = X.apply(lambda column: column.map({0.0: "zero", 1.0: "one", 2.0: "two"}))
    words.loc[words.index[:100], "W"] = words["W"][:100].replace("two", None)  # a category that comes later
    parts = tb.TAN(missing="category").partial_fit(words[:100], y[:100]).partial_fit(words[100:], y[100:])
    whole = tb.TAN(missing="category").fit(words, y)
    assert parts.predict_proba(words) == pytest.approx(whole.predict_proba(words), abs=1e-12)
    again = parts.forget(words[100:], y[100:]).partial_fit(words[100:], y[100:])
    assert again.predict_proba(words) == pytest.approx(whole.predict_proba(words), abs=1e-12)


def test_em_uses_what_the_rest_of_a_row_tells():
    """Two copies of one column: a gap in either is filled by the other, which available cases cannot do."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    x = np.where(rng.random(400) < 0.8, y, 1 - y).astype(float)
    X = np.column_stack([x, x])
    gone = x == 1  # missing by what the other column shows: at random, but not completely
    X[gone & (rng.random(400) < 0.6), 0] = np.nan
    truth = tb.TAN(parameters=0).fit(np.column_stack([x, x]), y).network_.table("x0")
    filled = tb.TAN(missing="em", parameters=0).fit(X, y).network_.table("x0")
    plain = tb.TAN(parameters=0).fit(X, y).network_.table("x0")
    assert filled == pytest.approx(truth, abs=1e-3)
    assert np.abs(plain - truth).max() > 0.1


def test_rows_without_a_label_are_learnt_from():
    X, y = frame()
    hidden = y.copy()
    hidden[np.arange(500) % 10 != 0] = -1
    few = np.arange(500) % 10 == 0
    clf = tb.NaiveBayes(parameters=tb.EM(unlabelled=-1)).fit(X, hidden)
    assert clf.classes_.tolist() == [0, 1]
    assert clf.schema_.names[-1] == "C"
    assert clf.network_.table("W").shape == (3, 2)
    assert clf.family_counts_[-1].sum() == pytest.approx(500)
    assert tb.NaiveBayes().fit(X[few], y[few]).family_counts_[-1].sum() == 50
    rises = np.diff(clf.parameters_.objective_history_)
    assert (rises > -1e-6).all()
    words = hidden.map({0: "no", 1: "yes", -1: "?"})
    told = tb.NaiveBayes(parameters=tb.EM(unlabelled="?")).fit(X, words, sample_weight=np.ones(500) * 2)
    assert told.classes_.tolist() == ["no", "yes"]
    assert tb.NaiveBayes(parameters=tb.EM(unlabelled=-1)).fit(X, y.tolist()).parameters_.n_iter_ == 1
    with pytest.raises(tb.errors.InputError, match="Every label is -1"):
        tb.NaiveBayes(parameters=tb.EM(unlabelled=-1)).fit(X, np.full(500, -1))


def test_em_with_labels_hidden_is_em_with_the_class_missing():
    """A slow twin over all completions of the class."""
    X, y = frame()
    hidden = np.where(np.arange(500) % 4 == 0, -1, y)
    clf = tb.NaiveBayes(parameters=tb.EM(unlabelled=-1, max_iter=1)).fit(X, hidden)
    start = tb.NaiveBayes(parameters="laplace").fit(X[hidden >= 0], hidden[hidden >= 0])
    posterior = start.predict_proba(X[hidden < 0])
    assert clf.family_counts_[-1] == pytest.approx(start.family_counts_[-1] + posterior.sum(axis=0))


def test_restarts_and_a_class_prior():
    X, y = frame(gaps=True)
    once = tb.TAN(parameters=tb.EM(tol=1e-3), class_prior=[0.2, 0.8]).fit(X, y)
    more = tb.TAN(parameters=tb.EM(tol=1e-3, restarts=2, random_state=0), class_prior=[0.2, 0.8]).fit(X, y)
    assert more.parameters_.objective_history_[-1] >= once.parameters_.objective_history_[-1] - 1e-9
    assert more.network_.table("C").tolist() == [0.2, 0.8]


def test_em_tells_its_progress(capsys):
    X, y = frame(gaps=True)
    tb.NaiveBayes(parameters=tb.EM(max_iter=2, verbose=True)).fit(X, y)
    assert capsys.readouterr().out.startswith("EM iteration 1: log-likelihood -")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.TAN(missing="emm"), "Did you mean 'em'"),
        (lambda: tb.NaiveBayes(missing="em", parameters=tb.MANB()), "needs parameters=EM"),
        (lambda: tb.NaiveBayes(parameters=tb.EM(tol=0)), "tol must be"),
        (lambda: tb.NaiveBayes(parameters=tb.EM(max_iter=0)), "max_iter must be"),
        (lambda: tb.NaiveBayes(parameters=tb.EM(restarts=-1)), "restarts must be"),
        (lambda: tb.NaiveBayes(parameters=tb.EM(smoothing="m-estimate")), "does not depend on the counts"),
    ],
)
def test_wrong_options_are_refused(make, message):
    X, y = frame(gaps=True)
    with pytest.raises(tb.errors.OptionError, match=message):
        make().fit(X, y)


def test_maximum_likelihood_starts_where_every_row_is_possible():
    for seed, gaps in itertools.product(range(5), (0.4, 0.7)):
        table = make_table(np.random.default_rng(seed), (3, 3, 3, 2), 12, gaps=gaps)
        codes = table.codes.astype(float)
        codes[codes == 255] = np.nan
        codes[0, 0] = 0.0
        clf = tb.TAN(missing="em", parameters=0).fit(codes[:-1].T, codes[-1].astype(int))
        assert np.isfinite(clf.parameters_.loglik_history_).all()
