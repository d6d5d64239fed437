"""Cores and threads, and the compilation of kernels.

Kernels are plain Python loops that Numba compiles once and keeps on disk. They release the interpreter lock, so
threads over blocks of columns or rows use every core; results never depend on the number of threads, because each
task writes to a place of its own. Numba itself is imported with the first kernel, never with ``import tanbark``.

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
from functools import cache, update_wrapper
from itertools import islice
from numbers import Integral
from threading import Lock, current_thread, local, main_thread
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

STOP = "tanbark_stop"  # symbol of the cell that kernels read
MOST_STEPS = 1 << 22  # array elements that Python reads and writes in a second or two: as long as compilers take
PATIENCE = 1.5  # seconds that an interrupted call waits for its kernels to stop
_stop = ctypes.c_int64(0)  # whether kernels are to stop
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
    if _stop.value and getattr(_here, "working", False):
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
    _stop.value = 1
    _abandoned.update(running)
    wait(running, PATIENCE)
    _settle()


def _settle() -> None:
    """Let kernels run again if no task of an interrupted call is left."""
    _abandoned.difference_update([future for future in list(_abandoned) if future.done()])
    if not _abandoned:
        _stop.value = 0


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
    _stop.value = 0


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
    of work is done sooner by :func:`interpreted`; so is a small piece of a kernel that knows its ``work`` where the
    compiler would have to be waited for.
    """

    def __init__(
        self, function: Callable[..., Any], work: Callable[..., float] | None = None, *, error_model: str = "python"
    ) -> None:  # fmt: skip
        update_wrapper(self, function)
        self.py_func = function
        self._error_model = error_model
        self.work_in_python = 0.0
        self._work = work
        self._compiled: Callable[..., Any] | None = None
        self._inner: Any = None
        self._ready = False  # whether a call was found not to wait; then none will

    @property
    def waits(self) -> bool:
        """Whether a call has to wait for the import of Numba or for its compiler."""
        if self._ready or not interprets:
            return False
        if "numba" not in sys.modules:
            return True
        found: Any = self._compiled or self._compile()
        self._ready = getattr(found, "nopython_signatures", None) != [] or found._cache.kept
        return not self._ready

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function; an interrupt while Numba packs its result is one."""
        compiled = self._compiled or self._compile()  # imports Numba, so that a kernel that is kept on disk is found
        if self._work is not None and self.waits:
            chosen = for_work(self, self._work(*arguments), MOST_STEPS)
            compiled = compiled if chosen is self else chosen
        try:
            return compiled(*arguments)
        except SystemError as error:  # "returned a result with an exception set", once or several times over
            interrupt = _interrupt_behind(error)
            if interrupt is None:
                raise
            raise interrupt from None

    def _compile(self) -> Any:
        """Make the dispatcher of Numba, which compiles or reads from the cache when it is called."""
        from numba.core import config

        if config.DISABLE_JIT:
            self._compiled = self.py_func
        else:
            _announce_stop()
            made = self._dispatcher()
            made._cache = open_cache(self.py_func)
            self._compiled = self._compiled or made  # another thread may have been first
        return self._compiled

    def _dispatcher(self, **options: bool) -> Any:
        """Make a dispatcher of Numba; called by a kernel with a constant, it is not compiled for that value alone."""
        from numba import njit
        from numba.core.types.misc import unliteral

        made = njit(nogil=True, error_model=self._error_model, **options)(self.py_func)
        resolve = made.get_call_template
        made.get_call_template = lambda types, keywords: resolve([unliteral(each) for each in types], keywords)
        return made

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba sees where another kernel calls this one: of a function that Python cannot call.

        It becomes part of the other kernel, and is kept on disk with that one only.
        """
        if self._inner is None:
            made = self._dispatcher(no_cpython_wrapper=True)
            self._inner = self._inner or made
        return getattr(self._inner, "_numba_type_")  # noqa: B009

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # another process finds the kernel in its module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled or self._compile(), name)


def _interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """Return the interrupt that an error was raised from or in the course of, at any depth."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays with Numba: without the interpreter lock, kept where ``kernel_cache`` finds room.

    With ``NUMBA_DISABLE_JIT`` the function runs in Python.
    """
    return Kernel(function)


def tiered(work: Callable[..., float]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator like :func:`kernel` for functions that run in Python until there was enough work to compile.

    ``work`` has the function's arguments, and returns about how many array elements it reads and writes. The function
    must return the same bits in Python: elements are summed in a loop, logarithms are those of ``math``.
    """
    return lambda function: Kernel(function, work)


def dividing_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that never divides by zero, so that its loops need no check and become vector instructions."""
    return Kernel(function, error_model="numpy")


def for_work(kernel: Callable[..., Any], amount: float, most: int) -> Callable[..., Any]:
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


class Instruction:
    """A function that emits LLVM code where a kernel calls it, and is a Python function everywhere else."""

    def __init__(self, twin: Callable[..., Any], emit: Callable[..., Any]) -> None:
        update_wrapper(self, emit)
        self.py_func, self._emit = twin, emit
        self._type: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the Python function."""
        return self.py_func(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba sees where a kernel calls this."""
        if self._type is None:
            from numba.core.registry import cpu_target
            from numba.extending import intrinsic

            made, context = intrinsic(self._emit), cpu_target.typing_context
            context.refresh()  # so that it knows what was made
            self._type = context.resolve_value_type(made)
        return self._type


def instruction(twin: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator for functions that emit LLVM code; ``twin`` does the same in Python.

    Numba is imported when a kernel that calls the function is compiled, not with the module.
    """
    return lambda emit: Instruction(twin, emit)


@cache
def _announce_stop() -> None:
    """Give the linker of compiled code, kept on disk or new, the address of the cell that ``stopping`` loads."""
    from llvmlite import binding

    binding.add_symbol(STOP, ctypes.addressof(_stop))


def is_stopping() -> bool:
    """Return whether kernels are to stop."""
    return _stop.value != 0
