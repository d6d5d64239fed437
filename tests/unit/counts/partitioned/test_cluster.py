"""The cluster engine on a cluster that runs its jobs here, one piece after another."""

import pickle

import numpy as np
import pytest

from engines import TableReader
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.counts.partitioned.cluster import ClusterCounts, fold


class HereCluster:
    """Run every job in this process, through pickle as a real cluster would."""

    def reduce(self, job, merge, arguments=None):
        pieces = job.reader.pieces()
        calls = zip(arguments or range(len(pieces)), pieces, strict=True)
        return fold((pickle.loads(pickle.dumps(job(call))) for call in calls), merge)

    def each(self, job):
        yield from map(job, enumerate(job.reader.pieces()))

    def n_pieces(self, job):
        return len(job.reader.pieces())


@pytest.mark.parametrize("weighted", [False, True])
def test_results_are_those_of_rows_in_memory(weighted):
    table = make_table(np.random.default_rng(1), (2, 3, 4, 2), 47, gaps=0.1, weighted=weighted)
    ours = ClusterCounts(HereCluster(), TableReader(table), table.schema, max_memory=1 << 20)
    theirs = MemoryCounts(table)
    sets = [(0,), (1, 3), (2, 1, 0)]
    for mine, other in zip(ours.tables(sets), theirs.tables(sets), strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(ours.stored(2).flat, theirs.stored(2).flat)
    np.testing.assert_array_equal(ours.labels(), table.codes[-1])
    np.testing.assert_array_equal(ours.coded_rows()[0], table.codes)
    assert (ours.n_pieces, ours.kept_rows(), ours.total) == (5, None, theirs.total)


def test_results_of_no_rows_are_left_out():
    assert fold([None, 2, None, 3], lambda a, b: a + b) == 5
    assert fold([None], max) is None
