"""Cores and threads, and the compilation of kernels.

Kernels are plain Python loops that Numba compiles once and keeps on disk. They release the interpreter lock, so
threads over blocks of columns or rows use every core; results never depend on the number of threads, because each
task writes to a place of its own. Numba itself is imported with the first kernel, never with ``import tanbark``.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from numbers import Integral
from pathlib import Path
from threading import Lock, local
from typing import Any, TypeVar

from tanbark.errors import OptionError
from tanbark.kernel_cache import open_cache

Result = TypeVar("Result")

_announced = False
_here = local()  # whether this thread belongs to a pool
_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = Lock()


def thread_count(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads: None and -1 mean every core, -2 all but one, as in joblib.

    >>> thread_count(3)
    3
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        msg = f"n_jobs must be None, a positive number of threads, or negative to leave cores free; got {n_jobs!r}."
        raise OptionError(msg)
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def run_threads(task: Callable[..., Result], arguments: Iterable[Sequence[Any]], threads: int) -> list[Result]:
    """Call ``task(*args)`` for each of ``arguments``, on up to ``threads`` threads; return the results in order.

    Threads are reused by later calls. A nested call runs its tasks sequentially.

    >>> run_threads(max, [(1, 2), (3, 4)], 2)
    [2, 4]
    """
    calls = list(arguments)
    if threads <= 1 or len(calls) <= 1 or getattr(_here, "working", False):
        return [task(*args) for args in calls]
    pool = _pool(min(threads, len(calls)))
    futures = [pool.submit(task, *args) for args in calls]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)  # no task may write after the return


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the pool of a size, started at its first use."""
    with _pools_lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, "tanbark", initializer=_note_working)
        return _pools[threads]


def _note_working() -> None:
    _here.working = True


def _forget_threads() -> None:
    """Drop the pools in a forked process, which does not have the threads of its parent."""
    global _pools_lock
    _pools.clear()
    _pools_lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def read_ahead(items: Iterator[Result], count: int = 1) -> Iterator[Result]:
    """Prefetch the next items on another thread while the current one is processed; order and errors are kept.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    waiting: deque[Future[list[Result]]] = deque()
    with ThreadPoolExecutor(1) as pool:
        try:
            for _ in range(count):
                waiting.append(pool.submit(lambda: list(islice(items, 1))))
            while True:
                found = waiting.popleft().result()
                if not found:
                    return
                waiting.append(pool.submit(lambda: list(islice(items, 1))))
                yield found[0]
        finally:
            for future in waiting:
                future.cancel()


def blocks(size: int, step: int) -> list[tuple[int, int]]:
    """Split ``range(size)`` into consecutive (start, stop) blocks of at most ``step``.

    >>> blocks(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + step, size)) for start in range(0, size, step)]


def row_blocks(n_rows: int, threads: int, *, smallest: int = 8192) -> list[tuple[int, int]]:
    """Split rows into a few blocks per thread, none so small that the overhead of a task dominates."""
    step = max(smallest, -(-n_rows // (4 * max(threads, 1))))
    return blocks(n_rows, step)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays with Numba: without the interpreter lock, kept where ``kernel_cache`` finds room.

    With ``NUMBA_DISABLE_JIT`` the function stays a Python function.
    """
    from numba import njit
    from numba.core import config

    if config.DISABLE_JIT:
        return function
    compiled = njit(nogil=True)(function)
    compiled._cache = open_cache(function)
    _announce_first_compilation(compiled._cache.cache_path, function)
    return compiled  # type: ignore[no-any-return]  # numba gives its dispatchers no type


def instruction(twin: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator for functions that emit LLVM code; ``twin`` is used instead with ``NUMBA_DISABLE_JIT``."""

    def wrap(emit: Callable[..., Any]) -> Callable[..., Any]:
        from numba.core import config
        from numba.extending import intrinsic

        return twin if config.DISABLE_JIT else intrinsic(emit)

    return wrap


def _announce_first_compilation(folder: str | None, function: Callable[..., Any]) -> None:
    """Print one line, once per process, if kernels are about to be compiled for the first time."""
    global _announced
    if _announced or os.environ.get("TANBARK_QUIET"):
        return
    stem = Path(function.__code__.co_filename).stem
    if folder is None or not any(Path(folder).glob(f"{stem}.*.nbi")):
        _announced = True
        print("tanbark: compiling its kernels for this machine, once; this takes a few seconds.", file=sys.stderr)
