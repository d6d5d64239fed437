"""The compiled choice of the families that a computation needs and of the order of their elimination.

Pruning leaves out barren variables (those without a descendant that is observed or asked for) and parts of the network
that unobserved variables do not connect with what is asked for. The order is min-fill, sums before maxima.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Floats, Integers
from tanbark.graph.kernels import find_root, join_roots
from tanbark.inference.layout import Factors, FlatNetwork
from tanbark.machine import kernel

SUM, MAX, KEPT, SEEN = 0, 1, 2, 3  # phases: summed out, maximised out after all sums, kept, observed
MAX_FREE = 1 << 14  # variables that are not observed: their links are a square array
TIED = 1e-9  # logarithms of sizes that differ by less are equal


class Order(NamedTuple):
    """An elimination order.

    Step s eliminates ``variables[s]`` and makes a factor over ``around[bounds[s] : bounds[s + 1]]``, looking at
    ``entries[s]`` entries; ``largest`` is the greatest of those, infinite where there are too many variables to order.
    """

    variables: Integers
    around: Integers
    bounds: Integers
    entries: Floats
    largest: float


@kernel
def mark_ancestors(factors: Factors, children_first: Array, marked: Array) -> None:
    """Mark the ancestors of the marked nodes; whatever stays unmarked is barren."""
    for node in children_first:
        if marked[node]:
            for at in range(factors.bounds[node], factors.bounds[node + 1]):
                marked[factors.columns[at]] = True


@kernel
def relevant(flat: FlatNetwork, phase: Array, soft: Array, zeros: Array) -> Array:
    """Mark the families that a posterior needs: of ancestors of what is observed or asked for, and connected to it.

    A component that shares no unobserved variable with what is asked for only scales the posterior. It is left out,
    unless it holds a zero and so could make the evidence impossible. Cost: linear in the sizes of the families.
    """
    factors, n = flat.cpts, len(phase)
    used: Array = (phase != SUM) | soft
    mark_ancestors(factors, flat.children_first, used)
    root = np.arange(n)
    first = np.full(n, -1, np.int64)  # the first unobserved variable of each family
    for node in range(n):
        if used[node]:
            for at in range(factors.bounds[node], factors.bounds[node + 1]):
                if phase[factors.columns[at]] != SEEN:
                    if first[node] < 0:
                        first[node] = factors.columns[at]
                    join_roots(root, first[node], factors.columns[at])
    wanted = np.zeros(n, np.bool_)
    for node in range(n):
        if first[node] >= 0 and (zeros[node] or soft[node] or phase[node] in (KEPT, MAX)):
            wanted[find_root(root, first[node])] = True
    for node in range(n):
        if used[node]:
            used[node] = zeros[node] if first[node] < 0 else wanted[find_root(root, first[node])]
    return used


@kernel
def min_fill(sizes: Array, factors: Factors, used: Array, phase: Array, max_free: int) -> Order:
    """Order the variables by min-fill (ties: the smaller new factor, then the lower index), sums before maxima.

    The graph of interactions is a square array of bits over the unobserved variables of the families in use. Fill-ins
    are kept, and counted again only where an elimination changed the surroundings of a variable.
    """
    free, place = _free(factors, used, phase)
    m = len(free)
    if m > max_free:
        none = np.empty(0, np.int64)
        return Order(none, none, np.zeros(1, np.int64), np.empty(0), np.inf)
    linked = _interactions(factors, used, place, m)
    turn, logs = np.empty(m, np.int8), np.empty(m)
    steps, sums = 0, 0
    for k in range(m):
        turn[k], logs[k] = phase[free[k]], np.log(sizes[free[k]])
        steps += turn[k] != KEPT
        sums += turn[k] == SUM
    order, ends = np.empty(steps, np.int64), np.zeros(steps + 1, np.int64)
    around = np.empty(max(16, 4 * m), np.int64)
    entries = np.empty(steps)
    fill, weight, stale = np.zeros(m, np.int64), np.zeros(m), np.ones(m, np.bool_)
    near = np.empty(m, np.int64)
    largest = 1.0
    for step in range(steps):
        best = _cheapest(SUM if step < sums else MAX, linked, turn, logs, fill, weight, stale, near)
        degree = _neighbours(linked, best, near)
        while ends[step] + degree > len(around):
            around = np.concatenate((around, np.empty(len(around), np.int64)))
        entries[step] = sizes[free[best]]
        for k in range(degree):
            around[ends[step] + k] = free[near[k]]
            entries[step] *= sizes[free[near[k]]]
        largest = max(largest, entries[step])
        ends[step + 1] = ends[step] + degree
        order[step] = free[best]
        _take_out(linked, best, near, degree, fill[best] > 0, stale)
        turn[best] = SEEN
    return Order(order, around[: ends[steps]], ends, entries, largest)


@kernel
def _free(factors: Factors, used: Array, phase: Array) -> tuple[Array, Array]:
    """List the unobserved variables of the families in use, and the place of each in the list."""
    place = np.full(len(phase), -1, np.int64)
    for node in range(len(phase)):
        if used[node]:
            for at in range(factors.bounds[node], factors.bounds[node + 1]):
                if phase[factors.columns[at]] != SEEN:
                    place[factors.columns[at]] = 0
    free = np.flatnonzero(place == 0)
    for k in range(len(free)):
        place[free[k]] = k
    return free, place


@kernel
def _interactions(factors: Factors, used: Array, place: Array, m: int) -> Array:
    """Link every two unobserved variables that have a family in common."""
    linked, columns, bounds = np.zeros((m, m), np.bool_), factors.columns, factors.bounds
    for node in range(len(place)):
        if used[node]:
            for one in range(bounds[node], bounds[node + 1]):
                for two in range(one + 1, bounds[node + 1]):
                    a, b = place[columns[one]], place[columns[two]]
                    if a >= 0 and b >= 0:
                        linked[a, b] = linked[b, a] = True
    return linked


@kernel
def _neighbours(linked: Array, node: int, near: Array) -> int:
    row = linked[node]
    degree = 0
    for k in range(len(row)):
        near[degree] = k
        degree += row[k]
    return degree


@kernel
def _cheapest(
    now: int, linked: Array, turn: Array, logs: Array, fill: Array, weight: Array, stale: Array, near: Array
) -> int:  # fmt: skip
    """Find the next variable; a fill-in that is worse than the best so far is not counted to its end."""
    # Known fill-ins come first, so that the stale ones are counted against a low limit.
    best, least, lightest = -1, np.int64(1 << 62), np.inf
    for again in range(2):
        for k in range(len(turn)):
            if turn[k] != now or stale[k] != (again == 1):
                continue
            if stale[k]:
                fill[k], weight[k], stale[k] = _fill_in(linked, k, near, least, logs)
            if fill[k] > least or stale[k]:
                continue
            tied = abs(weight[k] - lightest) < TIED
            if fill[k] < least or (weight[k] < lightest and not tied) or (tied and k < best):
                best, least, lightest = k, fill[k], weight[k]
    return best


@kernel
def _fill_in(linked: Array, node: int, near: Array, limit: int, logs: Array) -> tuple[int, float, bool]:
    """Count the pairs of neighbours without a link; the last value is whether the count stopped past the limit."""
    degree = _neighbours(linked, node, near)
    absent, weight = 0, 0.0
    for one in range(degree):
        weight += logs[near[one]]
        row = linked[near[one]]
        for two in range(one + 1, degree):
            absent += not row[near[two]]
        if absent > limit:
            return absent, weight, True
    return absent, weight, False


@kernel
def _take_out(linked: Array, node: int, near: Array, degree: int, filling: bool, stale: Array) -> None:
    """Link a variable's neighbours and remove it; the fill-in of those whose surroundings changed is stale."""
    # Without new links only the neighbours' own fill-ins change; with them, those of the neighbours' neighbours too.
    for one in range(degree):
        a = near[one]
        linked[a, node] = linked[node, a] = False
        stale[a] = True
        if filling:
            for other in range(len(stale)):
                stale[other] |= linked[a, other]
    for one in range(degree):
        for two in range(one + 1, degree):
            linked[near[one], near[two]] = linked[near[two], near[one]] = True
