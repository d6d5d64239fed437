"""The streaming engine: which passes read the source, and checkpoints that save passes."""

import numpy as np
import pytest

from engines import TableReader, stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.counts.partitioned.checkpoint import Checkpoint

SETS = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]


@pytest.fixture
def table():
    return make_table(np.random.default_rng(5), (3, 4, 2, 2), 35, gaps=0.1)


@pytest.fixture
def reads(monkeypatch):
    read, plain = [], TableReader.coded
    monkeypatch.setattr(TableReader, "coded", lambda self, *rest: (read.append(1), plain(self, *rest))[1])
    return read


def test_coded_rows_that_fit_are_read_once(table, reads):
    counts = stream(table)
    for columns in SETS:
        np.testing.assert_array_equal(counts.cells([columns])[0][1], MemoryCounts(table).cells([columns])[0][1])
    assert len(reads) == 4
    assert counts.passes.counts == 1


def test_others_are_written_to_a_file_in_the_third_pass(table, reads, tmp_path):
    counts = stream(table, max_memory=0, scratch=tmp_path)
    for columns in SETS:
        np.testing.assert_array_equal(counts.cells([columns])[0][1], MemoryCounts(table).cells([columns])[0][1])
    assert len(reads) == 3 * 4
    assert 0 < counts.pass_cost < stream(table).pass_cost


def test_a_checkpoint_keeps_results(table, reads, tmp_path):
    first = stream(table, checkpoint=Checkpoint(tmp_path, "rows")).tables(SETS)
    before = len(reads)
    again = stream(table, checkpoint=Checkpoint(tmp_path, "rows"))
    for mine, other in zip(again.tables(SETS), first, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert (len(reads), again.passes.counts) == (before, 0)
    stream(table, checkpoint=Checkpoint(tmp_path, "other rows")).tables(SETS)
    assert len(reads) > before
