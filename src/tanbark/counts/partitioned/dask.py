"""Jobs on a Dask cluster: a piece of rows is a task, and so is every merge of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.counts.partitioned.cluster import FAN_IN, OUT_OF_MEMORY, Job, fold
from tanbark.errors import ClusterError, MissingPackageError, TanbarkError
from tanbark.table.files.arrow_files import raw_batch
from tanbark.table.files.sources import slices
from tanbark.table.raw import RawTable

PATIENCE = 30.0  # seconds without a scheduler or any worker after which a job fails
PAUSED = (
    "A worker is paused for lack of memory, and no other is busy: its part of the rows would wait forever. Give "
    "workers more memory, or make partitions, row groups or batch_rows smaller; then start workers and fit again."
)
NO_WORKERS = (
    "The cluster has no worker left, most likely for lack of memory. Give workers more memory, or make partitions, row "
    "groups or batch_rows smaller; then start workers and fit again."
)


@dataclass(frozen=True, eq=False)
class PartitionSource:
    """The partitions of a Dask frame: each is a task, whose result is read on its worker."""

    partitions: tuple[Any, ...]
    names: tuple[str, ...]
    types: dict[str, np.dtype[Any]]

    @classmethod
    def of(cls, frame: Any) -> PartitionSource:
        """Take the partitions of a Dask DataFrame, without computing any."""
        names = tuple(map(str, frame.columns))
        return cls(tuple(frame.to_delayed()), names, {name: frame.dtypes[name] for name in frame.columns})

    def label_type(self, name: str) -> np.dtype[Any]:
        """Return the type that an array of a column's values has in memory."""
        found = self.types[name]
        return found if isinstance(found, np.dtype) and found.kind in "biuf" else np.dtype(object)

    def fingerprint(self) -> str:
        """Return an empty text: changes of a frame cannot be detected."""
        return ""

    def pieces(self) -> list[Any]:
        """List the partitions."""
        return list(self.partitions)

    def read(self, piece: Any, columns: Sequence[str], size: int) -> Iterator[RawTable]:
        """Read a partition, which the cluster has computed."""
        for part in slices(piece, columns, size):
            yield raw_batch(part, columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSource, ((), self.names, self.types)  # a worker gets its partition, not all of them


@dataclass(frozen=True, eq=False)
class _Merge:
    """Merge results; the first is copied, because a task's result must not change for a second run."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, results: list[Any]) -> Any:
        known = [result for result in results if result is not None]
        return fold([*deepcopy(known[:1]), *known[1:]], self.merge)


def _run(job: Callable[[Any], Any], piece: Any) -> Any:
    return job(piece)


class DaskCluster:
    """Run a job on every piece of rows, on the workers of a client or, without one, on threads of this process."""

    def __init__(self, client: Any = None) -> None:
        try:
            import dask
        except ImportError:
            msg = 'A cluster needs dask and distributed. Install them with: pip install "tanbark[cluster]"'
            raise MissingPackageError(msg) from None
        self._dask, self.client = dask, client

    def reduce(self, job: Job, merge: Callable[[Any, Any], Any], arguments: Sequence[Any] | None = None) -> Any:
        """Run a job on every piece and merge the results in a tree, in the order of the pieces."""
        delayed = self._dask.delayed
        shared, joined = delayed(job, pure=False, traverse=False), delayed(_Merge(merge), pure=False, traverse=False)
        run, run_merge = delayed(_run, pure=False), delayed(_run, pure=False)
        pieces = job.source.pieces()
        level = [run(shared, pair) for pair in zip(arguments or range(len(pieces)), pieces, strict=True)]
        while len(level) > 1:
            level = [run_merge(joined, level[low : low + FAN_IN]) for low in range(0, len(level), FAN_IN)]
        return self.compute(level[0]) if level else None

    def each(self, job: Job) -> Iterator[Any]:
        """Run a job on one piece after another."""
        run = self._dask.delayed(_run, pure=False)
        shared = self._dask.delayed(job, pure=False, traverse=False)
        for pair in enumerate(job.source.pieces()):
            yield self.compute(run(shared, pair))

    def n_pieces(self, job: Job) -> int:
        """Number of pieces that the rows of a job come in."""
        return len(job.source.pieces())

    def compute(self, task: Any) -> Any:
        """Compute a task, or raise a ClusterError that explains why the cluster cannot."""
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
            raise ClusterError(OUT_OF_MEMORY) from error
        except (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError, OSError) as error:
            raise _lost() from error
        finally:
            if self.client.status == "running":
                future.release()

    def _result(self, future: Any, distributed: Any) -> Any:
        """Wait for a result as long as the scheduler is reachable and some worker can proceed."""
        since: float | None = None
        while True:
            try:
                return future.result(timeout=2.0)
            except (TimeoutError, distributed.TimeoutError):
                if future.done():
                    return future.result(timeout=PATIENCE)
                running = self.client.status == "running"
                workers = self._workers() if running else []
                paused = [worker for worker in workers if worker.get("status") == "paused"]
                if workers and (not paused or any(map(_is_busy, workers))):
                    since = None
                    continue
                since = since or time.monotonic()
                if time.monotonic() - since > PATIENCE:
                    reason = PAUSED if paused else NO_WORKERS
                    raise ClusterError(reason) if running else _lost() from None

    def _workers(self) -> list[dict[str, Any]]:
        """Return what the scheduler knows of every worker."""
        try:
            info = self.client.scheduler_info(n_workers=-1)
        except TypeError:  # before 2025 it returns all
            info = self.client.scheduler_info()
        return list(info["workers"].values())


def _is_busy(worker: dict[str, Any]) -> bool:
    metrics = worker.get("metrics", {})
    return bool(metrics.get("executing") or metrics.get("task_counts", {}).get("executing"))


def _lost() -> ClusterError:
    return ClusterError(
        "The connection to the cluster's scheduler is lost, and with it the counts of this pass. Start the cluster "
        "again and fit again; nothing was learnt from a part of the rows."
    )


def is_client(client: Any) -> bool:
    """Return whether an object is a Dask client."""
    return hasattr(client, "submit") and hasattr(client, "scheduler_info")


def current_client() -> Any:
    """Return Dask's current client, or None."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None
