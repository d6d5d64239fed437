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

from tanbark.counts.checkpoint import Checkpoint
from tanbark.counts.memory import MemoryCounts
from tanbark.counts.parted import Answer, PartedCounts, Question
from tanbark.table import CodedTable, Schema
from tanbark.table.coded_rows import RowReader
from tanbark.table.observe import Observed
from tanbark.table.source import Source

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

    def __call__(self, piece: Any, /) -> Any:
        """Do the job on one piece, or for ``run_numbered`` on a pair of the piece's number and the piece."""


class Cluster(Protocol):
    """Whoever runs a job on every piece of its rows."""

    def reduce(self, job: Job, merge: Callable[[Any, Any], Any]) -> Any:
        """Run a job on every piece and merge the results up a tree, in the order of the pieces."""

    def run_numbered(self, job: Job) -> int:
        """Run a job on every piece with its number, and add up what the jobs give."""

    def each(self, job: Job) -> Iterator[Any]:
        """Run a job on one piece after another."""


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
    """A question to every piece: what a task needs beside the piece."""

    schema: Schema
    question: Question
    merge: Callable[[Answer, Answer], Answer]

    def __call__(self, piece: Any) -> Answer | None:
        tables = self.reader.coded(piece, self.schema, 1)
        found: Answer | None = fold((self.question(MemoryCounts(table, n_jobs=1)) for table in tables), self.merge)
        return found


@dataclass(frozen=True, eq=False)
class _Look(_ReaderJob):
    forced: list[bool | None]

    def __call__(self, piece: Any) -> Observed:
        return self.reader.observe(piece, self.forced, 1)


@dataclass(frozen=True, eq=False)
class _Code(_ReaderJob):
    schema: Schema

    def __call__(self, piece: Any) -> list[tuple[Any, Any]]:
        return [(table.codes, table.weights) for table in self.reader.coded(piece, self.schema, 1)]


class ClusterCounts(PartedCounts):
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

    def _ask(self, question: Question, merge: Callable[[Answer, Answer], Answer], name: str) -> Answer | None:
        saved = None if self._checkpoint is None else self._checkpoint.open(name)
        if saved is not None and saved.done:
            return saved.answer
        self.passes.counts += 1
        found: Answer | None = self._cluster.reduce(_Count(self._reader, self.schema, question, merge), merge)
        answer = None if found is None else [np.array(array) for array in found]
        if self._checkpoint is not None and answer is not None:
            self._checkpoint.finish(name, answer)
        return answer

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
