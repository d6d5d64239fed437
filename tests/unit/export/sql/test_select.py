"""A model as one SELECT, on DuckDB, SQLite and PostgreSQL, against Python."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import KBinsDiscretizer

import tanbark as tb
from databases import ASK, ENGINES, ask_sqlite
from exported_models import MODELS, learnt, posteriors, rows


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_sql_gives_the_probabilities_of_python(name, engine):
    clf = learnt(name)
    whole, gappy = rows(2, 40)[0], rows(3, 60, gaps=0.3)[0]
    X = pd.concat([whole, gappy], ignore_index=True)
    X.loc[0, "a"] = "never seen"
    names, found = ASK[engine](tb.export.to_sql(clf, keep=["id"]), X)
    assert names == ["id", "P(y=it's)", "P(y=no)", 'P(y=per"haps)', "predicted y"]
    exact = 0
    for line, wanted in zip(found, posteriors(clf, X), strict=True):
        if line[1] is None:  # said not to be possible in one SELECT, or refused in Python too
            assert line[1:] == (None,) * 4
            assert line[0] == 0 or line[0] >= 40, "a complete row has an answer"
        else:
            exact += 1
            assert line[1:4] == pytest.approx(wanted.tolist(), abs=1e-12)
            assert line[4] == clf.classes_[np.argmax(wanted)]
    trees = name in {
        "naive", "tan", "forest", "zeros", "weighted", "gap states", "tempered", "tempered zeros", "corrected naive",
        "corrected tan", "corrected category", "normalised",
    }  # fmt: skip
    assert exact == 100 if trees else exact > 45


def test_sql_of_a_long_chain_and_many_features():
    rng = np.random.default_rng(0)
    n, width = 60, 130
    steps = np.cumsum(rng.random((n, width)) < 0.4, axis=1) % 2
    X = pd.DataFrame(steps, columns=[f"x{k}" for k in range(width)]).astype(object)
    y = pd.Series(rng.integers(0, 2, n), name="y")
    arcs = [("y", f"x{k}") for k in range(width)] + [(f"x{k}", f"x{k + 1}") for k in range(width - 1)]
    clf = tb.FixedStructure(arcs).fit(X, y)
    gappy = X.where(rng.random(X.shape) > 0.3, None)
    connection = duckdb.connect()
    frame = gappy.astype("Int64")
    connection.register("rows", frame)
    found = np.array(connection.execute(tb.export.to_sql(clf)).fetchall(), float)
    wanted = clf.predict_proba(gappy)
    assert np.sort(found[:, 1]) == pytest.approx(np.sort(wanted[:, 1]), abs=1e-10)


def test_a_row_without_any_value_gets_the_prior():
    clf = learnt("tan")
    nothing = rows(2, 1)[0].astype(object)
    nothing[:] = None
    _, found = ask_sqlite(tb.export.to_sql(clf), nothing)
    assert found[0][:3] == pytest.approx(clf.network_.table("y").tolist())


def test_what_sql_cannot_hold_is_refused():
    with pytest.raises(tb.errors.OptionError, match="a network with a class"):
        tb.export.to_sql(tb.Network.from_tables({"A": [0, 1]}, {"A": [0.5, 0.5]}))
    X = pd.DataFrame({"a": [1, 0], "A": [0, 1]})
    with pytest.raises(tb.errors.InputError, match="capitals"):
        tb.export.to_sql(tb.NaiveBayes().fit(X, [0, 1]))
    mixed = pd.DataFrame({"a": ["x", 1, "x", 1]}, dtype=object)
    with pytest.raises(tb.errors.InputError, match="strings and numbers"):
        tb.export.to_sql(tb.NaiveBayes().fit(mixed, [0, 1, 0, 1]))
    with pytest.raises(tb.errors.OptionError, match="one network"):
        tb.export.to_sql(tb.AODE())
    with pytest.raises(tb.errors.OptionError, match="max_size must be"):
        tb.export.to_sql(learnt("tan"), max_size=0)
    with pytest.raises(tb.errors.OptionError, match=r"about [0-9,]+ characters, more than max_size=1,000\."):
        tb.export.to_sql(learnt("tan"), max_size=1000)


def test_intervals_of_a_transformer_are_refused():
    X, y = pd.DataFrame({"n": np.arange(40.0)}), [0, 1] * 20
    cutter = KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    clf = tb.NaiveBayes(discretize=cutter, suspicious="keep").fit(X, y)
    for export in (tb.export.to_sql, tb.export.to_python):
        with pytest.raises(tb.errors.OptionError, match="those of KBinsDiscretizer, which cannot be exported"):
            export(clf)
        assert export(clf.network_)


def test_a_model_that_is_not_fitted_is_told():
    for model in (tb.Classifier(), tb.NetworkEnsemble()):
        for export in (tb.export.to_sql, tb.export.to_python):
            with pytest.raises(tb.errors.OptionError, match="is not fitted yet"):
                export(model)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_that_was_not_seen_has_no_prediction_where_it_is_an_error(engine):
    X, y = rows(1)
    for clf in (tb.TAN(handle_unknown="error"), tb.NetworkEnsemble(2, handle_unknown="error")):
        clf.fit(X, y)
        new = rows(2, 4)[0]
        new.loc[1, "a"] = "never seen"
        new.loc[2, "b"] = 17.0
        _, found = ASK[engine](tb.export.to_sql(clf, keep=["id"]), new)
        assert [line[1] is None for line in found] == [False, True, True, False]
        assert [line[4] is None for line in found] == [False, True, True, False]
        assert found[3][1:4] == pytest.approx(clf.predict_proba(new[3:])[0].tolist(), abs=1e-9)
