"""Counterfactuals against all rows there are, one after another."""

from itertools import combinations, product

import numpy as np
import pytest

import tanbark as tb
from strategies import make_table
from tanbark.estimators.questions import counterfactual as module

SIZES = (3, 2, 3, 2, 3)


@pytest.fixture(scope="module")
def rows():
    table = make_table(np.random.default_rng(8), SIZES, 120)
    return table.codes[:-1].T.astype(float), table.codes[-1].astype(int)


def brute_force(clf, row, wanted, most, fixed=()):
    """The smallest set, then the highest probability, then the first in order."""
    now = clf.predict([row])[0]
    observed = [k for k in range(len(row)) if not np.isnan(row[k]) and k not in fixed]
    for size in range(1, most + 1):
        best = None
        for columns in combinations(observed, size):
            for states in product(*(range(SIZES[k]) for k in columns)):
                if any(row[k] == s for k, s in zip(columns, states, strict=True)):
                    continue
                changed = np.array(row)
                changed[list(columns)] = states
                proba = clf.predict_proba([changed])[0]
                new = clf.classes_[proba.argmax()]
                if new == now or (wanted is not None and new != wanted):
                    continue
                if best is None or proba.max() > best[0] + 1e-9:
                    best = (proba.max(), new, [(f"x{k}", s) for k, s in zip(columns, states, strict=True)])
        if best:
            return best
    return None


@pytest.mark.parametrize("clf", [tb.TAN(), tb.AODE(), tb.NetworkEnsemble(n_estimators=3), tb.KDB(2, temperature=0.5)])
def test_nothing_smaller_and_nothing_more_probable_exists(clf, rows, monkeypatch):
    X, y = rows
    clf.fit(X, y)
    monkeypatch.setattr(module, "BLOCK", 7)
    monkeypatch.setattr(module, "SUBSETS", 3)
    rng = np.random.default_rng(0)
    for row in X[rng.choice(len(X), 6, replace=False)]:
        row = np.where(rng.random(4) < 0.2, np.nan, row)
        for wanted in (None, 2):
            found = clf.counterfactual(row, wanted, max_changes=3, fixed=["x1"])
            expected = brute_force(clf, row, wanted, 3, fixed=[1])
            if wanted is not None and clf.predict([row])[0] == wanted:
                assert found.found
                assert not found.changes
                assert found.label == wanted
                assert found.probability == pytest.approx(clf.predict_proba([row])[0, 2])
            elif expected is None:
                assert not found.found
                assert not found.changes
                assert found.searched == 3
                assert found.unsearched == 0
            else:
                assert found.found
                assert found.probability == pytest.approx(expected[0])
                assert (found.label, [(c.feature, c.new_state) for c in found]) == expected[1:]
                assert [c.state for c in found] == [row[int(c.feature[1:])] for c in found]


@pytest.fixture(scope="module")
def copies():
    """Three copies of one feature: a single change cannot outvote the other two."""
    return tb.NaiveBayes().fit([[a, a, a] for a in (0, 1)] * 20, [0, 1] * 20)


def test_ties_go_to_the_earlier_columns(copies):
    found = copies.counterfactual([1, 1, 1], 0)
    assert [change.feature for change in found] == ["x0", "x1"]


def test_what_is_not_searched_is_said(copies):
    found = copies.counterfactual([1, 1, 1], max_evaluations=3)
    assert (found.searched, found.unsearched, found.evaluations, found.found) == (1, 3, 3, False)
    assert "sets of more, up to 3 were not searched: raise max_evaluations" in found.statement
    none = copies.counterfactual([1, 1, 1], max_evaluations=1, max_changes=1)
    assert (none.searched, none.unsearched, none.evaluations) == (0, 1, 0)
    assert "sets of 1 were not searched" in str(none)
    alone = copies.counterfactual([1, 1, 1], max_changes=1)
    assert (alone.searched, alone.unsearched) == (1, 0)
    assert alone.statement == "no change of up to 1 observed features leads to another class"
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'x1'"):
        copies.counterfactual([1, 1, 1], fixed=["x11"])
    with pytest.raises(tb.errors.OptionError, match="max_changes must be a whole number of at least 1"):
        copies.counterfactual([1, 1, 1], max_changes=0)


def test_impossible_rows_do_not_count():
    """Without smoothing, the class is the first column, and no row has other values than those of training."""
    X = [["a", "u"], ["b", "v"]] * 5
    clf = tb.TAN(parameters=0.0).fit(X, ["no", "yes"] * 5)
    found = clf.counterfactual({"x0": "a", "x1": "u"})
    assert [change.new_state for change in found] == ["b", "v"]
    assert "x1" in found._repr_html_()
    assert found.to_frame().shape == (2, 3)


def test_numbers_of_pooled_networks_move_to_the_middle_of_other_intervals():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    clf = tb.NetworkEnsemble(n_estimators=2).fit(X, (X[:, 0] > 0).astype(int))
    found = clf.counterfactual(X[:1] * [[0, 1]] + [[2, 0]])
    assert [change.feature for change in found] == ["x0"]
    assert found.label == 0
    column = clf.model_.members[0].coarsening.schema.columns[0]
    assert found.changes[0].new_state in column.states()
    assert found.changes[0].state == column.states()[np.searchsorted(column.cuts, 2.0)]
