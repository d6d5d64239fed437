"""Pooled networks as one SELECT, on DuckDB, SQLite and PostgreSQL, against Python."""

from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from databases import ASK, ENGINES, ask_frame
from exported_models import CORRECTED, POOLED, learn_rule, learnt, rows


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", POOLED)
def test_complete_rows_have_the_probabilities_of_python_and_others_none(name, engine):
    clf = learnt(name)
    assert (clf.model_.trees is not None) == (name in CORRECTED)
    X = pd.concat([rows(2, 40)[0], rows(3, 20, gaps=0.3)[0]], ignore_index=True)
    X.loc[0, "a"] = "never seen"
    names, found = ASK[engine](tb.export.to_sql(clf, keep=["id"]), X)
    assert names == ["id", "P(y=it's)", "P(y=no)", 'P(y=per"haps)', "predicted y"]
    wanted = clf.predict_proba(X)
    complete = [k > 0 and X.iloc[k].notna().all() for k in range(len(X))]
    for line, posterior in zip(found, wanted, strict=True):
        if complete[line[0]]:
            assert line[1:4] == pytest.approx(posterior.tolist(), abs=1e-9)
            assert line[4] == clf.classes_[np.argmax(posterior)]
        else:
            assert line[1:] == (None,) * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_strong_correction_on_many_contexts(engine):
    clf, _ = learn_rule()
    assert clf.choice_.rounds > 0
    rng = np.random.default_rng(1)
    new = pd.DataFrame(rng.integers(0, 3, (80, 6)).astype(object), columns=list("abcdef"))
    found = ask_frame(engine, tb.export.to_sql(clf), new)
    assert np.array([line[:2] for line in found]) == pytest.approx(clf.predict_proba(new), abs=1e-9)


def two_classes(n_rows, seed, *, missing=0.0, wrong=0.0):
    """Return rows whose classes the columns determine together only; the last column is of no use.

    Without wrong labels there is no end to the trees that pay.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{k}": rng.normal(size=n_rows).round(2) for k in range(3)})
    X["word"], X["unread"] = rng.choice(list("abcdef"), n_rows), "always"
    inside = (X.x0 * X.x1 > 0) ^ X.word.isin(["a", "d"])
    X = X.mask(rng.random(X.shape) < missing)
    return X, pd.Series(np.where(inside ^ (rng.random(n_rows) < wrong), "in", "out"), name="y")


@cache
def learn_two_classes(missing=0.0, **options):
    return tb.Classifier(3, **options).fit(*two_classes(500, 0, missing=missing, wrong=0.05))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_many_trees_for_two_classes(engine, missing):
    clf = learn_two_classes(missing)
    assert clf.choice_.rounds >= 64
    new = pd.concat([two_classes(100, 1)[0], two_classes(50, 2, missing=0.3)[0]], ignore_index=True)
    found, wanted = ask_frame(engine, tb.export.to_sql(clf), new), clf.predict_proba(new)
    complete = new.notna().all(axis=1).to_numpy()
    assert np.array([line[:2] for line in found])[complete].astype(float) == pytest.approx(wanted[complete], abs=1e-9)
    assert {line[0] for line, whole in zip(found, complete, strict=True) if not whole} == {None}


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_no_tree_reads_may_be_missing_where_the_correction_does_not_fade(engine):
    clf = copy(learn_two_classes(max_parents=0))
    new = two_classes(60, 1)[0].astype({"unread": object, "x0": float})
    new.loc[:40, "unread"] = None
    new.loc[:10, "x0"] = np.nan
    assert clf.model_.fade < 1.0
    assert [line[0] is None for line in ask_frame(engine, tb.export.to_sql(clf), new)] == [k <= 40 for k in range(60)]
    clf.model_ = replace(clf.model_, fade=1.0)
    found = ask_frame(engine, tb.export.to_sql(clf), new)
    assert [line[0] is None for line in found] == [k <= 10 for k in range(60)]
    assert np.array([line[:2] for line in found[11:]]) == pytest.approx(clf.predict_proba(new)[11:], abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_values_of_columns_without_links_are_marginalised(engine):
    X, y = rows(1)
    clf = tb.NetworkEnsemble(3, 0).fit(X, y)
    new = rows(3, 50, gaps=0.4)[0].astype({"b": float, "n": float})
    found = ask_frame(engine, tb.export.to_sql(clf), new)
    assert np.array([line[:3] for line in found]) == pytest.approx(clf.predict_proba(new), abs=1e-9)


@cache
def learn_many_states():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 60, 500)
    X = pd.DataFrame({f"x{k}": ((hidden + (rng.random(500) < 0.2)) % 60).astype(str) for k in range(3)})
    return tb.NetworkEnsemble(2, 2).fit(X, hidden % 7), X


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_with_more_states_than_one_character_has(engine):
    clf, X = learn_many_states()
    found = ask_frame(engine, tb.export.to_sql(clf), X[:60])
    assert np.array([line[:7] for line in found]) == pytest.approx(clf.predict_proba(X[:60]), abs=1e-9)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
def test_models_without_families_or_with_one_class():
    X = pd.DataFrame({"a": ["u"] * 8, "n": [1.0] * 8})
    y = ["x", "y"] * 4
    for labels in (y, ["x"] * 8):
        clf = tb.NetworkEnsemble(2).fit(X, labels)
        found = ask_frame("sqlite", tb.export.to_sql(clf), X[:2])
        assert [list(line[:-1]) for line in found] == clf.predict_proba(X[:2]).tolist()


def test_a_model_that_is_too_large_is_told_with_its_size():
    clf = learnt("classifier")
    size = len(tb.export.to_sql(clf))
    with pytest.raises(tb.errors.OptionError, match="more than max_size") as raised:
        tb.export.to_sql(clf, max_size=size // 3)
    told = int(str(raised.value).split("about ")[1].split(" ")[0].replace(",", ""))
    assert size / 3 < told < 3 * size
    assert tb.export.to_sql(clf, max_size=size) == tb.export.to_sql(clf)
