"""Kernels: compiled once, called by one another, and in Python where a compiler would be waited for."""

import pickle

import numpy as np
import pytest

from tanbark import kernel as kernels
from tanbark.kernel import for_work, interpreted, kernel, tiered


@kernel
def _double(x):
    return 2 * x


@kernel
def _add_doubles(x, y):
    return _double(x) + _double(y)


def test_a_kernel_in_python_calls_kernels_in_python(monkeypatch):
    monkeypatch.setattr(kernels.Kernel, "_compile", lambda self: pytest.fail("nothing is to be compiled"))
    assert interpreted(_add_doubles)("a", "b") == "aabb"


def test_a_kernel_is_pickled_by_its_name():
    from tanbark.params.hierarchical.shrinkage_kernels import shrink

    assert pickle.loads(pickle.dumps(shrink)) is shrink


def test_a_kernel_calls_compiled_kernels():
    assert _add_doubles(1, 2) == 6
    assert _add_doubles.py_func(1, 2) == 6


def test_small_work_is_done_in_python_until_there_was_much_of_it(monkeypatch):
    monkeypatch.setattr(kernels.Kernel, "waits", True)
    fresh = kernel(_double.py_func)
    assert [for_work(fresh, 4, 10) is fresh for _ in range(4)] == [False, False, True, True]
    assert for_work(kernel(_double.py_func), 11, 10) is not _double.py_func


def test_a_kernel_that_need_not_wait_is_used(monkeypatch):
    fresh = kernel(_double.py_func)
    monkeypatch.setattr(kernels, "interprets", False)
    assert for_work(fresh, 1, 10) is fresh
    monkeypatch.setattr(kernels, "interprets", True)
    assert fresh(2) == 4
    assert for_work(fresh, 1, 10) is fresh


def test_a_kernel_that_knows_its_work_is_compiled_when_there_was_enough_of_it(monkeypatch):
    waiting = tiered(len)(lambda values: list(values))
    monkeypatch.setattr(kernels.Kernel, "waits", True)
    monkeypatch.setattr(kernels, "MOST_STEPS", 5)
    monkeypatch.setattr(kernels.Kernel, "_compile", lambda _: lambda values: ("compiled", *values))
    assert waiting([1, 2]) == [1, 2]
    assert waiting([3, 4, 5]) == [3, 4, 5]
    assert waiting([6]) == ("compiled", 6)


@kernel
def _step(x, up):
    return x + 1 if up else x - 1


@kernel
def _up_and_down(x):
    return _step(x, True) + _step(2, False)


@pytest.fixture
def nothing_kept(monkeypatch):
    """Let kernels be compiled here, whatever is kept on disk."""
    from numba.core.caching import NullCache

    monkeypatch.setattr(kernels, "open_cache", lambda _: NullCache())


@pytest.mark.usefixtures("nothing_kept")
def test_a_kernel_is_compiled_once_for_all_constants():
    assert kernel(_up_and_down.py_func)(5) == 7
    assert len(_step._inner.signatures) == 1


@kernel
def _refuse(x):
    if x < 0:
        raise ValueError("negative", x)
    return np.sqrt(x)


@kernel
def _count_down(x):
    return 0 if x == 0 else 1 + _count_down(x - 1)


@kernel
def _use_both(x):
    return _refuse(x) + _count_down(3)


@pytest.mark.usefixtures("nothing_kept")
def test_a_kernel_within_another_has_no_machine_code_and_raises_its_errors():
    outer = kernel(_use_both.py_func)
    assert outer(4.0) == 5
    (inner,) = _refuse._inner.overloads.values()
    assert inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name) == 0
    with pytest.raises(ValueError, match="negative") as raised:
        outer(-2.0)
    assert raised.value.args == ("negative", -2.0)


@pytest.mark.usefixtures("nothing_kept")
def test_another_numba_compiles_kernels_in_its_own_way(monkeypatch):
    from numba.core.compiler import Compiler

    from tanbark import kernel_compiler

    monkeypatch.setattr(kernel_compiler, "EXPECTED", ("what_no_library_has",))
    kernels._compilers.cache_clear()
    try:
        assert kernels._compilers() == (Compiler, Compiler)
        assert kernel(_add_doubles.py_func)(1.5, 2.0) == 7
    finally:
        kernels._compilers.cache_clear()
