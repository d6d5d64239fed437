"""The compiled choice of the families that a computation needs and of the order of their elimination.

Pruning leaves out barren variables (those without a descendant that is observed or asked for) and parts of the network
that unobserved variables do not connect with what is asked for. The order is the best of several greedy ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Floats, Integers
from tanbark.graph.kernels import find_root, join_roots
from tanbark.inference.layout import Factors, FlatNetwork
from tanbark.kernel import kernel

SUM, MAX, KEPT, SEEN = 0, 1, 2, 3  # phases: summed out, maximised out after all sums, kept, observed
MAX_FREE = 1 << 14  # variables that are not observed: their links are a square array
EFFORT = 0.5  # of the entries that an order looks at: the work to look for a better one
MOST_TRIES = 1000
MOST_WORK = float(1 << 30)  # about a second


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
def best_order(sizes: Array, factors: Factors, used: Array, phase: Array, max_free: int) -> Order:
    """Order the variables, sums before maxima, so that few entries are looked at in all.

    Min-fill comes first (ties: the smaller new factor, then the lower index). While looking for an order has taken less
    than a fraction of what the best one so far will take, others are tried: fill-ins weighted by their entries, and
    both rules with each variable's fill-in multiplied by a pseudo-random number from 1 to 2, always the same ones.
    After Kask, Gelfand, Otten and Dechter (2011), Pushing the power of stochastic greedy ordering schemes.
    """
    free, place = _free(factors, used, phase)
    m = len(free)
    if m > max_free:
        none = np.empty(0, np.int64)
        return Order(none, none, np.zeros(1, np.int64), np.empty(0), np.inf)
    linked = _interactions(factors, used, place, m)
    turn, states = np.empty(m, np.int8), np.empty(m)
    for k in range(m):
        turn[k], states[k] = phase[free[k]], sizes[free[k]]
    noise = np.ones(m)
    best: Order
    best, total, spent = _greedy(linked, free, turn, states, False, noise, np.inf)
    attempt = 0
    while attempt < MOST_TRIES and spent < min(total * EFFORT, MOST_WORK):
        _shuffle(noise, attempt)
        other, its_total, work = _greedy(linked, free, turn, states, attempt % 2 == 0, noise, total)
        spent += work
        attempt += 1
        if its_total < total:
            best, total = other, its_total
    return best


@kernel
def _shuffle(noise: Array, attempt: int) -> None:
    """Draw numbers from 1 to 2 by Lehmer's generator; the first attempt has none."""
    state = attempt * 7919 + 1
    for k in range(len(noise)):
        state = state * 48271 % 2147483647
        noise[k] = 1.0 + (state / 2147483647.0 if attempt else 0.0)


@kernel
def _greedy(
    interactions: Array, free: Array, turn: Array, states: Array, weighted: bool, noise: Array, most: float
) -> tuple[Order, float, float]:  # fmt: skip
    """Eliminate one variable after another, each time the one of the least fill-in.

    The graph of interactions is a square array of bits over the free variables. Fill-ins are kept, and counted again
    only where an elimination changed the surroundings of a variable. Returns the order, the entries looked at in all,
    and the work that it took to find it; an order that comes to ``most`` entries is not finished.
    """
    m, linked, left = len(free), interactions.copy(), turn.copy()
    steps, sums = 0, 0
    for k in range(m):
        steps += turn[k] != KEPT
        sums += turn[k] == SUM
    order, ends = np.empty(steps, np.int64), np.zeros(steps + 1, np.int64)
    around, entries = np.empty(max(16, 4 * m), np.int64), np.empty(steps)
    fill, weight, stale = np.zeros(m), np.zeros(m), np.ones(m, np.bool_)
    near = np.empty(m, np.int64)
    largest, total, work = 1.0, 0.0, float(m)
    for step in range(steps):
        now = SUM if step < sums else MAX
        best, its_work = _cheapest(now, linked, left, states, weighted, noise, fill, weight, stale, near)
        degree = _neighbours(linked, best, near)
        while ends[step] + degree > len(around):
            around = np.concatenate((around, np.empty(len(around), np.int64)))
        entries[step] = states[best]
        for k in range(degree):
            around[ends[step] + k] = free[near[k]]
            entries[step] *= states[near[k]]
        largest, total = max(largest, entries[step]), total + entries[step]
        work += its_work + degree * degree + (degree + 1) * m
        ends[step + 1] = ends[step] + degree
        order[step] = free[best]
        if total >= most:
            return Order(order, around, ends, entries, np.inf), np.inf, work
        _take_out(linked, best, near, degree, fill[best] > 0, stale)
        left[best] = SEEN
    return Order(order, around[: ends[steps]], ends, entries, largest), total, work


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
    now: int, linked: Array, left: Array, states: Array, weighted: bool, noise: Array, fill: Array, weight: Array,
    stale: Array, near: Array,
) -> tuple[int, float]:  # fmt: skip
    """Find the next variable, and the work; a fill-in that is worse than the best so far is not counted to its end."""
    # Known fill-ins come first, so that the stale ones are counted against a low limit.
    best, least, lightest, work = -1, np.inf, np.inf, float(len(left)) / 4
    for again in range(2):
        for k in range(len(left)):
            if left[k] != now or stale[k] != (again == 1):
                continue
            if stale[k]:
                found, weight[k], degree, stale[k] = _fill_in(linked, k, near, least / noise[k], states, weighted)
                fill[k] = found * noise[k]
                work += len(left) / 4 + degree * degree / 2
            if fill[k] > least or stale[k]:
                continue
            if fill[k] < least or weight[k] < lightest or (weight[k] == lightest and k < best):
                best, least, lightest = k, fill[k], weight[k]
    return best, work


@kernel
def _fill_in(
    linked: Array, node: int, near: Array, limit: float, states: Array, weighted: bool
) -> tuple[float, float, int, bool]:  # fmt: skip
    """Count the pairs of neighbours without a link, or add up the entries that each would have.

    Returns the fill-in, the entries of the new factor, the number of neighbours, and whether the count stopped past the
    limit.
    """
    degree = _neighbours(linked, node, near)
    absent, weight = 0.0, 1.0
    for one in range(degree):
        weight *= states[near[one]]
        row = linked[near[one]]
        if weighted:
            for two in range(one + 1, degree):
                if not row[near[two]]:
                    absent += states[near[one]] * states[near[two]]
        else:
            count = 0
            for two in range(one + 1, degree):
                count += not row[near[two]]
            absent += count
        if absent > limit:
            return absent, weight, degree, True
    return absent, weight, degree, False


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
