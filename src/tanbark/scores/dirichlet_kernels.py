"""The compiled sums behind every BDeu quantity: h(S), a sum over the observed cells of a set of columns.

With a = ess / q for q cells, h(S) adds up ``lgamma(a + n) - lgamma(a)`` over the counts n. For whole counts these terms
are looked up: a *store* is (cell numbers seen so far, a row of terms for each, how many there are).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


@kernel
def find_terms(q: float, ess: float, store: Any) -> int:
    """Find the row of terms for sets with q cells, filling one in if there is room; -1 where there is none."""
    known, terms, used = store
    for row in range(used[0]):
        if known[row] == q:
            return row
    row = used[0]
    if row == len(known):
        return -1
    a = ess / q
    base = math.lgamma(a)
    terms[row, 0] = 0.0
    for n in range(1, terms.shape[1]):
        terms[row, n] = math.lgamma(a + n) - base
    known[row] = q
    used[0] = row + 1
    return row  # type: ignore[no-any-return]  # an element of an array


@kernel
def term(n: Any, a: float, row: int, terms: Array) -> float:
    """Return lgamma(a + n) - lgamma(a), from the row of terms where it reaches that far."""
    if row >= 0 and n < terms.shape[1]:
        return terms[row, np.int64(n)]  # type: ignore[no-any-return]  # an element of an array
    return math.lgamma(a + n) - math.lgamma(a)


@kernel
def factor_of_table(
    table: Array, n_z: int, n_x: int, n_y: int, n_classes: int, q_z: float, ess: float, whole: bool, store: Any
) -> float:
    """Return the log Bayes factor for independence of x and y from counts laid out as (z, x, y, class).

    The class is part of the condition. Positive values speak for independence.
    """
    terms = store[1]
    a_z, a_x, a_y, a_xy = ess / q_z, ess / (q_z * n_x), ess / (q_z * n_y), ess / (q_z * n_x * n_y)
    row_z, row_x, row_y, row_xy = -1, -1, -1, -1
    if whole:
        row_z, row_x = find_terms(q_z, ess, store), find_terms(q_z * n_x, ess, store)
        row_y, row_xy = find_terms(q_z * n_y, ess, store), find_terms(q_z * n_x * n_y, ess, store)
    total = 0.0
    for z in range(n_z):
        for c in range(n_classes):
            base = z * n_x * n_y * n_classes + c
            n = table[base]
            n -= n
            size = n
            for x in range(n_x):
                margin = size - size
                for y in range(n_y):
                    n = table[base + (x * n_y + y) * n_classes]
                    if n > 0:
                        margin += n
                        total -= term(n, a_xy, row_xy, terms)
                if margin > 0:
                    size += margin
                    total += term(margin, a_x, row_x, terms)
            if size > 0:
                total -= term(size, a_z, row_z, terms)
                for y in range(n_y):
                    margin = size - size
                    for x in range(n_x):
                        margin += table[base + (x * n_y + y) * n_classes]
                    if margin > 0:
                        total += term(margin, a_y, row_y, terms)
    return total


@kernel
def _slot(key: int, keys: Array) -> int:
    """Find the place of a key in a hash table whose free places hold -1."""
    mask = len(keys) - 1
    place = (key * 0x9E3779B97F4A7C1) >> 20 & mask
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def rank_keys(keys: Array, slots: Array, ranks: Array) -> int:
    """Replace keys by numbers from 0 in order of appearance; negative ones stay. Give how many there are."""
    slots[:] = -1
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
def sum_of_keys(keys: Array, weights: Array, q: float, ess: float, slots: Array, sizes: Array, store: Any) -> float:
    """Return h for the set whose cell each row's key names; negative keys are left out. Empty weights count ones."""
    slots[:] = -1
    weighted = len(weights) > 0
    for row in range(len(keys)):
        if keys[row] >= 0:
            place = _slot(keys[row], slots)
            if slots[place] < 0:
                slots[place] = keys[row]
                sizes[place] = 0.0
            sizes[place] += weights[row] if weighted else 1.0
    row = -1 if weighted else find_terms(q, ess, store)
    a, terms, total = ess / q, store[1], 0.0
    for place in range(len(slots)):
        if slots[place] >= 0:
            total += term(sizes[place], a, row, terms)
    return total


@kernel
def add_column(keys: Array, n_keys: int, codes: Array, n_states: int, slots: Array, ranks: Array, out: Array) -> int:
    """Extend each row's key by one more column, and rank the keys anew where they grow too large.

    A row with a gap gets a negative key. Gives the number of keys that ``out`` may hold.
    """
    for row in range(len(keys)):
        code = np.int64(codes[row])
        out[row] = -1 if keys[row] < 0 or code >= n_states else keys[row] * n_states + code
    if n_keys * n_states > 4 * len(keys):
        return rank_keys(out, slots, ranks)  # type: ignore[no-any-return]  # a kernel of our own
    return n_keys * n_states


@kernel
def family_scores(
    codes: Array, weights: Array, states: Array, members: Array, ends: Array, ess: float, store: Any, out: Array
) -> None:
    """Return the BDeu of families on the rows without a gap in them; a family lists its parents, then its node."""
    n_rows = codes.shape[1]
    size = 64
    while size < 2 * n_rows:
        size *= 2
    slots, ranks, sizes = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
    keys, node_keys = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    for family in range(len(ends) - 1):
        columns = members[ends[family] : ends[family + 1]]
        node = columns[-1]
        for row in range(n_rows):
            keys[row] = 0 if codes[node, row] < states[node] else -1
        n_keys, q = 1, 1.0
        for column in columns[:-1]:
            n_keys = add_column(keys, n_keys, codes[column], states[column], slots, ranks, keys)
            q *= states[column]
        add_column(keys, n_keys, codes[node], states[node], slots, ranks, node_keys)
        for row in range(n_rows):
            if node_keys[row] < 0:
                keys[row] = -1
        below = sum_of_keys(keys, weights, q, ess, slots, sizes, store)
        out[family] = sum_of_keys(node_keys, weights, q * states[node], ess, slots, sizes, store) - below
