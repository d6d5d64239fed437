"""The engine for rows on a cluster: pieces are coded and counted where they are, and only tables travel.

Whoever runs jobs on pieces of rows is a ``Cluster``: Dask's workers (``dask.py``) or Spark's executors (``spark.py``).
A piece's answer is the result of a task, and so is every merge of answers, up a tree. A task that is lost with its
worker is simply done again; nothing is written to anything that a second run could count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.partitioned.base import Answer, Merge, PartitionedCounts, Question, answer_parts
from tanbark.counts.partitioned.checkpoint import Checkpoint
from tanbark.table import CodedTable, Schema
from tanbark.table.observe import Observed
from tanbark.table.reader import RowReader
from tanbark.table.sources import Source

FAN_IN = 8  # answers that one task merges
OUT_OF_MEMORY = "A worker ran out of memory. Give workers more memory, or make partitions or batch_rows smaller."


class Job(Protocol):
    """What is done with every piece of some rows; it can be sent to other processes."""

    @property
    def source(self) -> Source:
        """The rows."""

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns that are read."""

    def __call__(self, told_piece: tuple[Any, Any], /) -> Any:
        """Do the job on a pair of what it is told of a piece, by default its number, and the piece."""


class Cluster(Protocol):
    """Whoever runs a job on every piece of its rows."""

    def reduce(self, job: Job, merge: Callable[[Any, Any], Any], told: Sequence[Any] | None = None) -> Any:
        """Run a job on every piece and merge the results up a tree, in the order of the pieces.

        ``told`` holds what the job is told of every piece.
        """

    def each(self, job: Job) -> Iterator[Any]:
        """Run a job on one piece after another."""

    def n_pieces(self, job: Job) -> int:
        """Number of pieces that the rows of a job come in."""


def fold(answers: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Merge answers one after another into the first; None is the answer of no rows."""
    whole = None
    for answer in answers:
        if answer is not None:
            whole = answer if whole is None else merge(whole, answer)
    return whole


def plus(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


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
    """A question to every piece: what a task needs beside the piece and what it is told."""

    schema: Schema
    question: Question
    merge: Merge
    telling: bool

    def __call__(self, told_piece: tuple[Any, Any]) -> Answer | None:
        told, tables = told_piece[0] if self.telling else None, self.reader.coded(told_piece[1], self.schema, 1)
        return answer_parts(self.question, self.merge, tables, told=told, n_jobs=1)


@dataclass(frozen=True, eq=False)
class _Look(_ReaderJob):
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
        Files that every worker can open under the same path, or the partitions of a frame of the cluster.
    schema : Schema
    max_memory : int
        Bytes that the tables of a question may take in a worker.
    checkpoint : Checkpoint, optional
        Where the sums of finished passes are kept, so that an interrupted fit need not make them again.
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

    def _ask(self, question: Question, merge: Merge, name: str, told: Sequence[Any] | None = None) -> Answer | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.answer
        self.passes.counts += 1
        job = _Count(self._reader, self.schema, question, merge, told is not None)
        found: Answer | None = self._cluster.reduce(job, merge, told)
        answer = None if found is None else [np.array(array) for array in found]
        if self._checkpoint is not None and answer is not None:
            self._checkpoint.finish(name, answer)
        return answer

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return which rows of the source are counted, in their order; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate(list(self._cluster.each(_Keep(self._reader))))

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._cluster.each(_Code(self._reader, self.schema)):
            for codes, weights in tables:
                yield CodedTable(self.schema, codes, weights)


def observe(cluster: Cluster, reader: RowReader, forced: list[bool | None]) -> Observed | None:
    """Look at all rows once, on the workers."""
    found: Observed | None = cluster.reduce(_Look(reader, forced), _merge_observed)
    return found


def _merge_observed(left: Observed, right: Observed) -> Observed:
    return left.merge(right)
