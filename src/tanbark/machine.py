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
from functools import cache, update_wrapper
from itertools import islice
from numbers import Integral
from threading import Lock, local
from types import FunctionType
from typing import Any, TypeVar

from tanbark.errors import OptionError
from tanbark.kernel_cache import open_cache

Result = TypeVar("Result")

alone = False  # whether this process is the command line's, which needs scikit-learn's base classes for nothing
interprets = True  # whether small work may be done in Python; not where kernels are to be compiled ahead
_here = local()  # whether this thread belongs to a pool
_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = Lock()


class WithoutPandas:
    """A finder that finds no pandas: pyarrow imports it wherever it is installed, for no use here."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Raise the error of a package that is not installed."""
        if name == "pandas":
            msg = "pandas has no part in a process of the command line."
            raise ModuleNotFoundError(msg, name=name)


def stand_alone() -> None:
    """Declare that this process reads saved models for the command line, and that no other code shares it."""
    global alone
    alone = "sklearn" not in sys.modules
    if alone:
        sys.meta_path.insert(0, WithoutPandas())


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


class Kernel:
    """A function of arrays that Numba compiles for the types of its first call; kernels may call one another.

    Numba is imported with the first call, not with the module. Where it has no part in the process yet, a small piece
    of work is done sooner by :func:`interpreted`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.work_in_python = 0
        self._compiled: Callable[..., Any] | None = None

    @property
    def waits(self) -> bool:
        """Whether a call has to wait for the import of Numba or for its compiler."""
        if not interprets:
            return False
        if "numba" not in sys.modules:
            return True
        found: Any = self._compiled or self._compile()
        return bool(getattr(found, "nopython_signatures", None) == [] and not found._cache.kept)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return (self._compiled or self._compile())(*arguments)

    def _compile(self) -> Any:
        """Make the dispatcher of Numba, which compiles or reads from the cache when it is called."""
        from numba import njit
        from numba.core import config

        if config.DISABLE_JIT:
            self._compiled = self.py_func
        else:
            made = njit(nogil=True)(self.py_func)
            made._cache = open_cache(self.py_func)
            self._compiled = self._compiled or made  # another thread may have been first
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba sees where another kernel calls this one."""
        return getattr(self._compiled or self._compile(), "_numba_type_")  # noqa: B009

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # another process finds the kernel in its module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled or self._compile(), name)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays with Numba: without the interpreter lock, kept where ``kernel_cache`` finds room.

    With ``NUMBA_DISABLE_JIT`` the function runs in Python.
    """
    return Kernel(function)


def for_work(kernel: Callable[..., Any], amount: int, most: int) -> Callable[..., Any]:
    """Return a kernel, or for a small amount of work its Python function, so that nobody waits for a compiler.

    ``most`` is the amount that Python does while Numba would be imported. A kernel that is compiled, or kept on disk
    where Numba is imported already, is always used; so is one that has done as much work in Python before. Only kernels
    whose Python function returns the same bits may be chosen so.
    """
    if not isinstance(kernel, Kernel) or not kernel.waits or kernel.work_in_python + amount > most:
        return kernel
    kernel.work_in_python += amount
    return interpreted(kernel)


@cache
def interpreted(kernel: Kernel) -> Callable[..., Any]:
    """Return the Python function of a kernel, which calls the Python functions of other kernels."""
    function = kernel.py_func
    found = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    others = {name: interpreted(each) for name, each in found.items() if isinstance(each, Kernel)}
    return FunctionType(function.__code__, {**function.__globals__, **others}, function.__name__)


def instruction(twin: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator for functions that emit LLVM code; ``twin`` is used instead with ``NUMBA_DISABLE_JIT``."""

    def wrap(emit: Callable[..., Any]) -> Callable[..., Any]:
        from numba.core import config
        from numba.extending import intrinsic

        return twin if config.DISABLE_JIT else intrinsic(emit)

    return wrap
