"""Coded rows that are kept come back as they were, from memory and from the file, or not at all."""

from itertools import chain

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts.partitioned import row_cache
from tanbark.counts.partitioned.row_cache import RowCache
from tanbark.table import CodedTable


def pieces_of(table, weighted):
    """Cut rows into three pieces of some batches each, the second piece empty."""
    weights = np.arange(table.n_rows, dtype=float) if weighted else None
    bounds = [[(0, 10), (10, 25)], [], [(25, 26), (26, 26), (26, 40)]]
    return [
        [CodedTable(table.schema, table.codes[:, a:b], None if weights is None else weights[a:b]) for a, b in piece]
        for piece in bounds
    ]


def let_go_by(cache, pieces):
    for piece in pieces:
        assert len(list(cache.watch(iter(piece)))) == len(piece)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("room", [0, 60, 10**6])
def test_rows_come_back_piece_by_piece(weighted, room, tmp_path):
    pieces = pieces_of(make_table(np.random.default_rng(0), (3, 4, 300, 2), 40, gaps=0.2), weighted)
    cache = RowCache(pieces[0][0].schema, room, tmp_path)
    let_go_by(cache, pieces)
    assert cache.whole
    assert cache.in_memory == (room == 10**6)
    for done in range(3):
        again = [list(piece) for piece in cache.pieces(done)]
        assert list(map(len, again)) == list(map(len, pieces[done:]))
        for mine, theirs in zip(chain(*again), chain(*pieces[done:]), strict=True):
            assert mine.codes.dtype == theirs.codes.dtype
            np.testing.assert_array_equal(mine.codes, theirs.codes)
            assert (mine.weights is None) == (theirs.weights is None)
            if weighted:
                np.testing.assert_array_equal(mine.weights, theirs.weights)
    assert not list(tmp_path.iterdir())  # the file has no name


@pytest.mark.parametrize("trouble", ["no folder", "full", "unwritable"])
def test_without_room_nothing_is_kept_and_all_goes_by(trouble, tmp_path, monkeypatch):
    pieces = pieces_of(make_table(np.random.default_rng(0), (3, 2), 40), weighted=False)
    if trouble == "full":
        monkeypatch.setattr(row_cache, "DISK_RESERVE", 1 << 60)
    folder = {"no folder": None, "full": tmp_path, "unwritable": tmp_path / "lacking"}[trouble]
    cache = RowCache(pieces[0][0].schema, 30, folder)
    let_go_by(cache, pieces)
    assert not cache.whole
    assert not cache.in_memory
    assert list(cache.pieces()) == []
