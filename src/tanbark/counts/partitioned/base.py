"""Engines whose rows come in parts: every query is run on each part, and the results are added.

A part is counted by the engine for rows in memory, so that there is one way of counting. A subclass (for a file that
is read batch by batch, for a cluster) defines how a query reaches the parts and how the results are merged.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Integers
from tanbark.counts.column_sets import ColumnSet, cut
from tanbark.counts.engine import CodedRows, CountEngine, PairInformation
from tanbark.counts.information import measure_by_cells, measure_tables
from tanbark.counts.low_order import StoredCounts, stored_cells
from tanbark.counts.memory import MAX_DENSE_PAIR, MemoryCounts
from tanbark.errors import InputError
from tanbark.graph.spanning import pair_indices
from tanbark.machine import thread_count
from tanbark.table import CodedTable, Schema
from tanbark.table.coded import code_dtype

Result = list[NDArray[Any]]
Query = Callable[..., Result]  # of a part; with arguments by piece, also of the piece's and of the rows before the part
Merge = Callable[[Result, Result], Result]

GIB = 1 << 30
MIN_CELLS = 1 << 12
READ_COST = 18.0  # nanoseconds to read and code a value
CELL_COST, MAX_TABLE_COST = 0.015, 3.5  # nanoseconds to count a row into a table: per cell, by bitsets; row by row


@dataclass
class Passes:
    """Number of passes over the rows: to learn the schema, and to count."""

    schema: int = 0
    counts: int = 0

    @property
    def total(self) -> int:
        """All passes over the rows."""
        return self.schema + self.counts


class PartitionedCounts(CountEngine, ABC):
    """Run every query on the parts of the rows and add up the results.

    Parameters
    ----------
    schema : Schema
    max_memory : int
        Bytes that rows and tables may take at once; a query that needs more takes several passes.
    """

    counts_in_passes = True

    def __init__(self, schema: Schema, *, max_memory: int, n_jobs: int | None = None) -> None:
        self.schema, self.max_memory, self.n_jobs = schema, max_memory, n_jobs
        self.passes = Passes()
        self._states = np.array(schema.cardinalities, np.int64)
        self._total: float | None = None
        self._kept: dict[ColumnSet, Counts] = {}
        self._kept_cells = 0
        self._pairs: StoredCounts | None = None

    @abstractmethod
    def _run(self, query: Query, merge: Merge, name: str, arguments: Sequence[Any] | None = None) -> Result | None:
        """Run a query on every part, in one pass, and merge the results; None where there are no rows.

        ``arguments`` holds one for every piece of the rows; the query is then called with the part, this argument, and
        the number of rows before the part in its piece (see ``query_parts``). A checkpoint keeps results by ``name``.
        """

    @property
    @abstractmethod
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in; their order, and that of the rows in them, never changes."""

    @abstractmethod
    def _parts(self) -> Iterator[CodedTable]:
        """Iterate over the parts."""

    @abstractmethod
    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return a mask of the rows of the source that are counted; None, without a pass, where all are."""

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        if self._total is None:
            target = (self.schema.target,)
            table = self._known(target)
            self._total = float((self.tables([target])[0] if table is None else table).sum())
        return self._total

    @property
    def most_cells(self) -> int:
        """Cells of tables that are counted in one pass: a part and the sum each take 8 bytes a cell."""
        return max(MIN_CELLS, self.max_memory // 32)

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""
        different = list(dict.fromkeys(tuple(sorted(columns)) for columns in sets))
        self.prefetch(different)
        known = {columns: self._known(columns) for columns in different}
        found = {columns: table for columns, table in known.items() if table is not None}
        lacking = [columns for columns in different if columns not in found]
        for low, high in cut(self._sizes(lacking), self.most_cells):
            found.update(self._count(lacking[low:high]))
        return [_in_order(found, columns) for columns in sets]

    def prefetch(self, sets: Iterable[ColumnSet]) -> None:
        """Count sets that will be asked for soon, in one pass, as far as they fit into the cache."""
        lacking = [c for c in dict.fromkeys(tuple(sorted(columns)) for columns in sets) if self._known(c) is None]
        if self._pairs is None and self._pairs_pay(lacking):
            self._pairs = self.stored(2)
            lacking = [columns for columns in lacking if self._known(columns) is None]
        _, kept_sets = next(cut(self._sizes(lacking), self.most_cells), (0, 0))
        kept = lacking[:kept_sets]
        cells = int(self._sizes(kept).sum())
        if not kept or cells > self.most_cells:
            return
        while self._kept and self._kept_cells + cells > self.most_cells:
            self._kept_cells -= self._kept.pop(next(iter(self._kept))).size
        self._kept.update(self._count(kept))
        self._kept_cells += cells

    def _pairs_pay(self, sets: list[ColumnSet]) -> bool:
        """Return whether so many pairs are asked for that counting all at once, by the faster kernel, pays."""
        target = self.schema.target
        asked = sum(len(columns) - (target in columns) == 2 for columns in sets)
        return asked >= target > 1 and stored_cells(self.schema, 2) <= self.most_cells

    def _size(self, columns: ColumnSet) -> int:
        return math.prod(int(self._states[c]) for c in columns)

    def _sizes(self, sets: list[ColumnSet]) -> NDArray[np.float64]:
        return np.array([self._size(columns) for columns in sets], dtype=float)

    def _known(self, columns: ColumnSet) -> Counts | None:
        """Return a cached table by its sorted columns."""
        if columns in self._kept:
            return self._kept[columns]
        target = self.schema.target
        if self._pairs is not None and len(columns) - (target in columns) <= 2 and len(columns):
            return self._pairs.tables([columns])[0]
        return None

    def _count(self, sets: list[ColumnSet]) -> dict[ColumnSet, Counts]:
        """Count sets in one pass; with the class first and in order, most share all columns but the last."""
        target = self.schema.target
        asked = sorted((target, *columns[:-1]) if columns[-1:] == (target,) else columns for columns in sets)
        (flat,) = self.sum_over(partial(_count_tables, asked), f"tables {asked}")
        found, low = {}, 0
        for columns in asked:
            shape = tuple(int(self._states[c]) for c in columns)
            table = flat[low : low + math.prod(shape)].reshape(shape)
            low += table.size
            with_class = columns[:1] == (target,)
            found[tuple(sorted(columns))] = np.moveaxis(table, 0, -1) if with_class else table
        return found

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[Integers, Counts]]:
        """Count only the cells that occur: for each set the (n_cells, n_columns) states, sorted, and their counts."""
        sets = [tuple(columns) for columns in sets]
        if not sets:
            return []
        flat = self.sum_over(partial(_count_cells, sets), f"cells {sets}", merge=_merge_cells)
        return list(zip(flat[::2], flat[1::2], strict=True))

    def pair_information(self) -> PairInformation:
        """Return the conditional mutual information of every two features given the class."""
        n, target = len(self.schema.features), self.schema.target
        if self._pairs is None and stored_cells(self.schema, 2) <= self.most_cells:
            self._pairs = self.stored(2)
        if self._pairs is not None:
            return self._pairs.pair_information()
        first, second = pair_indices(n)
        n_classes = int(self._states[target])
        sizes = self._states[first] * self._states[second] * n_classes
        gain, rows = np.zeros(len(first)), np.zeros(len(first))
        dense = np.flatnonzero(sizes <= min(MAX_DENSE_PAIR, self.most_cells))
        for low, high in cut(sizes[dense], self.most_cells):
            chosen = dense[low:high]
            pairs = np.stack([first[chosen], second[chosen]], axis=1)
            (flat,) = self.sum_over(partial(_count_pairs, pairs), f"pairs {low} {high}")
            starts = np.cumsum(sizes[chosen]) - sizes[chosen]
            gain[chosen], rows[chosen] = measure_tables(
                flat, starts, self._states[pairs[:, 0]], self._states[pairs[:, 1]], n_classes, thread_count(self.n_jobs)
            )
        large = np.setdiff1d(np.arange(len(first)), dense)
        found = self.cells([(int(first[k]), int(second[k]), target) for k in large])
        for k, (states, counts) in zip(large.tolist(), found, strict=True):
            gain[k], rows[k] = measure_by_cells(states, counts)
        return PairInformation(gain, rows)

    def stored(self, order: int) -> StoredCounts:
        """Count, in one pass, all tables of the class with up to ``order`` features."""
        (flat,) = self.sum_over(partial(_count_stored, order), f"stored {order}")
        return StoredCounts(self.schema, order, flat)

    def batches(self, size: int = 65536) -> Iterator[CodedRows]:
        """Iterate over the coded rows: (columns, rows) codes with their weights, in parts of at most ``size`` rows."""
        self.passes.counts += 1
        for part in self._parts():
            yield from MemoryCounts(part, n_jobs=self.n_jobs).batches(size)

    def sum_over(
        self, query: Query, name: str, arguments: Sequence[Any] | None = None, merge: Merge | None = None
    ) -> Result:
        """Run a query on every part, in one pass, and add up the results, or merge them in another way."""
        found = self._run(query, merge or _add, name, arguments)
        if found is None:
            msg = "There are no rows to learn from. Check how the files were written or filtered."
            raise InputError(msg)
        return found

    @cached_property
    def rows_by_piece(self) -> Integers:
        """Number of rows in each piece, whatever their weights."""
        pieces = range(self.n_pieces)
        return self.sum_over(partial(_count_rows, len(pieces)), "rows by piece", pieces)[0]

    def labels(self) -> NDArray[np.unsignedinteger]:
        """Return the class of every row, in their order."""
        starts = (np.cumsum(self.rows_by_piece) - self.rows_by_piece).tolist()
        dtype = code_dtype((int(self._states[-1]),))
        found = self.sum_over(partial(_read_labels, dtype), "labels", starts, merge=operator.add)
        out = np.zeros(int(self.rows_by_piece.sum()), dtype)
        if sum(map(len, found[1::2])) != len(out):
            raise rows_changed()
        for start, labels in zip(found[::2], found[1::2], strict=True):
            out[int(start[0]) : int(start[0]) + len(labels)] = labels
        return out

    @property
    def coded_bytes(self) -> int:
        """Bytes that all coded rows take."""
        width = np.dtype(code_dtype(self.schema.cardinalities)).itemsize
        return int(self.rows_by_piece.sum()) * len(self.schema.columns) * width

    def collected(self) -> MemoryCounts:
        """Read all coded rows into memory, for a learner that needs them at once, if ``max_memory`` allows it."""
        needed = self.coded_bytes
        if needed > self.max_memory:
            msg = (
                f"This learner must see each row many times, and the coded rows take {needed / GIB:,.2f} GiB, above "
                f"max_memory={self.max_memory / GIB:,.2f} GiB. Raise max_memory, learn from a sample of the rows, or "
                "use a learner that needs counts alone, such as NaiveBayes, TAN, KDB, AODE, RAIANB, BAN or GBN."
            )
            raise InputError(msg)
        self.passes.counts += 1
        parts = list(self._parts())
        codes = np.concatenate([part.codes for part in parts], axis=1)
        weighted = parts[0].weights is not None
        weights = np.concatenate([part.weights for part in parts if part.weights is not None]) if weighted else None
        return MemoryCounts(CodedTable(self.schema, codes, weights), n_jobs=self.n_jobs)

    def coded_rows(self) -> CodedRows:
        """Read all coded rows into memory as one matrix, with their weights, if ``max_memory`` allows it."""
        return self.collected().coded_rows()

    @property
    def pass_cost(self) -> float:
        """Nanoseconds of one core that reading and coding a row takes."""
        return READ_COST * len(self._states)

    def table_cost(self, columns: ColumnSet) -> float:
        """Return the nanoseconds of one core per row to count the table of sorted columns; 0 where it is cached."""
        return 0.0 if self._known(columns) is not None else min(CELL_COST * self._size(columns), MAX_TABLE_COST)


def query_parts(
    query: Query, merge: Merge, tables: Iterable[CodedTable], *, argument: Any = None, result: Result | None = None,
    n_jobs: int | None = None,
) -> Result | None:  # fmt: skip
    """Run a query on the parts of one piece, in their order, and merge the results into an earlier one."""
    before = 0
    for table in tables:
        part = MemoryCounts(table, n_jobs=n_jobs)
        found = query(part) if argument is None else query(part, argument, before)
        result = found if result is None else merge(result, found)
        before += table.n_rows
    return result


def rows_changed() -> InputError:
    """Return the error for rows that are not those of an earlier pass."""
    return InputError("The rows changed while they were read: a pass found more or fewer than another. Fit again.")


def _in_order(found: dict[ColumnSet, Counts], columns: ColumnSet) -> Counts:
    """Return a table with its axes in the order of the columns."""
    stored = tuple(sorted(columns))
    return np.ascontiguousarray(found[stored].transpose([stored.index(c) for c in columns]))


def _add(left: Result, right: Result) -> Result:
    for mine, theirs in zip(left, right, strict=True):
        mine += theirs
    return left


def _merge_cells(left: Result, right: Result) -> Result:
    """Merge observed cells: states and counts of every set in turn."""
    found: Result = []
    for k in range(0, len(left), 2):
        states = np.concatenate([left[k], right[k]])
        counts = np.concatenate([left[k + 1], right[k + 1]])
        different, place = np.unique(states, axis=0, return_inverse=True)
        summed = np.zeros(len(different), counts.dtype)
        np.add.at(summed, place.ravel(), counts)
        found += [different, summed]
    return found


def _count_rows(n_pieces: int, part: MemoryCounts, piece: int, before: int) -> Result:
    rows = np.zeros(n_pieces, np.int64)
    rows[piece] = part.n_rows
    return [rows]


def _read_labels(dtype: type[np.unsignedinteger], part: MemoryCounts, start: int, before: int) -> Result:
    return [np.array([start + before]), part.table.codes[-1].astype(dtype)]


def _count_tables(sets: list[ColumnSet], part: MemoryCounts) -> Result:
    return [part.flat_tables(sets)]


def _count_cells(sets: list[ColumnSet], part: MemoryCounts) -> Result:
    return [array for found in part.cells(sets) for array in found]


def _count_pairs(pairs: Integers, part: MemoryCounts) -> Result:
    return [part.pair_tables(pairs)]


def _count_stored(order: int, part: MemoryCounts) -> Result:
    return [part.stored(order).flat]
