"""The compiled search for a set of columns that makes two columns independent, by the BDeu Bayes factor.

Rows come twice: as codes, and, where every value is known and every row counts once, as bitsets. Row 0 of ``bits`` has
a bit for every row; ``bits[first[column] + s]`` has one for the rows in state s >= 1 of a column; state 0 is the rest.
The words of class c are ``segments[c]`` to ``segments[c + 1]``, so that the class is in every condition for nothing.
What a search writes to is made once, by ``make_bit_room`` and ``make_key_room``: fresh pages of memory for every edge
took longer than the counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.counts.kernels import popcount
from tanbark.machine import kernel
from tanbark.scores.dirichlet_kernels import add_column, factor_of_table, sum_of_keys

BIT_BLOCK = 160  # bitsets of a prefix beyond which counting row by row is quicker


@kernel
def _count_words(left: Array, right: Array, segments: Array, out: Array) -> None:
    """Count, class by class, the rows that are in both bitsets."""
    for c in range(len(segments) - 1):
        words_left, words_right = left[segments[c] : segments[c + 1]], right[segments[c] : segments[c + 1]]
        total = np.uint64(0)
        for word in range(len(words_left)):
            total += popcount(words_left[word] & words_right[word])
        out[c] = np.int64(total)


@kernel
def _fill_in(block: Array, sizes: Array, n_classes: int) -> None:
    """Turn "any state" at place 0 of every axis into state 0, by taking away the other states.

    The axes of ``block``, the fastest first, have ``sizes`` states; every entry holds ``n_classes`` counts.
    """
    stride = n_classes
    for axis in range(len(sizes)):
        size = sizes[axis]
        for high in range(0, len(block), size * stride):
            for state in range(1, size):
                for low in range(stride):
                    block[high + low] -= block[high + state * stride + low]
        stride *= size


@kernel
def _count_pair(x: int, y: int, data: Any, sizes: Array, out: Array) -> None:
    """Count (x, y, class) by bitsets; ``sizes`` are the states of y and of x."""
    bits, first, _, segments = data
    n_classes, n_y = len(segments) - 1, sizes[0]
    for i in range(sizes[1]):
        for j in range(n_y):
            left, right = bits[first[x] + i if i else 0], bits[first[y] + j if j else 0]
            entry = (i * n_y + j) * n_classes
            _count_words(left, right, segments, out[entry : entry + n_classes])
    _fill_in(out[: sizes[1] * n_y * n_classes], sizes, n_classes)


@kernel
def _extend(
    level: Array, n_entries: int, before: Array, column: Array, n_states: int, sizes: Array, segments: Array, out: Array
) -> None:
    """Count a further column beside the bitsets of a level; ``before`` are the level's own counts, states filled in."""
    n_classes = len(segments) - 1
    block = n_entries * n_classes
    out[:block] = before[:block]
    for state in range(1, n_states):
        part = out[state * block : (state + 1) * block]
        for entry in range(n_entries):
            _count_words(level[entry], column[state], segments, part[entry * n_classes : (entry + 1) * n_classes])
        _fill_in(part, sizes, n_classes)
        for place in range(block):
            out[place] -= part[place]


@kernel
def next_combination(chosen: Array, n: int) -> int:
    """Step to the next combination of ``range(n)`` in lexicographic order; give the first place that changed, or -1."""
    size = len(chosen)
    place = size - 1
    while place >= 0 and chosen[place] == n - size + place:
        place -= 1
    if place >= 0:
        chosen[place] += 1
        for later in range(place + 1, size):
            chosen[later] = chosen[later - 1] + 1
    return place


@kernel
def _configurations(chosen: Array, candidates: Array, common: Array, states: Array, base_q: float) -> float:
    """Count the joint states of a combination; 0 if all its members are common: it was asked before, in vain."""
    q, fresh = base_q, len(chosen) == 0
    for place in chosen:
        q *= states[candidates[place]]
        fresh |= not common[place]
    return q if fresh else 0.0


@kernel
def _deepen(place: int, column: int, data: Any, levels: Array, counts: Array, sizes: Array, n_entries: Array) -> None:
    """Make the bitsets and the counts of a level with a further column from those of the level before."""
    bits, first, states, segments = data
    size, n_states = n_entries[place], states[column]
    states_bits = bits[first[column] : first[column] + n_states]
    _extend(levels[place], size, counts[place], states_bits, n_states, sizes[: place + 2], segments, counts[place + 1])
    for entry in range(size):
        levels[place + 1, entry] = levels[place, entry]
        for state in range(1, n_states):
            levels[place + 1, state * size + entry] = levels[place, entry] & states_bits[state]
    sizes[place + 2], n_entries[place + 1] = n_states, size * n_states


def make_bit_room(order: int, n_words: int, n_classes: int) -> tuple[Array, Array, Array]:
    """Make room for ``separate_by_bits``: the levels' bitsets, their counts, and the table of a test."""
    return (
        np.empty((order, BIT_BLOCK, n_words), np.uint64),
        np.empty((order, BIT_BLOCK * n_classes), np.int64),
        np.empty(2 * BIT_BLOCK * n_classes, np.int64),  # one column more, of at least two states, than BIT_BLOCK allows
    )


def make_key_room(order: int, n_rows: int) -> tuple[Array, ...]:
    """Make room for ``separate_by_keys``: the rows' keys by level, their number, a hash table, cells, a table."""
    slots = max(64, 1 << (2 * n_rows - 1).bit_length())
    return (
        np.empty((order + 1, n_rows), np.int64), np.empty(order + 1, np.int64), np.empty(slots, np.int64),
        np.empty(slots, np.int64), np.empty(slots), np.empty(n_rows, np.int64), np.empty(8 * n_rows + 4096),
    )  # fmt: skip


@kernel
def separate_by_bits(
    x: int, y: int, candidates: Array, common: Array, chosen: Array, count: int, base_q: float, ess: float, data: Any,
    store: Any, room: Any,
) -> int:  # fmt: skip
    """Test up to ``count`` combinations from ``chosen`` on; give the first that separates x and y, or -1.

    A combination all of whose members are ``common`` was asked before from the other end, in vain.
    """
    bits, first, states, segments = data
    levels, counts, table = room
    last, n_classes = len(chosen) - 1, len(segments) - 1
    n_x, n_y = states[x], states[y]
    sizes, n_entries = np.empty(last + 3, np.int64), np.empty(last + 2, np.int64)
    sizes[0], sizes[1], n_entries[0] = n_y, n_x, n_x * n_y
    for i in range(n_x):
        for j in range(n_y):
            levels[0, i * n_y + j] = bits[first[x] + i if i else 0] & bits[first[y] + j if j else 0]
    _count_pair(x, y, data, sizes[:2], counts[0])
    built = 0
    for asked in range(count):
        q = _configurations(chosen, candidates, common, states, base_q)
        if q > 0.0:
            for place in range(built, last):
                _deepen(place, candidates[chosen[place]], data, levels, counts, sizes, n_entries)
            built = last
            column = candidates[chosen[last]]
            size, n_states = n_entries[last], states[column]
            states_bits = bits[first[column] : first[column] + n_states]
            _extend(levels[last], size, counts[last], states_bits, n_states, sizes[: last + 2], segments, table)
            n_z = size * n_states // (n_x * n_y)
            if factor_of_table(table, n_z, n_x, n_y, n_classes, q, ess, True, store) > TIE:
                return asked
        changed = next_combination(chosen, len(candidates))
        if changed < 0:
            break
        built = min(built, changed)
    return -1


@kernel
def separate_by_keys(
    x: int, y: int, candidates: Array, common: Array, chosen: Array, count: int, base_q: float, ess: float, data: Any,
    store: Any, room: Any,
) -> int:  # fmt: skip
    """Do what ``separate_by_bits`` does, row by row: for weights, gaps, many states and large conditions."""
    codes, weights, states, given, n_given = data
    order, n_rows = len(chosen), codes.shape[1]
    n_x, n_y = states[x], states[y]
    keys, n_keys, slots, ranks, sums, cells, dense = room
    for row in range(n_rows):
        bad = codes[x, row] >= n_x or codes[y, row] >= n_y
        keys[0, row] = -1 if bad else given[row]
    n_keys[0] = n_given
    built = 0
    for asked in range(count):
        q = _configurations(chosen, candidates, common, states, base_q)
        if q > 0.0:
            for place in range(built, order):
                column = candidates[chosen[place]]
                n_keys[place + 1] = add_column(
                    keys[place], n_keys[place], codes[column], states[column], slots, ranks, keys[place + 1]
                )
            built = order
            value = _factor_of_keys(
                keys[order], n_keys[order], codes[x], n_x, codes[y], n_y, weights, q, ess, cells, dense, slots, sums,
                store,
            )  # fmt: skip
            if value > TIE:
                return asked
        changed = next_combination(chosen, len(candidates))
        if changed < 0:
            break
        built = min(built, changed)
    return -1


@kernel
def _factor_of_keys(
    keys: Array, n_keys: int, codes_x: Array, n_x: int, codes_y: Array, n_y: int, weights: Array, q: float, ess: float,
    cells: Array, dense: Array, slots: Array, sums: Array, store: Any,
) -> float:  # fmt: skip
    """Return the log Bayes factor from the rows' keys of the condition: by a full table, or by its observed cells."""
    weighted = len(weights) > 0
    size = n_keys * n_x * n_y
    if size <= len(dense):
        dense[:size] = 0.0
        for row in range(len(keys)):
            if keys[row] >= 0:
                cell = (keys[row] * n_x + codes_x[row]) * n_y + codes_y[row]
                dense[cell] += weights[row] if weighted else 1.0
        return factor_of_table(dense, n_keys, n_x, n_y, 1, q, ess, not weighted, store)  # type: ignore[no-any-return]
    value = -sum_of_keys(keys, weights, q, ess, slots, sums, store)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else keys[row] * n_x + codes_x[row]
    value += sum_of_keys(cells, weights, q * n_x, ess, slots, sums, store)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else cells[row] * n_y + codes_y[row]
    value -= sum_of_keys(cells, weights, q * n_x * n_y, ess, slots, sums, store)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else keys[row] * n_y + codes_y[row]
    return value + sum_of_keys(cells, weights, q * n_y, ess, slots, sums, store)  # type: ignore[no-any-return]


@kernel
def separate(
    x: int, y: int, candidates: Array, common: Array, chosen: Array, count: int, base_q: float, ess: float,
    bit_data: Any, key_data: Any, store: Any, bit_room: Any, key_room: Any,
) -> int:  # fmt: skip
    """Choose the quicker way to look for a separating combination; both find the same."""
    bits, first, states = bit_data[0], bit_data[1], bit_data[2]
    size, able = float(states[x] * states[y]), bits.shape[0] > 0 and first[x] >= 0 and first[y] >= 0
    widest = 1
    for candidate in candidates:
        widest = max(widest, states[candidate])
        able = able and first[candidate] >= 0
    size *= float(widest) ** max(len(chosen) - 1, 0) * (widest - 1 if len(chosen) else 1)
    if able and len(chosen) == 0:
        n_classes, sizes = len(bit_data[3]) - 1, np.array([states[y], states[x]])
        table = np.empty(states[x] * states[y] * n_classes, np.int64)
        _count_pair(x, y, bit_data, sizes, table)
        value = factor_of_table(table, 1, states[x], states[y], n_classes, base_q, ess, True, store)
        return 0 if value > TIE else -1
    if able and size <= BIT_BLOCK:
        return separate_by_bits(  # type: ignore[no-any-return]  # a kernel of our own
            x, y, candidates, common, chosen, count, base_q, ess, bit_data, store, bit_room
        )
    return separate_by_keys(  # type: ignore[no-any-return]  # a kernel of our own
        x, y, candidates, common, chosen, count, base_q, ess, key_data, store, key_room
    )


@kernel
def thin(
    adjacent: Array, children: Array, parents: Array, start: int, start_parent: int, order: int, largest: int,
    both_ends: bool, base_q: float, ess: float, bit_data: Any, key_data: Any, store: Any, bit_room: Any, key_room: Any,
    found: Array, n_tests: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """Delete edges from ``parents`` into ``children`` that a set of ``order`` potential parents of the child separates.

    ``adjacent[a, b]`` says that a is a potential parent of b. Children and parents are tried in their order, from
    child number ``start`` and parent number ``start_parent`` on; deletions take effect at once. A row of ``found``
    takes the ends of a deleted edge and the separating set. Gives (deleted, child number, parent number) at the end or
    at an edge with more than ``largest`` sets, which is left to the caller.
    """
    n = adjacent.shape[0]
    candidates, chosen = np.empty(n, np.int64), np.empty(order, np.int64)
    common = np.empty(n, np.bool_)
    deleted = 0
    for position in range(start, len(children)):
        y = children[position]
        for number in range(start_parent if position == start else 0, len(parents)):
            x = parents[number]
            if not adjacent[x, y] or x == y:
                continue
            again = both_ends and x < y and adjacent[y, x]
            if order == 0 and again:
                n_tests[0] += 1
                continue
            size = 0
            for z in range(n if order else 0):
                if adjacent[z, y] and z != x:
                    candidates[size] = z
                    common[size] = again and adjacent[z, x]
                    size += 1
            if size < order:
                continue
            sets = 1.0
            for k in range(order):
                sets = sets * (size - k) / (k + 1)
            if sets > largest:
                return deleted, position, number
            chosen[:] = np.arange(order)
            count = np.int64(np.round(sets))
            at = separate(
                x, y, candidates[:size], common[:size], chosen, count, base_q, ess, bit_data, key_data, store, bit_room,
                key_room,
            )  # fmt: skip
            n_tests[0] += count if at < 0 else at + 1
            if at >= 0:
                adjacent[x, y], adjacent[y, x] = False, False
                found[deleted, 0], found[deleted, 1] = x, y
                for k in range(order):
                    found[deleted, 2 + k] = candidates[chosen[k]]
                deleted += 1
    return deleted, len(children), 0
