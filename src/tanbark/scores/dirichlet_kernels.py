"""The compiled set function h(S) behind every BDeu quantity (see ``scores.dirichlet``).

h(S) adds up lgamma(ess / q + n) - lgamma(ess / q) over the counts n of the observed cells of S, which has q cells.
Whole counts look these terms up in a ``TermCache``; fractional ones compute them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.scores.dirichlet import TermCache

NOT_CACHED = -1  # in place of a row of terms
FREE = -1  # a slot of a hash table without a key
GOLDEN = 0x9E3779B97F4A7C1  # multiplicative hashing by the golden ratio


class KeyTable(NamedTuple):
    """A hash table of row keys with open addressing: the key in each slot, its rank, and its count."""

    slots: Array
    ranks: Array
    sums: Array


@kernel
def make_key_table(n_rows: int) -> KeyTable:
    """Make a table for the keys of so many rows; a power of two of slots, at most half of them in use."""
    size = 64
    while size < 2 * n_rows:
        size *= 2
    return KeyTable(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@kernel
def find_terms(q: float, ess: float, cache: TermCache) -> int:
    """Find the row of terms for sets with q cells, filling it in if there is room; else return NOT_CACHED."""
    sizes, terms, used = cache  # unpacked once: an attribute in a loop costs a reference count per round
    for row in range(used[0]):
        if sizes[row] == q:
            return row
    row = used[0]
    if row == len(sizes):
        return NOT_CACHED
    a = ess / q
    base = math.lgamma(a)
    terms[row, 0] = 0.0
    for n in range(1, terms.shape[1]):
        terms[row, n] = math.lgamma(a + n) - base
    sizes[row] = q
    used[0] = row + 1
    return row  # type: ignore[no-any-return]  # an element of an array


@kernel
def h_term(n: float, a: float, row: int, terms: Array) -> float:
    """Return lgamma(a + n) - lgamma(a), from the row of terms where that reaches so far."""
    if row >= 0 and n < terms.shape[1]:
        return terms[row, np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return math.lgamma(a + n) - math.lgamma(a)


@kernel
def h_of_counts(counts: Array, q: float, ess: float, whole: bool, cache: TermCache) -> tuple[float, int]:
    """Return h of a set with q cells from its counts, and the number of observed cells; ``whole`` counts are cached."""
    row = find_terms(q, ess, cache) if whole else NOT_CACHED
    a, terms, total, observed = ess / q, cache.terms, 0.0, 0
    for n in counts:
        if n > 0:
            total += h_term(n, a, row, terms)
            observed += 1
    return total, observed


@kernel
def factor_of_table(
    table: Array, n_z: int, n_x: int, n_y: int, n_classes: int, q_z: float, ess: float, whole: bool, cache: TermCache
) -> float:
    """Return ln BF(x, y | z, class) from counts laid out as (z, x, y, class); positive favours independence.

    ``q_z`` is the number of configurations of z and the class, observed or not.
    """
    # h(zx) + h(zy) - h(z) - h(zxy) in one sweep: a block of n_x * n_y cells per (z, class) gives all four margins.
    # Cells of one class are n_classes apart. Two reads of each cell.
    terms = cache.terms
    a_z, a_x, a_y, a_xy = ess / q_z, ess / (q_z * n_x), ess / (q_z * n_y), ess / (q_z * n_x * n_y)
    row_z, row_x, row_y, row_xy = NOT_CACHED, NOT_CACHED, NOT_CACHED, NOT_CACHED
    if whole:
        row_z, row_x = find_terms(q_z, ess, cache), find_terms(q_z * n_x, ess, cache)
        row_y, row_xy = find_terms(q_z * n_y, ess, cache), find_terms(q_z * n_x * n_y, ess, cache)
    total = 0.0
    for z in range(n_z):
        for c in range(n_classes):
            base = z * n_x * n_y * n_classes + c
            zero = table[base] - table[base]  # of the table's own type
            size = zero
            for x in range(n_x):
                margin = zero
                for y in range(n_y):
                    n = table[base + (x * n_y + y) * n_classes]
                    if n > 0:
                        margin += n
                        total -= h_term(n, a_xy, row_xy, terms)
                if margin > 0:
                    size += margin
                    total += h_term(margin, a_x, row_x, terms)
            if size > 0:
                total -= h_term(size, a_z, row_z, terms)
                for y in range(n_y):
                    margin = zero
                    for x in range(n_x):
                        margin += table[base + (x * n_y + y) * n_classes]
                    if margin > 0:
                        total += h_term(margin, a_y, row_y, terms)
    return total


@kernel
def _slot(key: int, slots: Array) -> int:
    """Find the slot of a key, or the free one that it would take."""
    mask = len(slots) - 1
    place = (key * GOLDEN) >> 20 & mask
    while slots[place] >= 0 and slots[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def rank_keys(keys: Array, table: KeyTable) -> int:
    """Replace keys by ranks in order of appearance, leaving negative ones; return how many different keys there are."""
    slots, ranks = table.slots, table.ranks
    slots[:] = FREE
    found = 0
    for row in range(len(keys)):
        if keys[row] >= 0:
            place = _slot(keys[row], slots)
            if slots[place] < 0:
                slots[place] = keys[row]
                ranks[place] = found
                found += 1
            keys[row] = ranks[place]
    return found


@kernel
def h_of_keys(keys: Array, weights: Array, q: float, ess: float, table: KeyTable, cache: TermCache) -> float:
    """Return h of the set whose cell each row's key names; rows with a negative key are left out.

    Empty ``weights`` count every row once. One pass over the rows and one over the slots.
    """
    slots, sums = table.slots, table.sums
    slots[:] = FREE
    weighted = len(weights) > 0
    for row in range(len(keys)):
        if keys[row] >= 0:
            place = _slot(keys[row], slots)
            if slots[place] < 0:
                slots[place] = keys[row]
                sums[place] = 0.0
            sums[place] += weights[row] if weighted else 1.0
    row = NOT_CACHED if weighted else find_terms(q, ess, cache)
    a, terms, total = ess / q, cache.terms, 0.0
    for place in range(len(slots)):
        if slots[place] >= 0:
            total += h_term(sums[place], a, row, terms)
    return total


@kernel
def add_column(keys: Array, n_keys: int, codes: Array, n_states: int, table: KeyTable, out: Array) -> int:
    """Extend each row's key by one more column; return the number of keys that ``out`` may hold.

    A row with a missing value gets a negative key. Keys are ranked anew where they outgrow the number of rows.
    """
    for row in range(len(keys)):
        code = np.int64(codes[row])
        out[row] = -1 if keys[row] < 0 or code >= n_states else keys[row] * n_states + code
    if n_keys * n_states > 4 * len(keys):
        return rank_keys(out, table)  # type: ignore[no-any-return]  # a kernel of our own
    return n_keys * n_states
