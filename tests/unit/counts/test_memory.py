"""The engine for rows in memory: every way of counting gives the same counts."""

import itertools

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts, memory
from tanbark.table import CodedTable


def slow(table, columns):
    return naive.table(table.codes, table.schema.cardinalities, columns, table.weights)


@pytest.mark.parametrize("states", [(2, 2, 2), (12, 12, 3), (13, 2, 2), (40, 30, 2), (300, 20, 3), (300, 60, 260)])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_way_of_counting_agrees(states, gaps, weighted):
    table = make_table(np.random.default_rng(7), states, 500, gaps=gaps, weighted=weighted)
    columns = (0, 1, 2)
    expected = slow(table, columns)
    counts = MemoryCounts(table)
    assert np.array_equal(counts.tables([columns])[0], expected)
    assert np.array_equal(counts.pair_tables(), expected.ravel())
    ((cells, n),) = counts.cells([columns])
    assert np.array_equal(n, expected[tuple(cells.T)])


def test_huge_pair_tables_are_measured_by_their_cells(monkeypatch):
    table = make_table(np.random.default_rng(3), (300, 200, 5, 3), 400, gaps=0.1)
    dense = MemoryCounts(table).pair_information()
    monkeypatch.setattr(memory, "MAX_DENSE_PAIR", 100)
    sparse = MemoryCounts(table).pair_information()
    assert sparse.rows == pytest.approx(dense.rows)
    assert sparse.gain == pytest.approx(dense.gain, abs=1e-9)


def test_blocks_of_pairs_do_not_change_the_result(monkeypatch):
    table = make_table(np.random.default_rng(3), (4, 3, 2, 5, 2, 2, 3), 300)
    whole = MemoryCounts(table).pair_tables()
    monkeypatch.setattr(memory, "PAIR_BLOCK_CELLS", 20)
    assert np.array_equal(MemoryCounts(table).pair_tables(), whole)


def test_sets_with_more_cells_than_an_integer_are_still_counted():
    table = make_table(np.random.default_rng(3), (*[200] * 12, 2), 50)
    ((cells, n),) = MemoryCounts(table).cells([tuple(range(13))])
    assert n.sum() == 50
    assert len(cells) == len(np.unique(table.codes.T, axis=0))


def test_bitsets_of_many_blocks_and_wide_sets():
    table = make_table(np.random.default_rng(3), (3, 4, 12, 13, 2), 20_000, gaps=0.1)
    sets = [(0, 1, 4), (0, 1, 2), (0, 1, 3), (2, 1, 0, 4), (4,), (3, 4), (2, 2 - 1)] * 2
    codes, states = table.codes.astype(np.int64), table.schema.cardinalities
    for columns, found in zip(sets, MemoryCounts(table).tables(sets), strict=True):
        seen = np.all([codes[c] < states[c] for c in columns], axis=0)
        expected = np.zeros([states[c] for c in columns], np.int64)
        np.add.at(expected, tuple(codes[c, seen] for c in columns), 1)
        assert np.array_equal(found, expected)


def test_bitsets_of_rare_states():
    rng = np.random.default_rng(11)
    share = [[0.98, 0.015, 0.005], [0.5, 0.499, 0.001], [0.99, 0.01], [0.4, 0.6]]
    codes = np.stack([rng.choice(len(p), 9000, p=p) for p in share]).astype(np.uint8)
    schema = make_table(rng, (3, 3, 2, 2), 5).schema
    sets = [s for k in (2, 3, 4) for s in itertools.permutations(range(4), k)]
    for columns, found in zip(sets, MemoryCounts(CodedTable(schema, codes)).tables(sets), strict=True):
        expected = np.zeros(found.shape, np.int64)
        np.add.at(expected, tuple(codes[list(columns)].astype(int)), 1)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_stored_counts_hold_all_tables_of_an_order(order, weighted):
    table = make_table(np.random.default_rng(2), (3, 2, 14, 2, 3), 90, gaps=0.1, weighted=weighted)
    n = table.schema.target
    features = [c for size in range(order + 1) for c in itertools.combinations(range(n), size)]
    expected = np.concatenate([slow(table, (*columns, n)).ravel() for columns in features])
    np.testing.assert_array_equal(MemoryCounts(table).stored(order).flat, expected)


def test_coded_rows_are_those_of_the_table():
    table = make_table(np.random.default_rng(2), (3, 2, 2), 9, weighted=True)
    codes, weights = MemoryCounts(CodedTable(table.schema, np.asfortranarray(table.codes), table.weights)).coded_rows()
    assert codes.flags.c_contiguous
    np.testing.assert_array_equal(codes, table.codes)
    assert weights is table.weights
