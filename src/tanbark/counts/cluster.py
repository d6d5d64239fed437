"""The engine for rows on a Dask cluster: pieces are coded and counted where they are, and only tables travel.

A piece's answer is the result of a task, and so is every merge of answers, up a tree. A task that is lost with its
worker is simply done again; nothing is written to anything that a second run could count twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.parted import Answer, Merge, PartedCounts, Question, answer_parts
from tanbark.errors import ClusterError, InputError, MissingPackageError, TanbarkError
from tanbark.table import CodedTable, Schema
from tanbark.table.coded_rows import RowReader
from tanbark.table.observe import Observed
from tanbark.table.raw import RawTable
from tanbark.table.source import raw_batch, slices

FAN_IN = 8
PATIENCE = 30.0  # seconds without a scheduler or any worker after which a question is given up
NO_WORKERS = (
    "The cluster has no worker left, most likely for lack of memory. Give workers more memory, or make partitions, row "
    "groups or batch_rows smaller; then start workers and fit again."
)


@dataclass(frozen=True, eq=False)
class PartitionSource:
    """The partitions of a Dask frame: each is a task, whose result is read where it is."""

    partitions: tuple[Any, ...]
    names: tuple[str, ...]
    types: dict[str, np.dtype[Any]]

    @classmethod
    def of(cls, frame: Any) -> PartitionSource:
        """Take the partitions of a Dask DataFrame, without computing any."""
        names = tuple(map(str, frame.columns))
        return cls(tuple(frame.to_delayed()), names, {name: frame.dtypes[name] for name in frame.columns})

    def label_type(self, name: str) -> np.dtype[Any]:
        """Give the type that an array of a column's values has in memory."""
        found = self.types[name]
        return found if isinstance(found, np.dtype) and found.kind in "biuf" else np.dtype(object)

    def fingerprint(self) -> str:
        """Give nothing: frames do not tell when they change."""
        return ""

    def pieces(self) -> list[Any]:
        """List the partitions."""
        return list(self.partitions)

    def read(self, piece: Any, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read a partition, which the cluster has computed."""
        for part in slices(piece, columns, size):
            yield raw_batch(part, columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSource, ((), self.names, self.types)  # workers are given their partition, not all of them


@dataclass(frozen=True, eq=False)
class _Count:
    """A question to every piece: what a task needs beside the piece and what it is told."""

    reader: RowReader
    schema: Schema
    question: Question
    merge: Merge

    def __call__(self, told_piece: tuple[Any, Any]) -> Answer | None:
        told, piece = told_piece
        return answer_parts(self.question, self.merge, self.reader.coded(piece, self.schema, 1), told=told, n_jobs=1)


@dataclass(frozen=True, eq=False)
class _Merge:
    """Merge answers; the first is copied, because a task's result must stay as it is for a second run."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, answers: list[Any]) -> Any:
        there = [answer for answer in answers if answer is not None]
        if not there:
            return None
        whole = deepcopy(there[0])
        for answer in there[1:]:
            whole = self.merge(whole, answer)
        return whole


@dataclass(frozen=True, eq=False)
class _Look:
    reader: RowReader
    forced: list[bool | None]

    def __call__(self, piece: Any) -> Observed:
        return self.reader.observe(piece, self.forced, 1)


@dataclass(frozen=True, eq=False)
class _Code:
    reader: RowReader
    schema: Schema

    def __call__(self, piece: Any) -> list[tuple[Any, Any]]:
        return [(table.codes, table.weights) for table in self.reader.coded(piece, self.schema, 1)]


def _run(job: Callable[[Any], Any], piece: Any) -> Any:
    return job(piece)


def _plus(left: int, right: int) -> int:
    return left + right


class Cluster:
    """Run a job on every piece of rows, on the workers of a client or, without one, on threads of this process."""

    def __init__(self, client: Any = None) -> None:
        try:
            import dask
        except ImportError:
            msg = 'A cluster needs dask and distributed. Install them with: pip install "tanbark[cluster]"'
            raise MissingPackageError(msg) from None
        self._dask, self.client = dask, client

    def reduce(self, job: Callable[[Any], Any], pieces: list[Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Run a job on every piece and merge the results up a tree."""
        delayed = self._dask.delayed
        shared, joined = delayed(job, pure=False, traverse=False), delayed(_Merge(merge), pure=False, traverse=False)
        run, run_merge = delayed(_run, pure=False), delayed(_run, pure=False)
        level = [run(shared, piece) for piece in pieces]
        while len(level) > 1:
            level = [run_merge(joined, level[low : low + FAN_IN]) for low in range(0, len(level), FAN_IN)]
        return self.compute(level[0]) if level else None

    def run_numbered(self, job: Callable[[tuple[int, Any]], int], pieces: list[Any]) -> int:
        """Run a job on every piece with its number, and add up what the jobs give."""
        numbered = [(number, piece) for number, piece in enumerate(pieces)]
        return int(self.reduce(job, numbered, _plus) or 0)

    def each(self, job: Callable[[Any], Any], pieces: list[Any]) -> Iterator[Any]:
        """Run a job on one piece after another."""
        run = self._dask.delayed(_run, pure=False)
        shared = self._dask.delayed(job, pure=False, traverse=False)
        for piece in pieces:
            yield self.compute(run(shared, piece))

    def compute(self, task: Any) -> Any:
        """Compute a task, or say clearly why the cluster cannot."""
        if self.client is None:
            return task.compute(scheduler="threads")
        import distributed

        if self.client.status != "running":
            raise _lost()
        future = self.client.compute(task)
        try:
            return self._result(future, distributed)
        except TanbarkError:
            raise
        except distributed.KilledWorker as error:
            msg = (
                f"A part of the rows ended several workers, most likely for lack of memory ({error}). "
                "Give workers more memory, or make partitions, row groups or batch_rows smaller."
            )
            raise ClusterError(msg) from error
        except MemoryError as error:
            msg = "A worker ran out of memory. Give workers more memory, or make partitions or batch_rows smaller."
            raise ClusterError(msg) from error
        except (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError, OSError) as error:
            raise _lost() from error
        finally:
            if self.client.status == "running":
                future.release()

    def _result(self, future: Any, distributed: Any) -> Any:
        """Wait for a result as long as the scheduler is there."""
        since: float | None = None
        while True:
            try:
                return future.result(timeout=2.0)
            except (TimeoutError, distributed.TimeoutError):
                if future.done():
                    return future.result(timeout=PATIENCE)
                running = self.client.status == "running"
                if running and self.client.scheduler_info()["workers"]:
                    since = None
                    continue
                since = since or time.monotonic()
                if time.monotonic() - since > PATIENCE:
                    raise _lost() if not running else ClusterError(NO_WORKERS) from None


def _lost() -> ClusterError:
    return ClusterError(
        "The connection to the cluster's scheduler is lost, and with it the counts of this pass. Start the cluster "
        "again and fit again; nothing was learnt from a part of the rows."
    )


class DaskCounts(PartedCounts):
    """Count rows on a Dask cluster.

    Parameters
    ----------
    cluster : Cluster
    reader : RowReader
        Files that every worker can open under the same path, or the partitions of a Dask frame.
    schema : Schema
    max_memory : int
        Bytes that the tables of a question may take in a worker.
    """

    def __init__(
        self, cluster: Cluster, reader: RowReader, schema: Schema, *, max_memory: int, n_jobs: int | None = None
    ) -> None:
        super().__init__(schema, max_memory=max_memory, n_jobs=n_jobs)
        self._cluster, self._reader = cluster, reader

    @property
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in."""
        return len(self._reader.pieces())

    def _ask(self, question: Question, merge: Merge, name: str, told: Sequence[Any] | None = None) -> Answer | None:
        self.passes.counts += 1
        job, pieces = _Count(self._reader, self.schema, question, merge), self._reader.pieces()
        told_pieces = list(zip(told or [None] * len(pieces), pieces, strict=True))
        found: Answer | None = self._cluster.reduce(job, told_pieces, merge)
        return None if found is None else [np.array(array) for array in found]

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Tell which rows of the source are counted, in their order; None, without a pass, where all are."""
        if not self._reader.leaves_out:
            return None
        self.passes.counts += 1
        return np.concatenate(list(self._cluster.each(self._reader.kept, self._reader.pieces())))

    def _parts(self) -> Iterator[CodedTable]:
        for tables in self._cluster.each(_Code(self._reader, self.schema), self._reader.pieces()):
            for codes, weights in tables:
                yield CodedTable(self.schema, codes, weights)


def observe(cluster: Cluster, reader: RowReader, forced: list[bool | None]) -> Observed | None:
    """Look at all rows once, on the workers."""
    found: Observed | None = cluster.reduce(_Look(reader, forced), reader.pieces(), _merge_observed)
    return found


def _merge_observed(left: Observed, right: Observed) -> Observed:
    return left.merge(right)


def find_client(client: Any) -> Any:
    """Give the client to use: the one given, or the current one; None where there is none."""
    if client is not None:
        if not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
            msg = f"client must be a dask.distributed.Client; got {type(client).__name__}."
            raise InputError(msg)
        return client
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None
