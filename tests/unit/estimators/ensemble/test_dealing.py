"""Rows in folds: neither their order nor repeats in place of weights make a difference."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.estimators.ensemble.dealing import fold_weights, row_order, sample_rows, single_rows
from tanbark.table import CodedTable


def rng():
    return np.random.default_rng(5)


@pytest.fixture
def table():
    return make_table(np.random.default_rng(1), (3, 4, 2, 3, 3), 400, gaps=0.1)


def totals(table, weights):
    """Add up the weights of equal rows."""
    found = {}
    for row, weight in zip(table.codes.T.tolist(), weights.tolist(), strict=True):
        found[tuple(row)] = found.get(tuple(row), 0.0) + weight
    return {row: weight for row, weight in found.items() if weight}


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_parts_sum_to_the_weights_and_classes_are_spread_evenly(table, folds):
    for weights in (None, np.random.default_rng(2).integers(1, 5, 400).astype(float), np.full(400, 0.37)):
        given = np.ones(400) if weights is None else weights
        found = fold_weights(CodedTable(table.schema, table.codes, weights), folds, rng())
        assert found.sum(axis=0) == pytest.approx(given)
        assert (found >= -1e-12).all()
        for label in range(3):
            part = found[:, table.codes[-1] == label].sum(axis=1)
            assert np.ptp(part) <= 1.0 + 1e-9


def test_whole_weights_are_repeats(table):
    times = np.random.default_rng(3).integers(1, 4, 400)
    repeated = CodedTable(table.schema, np.repeat(table.codes, times, axis=1))
    weighted = CodedTable(table.schema, table.codes, times.astype(float))
    for one, other in zip(fold_weights(repeated, 3, rng()), fold_weights(weighted, 3, rng()), strict=True):
        assert set(np.unique(one)) == {0.0, 1.0}
        assert totals(repeated, one) == totals(weighted, other)
    first, second = single_rows(repeated, rng()), single_rows(weighted, rng())
    assert np.array_equal(repeated.codes[:, first[0]], weighted.codes[:, second[0]])
    assert (first[1] == 1).all()
    assert (second[1] == 1).all()
    one, other = sample_rows(repeated, 100, rng()), sample_rows(weighted, 100, rng())
    sums = np.zeros(len(times) and repeated.n_rows), np.zeros(400)
    for total, (rows, weights) in zip(sums, (one, other), strict=True):
        total[rows] = weights
    assert totals(repeated, sums[0]) == totals(weighted, sums[1])
    assert 50 <= one[1].sum() <= 102


def test_the_order_of_rows_makes_no_difference(table):
    order = np.random.default_rng(4).permutation(400)
    turned = CodedTable(table.schema, np.ascontiguousarray(table.codes[:, order]))
    assert np.array_equal(table.codes[:, row_order(table, rng())], turned.codes[:, row_order(turned, rng())])
    for one, other in zip(fold_weights(table, 4, rng()), fold_weights(turned, 4, rng()), strict=True):
        assert totals(table, one) == totals(turned, other)


def test_weights_that_are_not_whole(table):
    weights = np.random.default_rng(6).uniform(0.1, 3.0, 400)
    rows, ones = single_rows(CodedTable(table.schema, table.codes, weights), rng())
    assert np.bincount(rows, ones) == pytest.approx(weights)
    assert ones.max() <= 1.0
    rows, kept = sample_rows(table, 1000, rng())
    assert np.array_equal(rows, np.arange(400))
    assert (kept == 1).all()
