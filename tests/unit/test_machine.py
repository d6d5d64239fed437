"""Threads over independent work: kept between calls, never in one another's way."""

import multiprocessing
import sys
import threading
import time

import pytest

from tanbark import machine
from tanbark.errors import OptionError
from tanbark.machine import run_threads, thread_count


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
