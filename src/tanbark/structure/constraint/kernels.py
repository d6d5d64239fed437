"""The compiled search for a separating set, by the BDeu Bayes factor.

The rows come twice: as codes, and, where no value is missing and every row counts once, as bitsets, of which state 0
of a column is never read: it is what the other states leave. Bitsets are sorted by class (if the class is part of
every conditioning set), so that a count is one per class. A *workspace* is allocated once per thread, because fresh
pages of memory for every edge took longer than the counting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.bitsets import ALL_ROWS, Bitsets
from tanbark.counts.kernels import LabelledRows, next_combination, popcount
from tanbark.kernel import kernel
from tanbark.scores.dirichlet import TermCache
from tanbark.scores.dirichlet_kernels import KeyTable, add_column, factor_of_table, h_of_keys, make_key_table
from tanbark.stopping import stopping

MAX_LEVEL_BITSETS = 160  # joint states of x, y and all but the last of a set, beyond which rows are counted faster


class TestedRows(NamedTuple):
    """What every test reads: the rows, their bitsets, the equivalent sample size, and the factor that counts."""

    rows: LabelledRows
    bitsets: Bitsets
    ess: float
    least: float


class BitWorkspace(NamedTuple):
    """Room for ``separate_by_bits``: bitsets and counts of each level (prefix of the set), and the table of a test."""

    levels: Array
    counts: Array
    table: Array


class KeyWorkspace(NamedTuple):
    """Room for ``separate_by_keys``: the rows' keys of each level, how many there are, a cell per row, a table."""

    keys: Array
    n_keys: Array
    cells: Array
    dense: Array
    table: KeyTable


class Workspace(NamedTuple):
    """All that the tests of one thread write to."""

    bits: BitWorkspace
    keys: KeyWorkspace
    cache: TermCache


class Edge(NamedTuple):
    """An edge to test: its ends, the columns that separating sets are taken from, and which of them are ``common``.

    A set of common candidates only was tested before, from the other end of the edge, and did not separate.
    """

    x: int
    y: int
    candidates: Array
    common: Array


class Search(NamedTuple):
    """Which edges to test: ``adjacent[a, b]`` if a is a potential parent of b, from ``parents`` into ``children``.

    Edges with more than ``largest`` sets are left to the caller. With ``both_ends``, undirected edges between parents
    and children are tested from both ends.
    """

    adjacent: Array
    children: Array
    parents: Array
    order: int
    largest: int
    both_ends: bool


def make_workspace(order: int, data: TestedRows, cache: TermCache) -> Workspace:
    """Allocate room for separating sets of up to ``order`` columns."""
    n_rows, n_words, n_classes = data.rows.codes.shape[1], data.bitsets.words.shape[1], len(data.bitsets.segments) - 1
    bits = BitWorkspace(
        np.empty((order, MAX_LEVEL_BITSETS, n_words), np.uint64),
        np.empty((order, MAX_LEVEL_BITSETS * n_classes), np.int64),
        np.empty(2 * MAX_LEVEL_BITSETS * n_classes, np.int64),  # a further column has at least two states
    )
    keys = KeyWorkspace(
        np.empty((order + 1, n_rows), np.int64), np.empty(order + 1, np.int64), np.empty(n_rows, np.int64),
        np.empty(8 * n_rows + 4096), make_key_table(n_rows),
    )  # fmt: skip
    return Workspace(bits, keys, cache)


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
    """Turn "any state" at place 0 of every axis into state 0, by subtracting the other states.

    The axes of ``block``, the fastest first, have ``sizes`` states; every entry holds ``n_classes`` counts.
    """
    # One Moebius step per axis: linear in the block for each.
    stride = n_classes
    for axis in range(len(sizes)):
        size = sizes[axis]
        for high in range(0, len(block), size * stride):
            for state in range(1, size):
                for low in range(stride):
                    block[high + low] -= block[high + state * stride + low]
        stride *= size


@kernel
def _count_pair(x: int, y: int, bitsets: Bitsets, sizes: Array, out: Array) -> None:
    """Count (x, y, class) by bitsets; ``sizes`` are the states of y and of x."""
    words, first, segments = bitsets.words, bitsets.first, bitsets.segments
    n_classes, n_y = len(segments) - 1, sizes[0]
    for i in range(sizes[1]):
        for j in range(n_y):
            left, right = words[first[x] + i if i else ALL_ROWS], words[first[y] + j if j else ALL_ROWS]
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
def _configurations(chosen: Array, edge: Edge, data: TestedRows) -> float:
    """Return the number of configurations of a conditioning set; 0 if the set was tested from the other end."""
    q, fresh = float(data.rows.n_labels), len(chosen) == 0
    n_states, candidates, common = data.rows.n_states, edge.candidates, edge.common
    for place in chosen:
        q *= n_states[candidates[place]]
        fresh |= not common[place]
    return q if fresh else 0.0


@kernel
def _deepen(place: int, column: int, bitsets: Bitsets, work: BitWorkspace, sizes: Array, n_entries: Array) -> None:
    """Make the bitsets and the counts of a level with a further column from those of the level before."""
    levels, counts = work.levels, work.counts
    size, n_states, start = n_entries[place], bitsets.n_states[column], bitsets.first[column]
    of_states = bitsets.words[start : start + n_states]
    _extend(
        levels[place], size, counts[place], of_states, n_states, sizes[: place + 2], bitsets.segments, counts[place + 1]
    )
    for entry in range(size):
        levels[place + 1, entry] = levels[place, entry]
        for state in range(1, n_states):
            levels[place + 1, state * size + entry] = levels[place, entry] & of_states[state]
    sizes[place + 2], n_entries[place + 1] = n_states, size * n_states


@kernel
def separate_by_bits(edge: Edge, chosen: Array, count: int, data: TestedRows, work: Workspace) -> int:
    """Test up to ``count`` sets from ``chosen`` on, in lexicographic order.

    Returns the number of the first that separates x and y, or -1; ``chosen`` is then that set, as places among the
    candidates.
    """
    # Level k holds the bitsets of the joint states of x, y and the first k members of the set. Consecutive sets share
    # their first members, so that most tests extend the last level only: one sweep over the words per cell.
    bitsets = data.bitsets
    levels, counts, table = work.bits
    words, first, n_states, _, segments = bitsets
    last, n_classes = len(chosen) - 1, len(segments) - 1
    x, y, candidates = edge.x, edge.y, edge.candidates
    n_x, n_y = n_states[x], n_states[y]
    sizes, n_entries = np.empty(last + 3, np.int64), np.empty(last + 2, np.int64)
    sizes[0], sizes[1], n_entries[0] = n_y, n_x, n_x * n_y
    for i in range(n_x):
        for j in range(n_y):
            levels[0, i * n_y + j] = words[first[x] + i if i else ALL_ROWS] & words[first[y] + j if j else ALL_ROWS]
    _count_pair(x, y, bitsets, sizes[:2], counts[0])
    built = 0
    for number in range(count):
        if stopping():
            break
        q = _configurations(chosen, edge, data)
        if q > 0.0:
            for place in range(built, last):
                _deepen(place, candidates[chosen[place]], bitsets, work.bits, sizes, n_entries)
            built = last
            column = candidates[chosen[last]]
            size, states = n_entries[last], n_states[column]
            of_states = words[first[column] : first[column] + states]
            _extend(levels[last], size, counts[last], of_states, states, sizes[: last + 2], segments, table)
            n_z = size * states // (n_x * n_y)
            if factor_of_table(table, n_z, n_x, n_y, n_classes, q, data.ess, True, work.cache) > data.least:
                return number
        changed = next_combination(chosen, len(candidates))
        if changed < 0:
            break
        built = min(built, changed)
    return -1


@kernel
def separate_by_keys(edge: Edge, chosen: Array, count: int, data: TestedRows, work: Workspace) -> int:
    """Do what ``separate_by_bits`` does, row by row: for weights, missing values, many states and large sets."""
    # keys[k, row] numbers the joint state of the first k members of the set in a row, -1 where one is missing; a test
    # costs one pass over the rows for each member that changed, and one or four to count.
    codes, order, n_states = data.rows.codes, len(chosen), data.rows.n_states
    keys, n_keys, labels, candidates = work.keys.keys, work.keys.n_keys, data.rows.labels, edge.candidates
    x, y, table = edge.x, edge.y, work.keys.table
    n_x, n_y = n_states[x], n_states[y]
    for row in range(codes.shape[1]):
        missing = codes[x, row] >= n_x or codes[y, row] >= n_y
        keys[0, row] = -1 if missing else labels[row]
    n_keys[0] = data.rows.n_labels
    built = 0
    for number in range(count):
        if stopping():
            break
        q = _configurations(chosen, edge, data)
        if q > 0.0:
            for place in range(built, order):
                column = candidates[chosen[place]]
                n_keys[place + 1] = add_column(
                    keys[place], n_keys[place], codes[column], n_states[column], table, keys[place + 1]
                )
            built = order
            if _factor_of_keys(keys[order], n_keys[order], x, y, q, data, work) > data.least:
                return number
        changed = next_combination(chosen, len(candidates))
        if changed < 0:
            break
        built = min(built, changed)
    return -1


@kernel
def _factor_of_keys(keys: Array, n_keys: int, x: int, y: int, q: float, data: TestedRows, work: Workspace) -> float:
    """Return the log Bayes factor from the rows' keys of the conditioning set.

    By a dense table where it fits, else by its observed cells.
    """
    weights, ess, codes_x, codes_y = data.rows.weights, data.ess, data.rows.codes[x], data.rows.codes[y]
    n_x, n_y = data.rows.n_states[x], data.rows.n_states[y]
    cells, dense, table, cache = work.keys.cells, work.keys.dense, work.keys.table, work.cache
    weighted = len(weights) > 0
    size = n_keys * n_x * n_y
    if size <= len(dense):
        dense[:size] = 0.0
        for row in range(len(keys)):
            if keys[row] >= 0:
                cell = (keys[row] * n_x + codes_x[row]) * n_y + codes_y[row]
                dense[cell] += weights[row] if weighted else 1.0
        return factor_of_table(dense, n_keys, n_x, n_y, 1, q, ess, not weighted, cache)  # type: ignore[no-any-return]  # a kernel of our own
    value = -h_of_keys(keys, weights, q, ess, table, cache)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else keys[row] * n_x + codes_x[row]
    value += h_of_keys(cells, weights, q * n_x, ess, table, cache)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else cells[row] * n_y + codes_y[row]
    value -= h_of_keys(cells, weights, q * n_x * n_y, ess, table, cache)
    for row in range(len(keys)):
        cells[row] = -1 if keys[row] < 0 else keys[row] * n_y + codes_y[row]
    return value + h_of_keys(cells, weights, q * n_y, ess, table, cache)  # type: ignore[no-any-return]  # a kernel of our own


@kernel
def separate(edge: Edge, chosen: Array, count: int, data: TestedRows, work: Workspace) -> int:
    """Look for a separating set by bitsets or by keys, whichever is faster; both find the same."""
    first, n_states = data.bitsets.first, data.rows.n_states
    x, y = edge.x, edge.y
    size, packed = float(n_states[x] * n_states[y]), first[x] >= 0 and first[y] >= 0
    widest = 1
    for candidate in edge.candidates:
        widest = max(widest, n_states[candidate])
        packed = packed and first[candidate] >= 0
    size *= float(widest) ** max(len(chosen) - 1, 0) * (widest - 1 if len(chosen) else 1)
    if packed and len(chosen) == 0:
        n_classes, sizes = len(data.bitsets.segments) - 1, np.array([n_states[y], n_states[x]])
        table = np.empty(n_states[x] * n_states[y] * n_classes, np.int64)
        _count_pair(x, y, data.bitsets, sizes, table)
        q = float(data.rows.n_labels)
        value = factor_of_table(table, 1, n_states[x], n_states[y], n_classes, q, data.ess, True, work.cache)
        return 0 if value > data.least else -1
    if packed and size <= MAX_LEVEL_BITSETS:
        return separate_by_bits(edge, chosen, count, data, work)  # type: ignore[no-any-return]  # a kernel of our own
    return separate_by_keys(edge, chosen, count, data, work)  # type: ignore[no-any-return]  # a kernel of our own


@kernel
def _list_candidates(x: int, y: int, again: bool, adjacent: Array, candidates: Array, common: Array) -> int:
    """List the potential parents of y other than x, and which are also those of x if the edge was tested from there.

    Returns how many there are.
    """
    size = 0
    for z in range(len(adjacent)):
        if adjacent[z, y] and z != x:
            candidates[size] = z
            common[size] = again and adjacent[z, x]
            size += 1
    return size


@kernel
def prune_edges(
    search: Search, start: int, start_parent: int, data: TestedRows, work: Workspace, found: Array, n_tests: Array
) -> tuple[int, int, int]:
    """Delete edges from ``parents`` into ``children`` that a set of ``order`` potential parents of the child separates.

    Children and parents are tried in their order, from child number ``start`` and parent number ``start_parent`` on;
    deletions take effect at once. A row of ``found`` takes the ends of a deleted edge and the separating set. Returns
    (deleted, child number, parent number) at the end, or at an edge with more than ``largest`` sets.
    """
    adjacent, children, parents, order = search.adjacent, search.children, search.parents, search.order
    n = len(adjacent)
    candidates, common, chosen = np.empty(n, np.int64), np.empty(n, np.bool_), np.empty(order, np.int64)
    deleted = 0
    for position in range(start, len(children)):
        y = children[position]
        for number in range(start_parent if position == start else 0, len(parents)):
            if stopping():
                return deleted, len(children), 0
            x = parents[number]
            if not adjacent[x, y] or x == y:
                continue
            again = search.both_ends and x < y and adjacent[y, x]
            if order == 0 and again:
                n_tests[0] += 1
                continue
            size = _list_candidates(x, y, again, adjacent, candidates, common) if order else 0
            if size < order:
                continue
            sets = 1.0
            for k in range(order):
                sets = sets * (size - k) / (k + 1)
            if sets > search.largest:
                return deleted, position, number
            chosen[:] = np.arange(order)
            count = np.int64(np.round(sets))
            at = separate(Edge(x, y, candidates[:size], common[:size]), chosen, count, data, work)
            n_tests[0] += count if at < 0 else at + 1
            if at >= 0:
                adjacent[x, y], adjacent[y, x] = False, False
                found[deleted, 0], found[deleted, 1] = x, y
                for k in range(order):
                    found[deleted, 2 + k] = candidates[chosen[k]]
                deleted += 1
    return deleted, len(children), 0
