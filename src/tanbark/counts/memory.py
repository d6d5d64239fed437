"""The engine for rows in memory: bitsets for small tables, direct counting for wide ones, sorting for huge ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Floats, Integers
from tanbark.counts.column_sets import ColumnSet, ColumnSets
from tanbark.counts.engine import PairInformation
from tanbark.graph.trees import pair_indices
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.table import CodedTable, Schema, missing_code

MOST_BIT_STATES = 12  # columns with more states get no bitsets: they would outgrow the codes
MOST_BIT_CELLS = 128  # pairs with more counted cells are faster to count directly
MOST_SET_CELLS = 512  # sets with more cells are faster to count directly
DENSE_CELLS = 1 << 22  # larger pair tables are measured by their observed cells alone
WORTH_THREADS = 1 << 20  # smaller tables are counted before a second thread has started
BLOCK_CELLS = 1 << 22  # cells of pair tables that are held at once


class MemoryCounts:
    """Count a coded table in memory.

    The way of counting is chosen set by set and never changes a count; results do not depend on ``n_jobs``.
    """

    def __init__(self, table: CodedTable, *, n_jobs: int | None = None) -> None:
        self._table = table
        self.n_jobs = n_jobs
        self._threads = thread_count(n_jobs) if table.codes.size >= WORTH_THREADS else 1
        self._states = np.array(table.schema.cardinalities, np.int64)

    @property
    def schema(self) -> Schema:
        """Columns and states, the class last."""
        return self._table.schema

    @property
    def table(self) -> CodedTable:
        """The rows themselves."""
        return self._table

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return self._table.n_rows

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return which of the rows that were given are among these; None where all are."""
        return self._table.kept

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        weights = self._table.weights
        return float(self._table.n_rows if weights is None else weights.sum())

    def batches(self, size: int = 65536) -> Iterator[tuple[NDArray[np.unsignedinteger], Floats | None]]:
        """Walk over the coded rows: (columns, rows) codes with their weights."""
        weights = self._table.weights
        for low, high in blocks(self._table.n_rows, size):
            yield self._table.codes[:, low:high], None if weights is None else weights[low:high]

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""
        shapes = [tuple(int(self._states[column]) for column in columns) for columns in sets]
        flat, low, found = self.flat_tables(sets), 0, []
        for shape in shapes:
            found.append(flat[low : low + math.prod(shape)].reshape(shape))
            low += math.prod(shape)
        return found

    def prefetch(self, sets: Iterable[ColumnSet]) -> None:
        """Do nothing: a table in memory is counted when it is asked for."""

    def flat_tables(self, sets: Sequence[ColumnSet]) -> Counts:
        """Count sets of columns as ``tables`` does, each the way that suits it, one after another in one flat array."""
        asked = ColumnSets.of(sets)
        sizes, highest = asked.measure(self._states)
        starts = np.cumsum(sizes) - sizes
        flat = np.zeros(int(sizes.sum()), self._dtype)
        by_bits = self._sets_suit_bits(asked, sizes, highest)
        for chosen, count in ((by_bits, self._count_sets_by_bits), (~by_bits, self._count_directly)):
            if chosen.all() and len(sets):
                count(asked, starts, flat)
            elif chosen.any():
                count(ColumnSets.of([sets[place] for place in np.flatnonzero(chosen).tolist()]), starts[chosen], flat)
        return flat

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[Integers, Counts]]:
        """Count only the cells that occur: for each set the (n_cells, n_columns) states, sorted, and their counts."""
        return run_threads(self._observed_cells, [(columns,) for columns in sets], self._threads)

    def pair_information(self) -> PairInformation:
        """Measure the dependence of every two features given the class."""
        n = len(self.schema.features)
        gain, rows = np.zeros(n * (n - 1) // 2), np.zeros(n * (n - 1) // 2)
        for low, high, pairs in self._pair_blocks():
            gain[low:high], rows[low:high] = self._measure_pairs(pairs)
        return PairInformation(gain, rows)

    def pair_tables(self, pairs: Integers | None = None) -> Counts:
        """Count (i, j, class) for pairs of features, by default all i < j, one table after another in a flat array."""
        if pairs is None:
            pairs = np.stack(pair_indices(len(self.schema.features)), axis=1)
        return self._count_pairs(pairs)[0]

    def feature_tables(self) -> Counts:
        """Count the class, then (i, class) for all features i, one table after another in one flat array.

        Columns whose bits are packed are not counted again.
        """
        target = self.schema.target
        ready = self.__dict__.get("_bitsets")
        margins = np.zeros((0, 0), self._dtype) if ready is None else ready[4]
        first = np.full(target, -1) if ready is None else ready[1]
        counted = [i for i in range(target) if first[i] < 0]
        found = dict(zip(counted, self.tables([(i, target) for i in counted]) if counted else [], strict=True))
        found.update((i, margins[first[i] : first[i] + self._states[i]]) for i in range(target) if first[i] >= 0)
        return np.concatenate([self._count_class(), *(found[i].ravel() for i in range(target))])

    def _count_class(self) -> Counts:
        """Count the classes; without a kernel, which a first fit would have to wait for."""
        labels, n_classes = self._table.codes[self.schema.target], self._states[self.schema.target]
        known = labels < n_classes
        weights = None if self._table.weights is None else self._table.weights[known]
        return np.bincount(labels[known], weights, n_classes).astype(self._dtype, copy=False)

    @property
    def _dtype(self) -> type[np.generic]:
        return np.int64 if self._table.weights is None else np.float64

    def _count_directly(self, sets: ColumnSets, starts: Integers, out: Counts) -> None:
        from tanbark.counts import kernels

        weights = np.zeros(0) if self._table.weights is None else self._table.weights
        members, ends = sets.members, sets.ends
        step = self._sets_at_once(len(starts), len(members) * self._table.codes.shape[1])

        def work(low: int, high: int) -> None:
            kernels.count_sets(
                self._table.codes, weights, members, ends[low : high + 1], self._states, starts[low:high], out
            )

        run_threads(work, blocks(len(starts), step), self._threads)

    def _sets_at_once(self, n_sets: int, steps: int) -> int:
        """Return the sets of one task; all of them when starting threads would take longer than the work."""
        return n_sets if steps < WORTH_THREADS else max(1, -(-n_sets // (4 * self._threads)))

    def _sets_suit_bits(self, sets: ColumnSets, sizes: Integers, highest: Integers) -> NDArray[np.bool_]:
        """Mark the sets that are counted faster by bitsets: small ones, when there are enough to be worth packing."""
        few = len(sizes) <= len(self._states) and "_plain_bitsets" not in self.__dict__
        if few or self._table.weights is not None:
            return np.zeros(len(sizes), bool)
        small = (highest <= MOST_BIT_STATES) & (sizes <= MOST_SET_CELLS)
        return np.asarray(small & (np.diff(sets.ends) > 0))

    def _count_sets_by_bits(self, sets: ColumnSets, starts: Integers, out: Counts) -> None:
        from tanbark.counts import kernels

        step = self._sets_at_once(len(starts), len(out) * self._plain_bitsets[0].shape[1])

        def work(low: int, high: int) -> None:
            kernels.count_sets_by_bits(
                *self._plain_bitsets, sets.members, sets.ends[low : high + 1], starts[low:high], out
            )

        run_threads(work, blocks(len(starts), step), self._threads)

    @cached_property
    def _plain_bitsets(self) -> tuple[Any, ...]:
        """Pack every state of every small column into bits, the class like the others, and last a bit for each row."""
        from tanbark.counts import kernels

        codes = self._table.codes
        n_columns, n_rows = codes.shape
        small = self._states <= MOST_BIT_STATES
        held = np.where(small, self._states, 0)
        first = np.where(small, np.cumsum(held) - held, -1)
        bits = np.zeros((int(held.sum()) + 1, -(-n_rows // 64)), np.uint64)
        kernels.pack_bits(codes, np.arange(n_rows), first, self._states, bits)
        kernels.pack_bits(
            np.zeros((1, n_rows), np.uint8), np.arange(n_rows), np.zeros(1, np.int64), np.ones(1, np.int64), bits[-1:]
        )
        complete = np.array(
            [int((codes[column] < self._states[column]).all()) for column in range(n_columns)], np.int64
        )
        return bits, first, self._states, complete

    def _observed_cells(self, columns: ColumnSet) -> tuple[Integers, Counts]:
        codes = self._table.codes[list(columns)]
        observed = (codes != missing_code(codes)).all(axis=0)
        codes = codes[:, observed]
        keys = np.zeros(codes.shape[1], np.int64)
        radix = 1
        for column, values in zip(columns, codes, strict=True):
            if radix * int(self._states[column]) >= 2**62:
                _, keys = np.unique(keys, return_inverse=True)
                radix = int(keys.max(initial=0)) + 1
            keys = keys * self._states[column] + values
            radix *= int(self._states[column])
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        weights = None if self._table.weights is None else self._table.weights[observed]
        counts = np.bincount(place, weights=weights, minlength=len(first))
        return codes[:, first].T.astype(np.int64), counts.astype(self._dtype)

    def _pair_blocks(self) -> Iterator[tuple[int, int, Integers]]:
        """Cut the pairs of features into blocks whose tables fit in memory together."""
        n = len(self.schema.features)
        first, second = pair_indices(n)
        pairs = np.stack([first, second], axis=1)
        n_classes = self._states[self.schema.target]
        sizes = np.minimum(self._states[first] * self._states[second] * n_classes, DENSE_CELLS)
        low = 0
        ends = np.cumsum(sizes)
        while low < len(pairs):
            before = ends[low] - sizes[low]
            high = max(low + 1, int(np.searchsorted(ends, before + BLOCK_CELLS, side="right")))
            yield low, high, pairs[low:high]
            low = high

    def _measure_pairs(self, pairs: Integers) -> tuple[Floats, Floats]:
        n_classes = int(self._states[self.schema.target])
        sizes = self._states[pairs[:, 0]] * self._states[pairs[:, 1]] * n_classes
        gain, rows = np.zeros(len(pairs)), np.zeros(len(pairs))
        dense = np.flatnonzero(sizes <= DENSE_CELLS)
        counts, starts = self._count_pairs(pairs[dense])
        left, right = self._states[pairs[dense, 0]], self._states[pairs[dense, 1]]
        gain[dense], rows[dense] = measure_tables(counts, starts, left, right, n_classes, self._threads)
        for pair in np.flatnonzero(sizes > DENSE_CELLS):
            ((states, n),) = self.cells([(*pairs[pair].tolist(), self.schema.target)])
            gain[pair], rows[pair] = measure_by_cells(states, n)
        return gain, rows

    def _count_pairs(self, pairs: Integers) -> tuple[Counts, Integers]:
        """Count (left, right, class) for pairs; give the flat tables and where each begins."""
        n_classes = int(self._states[self.schema.target])
        sizes = self._states[pairs[:, 0]] * self._states[pairs[:, 1]] * n_classes
        starts = np.cumsum(sizes) - sizes
        out = np.zeros(int(sizes.sum()), self._dtype)
        by_bits = self._suits_bits(pairs)
        if by_bits.any():
            self._count_by_bits(pairs[by_bits], starts[by_bits], out)
        if not by_bits.all():
            target = self.schema.target
            rest = [(int(a), int(b), target) for a, b in pairs[~by_bits]]
            self._count_directly(ColumnSets.of(rest), starts[~by_bits], out)
        return out, starts

    def _suits_bits(self, pairs: Integers) -> NDArray[np.bool_]:
        if self._table.weights is not None:
            return np.zeros(len(pairs), bool)
        left, right = self._states[pairs[:, 0]], self._states[pairs[:, 1]]
        small = np.maximum(left, right) <= MOST_BIT_STATES
        return np.asarray(small & ((left - 1) * (right - 1) <= MOST_BIT_CELLS))

    def _count_by_bits(self, pairs: Integers, starts: Integers, out: Counts) -> None:
        from tanbark.counts import kernels

        bits, first, complete, segments, margins = self._bitsets
        step = max(1, -(-len(pairs) // (8 * self._threads)))

        def work(low: int, high: int) -> None:
            kernels.count_pairs_by_bits(
                bits, first, self._states, complete, segments, margins, pairs[low:high], starts[low:high], out
            )

        run_threads(work, blocks(len(pairs), step), self._threads)

    @cached_property
    def _bitsets(self) -> tuple[Any, ...]:
        """Pack every state of every small column into bits, each class starting on a word of its own."""
        from tanbark.counts import kernels

        codes, target = self._table.codes, self.schema.target
        n_classes = int(self._states[target])
        sizes = np.bincount(codes[target], minlength=n_classes)
        segments = np.concatenate([[0], np.cumsum(-(-sizes // 64))])
        place = np.empty(codes.shape[1], np.int64)
        kernels.place_by_class(codes[target], 64 * segments, place)
        small = self._states[:target] <= MOST_BIT_STATES
        held = np.where(small, self._states[:target], 0)
        first = np.where(small, np.cumsum(held) - held, -1)
        bits = np.zeros((int(held.sum()), int(segments[-1])), np.uint64)
        step = max(1, -(-target // (4 * self._threads)))

        def work(low: int, high: int) -> None:
            kernels.pack_bits(codes[low:high], place, first[low:high], self._states[low:high], bits)

        run_threads(work, blocks(target, step), self._threads)
        margins = np.zeros((len(bits), n_classes), np.int64)
        kernels.count_bits(bits, segments, margins)
        rows = np.concatenate([[0], np.cumsum(margins.sum(axis=1))])
        complete = (small & (rows[first + held] - rows[first] == codes.shape[1])).astype(np.int64)
        return bits, first, complete, segments, margins


def measure_tables(
    counts: Counts, starts: Integers, left: Integers, right: Integers, n_classes: int, threads: int
) -> tuple[Floats, Floats]:
    """Measure pairs by their (left, right, class) tables, which begin at ``starts``: N I(left; right | class) and N."""
    from tanbark.counts import kernels

    gain, rows = np.zeros(len(starts)), np.zeros(len(starts))

    def work(low: int, high: int) -> None:
        part = slice(low, high)
        kernels.pair_gains(counts, starts[part], left[part], right[part], n_classes, gain[part], rows[part])

    run_threads(work, blocks(len(starts), max(1, -(-len(starts) // (4 * threads)))), threads)
    return gain, rows


def measure_by_cells(states: Integers, counts: Counts) -> tuple[float, float]:
    """Measure one pair by its observed (left, right, class) cells, class by class, without its full table."""
    gain = 0.0
    for label in np.unique(states[:, 2]):
        rows = states[:, 2] == label
        left, right, n = states[rows, 0], states[rows, 1], counts[rows].astype(float)
        margins = np.bincount(left, n)[left] * np.bincount(right, n)[right]
        gain += float((n * np.log(n * n.sum() / margins)).sum())
    return max(gain, 0.0), float(counts.sum())
