"""Compiled search over orders of the columns, where every column takes its best parent set among the columns before it.

The parent sets are the lists of :mod:`tanbark.structure.greedy.kernels.set_kernels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.stopping import stopping
from tanbark.structure.greedy.kernels.set_kernels import SetList, copy_to


class Order(NamedTuple):
    """An order under change: the columns in order, the place of each, and the parent set that each takes.

    ``before[k]`` has the columns at the places before k. ``wish[y]`` has the members of all sets that column y would
    rather take, and ``slack[y]`` is what the best of them scores more.
    """

    columns: Array
    place: Array
    chosen: Array
    before: Array
    wish: Array
    slack: Array


@kernel
def begin_order(columns: Array, words: int) -> Order:
    """Make an order whose columns have no parent sets yet."""
    n = len(columns)
    before, wish = np.zeros((n, words), np.uint64), np.zeros((n, words), np.uint64)
    return Order(columns.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64), before, wish, np.zeros(n))


@kernel
def _first_fit(bits: Array, y: int, low: int, high: int, before: Array) -> int:
    """Return the first parent set of column y from ``low`` on that fits, or ``high`` if none before it does."""
    row, word = low, 0
    while row < high and word < len(before):
        fits = bits[y, row, word] & ~before[word] == np.uint64(0)
        word = word + 1 if fits else 0
        row += not fits
    return row


@kernel
def _is_in(masks: Array, y: int, column: int) -> bool:
    """Return whether a column is a member of set y."""
    return bool((masks[y, column >> 6] >> np.uint64(column & 63)) & np.uint64(1))


@kernel
def _is_parent(bits: Array, y: int, row: int, column: int) -> bool:
    """Return whether a column is a member of a parent set of y."""
    return bool((bits[y, row, column >> 6] >> np.uint64(column & 63)) & np.uint64(1))


@kernel
def settle(sets: SetList, order: Order, low: int, high: int) -> None:
    """Let the columns at the places from ``low`` to ``high`` take their best parent set among the columns before."""
    bits, score, wish, before = sets.bits, sets.score, order.wish, order.before
    for place in range(low, high + 1):
        y = order.columns[place]
        order.place[y] = place
        if place:
            last = order.columns[place - 1]
            copy_to(before[place], before[place - 1])
            before[place, last >> 6] |= np.uint64(1) << np.uint64(last & 63)
        row = _first_fit(bits, y, 0, sets.size[y] - 1, before[place])
        for word in range(before.shape[1]):
            wish[y, word] = np.uint64(0)
            for other in range(row):
                wish[y, word] |= bits[y, other, word]
        order.chosen[y], order.slack[y] = row, score[y, 0] - score[y, row]


@kernel
def _total(sets: SetList, order: Order) -> float:
    """Return the score of the graph that an order chooses."""
    total = 0.0
    for y in range(len(order.chosen)):
        total += sets.score[y, order.chosen[y]]
    return total


@kernel
def next_move(
    sets: SetList, order: Order, turns: Array, low: int, high: int, least: float
) -> tuple[int, float, int]:  # fmt: skip
    """Return the first of the columns ``turns[low:high]`` that gains more than ``least`` at another place.

    Returns its position in ``turns``, or ``high`` if there is none, what it gains at its best place, and that place.
    """
    # Idea: move a column v one place at a time. To the right, v may take more parents and the columns it passes lose v;
    # to the left, the columns it passes may take v and v loses them. A changed parent set is looked for on the one side
    # of the present one where it must be, and where v has a part in it. A side is left when what may still be gained
    # there is too little. Cost: O(columns) steps; those with a change scan a list of parent sets. All columns are
    # looked at in one function, as a call costs as much as some steps.
    bits, score, size, fixed, wish, slack = sets.bits, sets.score, sets.size, sets.fixed, order.wish, order.slack
    columns, chosen, n = order.columns, order.chosen, len(order.columns)
    best, target, turn, before = least, 0, low, np.empty(bits.shape[2], np.uint64)
    while turn < high:
        v = turns[turn]
        own, mine, others = order.place[v], chosen[v], 0.0
        now, target = score[v, mine], own
        copy_to(before, order.before[own])
        at = own + 1 if slack[v] > best else n
        while at < n and others + slack[v] > best and not fixed[v, columns[at]]:
            u = columns[at]
            if _is_parent(bits, u, chosen[u], v):
                row = _first_fit(bits, u, chosen[u] + 1, size[u] - 1, before)
                others += score[u, row] - score[u, chosen[u]]
            before[u >> 6] |= np.uint64(1) << np.uint64(u & 63)
            if _is_in(wish, v, u):
                mine = _first_fit(bits, v, 0, mine, before)
                gain = others + score[v, mine] - now
                if gain > best + least:
                    best, target = gain, at
            at += 1
        mine, others, gain, hope = chosen[v], 0.0, 0.0, 0.0
        for at in range(own):
            if _is_in(wish, columns[at], v):
                hope += slack[columns[at]]
        if hope > best:
            copy_to(before, order.before[own])
        at = own - 1
        while at >= 0 and gain + hope > best and not fixed[columns[at], v]:
            u = columns[at]
            before[u >> 6] ^= np.uint64(1) << np.uint64(u & 63)
            if _is_parent(bits, v, mine, u):
                mine = _first_fit(bits, v, mine + 1, size[v] - 1, before)
            if _is_in(wish, u, v):
                before[v >> 6] ^= np.uint64(1) << np.uint64(v & 63)
                row = _first_fit(bits, u, 0, chosen[u], before)
                before[v >> 6] ^= np.uint64(1) << np.uint64(v & 63)
                others += score[u, row] - score[u, chosen[u]]
                hope -= slack[u]
            gain = others + score[v, mine] - now
            if gain > best + least:
                best, target = gain, at
            at -= 1
        if target != own:
            break
        turn += 1
    return turn, best, target


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
    turns = np.arange(n)
    settle(sets, order, 0, n - 1)
    while idle < n and not stopping():
        for k in range(n - 1, 0, -1):
            other = _draw(state, k + 1)
            turns[k], turns[other] = turns[other], turns[k]
        turn = 0
        while turn < n and idle < n:
            end = min(n, turn + n - idle)
            found, _, target = next_move(sets, order, turns, turn, end, least)
            idle += found - turn
            turn = found
            if found < end:
                v, own = turns[found], order.place[turns[found]]
                _move(order, v, target)
                settle(sets, order, min(own, target), max(own, target))
                idle, turn = 0, found + 1
    return float(_total(sets, order))


@kernel
def search_orders(
    sets: SetList, columns: Array, perturbations: int, strength: int, least: float, state: Array
) -> tuple[float, Array, Array]:
    """Ascend from an order, then again from the best one after a few random moves; return the best score found.

    Returns also the last order with that score, and the parent set of every column. The order to begin from has the
    ends of required arcs in their order, and so have all others. ``strength`` is the most random moves of a
    perturbation, ``state`` that of the random numbers, which is advanced.
    """
    n = len(columns)
    order = begin_order(columns, sets.bits.shape[2])
    best = _ascend(sets, order, least, state)
    kept, chosen = order.columns.copy(), order.chosen.copy()
    for _ in range(perturbations if n > 1 else 0):
        if stopping():
            break
        copy_to(order.columns, kept)
        for place in range(n):
            order.place[kept[place]] = place
        for _ in range(1 + _draw(state, strength)):
            v = _draw(state, n)
            _move(order, v, _nearest(order, sets.fixed, v, _draw(state, n)))
        total = _ascend(sets, order, least, state)
        if total >= best - least:  # equally good orders are entered too, for the sake of their parent sets
            copy_to(kept, order.columns)
            copy_to(chosen, order.chosen)
            best = max(best, total)
    return best, kept, chosen
