"""The engine for rows on a cluster: pieces are coded and counted where they are, and only tables are sent.

A ``Cluster`` runs jobs on pieces of rows: on Dask's workers (``dask.py``) or Spark's executors (``spark.py``). The
result of a piece is that of a task, and so is every merge of results, in a tree. A task that is lost with its worker is
run again; nothing is written to shared state that a second run could count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.partitioned.base import Merge, PartitionedCounts, Query, Result, query_parts
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.table import CodedTable, Schema
from tanbark.table.files.reader import RowReader
from tanbark.table.files.sources import Source
from tanbark.table.observe import Observed

FAN_IN = 8  # results that one task merges
OUT_OF_MEMORY = "A worker ran out of memory. Give workers more memory, or make partitions or batch_rows smaller."


class Job(Protocol):
    """Work on every piece of some rows; it can be sent to other processes."""

    @property
    def source(self) -> Source:
        """The rows."""

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns that are read."""

    def __call__(self, call: tuple[Any, Any], /) -> Any:
        """Run the job on a pair of an argument, by default the number of the piece, and the piece."""


class Cluster(Protocol):
    """A cluster that runs a job on every piece of its rows."""

    def reduce(self, job: Job, merge: Callable[[Any, Any], Any], arguments: Sequence[Any] | None = None) -> Any:
        """Run a job on every piece and merge the results in a tree, in the order of the pieces.

        ``arguments`` holds the argument of the job for every piece.
        """

    def each(self, job: Job) -> Iterator[Any]:
        """Run a job on one piece after another."""

    def n_pieces(self, job: Job) -> int:
        """Number of pieces that the rows of a job come in."""


def fold(results: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Merge results one after another into the first; None is the result of no rows."""
    whole = None
    for result in results:
        if result is not None:
            whole = result if whole is None else merge(whole, result)
    return whole


@dataclass(frozen=True, eq=False)
class _ReaderJob:
    """A job on the rows of a reader."""

    reader: RowReader

    @property
    def source(self) -> Source:
        return self.reader.source

    @property
    def columns(self) -> Sequence[str]:
        return self.reader.columns


@dataclass(frozen=True, eq=False)
class _Count(_ReaderJob):
    """A query on every piece."""

    schema: Schema
    query: Query
    merge: Merge
    with_arguments: bool

    def __call__(self, call: tuple[Any, Any]) -> Result | None:
        argument, piece = call
        tables = self.reader.coded(piece, self.schema, 1)
        return query_parts(self.query, self.merge, tables, argument=argument if self.with_arguments else None, n_jobs=1)


@dataclass(frozen=True, eq=False)
class _Observe(_ReaderJob):
    forced: list[bool | None]

    def __call__(self, numbered: tuple[int, Any]) -> Observed:
        return self.reader.observe(numbered[1], self.forced, 1)


@dataclass(frozen=True, eq=False)
class _Code(_ReaderJob):
    schema: Schema

    def __call__(self, numbered: tuple[int, Any]) -> list[tuple[Any, Any]]:
        return [(table.codes, table.weights) for table in self.reader.coded(numbered[1], self.schema, 1)]


@dataclass(frozen=True, eq=False)
class _Keep(_ReaderJob):
    def __call__(self, numbered: tuple[int, Any]) -> NDArray[np.bool_]:
        return self.reader.kept(numbered[1])


class ClusterCounts(PartitionedCounts):
    """Count rows on a cluster.

    Parameters
    ----------
    cluster : Cluster
    reader : RowReader
        Files that every worker can open under the same path, or the partitions of a frame on the cluster.
    schema : Schema
    max_memory : int
        Bytes that the tables of a query may take in a worker.
    checkpoint : Checkpoint, optional
        Where the results of completed passes are kept, so that an interrupted fit need not repeat them.
    """

    def __init__(
        self, cluster: Cluster, reader: RowReader, schema: Schema, *, max_memory: int, n_jobs: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:  # fmt: skip
        super().__init__(schema, max_memory=max_memory, n_jobs=n_jobs)
        self._cluster, self._reader, self._checkpoint = cluster, reader, checkpoint

    @property
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in."""
        return self._cluster.n_pieces(_Code(self._reader, self.schema))

    def _run(self, query: Query, merge: Merge, name: str, arguments: Sequence[Any] | None = None) -> Result | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.result
        self.passes.counts += 1
        job = _Count(self._reader, self.schema, query, merge, arguments is not None)
        found: Result | None = self._cluster.reduce(job, merge, arguments)
        result = None if found is None else [np.array(array) for array in found]
        if self._checkpoint is not None and result is not None:
            self._checkpoint.finish(name, result)
        return result

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return a mask of the rows of the source that are counted; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate(list(self._cluster.each(_Keep(self._reader))))

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._cluster.each(_Code(self._reader, self.schema)):
            for codes, weights in tables:
                yield CodedTable(self.schema, codes, weights)


def observe(cluster: Cluster, reader: RowReader, forced: list[bool | None]) -> Observed | None:
    """Observe the values of all rows in one pass, on the workers."""
    found: Observed | None = cluster.reduce(_Observe(reader, forced), _merge_observed)
    return found


def _merge_observed(left: Observed, right: Observed) -> Observed:
    return left.merge(right)
