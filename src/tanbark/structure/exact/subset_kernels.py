"""The compiled walk over all subsets of columns: each table of counts is summed from a larger one, not from the rows.

A cell's key packs the states of the columns into bits, the first column (or the class, which is always there) highest.
Columns are taken out in rising order, so that all below the one taken out are still there. A table is *sparse* (sorted
keys with their counts) or, once that is no larger, *dense* (a count for every key).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel
from tanbark.scores.dirichlet_kernels import add_column, find_terms, sum_of_keys, term

LANE_BITS = 4  # so many groups (a power of two) are summed side by side
FEW = 3  # groups of at most so many cells are summed pair by pair


@kernel
def drop_sparse(keys: Array, counts: Array, size: int, low: int, width: int, keys_out: Array, counts_out: Array) -> int:
    """Take a column of ``width`` bits, with ``low`` bits below it, out of a sparse table; give the new number of cells.

    Within cells that agree above the column, its states are runs sorted by what is below; the runs are merged.
    """
    n_states, mask, shift = 1 << width, (np.int64(1) << low) - 1, low + width
    heads, tails = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    out, start = 0, 0
    while start < size:
        top = keys[start] >> shift
        base = top << low
        if start + 1 == size or keys[start + 1] >> shift != top:
            keys_out[out], counts_out[out] = base | keys[start] & mask, counts[start]
            out, start = out + 1, start + 1
            continue
        n_runs, stop = 0, start
        state = -1
        while stop < size and keys[stop] >> shift == top:
            here = keys[stop] >> low
            if here != state:
                if n_runs:
                    tails[n_runs - 1] = stop
                heads[n_runs] = stop
                n_runs += 1
                state = here
            stop += 1
        tails[n_runs - 1] = stop
        if n_runs == 1:
            for cell in range(start, stop):
                keys_out[out], counts_out[out] = base | keys[cell] & mask, counts[cell]
                out += 1
        else:
            out = _merge_runs(keys, counts, heads, tails, n_runs, mask, base, keys_out, counts_out, out)
        start = stop
    return out


@kernel
def _merge_runs(
    keys: Array, counts: Array, heads: Array, tails: Array, n_runs: int, mask: int, base: int, keys_out: Array,
    counts_out: Array, out: int,
) -> int:  # fmt: skip
    """Merge sorted runs of cells by what is below the column, adding up the counts of equal cells."""
    last, left = -1, n_runs
    while left:
        best, smallest = -1, mask + 1
        for run in range(n_runs):
            if heads[run] < tails[run]:
                here = keys[heads[run]] & mask
                if here < smallest:
                    best, smallest = run, here
        cell = heads[best]
        heads[best] += 1
        left -= heads[best] == tails[best]
        if smallest == last:
            counts_out[out - 1] += counts[cell]
        else:
            keys_out[out], counts_out[out], last = base | smallest, counts[cell], smallest
            out += 1
    return out


@kernel
def _drop_dense(counts: Array, size: int, low: int, width: int, out: Array) -> None:
    """Take a column out of a dense table by adding up its states."""
    block, n_states = 1 << low, 1 << width
    for high in range(size >> (low + width)):
        target, source = out[high * block : (high + 1) * block], counts[high * n_states * block :]
        target[:] = source[:block]
        for state in range(1, n_states):
            part = source[state * block : (state + 1) * block]
            for cell in range(block):
                target[cell] += part[cell]


@kernel
def _merge_few(
    codes: Array, counts: Array, size: int, keep: Array, merging: Array, rows: Array, scales: Array, terms: Array,
    sums: Array,
) -> None:  # fmt: skip
    """Correct the sums of the sets in which cells of a small group fall together, each having been counted alone.

    The codes may have bits in front of the last columns, the same in all of them.
    Bit d of ``merging[x]`` says that cells whose codes differ by the bits x are one in set d.
    """
    touched = np.uint64(0)
    for i in range(size):
        for j in range(i):
            touched |= merging[codes[i] ^ codes[j]]
    for d in range(len(keep)):
        if not touched >> np.uint64(d) & np.uint64(1):
            continue
        total = 0.0
        for i in range(size):
            here = codes[i] & keep[d]
            n, first = counts[i], True
            for j in range(i):
                first &= codes[j] & keep[d] != here
            if first:
                for j in range(i + 1, size):
                    if codes[j] & keep[d] == here:
                        n += counts[j]
                total += term(n, scales[d], rows[d], terms)
            total -= term(counts[i], scales[d], rows[d], terms)
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
def _project_all(block: Array, plan: Array, rows: Array, scales: Array, terms: Array, sums: Array) -> None:
    """Add the terms of dense groups, side by side, to the sum of every set; a table is summed from an earlier one.

    ``plan[d]`` is (where the table begins, its cells, where its parent begins, bits below the column taken out, its
    bits); the first table is already in ``block``.
    """
    within = block[: plan[0, 1]].sum() < terms.shape[1]
    for d in range(len(plan)):
        begin, cells, source, low, width = plan[d, 0], plan[d, 1], plan[d, 2], plan[d, 3], plan[d, 4]
        table = block[begin : begin + cells]
        if d:
            _drop_dense(block[source : source + (cells << width)], cells << width, low, width, table)
        total, row = 0.0, rows[d]
        if row >= 0 and within:
            total = _look_up(table, terms[row])
        else:
            for cell in range(cells):
                if table[cell] > 0:
                    total += term(table[cell], scales[d], row, terms)
        sums[d] += total


@kernel
def _plan_block(widths: Array) -> tuple[Array, Array, int]:
    """Lay out the tables of all subsets of the last columns: their plan, the key bits they keep, and the room."""
    m = len(widths)
    n_sets = 1 << m
    lows = np.zeros(m + 1, np.int64)
    for j in range(m - 1, -1, -1):
        lows[j] = lows[j + 1] + widths[j]
    plan, keep = np.zeros((n_sets, 5), np.int64), np.empty(n_sets, np.int64)
    plan[:, 3] = LANE_BITS
    room = 1 << (lows[0] + LANE_BITS)
    plan[0, 1], keep[0] = room, (1 << lows[0]) - 1
    for d in range(1, n_sets):
        j = 0
        while not d >> j & 1:
            j += 1
        parent = d ^ (1 << j)
        plan[d, 0], plan[d, 1], plan[d, 2] = room, plan[parent, 1] >> widths[j], plan[parent, 0]
        for k in range(j + 1, m):
            plan[d, 3] += 0 if d >> k & 1 else widths[k]
        plan[d, 4] = widths[j]
        keep[d] = keep[parent] & ~(((1 << widths[j]) - 1) << lows[j + 1])
        room += plan[d, 1]
    return plan, keep, room


@kernel
def _score_few(
    keys: Array, counts: Array, start: int, stop: int, keep: Array, merging: Array, rows: Array, scales: Array,
    terms: Array, sums: Array, ones: Array,
) -> int:  # fmt: skip
    """Add a small group of cells: each alone, by how often its count occurs (``ones``), then those that fall together.

    The group is ``start`` to ``stop``, and agrees in all columns before the last. Gives the highest count in ``ones``.
    """
    highest = 0
    for cell in range(start, stop):
        if counts[cell] < len(ones):
            n = int(counts[cell])
            ones[n] += 1
            highest = max(highest, n)
        else:
            for d in range(len(sums)):
                sums[d] += term(counts[cell], scales[d], rows[d], terms)
    if stop > start + 1:
        _merge_few(keys[start:stop], counts[start:stop], stop - start, keep, merging, rows, scales, terms, sums)
    return highest


@kernel
def _score_block(
    keys: Array, counts: Array, size: int, dense: bool, low: int, layout: Any, rows: Array, scales: Array, terms: Array,
    sums: Array, block: Array, ones: Array,
) -> None:  # fmt: skip
    """Sum the terms of a table and of all that taking out some of the last columns, ``low`` bits, makes of it."""
    plan, keep, merging = layout
    cells, highest, start, lane, lanes = 1 << low, 0, 0, 0, 1 << LANE_BITS
    block[: cells << LANE_BITS] = 0
    sums[:] = 0.0
    while start < size:
        if lane == lanes:
            _project_all(block, plan, rows, scales, terms, sums)
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
        if stop - start <= FEW:
            count = _score_few(keys, counts, start, stop, keep, merging, rows, scales, terms, sums, ones)
            highest = max(highest, count)
        else:
            for cell in range(start, stop):
                block[(keys[cell] & (cells - 1)) << LANE_BITS | lane] = counts[cell]
            lane += 1
        start = stop
    if lane:
        _project_all(block, plan, rows, scales, terms, sums)
    for n in range(1, highest + 1):
        if ones[n]:
            for d in range(len(sums)):
                sums[d] += ones[n] * term(n, scales[d], rows[d], terms)
            ones[n] = 0


@kernel
def _merging_sets(keep: Array) -> Array:
    """Give, for every difference of codes, the sets (as bits) in which cells that differ so fall together."""
    merging = np.zeros(keep[0] + 1, np.uint64)
    for x in range(len(merging)):
        for s in range(len(keep)):
            if keep[s] & x == 0:
                merging[x] |= np.uint64(1) << np.uint64(s)
    return merging


@kernel
def _score_sets(
    keys: Array, counts: Array, size: int, dense: bool, low: int, mask: int, q: float, places: Array, states: Array,
    ess: float, whole: bool, layout: Any, room: Any, store: Any, h: Array,
) -> None:  # fmt: skip
    """Fill ``h`` for the set of a table and for all that taking out some of the last columns makes of it.

    ``places`` and ``states`` are those of the last columns, ``mask`` and ``q`` the set and its configurations.
    """
    rows, scales, sums, block, ones = room
    masks = np.empty(len(sums), np.int64)
    for s in range(len(sums)):
        cells, masks[s] = q, mask
        for k in range(len(places)):
            if s >> k & 1:
                cells, masks[s] = cells / states[k], masks[s] & ~(np.int64(1) << places[k])
        rows[s], scales[s] = find_terms(np.round(cells), ess, store) if whole else -1, ess / cells
    _score_block(keys, counts, size, dense, low, layout, rows, scales, store[1], sums, block, ones)
    for s in range(len(sums)):
        h[masks[s]] = sums[s]


@kernel
def _take_out(
    keys: Array, counts: Array, size: int, dense: bool, bits: int, low: int, width: int, bits_out: int, keys_out: Array,
    counts_out: Array, work: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Take a column out of a table; a sparse one becomes dense where that is smaller. Give its size and which it is."""
    if dense:
        _drop_dense(counts, 1 << bits, low, width, counts_out)
        return 1 << bits_out, True
    left = drop_sparse(keys, counts, size, low, width, keys_out, work)
    if bits_out < 40 and (1 << bits_out) <= 4 * left:
        counts_out[: 1 << bits_out] = 0
        for cell in range(left):
            counts_out[keys_out[cell]] = work[cell]
        return 1 << bits_out, True
    counts_out[:left] = work[:left]
    return left, False


@kernel
def walk(
    keys0: Array, counts0: Array, mask0: int, start: int, stop: int, widths: Array, states: Array, places: Array,
    q0: float, ess: float, whole: bool, store: Any, h: Array,
) -> None:  # fmt: skip
    """Fill ``h[mask]`` for all sets made from ``mask0`` by taking out columns from number ``start`` on.

    ``keys0`` and ``counts0`` are the sparse table of ``mask0``, ``q0`` is its number of configurations; column j has
    the bit ``places[j]`` of a mask. Columns from ``stop`` on are taken out in one go, all their sets together.
    """
    n, size0, deepest = len(widths), len(keys0), stop - start + 1
    lows = np.zeros(n + 1, np.int64)
    for j in range(n - 1, -1, -1):
        lows[j] = lows[j + 1] + widths[j]
    plan, keep, cells = _plan_block(widths[stop:])
    layout, n_sets = (plan, keep, _merging_sets(keep)), len(keep)
    ones = np.zeros(store[1].shape[1] if whole else 0, np.int64)
    room = (np.full(n_sets, -1, np.int64), np.empty(n_sets), np.empty(n_sets), np.empty(cells, counts0.dtype), ones)
    keys, counts = np.empty((deepest, size0), np.int64), np.empty((deepest, 4 * size0 + 64), counts0.dtype)
    work = np.empty(size0, counts0.dtype)
    size, bits, dense = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest, np.bool_)
    next_j, masks, qs = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest)
    keys[0], counts[0, :size0] = keys0, counts0
    size[0], masks[0], qs[0], next_j[0], bits[0] = size0, mask0, q0, -1, lows[0]
    while keys0[size0 - 1] >> bits[0]:
        bits[0] += 1
    d = 0
    while d >= 0:
        j = next_j[d]
        if j < 0:
            _score_sets(
                keys[d], counts[d], size[d], dense[d], lows[stop], masks[d], qs[d], places[stop:], states[stop:], ess,
                whole, layout, room, store, h,
            )  # fmt: skip
            next_j[d] = start if d == 0 else next_j[d - 1]
        elif j >= stop:
            d -= 1
        else:
            next_j[d] = j + 1
            low, width, e = lows[j + 1], widths[j], d + 1
            bits[e] = max(bits[d] - width, low)
            size[e], dense[e] = _take_out(
                keys[d], counts[d], size[d], dense[d], bits[d], low, width, bits[e], keys[e], counts[e], work
            )
            masks[e], qs[e], next_j[e] = masks[d] & ~(np.int64(1) << places[j]), qs[d] / states[j], -1
            d = e


@kernel
def walk_rows(
    codes: Array, weights: Array, states: Array, given: Array, n_given: int, fixed: int, n_fixed: int, ess: float,
    store: Any, h: Array,
) -> None:  # fmt: skip
    """Fill ``h`` row by row, for states too many to pack: sets whose first ``n_fixed`` columns are those in ``fixed``.

    Slower than ``walk``, with the same result; ``given`` is the class of every row, or zeros.
    """
    n, n_rows = codes.shape
    slots_needed = 64
    while slots_needed < 2 * n_rows:
        slots_needed *= 2
    slots, ranks, sizes = np.empty(slots_needed, np.int64), np.empty(slots_needed, np.int64), np.empty(slots_needed)
    keys, n_keys, qs = np.empty((n + 1, n_rows), np.int64), np.empty(n + 1, np.int64), np.empty(n + 1)
    keys[0], n_keys[0], qs[0] = given, n_given, float(n_given)
    d, mask = 0, 0
    chosen = np.empty(n + 1, np.int64)
    for j in range(n_fixed):
        if fixed >> j & 1:
            n_keys[d + 1] = add_column(keys[d], n_keys[d], codes[j], states[j], slots, ranks, keys[d + 1])
            qs[d + 1], mask, d = qs[d] * states[j], mask | 1 << j, d + 1
    h[mask] = sum_of_keys(keys[d], weights, qs[d], ess, slots, sizes, store)
    bottom, j = d, n_fixed
    while True:
        if j < n:
            n_keys[d + 1] = add_column(keys[d], n_keys[d], codes[j], states[j], slots, ranks, keys[d + 1])
            qs[d + 1], mask, chosen[d + 1], d = qs[d] * states[j], mask | 1 << j, j, d + 1
            h[mask] = sum_of_keys(keys[d], weights, qs[d], ess, slots, sizes, store)
            j += 1
        elif d > bottom:
            j = chosen[d] + 1
            mask &= ~(1 << chosen[d])
            d -= 1
        else:
            return
