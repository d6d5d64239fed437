"""Tables of whole numbers from 0 to 63: which occur, found in the pass that codes them or counts them by class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.table.raw import RawTable

LIMIT = 64
MIN_COUNTED = 1 << 20  # numbers; fewer are coded and counted before the kernels of a count would be read
MOST_COUNTERS = 1 << 16  # more do not stay in the caches


class SmallNumbers(NamedTuple):
    """A table of whole numbers from 0 to 63 as codes, which a scan of its numbers leaves.

    Attributes
    ----------
    codes : array of shape (n_columns + 1, n_rows)
        The numbers, transposed, and room for the class.
    occurring : array of shape (n_columns,)
        A bit for every number that occurs in a column.
    """

    codes: NDArray[np.uint8]
    occurring: NDArray[np.uint64]


class CountedNumbers(NamedTuple):
    """How often the numbers of a table occur with each class: ``rows[column, number, class]``."""

    rows: NDArray[np.int64]

    @property
    def occurring(self) -> NDArray[np.uint64]:
        """A bit for every number that occurs in a column."""
        bits = np.uint64(1) << np.arange(self.rows.shape[1], dtype=np.uint64)
        return np.asarray(np.where(self.rows.any(axis=2), bits, np.uint64(0)).sum(axis=1, dtype=np.uint64))


def scan_small_numbers(table: RawTable, n_jobs: int | None = None) -> SmallNumbers | None:
    """Scan and transpose a table of whole numbers in one pass; return None unless all of it lies from 0 to 63."""
    from tanbark.table import kernels

    values, threads = _whole_numbers(table), thread_count(n_jobs)
    if values is None:
        return None
    look = kernels.look_bytes if values.dtype == np.uint8 else kernels.look_small
    rows, n_columns = values.shape
    codes = np.empty((n_columns + 1, rows), np.uint8)

    def work(low: int, high: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        seen, strange = np.zeros(n_columns, np.uint64), np.zeros(n_columns, np.uint64)
        look(values[low:high], low, codes, seen, strange)
        return seen, strange

    if work(0, min(rows, 64))[1].any():
        return None
    parts = run_threads(work, row_blocks(rows, threads), threads)
    if any(strange.any() for _, strange in parts):
        return None
    return SmallNumbers(codes, np.bitwise_or.reduce([seen for seen, _ in parts]))


def count_small_numbers(
    table: RawTable, labels: Integers, n_classes: int, n_jobs: int | None = None
) -> CountedNumbers | None:
    """Count the numbers of every column by class where they lie, without coding them.

    Returns None for a small table, for one that holds anything but whole numbers from 0 to 63, and where the counters
    would be too many for a pass by rows.
    """
    from tanbark.table import kernels

    values, threads = _whole_numbers(table), thread_count(n_jobs)
    if values is None or values.size < MIN_COUNTED or (values[:64] >= LIMIT).any():
        return None
    blocks = row_blocks(len(values), threads)
    joined = run_threads(lambda low, high: kernels.join_bits(values[low:high]), blocks, threads)
    n_values = max(joined) + 1
    shape = (n_classes, values.shape[1], n_values)
    if min(joined) < 0 or n_values > LIMIT or np.prod(shape) > MOST_COUNTERS:
        return None

    def work(low: int, high: int) -> NDArray[np.int64]:
        counts = np.zeros(shape, np.int64)
        kernels.count_by_class(values[low:high], labels[low:high], counts)
        return counts

    parts = run_threads(work, blocks, threads)
    return CountedNumbers(np.sum(parts, axis=0).transpose(1, 2, 0))


def _whole_numbers(table: RawTable) -> NDArray[Any] | None:
    """Return the numbers of a table that is one block of whole numbers; bytes as unsigned ones, None for others."""
    if len(table.blocks) != 1 or table.blocks[0].columns != tuple(range(table.n_columns)):
        return None
    values = table.blocks[0].values
    if values.dtype not in (np.int64, np.int8, np.uint8) or not values.flags.c_contiguous:
        return None
    return values if values.dtype == np.int64 else values.view(np.uint8)
