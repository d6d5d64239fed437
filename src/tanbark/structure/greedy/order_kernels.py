"""Compiled search over orders of the columns, where every column takes its best parent set among the columns before it.

The parent sets of all columns lie in one list: those of column y are ``first[y]`` .. ``first[y + 1] - 1``, the highest
score first; the last of them has the required parents only and ends the scan. ``bits`` holds the members of each set,
64 columns to a word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.machine import kernel
from tanbark.stopping import stopping


class SetList(NamedTuple):
    """Scored parent sets of all columns: where those of a column begin, their members, their scores; required arcs."""

    first: Array
    bits: Array
    score: Array
    fixed: Array


class Order(NamedTuple):
    """An order under change: the columns in order, the place of each, and the parent set that each takes."""

    columns: Array
    place: Array
    chosen: Array


@kernel
def has(bits: Array, row: int, column: int) -> bool:
    """Return whether a column is a member of a parent set."""
    return bool((bits[row, column >> 6] >> np.uint64(column & 63)) & np.uint64(1))


@kernel
def _toggle(mask: Array, column: int) -> None:
    mask[column >> 6] ^= np.uint64(1) << np.uint64(column & 63)


@kernel
def _fits(bits: Array, row: int, before: Array) -> bool:
    """Return whether all members of a parent set are in a mask."""
    word = 0
    while word < len(before) and bits[row, word] & ~before[word] == np.uint64(0):
        word += 1
    return word == len(before)


@kernel
def _first_fit(bits: Array, low: int, high: int, before: Array) -> int:
    """Return the first parent set from ``low`` on that fits, or ``high`` if none before it does."""
    row = low
    while row < high and not _fits(bits, row, before):
        row += 1
    return row


@kernel
def list_best(child: Array, bits: Array, score: Array, counted: Array, n: int) -> tuple[Array, Array]:
    """Return where the parent sets of each column begin, and which are kept, given them by column and falling score.

    Sets that score alike within 1e-9 are listed by their members. A set with a better subset is dropped, since the
    subset fits wherever it does; so is a second copy, which passes on whether its neighbours were counted.
    """
    # Cost: O(sets of a column, squared), each a comparison of words.
    kept, first = np.empty(len(child), np.int64), np.zeros(n + 1, np.int64)
    size = 0
    for y in range(n):
        first[y] = size
        low = np.searchsorted(child, y)
        high = np.searchsorted(child, y + 1)
        for row in range(low, high):
            place, better = size, False
            for other in range(first[y], size):
                if _fits(bits, kept[other], bits[row]):  # a subset, or the same
                    better = True
                    if counted[row] and _fits(bits, row, bits[kept[other]]):
                        counted[kept[other]] = True
                    break
            if better:
                continue
            edge = TIE * max(1.0, abs(score[row]))
            while place > first[y] and score[kept[place - 1]] - score[row] <= edge:
                if not _lower(bits[row], bits[kept[place - 1]]):
                    break
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = row
            size += 1
    first[n] = size
    return first, kept[:size]


@kernel
def _lower(mine: Array, other: Array) -> bool:
    """Return whether a set comes before another one in the order of their masks."""
    for word in range(len(mine) - 1, -1, -1):
        if mine[word] != other[word]:
            return bool(mine[word] < other[word])
    return False


@kernel
def settle(sets: SetList, order: Order) -> float:
    """Let every column take its best parent set among the columns before it; return the total score."""
    before = np.zeros(sets.bits.shape[1], np.uint64)
    total = 0.0
    for place in range(len(order.columns)):
        y = order.columns[place]
        order.place[y] = place
        order.chosen[y] = _first_fit(sets.bits, sets.first[y], sets.first[y + 1] - 1, before)
        total += sets.score[order.chosen[y]]
        _toggle(before, y)
    return total


@kernel
def best_place(sets: SetList, order: Order, v: int, least: float, before: Array) -> tuple[float, int]:
    """Return the most that another place of column v gains, and the place; its own if none gains over ``least``."""
    # Idea: move v one place at a time. To the right, v may take more parents and the columns it passes lose v; to the
    # left, the columns it passes may take v and v loses them. A changed parent set is looked for on the one side of the
    # present one where it must be. Cost: O(columns) steps, each a scan of a list of parent sets. ``before`` is scratch.
    first, bits, score = sets.first, sets.bits, sets.score
    columns, chosen, own = order.columns, order.chosen, order.place[v]
    best, target = least, own
    before[:] = np.uint64(0)
    for at in range(own):
        _toggle(before, columns[at])
    mine, others, most = chosen[v], 0.0, score[first[v]] - score[chosen[v]]
    for at in range(own + 1, len(columns)):
        u = columns[at]
        if sets.fixed[v, u]:
            break
        if has(bits, chosen[u], v):
            row = _first_fit(bits, chosen[u] + 1, first[u + 1] - 1, before)
            others += score[row] - score[chosen[u]]
        if others + most <= best:
            break
        _toggle(before, u)
        mine = _first_fit(bits, first[v], mine, before)
        gain = others + score[mine] - score[chosen[v]]
        if gain > best + least:
            best, target = gain, at
    before[:] = np.uint64(0)
    for at in range(own):
        _toggle(before, columns[at])
    mine, others = chosen[v], 0.0
    for at in range(own - 1, -1, -1):
        u = columns[at]
        if sets.fixed[u, v]:
            break
        _toggle(before, u)
        if has(bits, mine, u):
            mine = _first_fit(bits, mine + 1, first[v + 1] - 1, before)
        _toggle(before, v)
        row = _first_fit(bits, first[u], chosen[u], before)
        others += score[row] - score[chosen[u]]
        _toggle(before, v)
        gain = others + score[mine] - score[chosen[v]]
        if gain > best + least:
            best, target = gain, at
    return best, target


@kernel
def _move(order: Order, v: int, target: int) -> None:
    """Move a column to another place; the places of the columns between are updated."""
    at = order.place[v]
    step = 1 if target > at else -1
    while at != target:
        order.columns[at] = order.columns[at + step]
        order.place[order.columns[at]] = at
        at += step
    order.columns[target] = v
    order.place[v] = target


@kernel
def _nearest(order: Order, fixed: Array, v: int, target: int) -> int:
    """Return the place nearest to a target that a column can move to without passing an end of a required arc."""
    at = order.place[v]
    step = 1 if target > at else -1
    while at != target:
        u = order.columns[at + step]
        if fixed[v, u] or fixed[u, v]:
            break
        at += step
    return int(at)


@kernel
def _draw(state: Array, below: int) -> int:
    """Draw a number below another (xorshift64, Marsaglia 2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int((x >> np.uint64(11)) % np.uint64(below))


@kernel
def _ascend(sets: SetList, order: Order, least: float, state: Array) -> float:
    """Move columns, in random turns, to the place where each gains most, until none gains; return the total score."""
    n, idle = len(order.columns), 0
    turns, before = np.arange(n), np.zeros(sets.bits.shape[1], np.uint64)
    total = settle(sets, order)
    while idle < n and not stopping():
        for k in range(n - 1, 0, -1):
            other = _draw(state, k + 1)
            turns[k], turns[other] = turns[other], turns[k]
        for v in turns:
            _, target = best_place(sets, order, v, least, before)
            idle += 1
            if target != order.place[v]:
                _move(order, v, target)
                total, idle = settle(sets, order), 0
            if idle >= n:
                break
    return float(total)


@kernel
def search_orders(
    sets: SetList, columns: Array, perturbations: int, strength: int, least: float, state: Array
) -> tuple[float, Array, Array]:
    """Ascend from an order, then again from the best one after a few random moves; return the best score found.

    Returns also the order and the parent set of every column. The order to begin from has the ends of required arcs in
    their order, and so have all others. ``strength`` is the most random moves of a perturbation,
    ``state`` that of the random numbers, which is advanced.
    """
    n = len(columns)
    order = Order(columns.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64))
    best = _ascend(sets, order, least, state)
    kept, chosen = order.columns.copy(), order.chosen.copy()
    for _ in range(perturbations if n > 1 else 0):
        if stopping():
            break
        order.columns[:] = kept
        for place in range(n):
            order.place[kept[place]] = place
        for _ in range(1 + _draw(state, strength)):
            v = _draw(state, n)
            _move(order, v, _nearest(order, sets.fixed, v, _draw(state, n)))
        total = _ascend(sets, order, least, state)
        if total >= best - least:  # equally good orders are entered too, so that the search does not stay at one
            kept[:] = order.columns
        if total > best + least:
            best, chosen = total, order.chosen.copy()
    return best, kept, chosen
