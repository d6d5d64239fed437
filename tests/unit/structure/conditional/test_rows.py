"""Distinct rows with the weights of their classes."""

import itertools

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.conditional.rows import CLASS, DistinctRows


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_rows_are_the_rows(gaps, weighted):
    table = make_table(np.random.default_rng(0), (2, 3, 3), 80, gaps=gaps, weighted=weighted)
    rows = DistinctRows(MemoryCounts(table))
    arrays, expected, found = rows.arrays, {}, {}
    weights = np.ones(80) if table.weights is None else table.weights
    for row, weight in zip(table.codes.T.tolist(), weights, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0.0) + weight
    for row, (low, high) in enumerate(itertools.pairwise(arrays.starts)):
        for entry in range(low, high):
            found[(*arrays.codes[:, row].tolist(), int(arrays.labels[entry]))] = arrays.weights[entry]
        assert arrays.totals[row] == approx(arrays.weights[low:high].sum())
    assert found == expected
    assert rows.shape == (len({row[:-1] for row in expected}), 3)
    assert rows.total == approx(weights.sum())
    assert rows.complete == (gaps == 0)
    assert (rows.states[CLASS], rows.states[1:].tolist()) == (3, arrays.states.tolist())


def test_more_columns_than_one_number_can_hold():
    table = make_table(np.random.default_rng(0), (*[3] * 60, 2), 90)
    table.codes[:-1, 45:] = table.codes[:-1, :45]
    assert DistinctRows(MemoryCounts(table)).shape[0] == len(np.unique(table.codes[:-1], axis=1).T) == 45
