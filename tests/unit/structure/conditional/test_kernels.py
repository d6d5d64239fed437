"""Keys, CPTs and factors of the joint, against loops over rows."""

import itertools

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.conditional import kernels
from tanbark.structure.conditional.rows import DistinctRows, LogFactor


@pytest.fixture(params=[0.0, 0.25], ids=["complete", "missing"])
def rows(request):
    return DistinctRows(MemoryCounts(make_table(np.random.default_rng(1), (2, 3, 2, 3), 90, gaps=request.param))).arrays


def factor(rows, columns, radix):
    keys = np.empty(len(rows.totals), np.int64)
    kernels.fill_keys(rows, np.array(columns), keys)
    table = np.empty((int(np.prod(rows.states[columns])), 3))
    return keys, table, kernels.fill_table(rows, keys, radix, table)


def test_keys_are_configurations(rows):
    keys = factor(rows, [2, 1], 3)[0]
    for key, codes in zip(keys, rows.codes.T, strict=True):
        assert key == (-1 if max(codes[[1, 2]]) == 255 else codes[2] * 3 + codes[1])


@pytest.mark.parametrize(("columns", "radix"), [([2, 1], 3), ([2, 1], 0)], ids=["feature", "class"])
def test_a_cpt_is_normalised_over_its_node(rows, columns, radix):
    keys, table, log_likelihood = factor(rows, columns, radix)
    sums = table.sum(axis=1) if radix == 0 else table.reshape(2, 3, 3).sum(axis=1)
    assert sums == approx(np.ones_like(sums))
    total = 0.0
    for row, (low, high) in enumerate(itertools.pairwise(rows.starts)):
        for entry in range(low, high):
            if keys[row] >= 0:
                total += rows.weights[entry] * np.log(table[keys[row], rows.labels[entry]])
    assert log_likelihood == approx(total)


def test_a_factor_that_was_added_can_be_removed(rows):
    shape = len(rows.totals), 3
    finite, zeros = np.zeros(shape), np.zeros(shape, np.int64)
    factors = []
    for columns, radix in (([0, 1], 3), ([2, 0], 2)):
        keys, table, _ = factor(rows, columns, radix)
        with np.errstate(divide="ignore"):
            factors.append(LogFactor(keys, np.log(table)))
        kernels.add_family(factors[-1], finite, zeros)
    nothing = LogFactor(np.full(shape[0], -1, np.int64), np.zeros((1, 3)))
    rest, both = np.empty(shape), np.empty(shape)
    kernels.remove_factors(finite, zeros, factors[0], nothing, rows, rest)
    for row, key in enumerate(factors[1].keys):
        alone = np.ones(3) if key < 0 else np.exp(factors[1].logs[key])
        if alone.max() > 0:
            assert rest[row] == approx(alone / alone.max())
    assert kernels.remove_factors(finite, zeros, *factors, rows, both) == approx(0.0, abs=1e-9)
    assert both == approx(np.ones(shape))
    ones = np.ones((1, 3))
    assert kernels.total_log(both, rows.totals, nothing.keys, ones, nothing.keys, ones) == approx(
        rows.totals.sum() * np.log(3)
    )
