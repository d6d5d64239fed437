"""Jobs on Dask's threads, without a scheduler; merges never change the result of a task."""

import operator

import numpy as np
import pytest

from tanbark.counts.partitioned.cluster import FAN_IN
from tanbark.counts.partitioned.dask import DaskCluster, PartitionSource, _Merge, current_client, is_client

pytest.importorskip("dask")


class Job:
    """Return the argument and the piece, from a source of a few numbers."""

    def __init__(self, n):
        self.source, self.n = self, n

    def pieces(self):
        return list(range(self.n))

    def __call__(self, call):
        return [call]


@pytest.mark.parametrize("n", [0, 1, FAN_IN, FAN_IN * FAN_IN + 1])
def test_results_are_merged_in_the_order_of_the_pieces(n):
    cluster, job = DaskCluster(), Job(n)
    expected = [(k, k) for k in range(n)]
    assert (cluster.reduce(job, operator.add) or []) == expected
    given = [f"a{k}" for k in range(n)]
    assert (cluster.reduce(job, operator.add, given) or []) == list(zip(given, range(n), strict=True))
    assert [found for (found,) in cluster.each(job)] == expected
    assert cluster.n_pieces(job) == n


def test_a_merge_leaves_results_as_they_are():
    first = [np.zeros(2)]
    merged = _Merge(lambda a, b: [operator.iadd(a[0], b[0])])([None, first, [np.ones(2)]])
    assert (merged[0].tolist(), first[0].tolist()) == ([1, 1], [0, 0])


def test_only_clients_are_clients():
    assert not is_client(object())
    assert current_client() is None


def test_partitions_are_read_in_batches():
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame({"a": [1, 2, 3, 4, 5], "b": list("xyxyx")})
    source = PartitionSource.of(frames.from_pandas(frame, npartitions=2))
    assert (source.names, source.label_type("a"), source.label_type("b")) == (("a", "b"), np.int64, object)
    batches = [batch for piece in source.pieces() for batch in source.read(piece.compute(), ("b",), 2)]
    assert sum(batch.n_rows for batch in batches) == 5
    assert source.fingerprint() == ""
