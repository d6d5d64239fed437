"""Queries over parts: results are those of the engine for rows in memory, in as few passes as memory allows."""

import numpy as np
import pytest

from engines import stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.counts.partitioned.base import query_parts
from tanbark.errors import InputError


def rows(n=41, **options):
    return make_table(np.random.default_rng(3), (2, 4, 3, 2, 4, 3, 2), n, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_tables_cells_and_pairs_are_equal(weighted, memory):
    table = rows(gaps=0.1, weighted=weighted)
    ours = stream(table, max_memory=memory)
    theirs = MemoryCounts(table)
    sets = [(0,), (6,), (2, 0), (0, 6), (5, 1, 6), (6, 3, 2, 0), (1, 2, 3, 4, 5, 6)]
    for mine, other in zip(ours.tables(sets), theirs.tables(sets), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(ours.cells(sets), theirs.cells(sets), strict=True):
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[1], other[1])
    np.testing.assert_array_equal(ours.flat_tables(sets), theirs.flat_tables(sets))
    mine, other = ours.pair_information(), theirs.pair_information()
    np.testing.assert_array_equal(mine.gain, other.gain)
    np.testing.assert_array_equal(mine.rows, other.rows)
    assert ours.total == theirs.total
    walked = np.concatenate([codes for codes, _ in ours.batches(2)], axis=1)
    np.testing.assert_array_equal(walked, table.codes)


def test_tables_that_were_counted_are_not_counted_again():
    table = rows(gaps=0.1)
    counts = stream(table, max_memory=1 << 10)
    counts.tables([(0, 1, 2)])
    before = counts.passes.total
    counts.tables([(2, 1, 0), (0, 1, 2)])
    assert counts.passes.total == before == 1


def test_cached_tables_cost_nothing():
    counts = stream(rows())
    before = counts.table_cost((0, 1, 2))
    counts.prefetch([(2, 0, 1)])
    assert (before > 0, counts.table_cost((0, 1, 2)), counts.pass_cost) == (True, 0.0, 0.0)
    assert counts.counts_in_passes


def test_labels_and_rows_by_piece():
    table = rows()
    counts = stream(table)
    assert counts.rows_by_piece.tolist() == [10, 10, 10, 10, 1]
    np.testing.assert_array_equal(counts.labels(), table.codes[-1])


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_read_into_memory_if_they_fit(weighted):
    table = rows(weighted=weighted)
    counts = stream(table)
    codes, weights = counts.coded_rows()
    np.testing.assert_array_equal(codes, table.codes)
    assert (weights is None) == (table.weights is None)
    assert counts.coded_bytes == table.codes.nbytes
    with pytest.raises(InputError, match="must see each row many times"):
        stream(table, max_memory=table.codes.nbytes - 1).coded_rows()


def test_no_rows_are_an_error():
    with pytest.raises(InputError, match="There are no rows"):
        stream(rows(0)).tables([(0,)])


def test_a_query_with_an_argument_gets_the_rows_before_its_part():
    table = rows(8)
    parts = [table.__class__(table.schema, table.codes[:, low : low + 3]) for low in range(0, 8, 3)]
    found = query_parts(lambda part, name, before: [(name, before)], lambda a, b: a + b, parts, argument="p")
    assert found == [("p", 0), ("p", 3), ("p", 6)]
    assert query_parts(lambda part: [part.n_rows], lambda a, b: a + b, parts, result=[7]) == [7, 3, 3, 2]
