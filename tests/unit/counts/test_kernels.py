"""Counting kernels against loops over the rows."""

import itertools

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import bit_kernels, kernels
from tanbark.counts.bitsets import pack
from tanbark.counts.column_sets import ColumnSets


@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_sets_are_counted_by_bits_and_by_rows(gaps):
    table = make_table(np.random.default_rng(1), (3, 2, 4, 2), 500, gaps=gaps)
    states = np.array(table.schema.cardinalities)
    sets = ColumnSets.of([c for k in (1, 2, 3) for c in itertools.permutations(range(4), k)])
    sizes, _ = sets.measure(states)
    starts = np.cumsum(sizes) - sizes
    expected = [naive.table(table.codes, states, columns).ravel() for columns in sets]
    by_bits, by_rows = np.zeros(sizes.sum(), np.int64), np.zeros(sizes.sum(), np.int64)
    kernels.count_sets_by_bits(pack(table.codes, states), sets.members, sets.ends, starts, by_bits)
    kernels.count_sets_by_rows(table.codes, np.zeros(0), sets.members, sets.ends, states, starts, by_rows)
    np.testing.assert_array_equal(by_bits, np.concatenate(expected))
    np.testing.assert_array_equal(by_rows, by_bits)


def test_popcount_counts_bits():
    words = np.array([0, 1, 2**64 - 1, 0b1011 << 40], np.uint64)
    out = np.zeros((4, 1), np.int64)
    bit_kernels.count_bits(words[:, None], np.array([0, 1]), out)
    assert out.ravel().tolist() == [0, 1, 64, 3]


def test_tables_are_gathered_in_either_order():
    first = np.arange(2 * 3 * 2).reshape(2, 3, 2)
    second = 100 + np.arange(3 * 2 * 2).reshape(3, 2, 2)
    out = np.zeros((2, 2, 3, 2), np.int64)
    flat = np.concatenate([first.ravel(), second.ravel()])
    kernels.gather_tables(flat, np.array([0, 12]), np.array([6, 2]), np.array([2, 4]), out)
    np.testing.assert_array_equal(out[0], first)
    np.testing.assert_array_equal(out[1], second.transpose(1, 0, 2))
