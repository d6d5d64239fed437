"""The compiled loops that count.

Sets of columns are laid out as ``ColumnSets``: set s has ``members[ends[s] : ends[s + 1]]``, and its table begins at
``starts[s]`` of one flat array, the last column varying fastest. ``Bitsets`` are those of ``counts.bitsets``.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np
from numba import types

from tanbark.arrays import Array
from tanbark.counts.bitsets import ALL_ROWS, Bitsets
from tanbark.kernel import instruction, kernel, tiered

ROWS_AT_ONCE = 4096  # keys of so many rows stay in the first cache
WORDS_AT_ONCE = 128  # at most 256: places among them are bytes


class LabelledRows(NamedTuple):
    """Coded rows for kernels that go through them: codes (columns, rows), weights (empty: each row counts once).

    ``labels`` is the class of every row where it is part of every set of columns, else zeros with ``n_labels`` 1.
    """

    codes: Array
    weights: Array
    n_states: Array
    labels: Array
    n_labels: int


@instruction(lambda word: int(word).bit_count())
def popcount(typing: Any, word: Any) -> Any:
    """Count the bits of a word by one machine instruction."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), build


@tiered(lambda members, *_: 4 * members.size)
def measure_sets(members: Array, ends: Array, n_states: Array, sizes: Array, highest: Array) -> None:
    """Multiply the numbers of states of each set into ``sizes``, and find the highest; both start at 1."""
    for s in range(len(sizes)):
        for place in range(ends[s], ends[s + 1]):
            sizes[s] *= n_states[members[place]]
            highest[s] = max(highest[s], n_states[members[place]])


@tiered(lambda bitsets, members, ends, starts, out: 2 * out.size * bitsets.words.shape[1])
def count_sets_by_bits(bitsets: Bitsets, members: Array, ends: Array, starts: Array, out: Array) -> None:
    """Count the joint states of sets of columns by AND and popcount; ``out`` starts at zero."""
    # The bitsets of all columns of a set but the last are joined once for consecutive sets that begin alike
    # (``held``, by cell and word); each state of the last column is then one AND and popcount per cell. Blocks of
    # WORDS_AT_ONCE words stay in the cache; in sparse cells only the words that are not zero are visited. The last
    # state of a complete last column is what the others leave.
    words, first, n_states, complete, _ = bitsets
    most_cells = _most_before_last(n_states, members, ends)
    held = np.empty((most_cells, WORDS_AT_ONCE), np.uint64)
    spare = np.empty((most_cells, WORDS_AT_ONCE), np.uint64)
    where = np.empty((most_cells, WORDS_AT_ONCE), np.uint8)
    totals, filled = np.empty(most_cells, np.int64), np.empty(most_cells, np.int64)
    for low in range(0, words.shape[1], WORDS_AT_ONCE):
        size = min(WORDS_AT_ONCE, words.shape[1] - low)
        block = words[:, low : low + size]
        cells = 0
        for s in range(len(ends) - 1):
            begin, end = ends[s], ends[s + 1] - 1
            if s == 0 or not _begin_alike(members, ends, s):
                cells = _join_bits(block, first, n_states, members[begin:end], held, spare, totals)
                _close_up(held[:cells, :size], totals, where, filled)
            last = members[end]
            counted = n_states[last] - complete[last]
            for cell in range(cells):
                rest = totals[cell]
                if rest == 0:
                    continue
                place = starts[s] + cell * n_states[last]
                left = held[cell, : filled[cell]]
                for state in range(counted):
                    right = block[first[last] + state]
                    total = np.uint64(0)
                    if len(left) == size:
                        for word in range(size):
                            total += popcount(left[word] & right[word])
                    else:
                        for word in range(len(left)):
                            total += popcount(left[word] & right[where[cell, word]])
                    out[place + state] += np.int64(total)
                    rest -= np.int64(total)
                if complete[last]:
                    out[place + counted] += rest


@kernel
def _most_before_last(n_states: Array, members: Array, ends: Array) -> int:
    """Return the most joint states that the columns of any set but its last have."""
    most = 1
    for s in range(len(ends) - 1):
        cells = 1
        for place in range(ends[s], ends[s + 1] - 1):
            cells *= n_states[members[place]]
        most = max(most, cells)
    return most


@kernel
def _close_up(held: Array, totals: Array, where: Array, filled: Array) -> None:
    """Where few words are not zero, move them to the front; ``where`` holds their places, ``filled`` their number."""
    cells, size = held.shape
    for cell in range(cells):
        filled[cell] = size
        if 2 * totals[cell] < size:
            filled[cell] = 0
            for word in range(size):
                if held[cell, word] != 0:
                    held[cell, filled[cell]], where[cell, filled[cell]] = held[cell, word], word
                    filled[cell] += 1


@kernel
def _begin_alike(members: Array, ends: Array, s: int) -> bool:
    """Return whether a set and the one before have the same columns but for the last."""
    before, begin, end = ends[s - 1], ends[s], ends[s + 1]
    if begin - before != end - begin:
        return False
    alike = True
    for place in range(end - begin - 1):
        alike &= members[before + place] == members[begin + place]
    return alike


@kernel
def _join_bits(
    block: Array, first: Array, n_states: Array, members: Array, held: Array, spare: Array, totals: Array
) -> int:
    """Write the bitsets of the joint states of columns to ``held`` and their sizes to ``totals``.

    Returns the number of joint states.
    """
    size = block.shape[1]
    held[0, :size] = block[ALL_ROWS]
    cells = 1
    for position in range(len(members)):
        states, start = n_states[members[position]], first[members[position]]
        for cell in range(cells):
            spare[cell, :size] = held[cell, :size]
        for cell in range(cells):
            for state in range(states):
                for word in range(size):
                    held[cell * states + state, word] = spare[cell, word] & block[start + state, word]
        cells *= states
    for cell in range(cells):
        total = np.uint64(0)
        for word in range(size):
            total += popcount(held[cell, word])
        totals[cell] = np.int64(total)
    return cells


@tiered(lambda codes, weights, members, *_: 4 * members.size * codes.shape[1])
def count_sets_by_rows(
    codes: Array, weights: Array, members: Array, ends: Array, n_states: Array, starts: Array, out: Array
) -> None:
    """Count the joint states of sets of columns row by row, skipping rows with a missing value in the set.

    Empty ``weights`` count every row once.
    """
    # A row's cell is a number in mixed radix, made column by column for a block of rows at a time. One visit of
    # every (row, column of the set), whatever the number of cells.
    n_rows = codes.shape[1]
    keys = np.empty(ROWS_AT_ONCE, np.int64)
    weighted = len(weights) > 0
    for s in range(len(ends) - 1):
        if ends[s + 1] - ends[s] == 2 and not weighted:
            _count_pair(codes, members[ends[s]], members[ends[s] + 1], n_states, starts[s], out)
            continue
        for low in range(0, n_rows, ROWS_AT_ONCE):
            size = min(ROWS_AT_ONCE, n_rows - low)
            keys[:size] = starts[s]
            _add_keys(codes, members[ends[s] : ends[s + 1]], n_states, starts[s], low, size, keys)
            if weighted:
                for row in range(size):
                    if keys[row] >= 0:
                        out[keys[row]] += weights[low + row]
            else:
                for row in range(size):
                    if keys[row] >= 0:
                        out[keys[row]] += 1


@kernel
def _count_pair(codes: Array, left: int, right: int, n_states: Array, start: int, out: Array) -> None:
    """Count the joint states of two columns, most often a feature and the class, without keys."""
    lefts, rights = codes[left], codes[right]
    n_left, n_right = np.uint64(n_states[left]), np.uint64(n_states[right])
    for row in range(len(lefts)):
        a, b = np.uint64(lefts[row]), np.uint64(rights[row])
        if a < n_left and b < n_right:
            out[np.uint64(start) + a * n_right + b] += 1


@kernel
def _add_keys(codes: Array, members: Array, n_states: Array, start: int, low: int, size: int, keys: Array) -> None:
    """Turn a block of rows into cell numbers of one set, -1 where a value is missing."""
    stride = 1
    for position in range(len(members) - 1, -1, -1):
        column = members[position]
        states = n_states[column]
        values = codes[column, low : low + size]
        for row in range(size):
            code = np.int64(values[row])
            bad = code >= states or keys[row] < 0
            keys[row] = -1 if bad else keys[row] + code * stride
        stride *= states


@tiered(lambda counts, *_: 8 * counts.size)
def pair_gains(
    counts: Array, starts: Array, n_left: Array, n_right: Array, n_classes: int, gain: Array, rows: Array
) -> None:
    """Turn (left, right, class) counts of many pairs into N I(left; right | class) and N.

    The same sum as ``scores.conditional_mutual_information`` times N.
    """
    # Class by class: one sweep for the margins, one for the sum; cells of one class are n_classes apart.
    widest = 1
    for pair in range(len(starts)):
        widest = max(widest, n_left[pair], n_right[pair])
    lefts, rights = np.empty(widest), np.empty(widest)
    for pair in range(len(starts)):
        total, information = 0.0, 0.0
        for c in range(n_classes):
            for k in range(widest):
                lefts[k] = rights[k] = 0.0
            size = 0.0
            cell = starts[pair] + c
            for a in range(n_left[pair]):
                for b in range(n_right[pair]):
                    n = counts[cell]
                    lefts[a] += n
                    rights[b] += n
                    size += n
                    cell += n_classes
            total += size
            cell = starts[pair] + c
            for a in range(n_left[pair]):
                for b in range(n_right[pair]):
                    n = float(counts[cell])
                    if n > 0.0:
                        information += n * log(n * size / (lefts[a] * rights[b]))
                    cell += n_classes
        gain[pair] = max(information, 0.0)
        rows[pair] = total


@tiered(lambda flat, starts, left, right, out: 2 * out.size)
def gather_tables(flat: Array, starts: Array, left_strides: Array, right_strides: Array, out: Array) -> None:
    """Copy (left, right, class) tables of one shape out of a flat array; the classes of a cell are adjacent."""
    tables, n_left, n_right, n_classes = out.shape
    for table in range(tables):
        for left in range(n_left):
            for right in range(n_right):
                place = starts[table] + left_strides[table] * left + right_strides[table] * right
                for c in range(n_classes):
                    out[table, left, right, c] = flat[place + c]


@kernel
def next_combination(chosen: Array, n: int) -> int:
    """Step to the next combination of ``range(n)`` in lexicographic order.

    Returns the first place that changed, or -1 after the last combination.
    """
    size = len(chosen)
    place = size - 1
    while place >= 0 and chosen[place] == n - size + place:
        place -= 1
    if place >= 0:
        chosen[place] += 1
        for later in range(place + 1, size):
            chosen[later] = chosen[later - 1] + 1
    return place
