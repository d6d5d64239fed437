"""The compiled choice of an elimination order: min-fill, sums before maxima."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel

SUM, MAX, KEPT, SEEN = 0, 1, 2, 3  # phases: summed out, maximised out after all sums, kept, observed


@kernel
def elimination(
    sizes: Array, scopes: Array, bounds: Array, used: Array, phase: Array
) -> tuple[Array, Array, Array, Array, float]:
    """Order the variables by min-fill (ties: the smaller new factor, then the lower index), sums before maxima.

    Returns the order, the neighbours of each variable when its turn comes (the columns of the new factor) with
    their bounds, the entries each elimination looks at, and the largest of those.
    """
    free, place = _free(scopes, bounds, used, phase)
    m = len(free)
    linked = _interactions(scopes, bounds, used, phase, place, m)
    turn = np.empty(m, np.int8)
    logs = np.empty(m)
    steps, sums = 0, 0
    for k in range(m):
        turn[k] = phase[free[k]]
        logs[k] = np.log(sizes[free[k]])
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
    return order, around[: ends[steps]], ends, entries, largest


@kernel
def _free(scopes: Array, bounds: Array, used: Array, phase: Array) -> tuple[Array, Array]:
    """List the unobserved variables of the families in use, and give each its place in the list."""
    n = len(phase)
    place = np.full(n, -1, np.int64)
    for node in range(n):
        if used[node]:
            for at in range(bounds[node], bounds[node + 1]):
                if phase[scopes[at]] != SEEN:
                    place[scopes[at]] = 0
    free = np.flatnonzero(place == 0)
    for k in range(len(free)):
        place[free[k]] = k
    return free, place


@kernel
def _interactions(scopes: Array, bounds: Array, used: Array, phase: Array, place: Array, m: int) -> Array:
    linked = np.zeros((m, m), np.bool_)
    for node in range(len(phase)):
        if used[node]:
            for one in range(bounds[node], bounds[node + 1]):
                for two in range(one + 1, bounds[node + 1]):
                    a, b = place[scopes[one]], place[scopes[two]]
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
    best, least, lightest = -1, np.int64(1 << 62), np.inf
    for again in range(2):
        for k in range(len(turn)):
            if turn[k] != now or stale[k] != (again == 1):
                continue
            if stale[k]:
                fill[k], weight[k], stale[k] = _fill_in(linked, k, near, least, logs)
            if fill[k] > least or stale[k]:
                continue
            nearly = abs(weight[k] - lightest) < 1e-9
            if fill[k] < least or (weight[k] < lightest and not nearly) or (nearly and k < best):
                best, least, lightest = k, fill[k], weight[k]
    return best


@kernel
def _fill_in(linked: Array, node: int, near: Array, limit: int, logs: Array) -> tuple[int, float, bool]:
    """Count the pairs of neighbours without a link; past the limit say that the count is not finished."""
    degree = _neighbours(linked, node, near)
    missing, weight = 0, 0.0
    for one in range(degree):
        weight += logs[near[one]]
        row = linked[near[one]]
        for two in range(one + 1, degree):
            missing += not row[near[two]]
        if missing > limit:
            return missing, weight, True
    return missing, weight, False


@kernel
def _take_out(linked: Array, node: int, near: Array, degree: int, filling: bool, stale: Array) -> None:
    """Link a variable's neighbours and remove it; the fill-in of those whose surroundings changed is stale."""
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
