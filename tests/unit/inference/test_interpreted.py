"""A few rows are predicted in Python while Numba would be imported: with the bits of the compiled kernels."""

from importlib import import_module
from itertools import islice

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.inference import posterior, sparse_network
from tanbark.kernel import interpreted
from tanbark.params.boosting import trees
from tanbark.params.hierarchical.context_tree import restore

MODULES = (import_module("tanbark.table.encode"), posterior, sparse_network, trees)


def make_rows(n_rows, seed=0):
    """Make rows of every kind of number: plain codes, whole numbers with holes, large ones, fractions, missing ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    wide = np.array([-9, 0, 4, 70_000, -(2**63), 2**63 - 1])
    columns = {
        "plain": (y + rng.integers(0, 2, n_rows)) % 4,
        "holes": wide[(y + rng.integers(0, 3, n_rows)) % 6],
        "fraction": np.round(y + rng.normal(size=n_rows), 2),
        "missing": np.where(rng.random(n_rows) < 0.3, np.nan, (y * rng.integers(0, 3, n_rows)) % 4),
        "word": np.array(["a", "b", "c"])[(y + rng.integers(0, 2, n_rows)) % 3],
    }
    return columns, y


def both_ways(monkeypatch, predict):
    """Predict with the kernels, and with their Python functions; return both and which kernels ran in Python."""
    compiled, used = predict(), set()

    def in_python(kernel, amount, most):
        assert amount >= 0
        used.add(kernel.py_func.__name__)
        return interpreted(kernel)

    with monkeypatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "for_work", in_python)
        return compiled, predict(), used


@pytest.fixture(scope="module")
def tables():
    columns, y = make_rows(300)
    new = pd.DataFrame(make_rows(30, seed=1)[0])
    new.loc[::3, "fraction"] = np.nan
    new.loc[::4, "word"] = None
    new.loc[7, "holes"] = 12  # a value that training had not
    return pd.DataFrame(columns), y, new


@pytest.mark.parametrize(
    ("model", "kernels"),
    [
        (tb.TAN(categorical_features=["plain", "holes"]),
         {"encode_plain", "encode_integers", "encode_floats", "add_entries", "add_forest", "normalize_rows"}),
        (tb.NetworkEnsemble(n_estimators=3), {"add_complete", "add_incomplete", "normalize_rows"}),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::tanbark.errors.UnseenCategoryWarning")
def test_python_returns_the_bits_of_the_kernels(monkeypatch, tables, model, kernels):
    X, y, new = tables
    model.fit(X, y)
    ran = set()
    for rows in (new, new[:1], new[1:2], new.dropna()):
        for predict in (model.predict_proba, model.predict_log_proba):
            compiled, found, used = both_ways(monkeypatch, lambda predict=predict, rows=rows: predict(rows))
            np.testing.assert_array_equal(found, compiled)
            ran |= used
    assert kernels <= ran


def test_python_adds_the_bits_of_boosted_trees(monkeypatch):
    rng = np.random.default_rng(0)
    states, ordered = [4, 5, 3], np.array([True, False, True])
    codes = np.stack([rng.integers(0, n, 400) for n in states]).astype(np.uint8)
    labels = (codes[0] + codes[1]) % 3
    codes[2, ::7] = 255
    grown = trees.boost(codes, states, ordered, labels, np.zeros((400, 3)))
    forest = trees.join_trees(list(islice(grown, 4)), states, ordered)
    new = codes[:, :40].copy()
    new[:2, ::3] = 255

    def add():
        logits = np.zeros((40, 3))
        trees.add_trees(forest, new, logits)
        return logits

    compiled, found, used = both_ways(monkeypatch, add)
    assert used == {"add_values"}
    np.testing.assert_array_equal(found, compiled)


def test_restored_distributions_have_the_bits_of_the_fitted_ones(tables):
    X, y, _ = tables
    trees_fitted = [tree for member in tb.NetworkEnsemble().fit(X, y).model_.members for tree in member.trees]
    for tree in trees_fitted:
        above = np.zeros(len(tree.counts), np.int64)
        for level, n_states in enumerate(tree.states.tolist()):
            part = tree.children[tree.starts[level] : tree.starts[level + 1]]
            seen = np.flatnonzero(part >= 0)
            above[part[seen]] = tree.levels[level] + seen // n_states
        totals, probabilities = restore(tree.counts, tree.concentrations, above, tree.levels)
        np.testing.assert_array_equal(totals, tree.totals)
        np.testing.assert_array_equal(probabilities, tree.probabilities)
