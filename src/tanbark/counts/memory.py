"""The engine for rows in memory: bitsets for small tables, direct counting for wide ones, sorting for huge ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Floats, Integers
from tanbark.counts.bitsets import ALL_ROWS, MAX_BIT_STATES, NO_BITSETS, Bitsets, PackedRows, pack
from tanbark.counts.column_sets import ColumnSet, ColumnSets, cut
from tanbark.counts.engine import CodedRows, CountEngine, PairInformation
from tanbark.counts.information import measure_by_cells, measure_tables
from tanbark.counts.low_order import StoredCounts, pair_sizes
from tanbark.graph.spanning import pair_indices
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.table import CodedTable, missing_code

MAX_BIT_PAIR = 128  # counted cells; larger pair tables are faster to count row by row
MAX_BIT_SET = 512  # cells; larger sets are faster to count row by row
MAX_DENSE_PAIR = 1 << 22  # larger pair tables are measured by their observed cells alone
MIN_THREADED_WORK = 1 << 20  # smaller tables are counted before a second thread has started
MAX_PACKED = 1 << 22  # codes; more are counted faster by several threads
PAIR_BLOCK_CELLS = 1 << 22  # cells of pair tables that are held at once


class MemoryCounts(CountEngine):
    """Count a coded table in memory.

    The way of counting is chosen set by set and never changes a count; results do not depend on ``n_jobs``.
    """

    def __init__(self, table: CodedTable, *, n_jobs: int | None = None) -> None:
        self.table, self.schema, self.n_jobs = table, table.schema, n_jobs
        self._threads = thread_count(n_jobs) if table.codes.size >= MIN_THREADED_WORK else 1
        self._states = np.array(table.schema.cardinalities, np.int64)

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return self.table.n_rows

    def kept_rows(self) -> NDArray[np.bool_] | None:
        """Return a mask of the given rows that are among these; None where all are."""
        return self.table.kept

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        weights = self.table.weights
        return float(self.table.n_rows if weights is None else weights.sum())

    def batches(self, size: int = 65536) -> Iterator[CodedRows]:
        """Iterate over the coded rows: (columns, rows) codes with their weights."""
        weights = self.table.weights
        for low, high in blocks(self.table.n_rows, size):
            yield self.table.codes[:, low:high], None if weights is None else weights[low:high]

    def coded_rows(self) -> CodedRows:
        """Return all coded rows as one contiguous (columns, rows) matrix, and their weights."""
        return np.ascontiguousarray(self.table.codes), self.table.weights

    def packed_rows(self) -> PackedRows | None:
        """Return complete rows that are few enough for one kernel to count them sooner than it could ask; else None."""
        codes, weights = self.table.codes, self.table.weights
        if codes.size > MAX_PACKED:
            return None
        bitsets = self._plain_bitsets
        rest = (bitsets.complete == 0).nonzero()[0]  # are not complete, or not packed
        if len(rest) and (codes[rest].max(axis=1, initial=0) >= self._states[rest]).any():
            return None
        codes = np.ascontiguousarray(codes)
        return PackedRows(
            codes, np.zeros(0) if weights is None else weights, bitsets.words, bitsets.first, self._states
        )

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""
        shapes = [tuple(int(self._states[column]) for column in columns) for columns in sets]
        flat, low, found = self.flat_tables(sets), 0, []
        for shape in shapes:
            found.append(flat[low : low + math.prod(shape)].reshape(shape))
            low += math.prod(shape)
        return found

    def flat_tables(self, sets: Sequence[ColumnSet]) -> Counts:
        """Count sets of columns as ``tables`` does, each the way that suits it, one after another in one flat array."""
        laid_out = ColumnSets.of(sets)
        sizes, highest = laid_out.measure(self._states)
        starts = np.cumsum(sizes) - sizes
        flat = np.zeros(int(sizes.sum()), self._dtype)
        by_bits = self._sets_suit_bits(laid_out, sizes, highest)
        for chosen, count in ((by_bits, self._count_sets_by_bits), (~by_bits, self._count_by_rows)):
            if chosen.all() and len(sets):
                count(laid_out, starts, flat)
            elif chosen.any():
                count(laid_out.chosen(chosen), starts[chosen], flat)
        return flat

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[Integers, Counts]]:
        """Count only the cells that occur: for each set the (n_cells, n_columns) states, sorted, and their counts."""
        return run_threads(self._observed_cells, [(columns,) for columns in sets], self._threads)

    def pair_information(self) -> PairInformation:
        """Return the conditional mutual information of every two features given the class."""
        pairs, sizes = np.stack(pair_indices(self.schema.target), axis=1), pair_sizes(self.schema)
        gain, rows = np.zeros(len(pairs)), np.zeros(len(pairs))
        for low, high in cut(np.minimum(sizes, MAX_DENSE_PAIR), PAIR_BLOCK_CELLS):
            gain[low:high], rows[low:high] = self._measure_pairs(pairs[low:high])
        return PairInformation(gain, rows)

    def stored(self, order: int) -> StoredCounts:
        """Count all tables of the class with up to ``order`` features."""
        target = self.schema.target
        parts = [self.pair_tables()] if order >= 2 else []
        if order == 3:
            parts.append(self.flat_tables([(*triple, target) for triple in combinations(range(target), 3)]))
        return StoredCounts(self.schema, order, np.concatenate([self.feature_tables(), *parts]))  # bits are packed now

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
        packed = "_bitsets" in self.__dict__
        first = self._bitsets.first if packed else np.full(target, NO_BITSETS)
        margins = self._bit_margins if packed else np.zeros((0, 0), self._dtype)
        counted = [i for i in range(target) if first[i] < 0]
        found = dict(zip(counted, self.tables([(i, target) for i in counted]) if counted else [], strict=True))
        found.update((i, margins[first[i] : first[i] + self._states[i]]) for i in range(target) if first[i] >= 0)
        classes = margins[ALL_ROWS] if packed else self._count_class()
        return np.concatenate([classes, *(found[i].ravel() for i in range(target))])

    def _count_class(self) -> Counts:
        """Count the classes; without a kernel, which a first fit would have to wait for."""
        labels, n_classes = self.table.codes[self.schema.target], self._states[self.schema.target]
        known = labels < n_classes
        weights = None if self.table.weights is None else self.table.weights[known]
        return np.bincount(labels[known], weights, n_classes).astype(self._dtype, copy=False)

    @property
    def _dtype(self) -> type[np.generic]:
        return np.int64 if self.table.weights is None else np.float64

    def _count_by_rows(self, sets: ColumnSets, starts: Integers, out: Counts) -> None:
        from tanbark.counts import kernels

        weights = np.zeros(0) if self.table.weights is None else self.table.weights
        members, ends = sets.members, sets.ends
        step = self._sets_at_once(len(starts), len(members) * self.table.codes.shape[1])

        def work(low: int, high: int) -> None:
            kernels.count_sets_by_rows(
                self.table.codes, weights, members, ends[low : high + 1], self._states, starts[low:high], out
            )

        run_threads(work, blocks(len(starts), step), self._threads)

    def _sets_at_once(self, n_sets: int, steps: int) -> int:
        """Return the sets of one task; all of them when starting threads would take longer than the work."""
        return n_sets if steps < MIN_THREADED_WORK else max(1, -(-n_sets // (4 * self._threads)))

    def _sets_suit_bits(self, sets: ColumnSets, sizes: Integers, highest: Integers) -> NDArray[np.bool_]:
        """Mark the sets that are counted faster by bitsets: small ones, when there are enough to be worth packing."""
        few = len(sizes) <= len(self._states) and "_plain_bitsets" not in self.__dict__
        if few or self.table.weights is not None:
            return np.zeros(len(sizes), bool)
        small = (highest <= MAX_BIT_STATES) & (sizes <= MAX_BIT_SET)
        return np.asarray(small & (np.diff(sets.ends) > 0))

    def _count_sets_by_bits(self, sets: ColumnSets, starts: Integers, out: Counts) -> None:
        from tanbark.counts import kernels

        bitsets = self._plain_bitsets
        step = self._sets_at_once(len(starts), len(out) * bitsets.words.shape[1])

        def work(low: int, high: int) -> None:
            kernels.count_sets_by_bits(bitsets, sets.members, sets.ends[low : high + 1], starts[low:high], out)

        run_threads(work, blocks(len(starts), step), self._threads)

    @cached_property
    def _plain_bitsets(self) -> Bitsets:
        """Pack every small column, the class like the others."""
        return pack(self.table.codes, self._states)

    def _observed_cells(self, columns: ColumnSet) -> tuple[Integers, Counts]:
        codes = self.table.codes[list(columns)]
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
        weights = None if self.table.weights is None else self.table.weights[observed]
        counts = np.bincount(place, weights=weights, minlength=len(first))
        return codes[:, first].T.astype(np.int64), counts.astype(self._dtype)

    def _measure_pairs(self, pairs: Integers) -> tuple[Floats, Floats]:
        n_classes = int(self._states[self.schema.target])
        sizes = self._states[pairs[:, 0]] * self._states[pairs[:, 1]] * n_classes
        gain, rows = np.zeros(len(pairs)), np.zeros(len(pairs))
        dense = np.flatnonzero(sizes <= MAX_DENSE_PAIR)
        counts, starts = self._count_pairs(pairs[dense])
        left, right = self._states[pairs[dense, 0]], self._states[pairs[dense, 1]]
        gain[dense], rows[dense] = measure_tables(counts, starts, left, right, n_classes, self._threads)
        for pair in np.flatnonzero(sizes > MAX_DENSE_PAIR):
            ((states, n),) = self.cells([(*pairs[pair].tolist(), self.schema.target)])
            gain[pair], rows[pair] = measure_by_cells(states, n)
        return gain, rows

    def _count_pairs(self, pairs: Integers) -> tuple[Counts, Integers]:
        """Count (left, right, class) for pairs; return the flat tables and where each begins."""
        n_classes = int(self._states[self.schema.target])
        sizes = self._states[pairs[:, 0]] * self._states[pairs[:, 1]] * n_classes
        starts = np.cumsum(sizes) - sizes
        out = np.zeros(int(sizes.sum()), self._dtype)
        by_bits = self._pairs_suit_bits(pairs)
        if by_bits.any():
            chosen = slice(None) if by_bits.all() else by_bits
            self._count_pairs_by_bits(pairs[chosen], starts[chosen], out)
        if not by_bits.all():
            target = self.schema.target
            rest = [(int(a), int(b), target) for a, b in pairs[~by_bits]]
            self._count_by_rows(ColumnSets.of(rest), starts[~by_bits], out)
        return out, starts

    def _pairs_suit_bits(self, pairs: Integers) -> NDArray[np.bool_]:
        if self.table.weights is not None:
            return np.zeros(len(pairs), bool)
        most = int(self._states[:-1].max(initial=0))
        if most <= MAX_BIT_STATES and (most - 1) ** 2 <= MAX_BIT_PAIR:
            return np.ones(len(pairs), bool)
        left, right = self._states[pairs[:, 0]], self._states[pairs[:, 1]]
        small = np.maximum(left, right) <= MAX_BIT_STATES
        return np.asarray(small & ((left - 1) * (right - 1) <= MAX_BIT_PAIR))

    def _count_pairs_by_bits(self, pairs: Integers, starts: Integers, out: Counts) -> None:
        from tanbark.counts import bit_kernels

        bitsets, margins = self._bitsets, self._bit_margins
        step = max(1, -(-len(pairs) // (8 * self._threads)))

        def work(low: int, high: int) -> None:
            bit_kernels.count_pairs_by_bits(bitsets, margins, pairs[low:high], starts[low:high], out)

        run_threads(work, blocks(len(pairs), step), self._threads)

    @cached_property
    def _bitsets(self) -> Bitsets:
        """Pack every small feature, each class starting on a word of its own."""
        codes, target = self.table.codes, self.schema.target
        n_classes = int(self._states[target])
        return pack(
            codes[:target], self._states[:target], labels=codes[target], n_labels=n_classes, threads=self._threads
        )

    @cached_property
    def _bit_margins(self) -> Integers:
        """Number of rows of every bitset by class."""
        from tanbark.counts import bit_kernels

        margins = np.zeros((len(self._bitsets.words), int(self._states[self.schema.target])), np.int64)
        bit_kernels.count_bits(self._bitsets.words, self._bitsets.segments, margins)
        return margins
