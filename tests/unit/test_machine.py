"""Threads over independent work: kept between calls, never in one another's way."""

import multiprocessing
import pickle
import sys
import threading
import time

import pytest

from tanbark import machine
from tanbark.errors import OptionError
from tanbark.machine import for_work, interpreted, kernel, run_threads, thread_count, tiered


def test_negative_numbers_of_threads_leave_cores_free(monkeypatch):
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: range(4), raising=False)
    assert [thread_count(each) for each in (None, -1, -2, -4, -9, 1, 7)] == [4, 4, 3, 1, 1, 1, 7]
    for wrong in (0, True, 1.5):
        with pytest.raises(OptionError, match="n_jobs must be"):
            thread_count(wrong)


def test_results_come_in_the_order_of_the_calls():
    assert run_threads(lambda k: k * k, [(k,) for k in range(50)], 3) == [k * k for k in range(50)]


def test_threads_are_kept():
    first = set(run_threads(lambda _: threading.current_thread().name, [(k,) for k in range(8)], 2))
    again = set(run_threads(lambda _: threading.current_thread().name, [(k,) for k in range(8)], 2))
    assert threading.current_thread().name not in first
    assert len(first | again) <= 2


def test_a_task_may_have_tasks_of_its_own():
    def outer(k):
        return sum(run_threads(lambda j: 10 * k + j, [(j,) for j in range(4)], 2))

    assert run_threads(outer, [(k,) for k in range(6)], 2) == [40 * k + 6 for k in range(6)]


def test_after_an_error_no_task_goes_on():
    running = []

    def task(k):
        if k == 0:
            raise ValueError("the first")
        running.append(k)
        time.sleep(0.02)
        running.remove(k)

    with pytest.raises(ValueError, match="the first"):
        run_threads(task, [(k,) for k in range(6)], 2)
    assert running == []


def _total():
    return sum(run_threads(lambda k: k, [(k,) for k in range(10)], 2))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    assert _total() == 45
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_total).get(timeout=30) == 45


@kernel
def _double(x):
    return 2 * x


@kernel
def _add_doubles(x, y):
    return _double(x) + _double(y)


def test_a_kernel_in_python_calls_kernels_in_python(monkeypatch):
    monkeypatch.setattr(machine.Kernel, "_compile", lambda self: pytest.fail("nothing is to be compiled"))
    assert interpreted(_add_doubles)("a", "b") == "aabb"


def test_a_kernel_is_pickled_by_its_name():
    from tanbark.params.hierarchical.shrinkage_kernels import shrink

    assert pickle.loads(pickle.dumps(shrink)) is shrink


def test_a_kernel_calls_compiled_kernels():
    assert _add_doubles(1, 2) == 6
    assert _add_doubles.py_func(1, 2) == 6


def test_small_work_is_done_in_python_until_there_was_much_of_it(monkeypatch):
    monkeypatch.setattr(machine.Kernel, "waits", True)
    fresh = kernel(_double.py_func)
    assert [for_work(fresh, 4, 10) is fresh for _ in range(4)] == [False, False, True, True]
    assert for_work(kernel(_double.py_func), 11, 10) is not _double.py_func


def test_a_kernel_that_need_not_wait_is_used(monkeypatch):
    fresh = kernel(_double.py_func)
    monkeypatch.setattr(machine, "interprets", False)
    assert for_work(fresh, 1, 10) is fresh
    monkeypatch.setattr(machine, "interprets", True)
    assert fresh(2) == 4
    assert for_work(fresh, 1, 10) is fresh


def test_a_kernel_that_knows_its_work_is_compiled_when_there_was_enough_of_it(monkeypatch):
    waiting = tiered(len)(lambda values: list(values))
    monkeypatch.setattr(machine.Kernel, "waits", True)
    monkeypatch.setattr(machine, "MOST_STEPS", 5)
    monkeypatch.setattr(machine.Kernel, "_compile", lambda _: lambda values: ("compiled", *values))
    assert waiting([1, 2]) == [1, 2]
    assert waiting([3, 4, 5]) == [3, 4, 5]
    assert waiting([6]) == ("compiled", 6)


@kernel
def _step(x, up):
    return x + 1 if up else x - 1


@kernel
def _up_and_down(x):
    return _step(x, True) + _step(2, False)


def test_a_kernel_is_compiled_once_for_all_constants():
    assert _up_and_down(5) == 7
    assert len(_step._inner.signatures) == 1
