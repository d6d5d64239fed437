"""What the machine allows: bare compiled loops that do only the work that no program can do without.

A limit is the time of such a loop over the same data, on as many threads as ours, in the same turns. It looks at no
range, checks nothing, makes no codes and no model. ``rates`` measures what the loops rest on.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit

from benchmarks.speed.data import TreeModel
from tanbark.counts.kernels import popcount
from tanbark.machine import row_blocks, run_threads, thread_count

L1_WORDS = 1024  # two bitsets of this length stay in the nearest cache


@njit(nogil=True)
def _count(X: Any, y: Any, out: Any) -> None:
    for row in range(len(X)):
        label = y[row]
        for column in range(X.shape[1]):
            out[label, column, X[row, column]] += 1


@njit(nogil=True)
def _gather(X: Any, above: Any, tables: Any, out: Any) -> None:
    for row in range(len(X)):
        for column in range(X.shape[1]):
            parent = np.uint64(X[row, above[column]]) if above[column] >= 0 else np.uint64(0)
            for c in range(out.shape[1]):
                out[row, c] += tables[column, parent, np.uint64(X[row, column]), c]


@njit(nogil=True)
def _popcount(left: Any, right: Any, sweeps: int) -> int:
    total = np.uint64(0)
    for _ in range(sweeps):
        for word in range(len(left)):
            total += popcount(left[word] & right[word])
        left[0] += np.uint64(1)  # or the compiler would do one sweep only
    return total


@njit(nogil=True)
def _read(values: Any) -> int:
    total = np.uint64(0)
    for place in range(len(values)):
        total += values[place]
    return total


def counting(X: np.ndarray, y: np.ndarray, n_states: int, n_classes: int) -> Callable[[], Any]:
    """Count (value, class) of every column, row by row: one increment per value."""

    def work(low: int, high: int) -> None:
        _count(X[low:high], y[low:high], np.zeros((n_classes, X.shape[1], n_states), np.int64))

    return _in_blocks(work, len(X))


def gathering(X: np.ndarray, parents: np.ndarray, n_states: int, n_classes: int) -> Callable[[], Any]:
    """Add one entry per value and class, read at the value and that of a parent column (-1: none)."""
    tables = np.random.default_rng(0).random((X.shape[1], n_states, n_states, n_classes))
    out = np.zeros((len(X), n_classes))
    return _in_blocks(lambda low, high: _gather(X[low:high], parents, tables, out[low:high]), len(X))


def popcounting(n_rows: int, n_features: int, n_states: int) -> Callable[[], Any]:
    """AND and popcount as many words as pair counts of complete columns take: (states - 1)^2 sweeps per pair."""
    words = n_features * (n_features - 1) // 2 * (n_states - 1) ** 2 * (n_rows // 64)
    threads = thread_count(None)
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 2**63, (2, L1_WORDS)).astype(np.uint64) for _ in range(threads)]
    sweeps = max(1, words // (L1_WORDS * threads))
    return lambda: run_threads(_popcount, [(*part, sweeps) for part in parts], threads)


def tree_parents(model: TreeModel | None, n_features: int) -> np.ndarray:
    """The parents of a tree for :func:`gathering`; a chain where none is known."""
    return np.arange(-1, n_features - 1) if model is None else model.parents


def _in_blocks(work: Callable[[int, int], Any], n_rows: int) -> Callable[[], Any]:
    threads = thread_count(None)
    return lambda: run_threads(work, row_blocks(n_rows, threads), threads)


def rates() -> str:
    """Describe the machine by what one thread reads, counts, gathers and popcounts in a second."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**63, 1 << 24).astype(np.uint64)
    X, y = rng.integers(0, 4, (200_000, 50)).astype(np.int8), rng.integers(0, 2, 200_000)
    words = values[: 2 * L1_WORDS].reshape(2, -1).copy()
    tables, out = rng.random((50, 1, 4, 2)), np.zeros((len(X), 2))
    found = {
        "GB read": values.nbytes / 1e9 / _fastest(lambda: _read(values)),
        "billion words popcounted": 1e-9 * 20_000 * L1_WORDS / _fastest(lambda: _popcount(*words, 20_000)),
        "billion counters raised": 1e-9 * X.size / _fastest(lambda: _count(X, y, np.zeros((2, 50, 4), np.int64))),
        "billion entries gathered": 2e-9 * X.size / _fastest(lambda: _gather(X, np.full(50, -1), tables, out)),
    }
    return ", ".join(f"{value:.2f} {name}" for name, value in found.items())


def _fastest(call: Callable[[], Any]) -> float:
    call()
    times = []
    for _ in range(5):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)
