"""Compiled search over orders of the columns, where every column takes its best parent set among the columns before it.

The parent sets are the lists of :mod:`tanbark.structure.greedy.kernels.set_kernels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel
from tanbark.stopping import stopping
from tanbark.structure.greedy.kernels.set_kernels import SetList, copy_to, has, is_subset, toggle_member


class Order(NamedTuple):
    """An order under change: the columns in order, the place of each, and the parent set that each takes.

    ``wish[y]`` has the members of all sets that column y would rather take, and ``slack[y]`` is what the best of them
    scores more.
    """

    columns: Array
    place: Array
    chosen: Array
    wish: Array
    slack: Array


@kernel
def _first_fit(bits: Array, low: int, high: int, before: Array) -> int:
    """Return the first parent set from ``low`` on that fits, or ``high`` if none before it does."""
    row = low
    while row < high and not is_subset(bits[row], before):
        row += 1
    return row


@kernel
def settle(sets: SetList, order: Order, low: int, high: int) -> None:
    """Let the columns at the places from ``low`` to ``high`` take their best parent set among the columns before."""
    before = np.zeros(sets.bits.shape[2], np.uint64)
    for place in range(low):
        toggle_member(before, order.columns[place])
    for place in range(low, high + 1):
        y = order.columns[place]
        order.place[y] = place
        bits, wish = sets.bits[y], order.wish[y]
        row = _first_fit(bits, 0, sets.size[y] - 1, before)
        wish[:] = np.uint64(0)
        for other in range(row):
            for word in range(len(wish)):
                wish[word] |= bits[other, word]
        order.chosen[y], order.slack[y] = row, sets.score[y, 0] - sets.score[y, row]
        toggle_member(before, y)


@kernel
def _total(sets: SetList, order: Order) -> float:
    """Return the score of the graph that an order chooses."""
    total = 0.0
    for y in range(len(order.chosen)):
        total += sets.score[y, order.chosen[y]]
    return total


@kernel
def best_place(sets: SetList, order: Order, v: int, least: float, before: Array) -> tuple[float, int]:
    """Return the most that another place of column v gains, and the place; its own if none gains over ``least``."""
    # Idea: move v one place at a time. To the right, v may take more parents and the columns it passes lose v; to the
    # left, the columns it passes may take v and v loses them. A changed parent set is looked for on the one side of the
    # present one where it must be, and where v has a part in it. A side is left when what may still be gained there is
    # too little. Cost: O(columns) steps; those with a change scan a list of parent sets. ``before`` is scratch.
    best, target = _best_right(sets, order, v, least, before)
    others, hope = 0.0, 0.0
    own, columns, chosen = order.place[v], order.columns, order.chosen
    for at in range(own):
        if has(order.wish[columns[at]], v):
            hope += order.slack[columns[at]]
    if hope <= best:
        return best, target
    bits, score = sets.bits, sets.score
    now, mine = score[v, chosen[v]], chosen[v]
    before[:] = np.uint64(0)
    for at in range(own):
        toggle_member(before, columns[at])
    for at in range(own - 1, -1, -1):
        u = columns[at]
        if sets.fixed[u, v]:
            break
        toggle_member(before, u)
        if has(bits[v, mine], u):
            mine = _first_fit(bits[v], mine + 1, sets.size[v] - 1, before)
        if has(order.wish[u], v):
            toggle_member(before, v)
            row = _first_fit(bits[u], 0, chosen[u], before)
            others += score[u, row] - score[u, chosen[u]]
            hope -= order.slack[u]
            toggle_member(before, v)
        gain = others + score[v, mine] - now
        if gain > best + least:
            best, target = gain, at
        if gain + hope <= best:
            break
    return best, target


@kernel
def _best_right(sets: SetList, order: Order, v: int, least: float, before: Array) -> tuple[float, int]:
    """Return the most that a later place of column v gains, and the place."""
    bits, score, columns, chosen, own = sets.bits, sets.score, order.columns, order.chosen, order.place[v]
    best, target = least, own
    now, mine, others = score[v, chosen[v]], chosen[v], 0.0
    if order.slack[v] <= best:
        return best, target
    before[:] = np.uint64(0)
    for at in range(own):
        toggle_member(before, columns[at])
    for at in range(own + 1, len(columns)):
        u = columns[at]
        if sets.fixed[v, u]:
            break
        if has(bits[u, chosen[u]], v):
            row = _first_fit(bits[u], chosen[u] + 1, sets.size[u] - 1, before)
            others += score[u, row] - score[u, chosen[u]]
        if others + order.slack[v] <= best:
            break
        toggle_member(before, u)
        if has(order.wish[v], u):
            mine = _first_fit(bits[v], 0, mine, before)
            gain = others + score[v, mine] - now
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
    turns, before = np.arange(n), np.zeros(sets.bits.shape[2], np.uint64)
    settle(sets, order, 0, n - 1)
    while idle < n and not stopping():
        for k in range(n - 1, 0, -1):
            other = _draw(state, k + 1)
            turns[k], turns[other] = turns[other], turns[k]
        for v in turns:
            _, target = best_place(sets, order, v, least, before)
            idle += 1
            if target != order.place[v]:
                own = order.place[v]
                _move(order, v, target)
                settle(sets, order, min(own, target), max(own, target))
                idle = 0
            if idle >= n:
                break
    return float(_total(sets, order))


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
    wish = np.zeros((n, sets.bits.shape[2]), np.uint64)
    order = Order(columns.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64), wish, np.zeros(n))
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
        if total >= best - least:  # equally good orders are entered too, so that the search does not stay at one
            copy_to(kept, order.columns)
        if total > best + least:
            best, chosen = total, order.chosen.copy()
    return best, kept, chosen
