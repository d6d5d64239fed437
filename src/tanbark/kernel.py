"""Kernels: plain Python loops that Numba compiles once and keeps on disk.

They release the interpreter lock, so that ``machine.run_threads`` uses every core. Numba itself is imported with the
first kernel that is compiled or read from disk, never with ``import tanbark``; small work is done in Python where a
compiler would have to be waited for.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any

from tanbark.kernel_cache import open_cache
from tanbark.machine import STOP, stop_cell

interprets = True  # whether small work may be done in Python; not where kernels are to be compiled ahead
MOST_STEPS = 1 << 22  # array elements that Python reads and writes in a second or two: as long as compilers take


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

    def _dispatcher(self, *, inner: bool = False) -> Any:
        """Make a dispatcher of Numba; called by a kernel with a constant, it is not compiled for that value alone."""
        from numba import njit
        from numba.core.types.misc import unliteral

        options = {"no_cpython_wrapper": inner, "pipeline_class": _compilers()[inner]}
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
            made = self._dispatcher(inner=True)
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
def _compilers() -> tuple[Any, Any]:
    """Return the compilers for kernels that Python calls and for those within them."""
    try:
        from tanbark.kernel_compiler import compilers
    except ImportError:  # Numba's own, where its modules are not those that are known
        from numba.core.compiler import Compiler

        return Compiler, Compiler
    return compilers()


@cache
def _announce_stop() -> None:
    """Give the linker of compiled code, kept on disk or new, the address of the cell that ``stopping`` loads."""
    from llvmlite import binding

    binding.add_symbol(STOP, ctypes.addressof(stop_cell))
