"""The compiled walk over all subsets of columns: each table of counts is summed from a larger one, not from the rows.

A cell's key packs the states of the columns into bits, the label (if the class is in every set) highest, then the
columns in their order. Columns are summed out in rising order, so that all below the one summed out are still there.
A sparse table (``table_kernels``) becomes dense once that is no larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.kernels import LabelledRows
from tanbark.kernel import kernel
from tanbark.scores.dirichlet import TermCache
from tanbark.scores.dirichlet_kernels import NOT_CACHED, add_column, find_terms, h_of_keys, h_term, make_key_table
from tanbark.stopping import stopping
from tanbark.structure.exact.table_kernels import CellTable, drop_dense, sum_out

LANE_BITS = 4  # so many groups (a power of two) are summed side by side
FEW_CELLS = 3  # groups of at most so many cells are summed pair by pair

START, CELLS, SOURCE, LOW, WIDTH = range(5)  # columns of a plan: see _plan_block


class PackedColumns(NamedTuple):
    """Columns in the order of their bits in a key: bits, states, and the bit of each in the mask of a set."""

    widths: Array
    n_states: Array
    places: Array


class Root(NamedTuple):
    """The sparse table that a walk begins with, the mask of its set, and the set's number of configurations."""

    keys: Array
    counts: Array
    mask: int
    q: float


class BlockLayout(NamedTuple):
    """The tables of all subsets of the last columns, which take ``bits`` bits of a key.

    ``plan`` says how each is summed, ``keep`` which bits of a key it keeps, and bit d of ``merging[x]`` whether cells
    whose keys differ by the bits x are one cell in set d.
    """

    bits: int
    plan: Array
    keep: Array
    merging: Array


class BlockSums(NamedTuple):
    """The sums h of all subsets of the last columns, with the row of cached terms and ess / q of each.

    ``block`` holds the tables of some groups side by side, ``singles[n]`` the number of cells with count n that were
    counted alone.
    """

    rows: Array
    alphas: Array
    sums: Array
    block: Array
    singles: Array


@kernel
def _merge_few(
    codes: Array, counts: Array, keep: Array, merging: Array, rows: Array, alphas: Array, terms: Array, sums: Array
) -> None:
    """Correct the sums of the sets in which cells of a small group are one cell, each having been counted alone.

    The codes may have bits in front of the last columns, the same in all of them.
    """
    size, touched = len(codes), np.uint64(0)
    for i in range(size):
        for j in range(i):
            touched |= merging[codes[i] ^ codes[j]]
    for d in range(len(keep)):
        if not touched >> np.uint64(d) & np.uint64(1):
            continue
        alpha, row, total = alphas[d], rows[d], 0.0
        for i in range(size):
            here = codes[i] & keep[d]
            n, first = counts[i], True
            for j in range(i):
                first &= codes[j] & keep[d] != here
            if first:
                for j in range(i + 1, size):
                    if codes[j] & keep[d] == here:
                        n += counts[j]
                total += h_term(n, alpha, row, terms)
            total -= h_term(counts[i], alpha, row, terms)
        sums[d] += total


@kernel
def _look_up(counts: Array, terms: Array) -> float:
    """Add up the terms of counts, which are a multiple of four; four sums at a time do not wait for one another."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for cell in range(0, len(counts), 4):
        first += terms[np.uint64(counts[cell])]
        second += terms[np.uint64(counts[cell + 1])]
        third += terms[np.uint64(counts[cell + 2])]
        fourth += terms[np.uint64(counts[cell + 3])]
    return first + second + (third + fourth)


@kernel
def _project_all(block: Array, plan: Array, rows: Array, alphas: Array, terms: Array, sums: Array) -> None:
    """Add the terms of dense groups, side by side, to the sum of every set; each table is summed from an earlier one.

    The first table of the plan is already in the block.
    """
    within = block[: plan[0, CELLS]].sum() < terms.shape[1]
    for d in range(len(plan)):
        cells, width = plan[d, CELLS], plan[d, WIDTH]
        table = block[plan[d, START] : plan[d, START] + cells]
        if d:
            source = block[plan[d, SOURCE] : plan[d, SOURCE] + (cells << width)]
            drop_dense(source, cells << width, plan[d, LOW], width, table)
        total, row = 0.0, rows[d]
        if row >= 0 and within:
            total = _look_up(table, terms[row])
        else:
            for cell in range(cells):
                if table[cell] > 0:
                    total += h_term(table[cell], alphas[d], row, terms)
        sums[d] += total


@kernel
def _plan_block(widths: Array) -> tuple[BlockLayout, int]:
    """Lay out the tables of all subsets of the last columns; return the layout and the cells that all take together.

    The table of set d, whose bits are the columns summed out, begins at plan[d, START], has plan[d, CELLS] cells, and
    is made from the table that begins at plan[d, SOURCE] by summing out a column of plan[d, WIDTH] bits with
    plan[d, LOW] bits below it.
    """
    m = len(widths)
    n_sets = 1 << m
    lows = np.zeros(m + 1, np.int64)
    for j in range(m - 1, -1, -1):
        lows[j] = lows[j + 1] + widths[j]
    plan, keep = np.zeros((n_sets, 5), np.int64), np.empty(n_sets, np.int64)
    plan[:, LOW] = LANE_BITS
    room = 1 << (lows[0] + LANE_BITS)
    plan[0, CELLS], keep[0] = room, (1 << lows[0]) - 1
    for d in range(1, n_sets):
        j = 0
        while not d >> j & 1:
            j += 1
        parent = d ^ (1 << j)
        plan[d, START], plan[d, CELLS], plan[d, SOURCE] = room, plan[parent, CELLS] >> widths[j], plan[parent, START]
        for k in range(j + 1, m):
            plan[d, LOW] += 0 if d >> k & 1 else widths[k]
        plan[d, WIDTH] = widths[j]
        keep[d] = keep[parent] & ~(((1 << widths[j]) - 1) << lows[j + 1])
        room += plan[d, CELLS]
    return BlockLayout(lows[0], plan, keep, _merging_sets(keep)), room


@kernel
def _count_alone(count: float, rows: Array, alphas: Array, terms: Array, sums: Array, singles: Array) -> int:
    """Add one cell to all sets, later, by how often its count occurs; return the count, or 0 if it was added now."""
    if count < len(singles):
        singles[int(count)] += 1
        return int(count)
    for d in range(len(sums)):
        sums[d] += h_term(count, alphas[d], rows[d], terms)
    return 0


@kernel
def _score_block(table: CellTable, layout: BlockLayout, room: BlockSums, terms: Array) -> None:
    """Sum the terms of a table, and of the tables that summing out any of the last columns makes of it."""
    # Cells that agree before the last columns are a group. Small groups are summed cell by cell; larger ones are
    # spread into dense tables, 2^LANE_BITS side by side, that are projected together: cell c of lane l stands at
    # c << LANE_BITS | l of the block.
    keys, counts, size, dense = table
    rows, alphas, sums, block, singles = room
    low, plan, keep, merging = layout
    cells, highest, start, lane, lanes = 1 << low, 0, 0, 0, 1 << LANE_BITS
    block[: cells << LANE_BITS] = 0
    sums[:] = 0.0
    while start < size:
        if lane == lanes:
            _project_all(block, plan, rows, alphas, terms, sums)
            block[: cells << LANE_BITS] = 0
            lane = 0
        if dense:
            for cell in range(cells):
                block[cell << LANE_BITS | lane] = counts[start + cell]
            start, lane = start + cells, lane + 1
            continue
        top, stop = keys[start] >> low, start + 1
        while stop < size and keys[stop] >> low == top:
            stop += 1
        if stop - start <= FEW_CELLS:
            for cell in range(start, stop):
                highest = max(highest, _count_alone(counts[cell], rows, alphas, terms, sums, singles))
            if stop > start + 1:
                _merge_few(keys[start:stop], counts[start:stop], keep, merging, rows, alphas, terms, sums)
        else:
            for cell in range(start, stop):
                block[(keys[cell] & (cells - 1)) << LANE_BITS | lane] = counts[cell]
            lane += 1
        start = stop
    if lane:
        _project_all(block, plan, rows, alphas, terms, sums)
    for n in range(1, highest + 1):
        if singles[n]:
            for d in range(len(sums)):
                sums[d] += singles[n] * h_term(n, alphas[d], rows[d], terms)
            singles[n] = 0


@kernel
def _merging_sets(keep: Array) -> Array:
    """Return, for every difference of keys, the sets (as bits) in which cells that differ so are one cell."""
    merging = np.zeros(keep[0] + 1, np.uint64)
    for x in range(len(merging)):
        for s in range(len(keep)):
            if keep[s] & x == 0:
                merging[x] |= np.uint64(1) << np.uint64(s)
    return merging


@kernel
def _score_sets(
    table: CellTable, mask: int, q: float, last: PackedColumns, ess: float, whole: bool, layout: BlockLayout,
    room: BlockSums, cache: TermCache, h: Array,
) -> None:  # fmt: skip
    """Fill ``h`` for the set of a table, and for all sets without some of the last columns.

    ``mask`` and ``q`` are the set and its number of configurations.
    """
    _, n_states, places = last
    rows, alphas, sums, _, _ = room
    masks = np.empty(len(sums), np.int64)
    for s in range(len(sums)):
        cells, masks[s] = q, mask
        for k in range(len(places)):
            if s >> k & 1:
                cells, masks[s] = cells / n_states[k], masks[s] & ~(np.int64(1) << places[k])
        rows[s], alphas[s] = find_terms(np.round(cells), ess, cache) if whole else NOT_CACHED, ess / cells
    _score_block(table, layout, room, cache.terms)
    for s in range(len(sums)):
        h[masks[s]] = sums[s]


@kernel
def walk(
    root: Root, start: int, stop: int, columns: PackedColumns, ess: float, whole: bool, cache: TermCache, h: Array
) -> None:
    """Fill ``h[mask]`` for all sets made from the root's by summing out columns from number ``start`` on.

    Columns from ``stop`` on are summed out together, all their subsets in one block.
    """
    # Depth first: level d of the stack holds the table with d columns summed out, and the number of the next column
    # to sum out (-1: the table itself is not scored yet). So one table per level is held at a time.
    widths, n, size0, deepest = columns.widths, len(columns.widths), len(root.keys), stop - start + 1
    lows = np.zeros(n + 1, np.int64)
    for j in range(n - 1, -1, -1):
        lows[j] = lows[j + 1] + widths[j]
    last = PackedColumns(widths[stop:], columns.n_states[stop:], columns.places[stop:])
    layout, cells = _plan_block(last.widths)
    n_sets, counted = len(layout.keep), root.counts.dtype
    singles = np.zeros(cache.terms.shape[1] if whole else 0, np.int64)
    room = BlockSums(
        np.full(n_sets, NOT_CACHED, np.int64), np.empty(n_sets), np.empty(n_sets), np.empty(cells, counted), singles
    )
    keys, counts = np.empty((deepest, size0), np.int64), np.empty((deepest, 4 * size0 + 64), counted)
    work = np.empty(size0, counted)
    size, bits, dense = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest, np.bool_)
    next_j, masks, qs = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest)
    keys[0], counts[0, :size0] = root.keys, root.counts
    size[0], masks[0], qs[0], next_j[0], bits[0] = size0, root.mask, root.q, -1, lows[0]
    while root.keys[size0 - 1] >> bits[0]:
        bits[0] += 1
    d = 0
    while d >= 0 and not stopping():
        j, table = next_j[d], CellTable(keys[d], counts[d], size[d], dense[d])
        if j < 0:
            _score_sets(table, masks[d], qs[d], last, ess, whole, layout, room, cache, h)
            next_j[d] = start if d == 0 else next_j[d - 1]
        elif j >= stop:
            d -= 1
        else:
            next_j[d] = j + 1
            low, width, e = lows[j + 1], widths[j], d + 1
            bits[e] = max(bits[d] - width, low)
            size[e], dense[e] = sum_out(table, bits[d], low, width, bits[e], keys[e], counts[e], work)
            masks[e] = masks[d] & ~(np.int64(1) << columns.places[j])
            qs[e], next_j[e] = qs[d] / columns.n_states[j], -1
            d = e


@kernel
def walk_rows(rows: LabelledRows, fixed: int, n_fixed: int, ess: float, cache: TermCache, h: Array) -> None:
    """Fill ``h`` row by row, for states too many to pack: sets whose first ``n_fixed`` columns are those in ``fixed``.

    Slower than ``walk``, with the same result.
    """
    # Depth first: keys[d, row] numbers the joint state of the d members so far in a row. One pass over the rows to
    # add a column, one to sum.
    codes, weights, states = rows.codes, rows.weights, rows.n_states
    n, n_rows = codes.shape
    table = make_key_table(n_rows)
    keys, n_keys, qs = np.empty((n + 1, n_rows), np.int64), np.empty(n + 1, np.int64), np.empty(n + 1)
    keys[0], n_keys[0], qs[0] = rows.labels, rows.n_labels, float(rows.n_labels)
    d, mask = 0, 0
    chosen = np.empty(n + 1, np.int64)
    for j in range(n_fixed):
        if fixed >> j & 1:
            n_keys[d + 1] = add_column(keys[d], n_keys[d], codes[j], states[j], table, keys[d + 1])
            qs[d + 1], mask, d = qs[d] * states[j], mask | 1 << j, d + 1
    h[mask] = h_of_keys(keys[d], weights, qs[d], ess, table, cache)
    bottom, j = d, n_fixed
    while not stopping():
        if j < n:
            n_keys[d + 1] = add_column(keys[d], n_keys[d], codes[j], states[j], table, keys[d + 1])
            qs[d + 1], mask, chosen[d + 1], d = qs[d] * states[j], mask | 1 << j, j, d + 1
            h[mask] = h_of_keys(keys[d], weights, qs[d], ess, table, cache)
            j += 1
        elif d > bottom:
            j = chosen[d] + 1
            mask &= ~(1 << chosen[d])
            d -= 1
        else:
            return
