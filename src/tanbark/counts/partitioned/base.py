"""Engines whose rows come in parts: every question is put to each part, and the answers are added.

A part is counted by the engine for rows in memory, so that there is one way of counting. Whoever owns the parts (a file
that is read batch by batch, a cluster) only says how a question is taken to them and how the answers come together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Integers
from tanbark.counts.column_sets import ColumnSet
from tanbark.counts.engine import CodedRows, DerivedQueries, PairInformation
from tanbark.counts.information import measure_by_cells, measure_tables
from tanbark.counts.low_order import StoredCounts, stored_cells
from tanbark.counts.memory import MAX_DENSE_PAIR, MemoryCounts
from tanbark.errors import InputError
from tanbark.graph.spanning import pair_indices
from tanbark.machine import thread_count
from tanbark.table import CodedTable, Schema
from tanbark.table.coded import code_dtype

Answer = list[NDArray[Any]]
Question = Callable[..., Answer]  # of a part; where pieces are told something, of that and the rows before it too
Merge = Callable[[Answer, Answer], Answer]

GIB = 1 << 30
LEAST_CELLS = 1 << 12
READ_COST = 18.0  # nanoseconds to read and code a value,
CELL_COST, MOST_COST = 0.015, 3.5  # and to count a row into a table: by the cell, by bitsets, or directly


@dataclass
class Passes:
    """How often the rows were walked through, and what a learner may ask of one walk."""

    schema: int = 0
    counts: int = 0

    @property
    def total(self) -> int:
        """All passes over the rows."""
        return self.schema + self.counts


class PartitionedCounts(DerivedQueries, ABC):
    """Answer every question by adding up the answers of parts.

    Parameters
    ----------
    schema : Schema
    max_memory : int
        Bytes that rows and tables may take at once; a question that needs more is asked in several passes.
    """

    def __init__(self, schema: Schema, *, max_memory: int, n_jobs: int | None = None) -> None:
        self._schema = schema
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.passes = Passes()
        self._states = np.array(schema.cardinalities, np.int64)
        self._total: float | None = None
        self._kept: dict[ColumnSet, Counts] = {}
        self._kept_cells = 0
        self._pairs: StoredCounts | None = None

    # ------------------------------------------------------------------ what an engine adds

    @abstractmethod
    def _ask(self, question: Question, merge: Merge, name: str, told: Sequence[Any] | None = None) -> Answer | None:
        """Put a question to every part and merge the answers; None where there are no rows. One pass.

        ``told`` holds something for every piece of the rows; the question to a part of the piece is then given this,
        and the number of rows before the part in its piece (see ``answer_parts``).
        """

    @property
    @abstractmethod
    def n_pieces(self) -> int:
        """Number of pieces that the rows come in; their order, and that of the rows in them, never changes."""

    @abstractmethod
    def _parts(self) -> Iterator[CodedTable]:
        """Walk over the parts."""

    @abstractmethod
    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return which rows of the source are counted, in their order; None, without a pass, where all are."""

    # ------------------------------------------------------------------ the two doors

    @property
    def schema(self) -> Schema:
        """Columns and states, the class last."""
        return self._schema

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        if self._total is None:
            target = (self._schema.target,)
            table = self._known(target)
            self._total = float((self.tables([target])[0] if table is None else table).sum())
        return self._total

    @property
    def most_cells(self) -> int:
        """Cells of tables that are counted in one pass: a part and the sum each take 8 bytes a cell."""
        return max(LEAST_CELLS, self.max_memory // 32)

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""
        different = list(dict.fromkeys(tuple(sorted(columns)) for columns in sets))
        self.prefetch(different)
        known = {columns: self._known(columns) for columns in different}
        found = {columns: table for columns, table in known.items() if table is not None}
        lacking = [columns for columns in different if columns not in found]
        for part in self._batched(lacking):
            found.update(self._count(part))
        return [_in_order(found, columns) for columns in sets]

    def prefetch(self, sets: Iterable[ColumnSet]) -> None:
        """Count sets that will be asked for soon, in one pass, as far as there is room to keep them."""
        lacking = [c for c in dict.fromkeys(tuple(sorted(columns)) for columns in sets) if self._known(c) is None]
        if self._pairs is None and self._pairs_pay(lacking):
            self._pairs = self.stored(2)
            lacking = [columns for columns in lacking if self._known(columns) is None]
        cells, kept = 0, []
        for columns in lacking:
            if cells + self._size(columns) > self.most_cells:
                break
            cells += self._size(columns)
            kept.append(columns)
        if not kept:
            return
        while self._kept and self._kept_cells + cells > self.most_cells:
            self._kept_cells -= self._kept.pop(next(iter(self._kept))).size
        self._kept.update(self._count(kept))
        self._kept_cells += cells

    def _pairs_pay(self, sets: list[ColumnSet]) -> bool:
        """Return whether so many pairs are asked for that all of them are counted at once, by the quicker kernel."""
        target = self._schema.target
        asked = sum(len(columns) - (target in columns) == 2 for columns in sets)
        return asked >= target > 1 and stored_cells(self._schema, 2) <= self.most_cells

    def _size(self, columns: ColumnSet) -> int:
        return math.prod(int(self._states[c]) for c in columns)

    def _known(self, columns: ColumnSet) -> Counts | None:
        """Return a table that was counted before, its columns sorted."""
        if columns in self._kept:
            return self._kept[columns]
        target = self._schema.target
        if self._pairs is not None and len(columns) - (target in columns) <= 2 and len(columns):
            return self._pairs.tables([columns])[0]
        return None

    def _count(self, sets: list[ColumnSet]) -> dict[ColumnSet, Counts]:
        """Count sets in one pass; with the class first and in order, most share all columns but the last."""
        target = self._schema.target
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
        flat = self._ask(partial(_count_cells, sets), _merge_cells, f"cells {sets}")
        if flat is None:
            raise _no_rows()
        return list(zip(flat[::2], flat[1::2], strict=True))

    def pair_information(self) -> PairInformation:
        """Measure the dependence of every two features given the class."""
        n, target = len(self._schema.features), self._schema.target
        if self._pairs is None and stored_cells(self._schema, 2) <= self.most_cells:
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
        """Count, in one pass, everything that learners of an order may ask (see ``StoredCounts``)."""
        (flat,) = self.sum_over(partial(_count_stored, order), f"stored {order}")
        return StoredCounts(self._schema, order, flat)

    def batches(self, size: int = 65536) -> Iterator[CodedRows]:
        """Iterate over the coded rows: (columns, rows) codes with their weights, in parts of at most ``size`` rows."""
        self.passes.counts += 1
        for part in self._parts():
            yield from MemoryCounts(part, n_jobs=self.n_jobs).batches(size)

    def sum_over(
        self, question: Question, name: str, told: Sequence[Any] | None = None, merge: Merge | None = None
    ) -> Answer:
        """Put a question to every part, in one pass, and add up the answers, or merge them in another way."""
        found = self._ask(question, merge or _add, name, told)
        if found is None:
            raise _no_rows()
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
        found = self.sum_over(partial(_read_labels, dtype), "labels", starts, merge=_listed)
        out = np.zeros(int(self.rows_by_piece.sum()), dtype)
        if sum(map(len, found[1::2])) != len(out):
            raise rows_changed()
        for start, labels in zip(found[::2], found[1::2], strict=True):
            out[int(start[0]) : int(start[0]) + len(labels)] = labels
        return out

    @property
    def coded_bytes(self) -> int:
        """Bytes that all coded rows take."""
        return int(self.rows_by_piece.sum()) * len(self._schema.columns) * self.codes_width

    def collected(self) -> MemoryCounts:
        """Bring all coded rows into memory, for a learner that must see them all at once, if they may take it."""
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
        return MemoryCounts(CodedTable(self._schema, codes, weights), n_jobs=self.n_jobs)

    def coded_rows(self) -> CodedRows:
        """Bring all coded rows into memory as one matrix, with their weights, if ``max_memory`` allows it."""
        return self.collected().coded_rows()

    @property
    def counts_in_passes(self) -> bool:
        """Whether a query is answered by a pass over rows that are not in memory: it is."""
        return True

    @property
    def pass_cost(self) -> float:
        """Nanoseconds of one core that reading and coding a row takes."""
        return READ_COST * len(self._states)

    def table_cost(self, columns: ColumnSet) -> float:
        """Return the nanoseconds of one core per row to count the table of sorted columns; 0 where it is cached."""
        return 0.0 if self._known(columns) is not None else min(CELL_COST * self._size(columns), MOST_COST)

    @property
    def codes_width(self) -> int:
        """Bytes of a code."""
        largest = int(self._states.max())
        return 1 if largest < 255 else 2 if largest < 65535 else 4

    # ------------------------------------------------------------------ inside

    def _batched(self, sets: list[ColumnSet]) -> Iterator[list[ColumnSet]]:
        """Cut sets into batches whose tables are counted in one pass."""
        sizes = np.array([self._size(columns) for columns in sets], dtype=float)
        for low, high in cut(sizes, self.most_cells):
            yield sets[low:high]


def answer_parts(
    question: Question, merge: Merge, tables: Iterable[CodedTable], *, told: Any = None, answer: Answer | None = None,
    n_jobs: int | None = None,
) -> Answer | None:  # fmt: skip
    """Put a question to the parts of one piece, in their order, and merge what they say into an answer."""
    before = 0
    for table in tables:
        part = MemoryCounts(table, n_jobs=n_jobs)
        found = question(part) if told is None else question(part, told, before)
        answer = found if answer is None else merge(answer, found)
        before += table.n_rows
    return answer


def rows_changed() -> InputError:
    """Return the error for rows that are not those of an earlier pass."""
    return InputError("The rows changed while they were read: a pass found more or fewer than another. Fit again.")


def _no_rows() -> InputError:
    return InputError("There are no rows to learn from. Check how the files were written or filtered.")


def cut(sizes: NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Cut a list of sizes into stretches that sum to at most ``most``, or hold one."""
    ends = np.cumsum(sizes)
    low = 0
    while low < len(sizes):
        before = ends[low] - sizes[low]
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield low, high
        low = high


def _in_order(found: dict[ColumnSet, Counts], columns: ColumnSet) -> Counts:
    """Return a table with its axes in the order asked for."""
    stored = tuple(sorted(columns))
    return np.ascontiguousarray(found[stored].transpose([stored.index(c) for c in columns]))


def _add(left: Answer, right: Answer) -> Answer:
    for mine, theirs in zip(left, right, strict=True):
        mine += theirs
    return left


def _merge_cells(left: Answer, right: Answer) -> Answer:
    """Merge observed cells: states and counts of every set in turn."""
    found: Answer = []
    for k in range(0, len(left), 2):
        states = np.concatenate([left[k], right[k]])
        counts = np.concatenate([left[k + 1], right[k + 1]])
        different, place = np.unique(states, axis=0, return_inverse=True)
        summed = np.zeros(len(different), counts.dtype)
        np.add.at(summed, place.ravel(), counts)
        found += [different, summed]
    return found


def _listed(left: Answer, right: Answer) -> Answer:
    return [*left, *right]


def _count_rows(n_pieces: int, part: MemoryCounts, piece: int, before: int) -> Answer:
    rows = np.zeros(n_pieces, np.int64)
    rows[piece] = part.n_rows
    return [rows]


def _read_labels(dtype: type[np.unsignedinteger], part: MemoryCounts, start: int, before: int) -> Answer:
    return [np.array([start + before]), part.table.codes[-1].astype(dtype)]


def _count_tables(sets: list[ColumnSet], part: MemoryCounts) -> Answer:
    return [part.flat_tables(sets)]


def _count_cells(sets: list[ColumnSet], part: MemoryCounts) -> Answer:
    return [array for found in part.cells(sets) for array in found]


def _count_pairs(pairs: Integers, part: MemoryCounts) -> Answer:
    return [part.pair_tables(pairs)]


def _count_stored(order: int, part: MemoryCounts) -> Answer:
    return [part.stored(order).flat]
