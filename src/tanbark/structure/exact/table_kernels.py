"""Tables of counts whose cells are packed keys, and summing a column out of them.

A table is *sparse* (sorted keys with their counts) or *dense* (a count for every key). A column takes ``width`` bits of
a key, with ``low`` bits below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel

MAX_DENSE_BITS = 40


class CellTable(NamedTuple):
    """A sparse or dense table; ``size`` cells of the arrays are in use, and a dense one has no keys."""

    keys: Array
    counts: Array
    size: int
    dense: bool


@kernel
def drop_sparse(keys: Array, counts: Array, size: int, low: int, width: int, keys_out: Array, counts_out: Array) -> int:
    """Sum a column of ``width`` bits, with ``low`` bits below it, out of a sparse table; return the number of cells."""
    # Within cells that agree above the column, its states are runs sorted by what is below; the runs are merged.
    # Linear in the cells, times the states of the column where runs are merged.
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
def drop_dense(counts: Array, size: int, low: int, width: int, out: Array) -> None:
    """Sum a column out of a dense table by adding up its states."""
    block, n_states = 1 << low, 1 << width
    for high in range(size >> (low + width)):
        target, source = out[high * block : (high + 1) * block], counts[high * n_states * block :]
        target[:] = source[:block]
        for state in range(1, n_states):
            part = source[state * block : (state + 1) * block]
            for cell in range(block):
                target[cell] += part[cell]


@kernel
def sum_out(
    table: CellTable, bits: int, low: int, width: int, bits_out: int, keys_out: Array, counts_out: Array, work: Array
) -> tuple[int, bool]:
    """Sum a column out of a table; a sparse one becomes dense where that is smaller. Return its size and which it is.

    ``bits`` and ``bits_out`` are those of the keys before and after.
    """
    if table.dense:
        drop_dense(table.counts, 1 << bits, low, width, counts_out)
        return 1 << bits_out, True
    left = drop_sparse(table.keys, table.counts, table.size, low, width, keys_out, work)
    if bits_out < MAX_DENSE_BITS and (1 << bits_out) <= 4 * left:
        counts_out[: 1 << bits_out] = 0
        for cell in range(left):
            counts_out[keys_out[cell]] = work[cell]
        return 1 << bits_out, True
    counts_out[:left] = work[:left]
    return left, False
