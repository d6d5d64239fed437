"""Cores, threads, memory and interrupts.

Kernels release the interpreter lock, so threads over blocks of columns or rows use every core; results never depend on
the number of threads, because each task writes to a place of its own.

Python handles signals in the main thread only, and there between two of its own instructions only: within a kernel
Ctrl-C would wait for the kernel's end. Therefore long kernels run on another thread (``run_threads`` with several
threads or with ``long=True``) while the main one waits, and in their outer loops they ask ``stopping`` whether to
return early.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from numbers import Integral
from threading import Lock, current_thread, local, main_thread
from typing import Any, TypeVar

from tanbark.errors import OptionError

Result = TypeVar("Result")

alone = False  # whether this process is the command line's, which needs scikit-learn's base classes for nothing
_here = local()  # whether this thread belongs to a pool
_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = Lock()

STOP = "tanbark_stop"  # symbol of the cell that kernels read
PATIENCE = 1.5  # seconds that an interrupted call waits for its kernels to stop
stop_cell = ctypes.c_int64(0)  # whether kernels are to stop
_interrupts = 0  # how often they were
_abandoned: set[Future[Any]] = set()  # tasks of interrupted calls that are still running


class Without:
    """A finder that does not find packages of no use here, which others import wherever they are installed.

    pyarrow imports pandas, Numba imports coverage.
    """

    def find_spec(self, name: str, *_: Any) -> None:
        """Raise the error of a package that is not installed."""
        if name in ("pandas", "coverage"):
            msg = f"{name} has no part in a process of the command line."
            raise ModuleNotFoundError(msg, name=name)


def stand_alone() -> None:
    """Declare that this process reads saved models for the command line, and that no other code shares it."""
    global alone
    alone = "sklearn" not in sys.modules
    if alone:
        sys.meta_path.insert(0, Without())


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


def free_memory() -> float:
    """Return the bytes of free memory: those of the machine, or of the container or process where those are fewer.

    Where the system does not report it, all memory counts as free.
    """
    return min([_free_on_machine(), *_free_in_container(), *_free_in_process()])


def _free_on_machine() -> float:
    try:
        with open("/proc/meminfo") as file:
            kibibytes = next(line.split()[1] for line in file if line.startswith("MemAvailable"))
        return float(kibibytes) * 1024
    except (OSError, StopIteration):
        names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
        known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) if known else float(8 << 30)


def _free_in_container() -> Iterator[float]:
    """Yield what the control group leaves, of version 2 or 1, where there is a limit."""
    folder = "/sys/fs/cgroup"
    for most, taken in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            with open(f"{folder}/{most}") as limit, open(f"{folder}/{taken}") as usage:
                yield max(0.0, float(limit.read()) - float(usage.read()))
        except (OSError, ValueError):  # there is none, or it is "max"
            continue


def _free_in_process() -> Iterator[float]:
    """Yield what the limit of the address space (``ulimit -v``) leaves, where there is one."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            with open("/proc/self/statm") as file:
                yield max(0.0, limit - int(file.read().split()[0]) * resource.getpagesize())
    except (ImportError, OSError):
        return


def run_threads(
    task: Callable[..., Result], arguments: Iterable[Sequence[Any]], threads: int, *, long: bool = False
) -> list[Result]:
    """Call ``task(*args)`` for each of ``arguments``, on up to ``threads`` threads; return the results in order.

    Threads are reused by later calls. A nested call runs its tasks sequentially. An interrupt of the main thread stops
    the kernels of all threads: its own call raises the exception of the signal's handler within about two seconds, and
    calls of other threads at that time raise KeyboardInterrupt, as their results are not complete.

    Parameters
    ----------
    task : callable
    arguments : iterable of sequences
    threads : int
    long : bool
        Whether the main thread hands even a single task to another thread, so that it can be interrupted. That takes
        some 50 microseconds.

    Examples
    --------
    >>> run_threads(max, [(1, 2), (3, 4)], 2)
    [2, 4]
    """
    calls = list(arguments)
    if getattr(_here, "working", False):
        return _one_by_one(task, calls)
    _await_abandoned()
    before = _interrupts
    if threads <= 1 or len(calls) <= 1:
        waits = long and bool(calls) and current_thread() is main_thread()
        found = _together(task, calls, 1) if waits else _one_by_one(task, calls)
    else:
        found = _together(task, calls, min(threads, len(calls)))
    if _interrupts != before:
        raise KeyboardInterrupt("The main thread was interrupted, which stops the kernels of every thread.")
    return found


def run_here(task: Callable[..., Result], *arguments: Any) -> Result:
    """Call a short kernel that asks ``stopping`` on this thread, without the overhead of ``run_threads``.

    >>> run_here(max, 1, 2)
    2
    """
    if _abandoned and not getattr(_here, "working", False):
        _await_abandoned()
    before = _interrupts
    found = task(*arguments)
    if _interrupts != before:
        raise KeyboardInterrupt("The main thread was interrupted, which stops the kernels of every thread.")
    return found


def raise_if_stopping() -> None:
    """Raise KeyboardInterrupt in a task of an interrupted call; for loops in Python that take long."""
    if stop_cell.value and getattr(_here, "working", False):
        raise KeyboardInterrupt


def _one_by_one(task: Callable[..., Result], calls: list[Sequence[Any]]) -> list[Result]:
    """Run tasks on this thread."""
    found = []
    for args in calls:
        raise_if_stopping()
        found.append(task(*args))
    return found


def _together(task: Callable[..., Result], calls: list[Sequence[Any]], threads: int) -> list[Result]:
    """Run tasks on other threads, and wait for them and for signals; on return no task can write any more."""
    pool = _pool(threads)
    futures: list[Future[Result]] = []
    try:
        futures.extend(pool.submit(task, *args) for args in calls)
        return [future.result() for future in futures]
    except BaseException as error:
        running = [future for future in futures if not future.cancel()]
        if any(future.done() and future.exception() is error for future in running):
            wait(running)
        else:
            _interrupt(running)
        raise


def _interrupt(running: list[Future[Any]]) -> None:
    """Stop the kernels, and wait for the tasks a while; those that are slow to stop are awaited by the next call."""
    global _interrupts
    _interrupts += 1
    stop_cell.value = 1
    _abandoned.update(running)
    wait(running, PATIENCE)
    _settle()


def _settle() -> None:
    """Let kernels run again if no task of an interrupted call is left."""
    _abandoned.difference_update([future for future in list(_abandoned) if future.done()])
    if not _abandoned:
        stop_cell.value = 0


def _await_abandoned() -> None:
    """Wait for the tasks of interrupted calls; they share threads and arrays with later ones."""
    if _abandoned:
        wait(list(_abandoned))
        _settle()


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
    _abandoned.clear()
    stop_cell.value = 0


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


def is_stopping() -> bool:
    """Return whether kernels are to stop."""
    return stop_cell.value != 0
