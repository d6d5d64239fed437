"""The compiled dynamic programme over subsets, and the local searches of branch and cut.

A set of columns is a mask of bits. A family of a node is numbered by the mask of its parents without the node's bit.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.stopping import stopping

NEARER = 0.01  # what a parent within a cluster is worth where one more is needed to count


@kernel
def best_families(h: Array, node: int, n: int, most: int, out: Array) -> None:
    """Fill ``out[P]`` with the best score of a node over the subsets of P with at most ``most`` members.

    The score of a family is h(P + node) - h(P).
    """
    # A maximum over subsets by one sweep per bit: n * 2^(n - 1) comparisons instead of 3^n.
    bit = np.int64(1) << node
    below = bit - 1
    half = np.int64(1) << (n - 1)
    for place in range(half):
        mask = (place >> node << (node + 1)) | (place & below)
        few = most >= n or np.int64(popcount(np.uint64(mask))) <= most
        out[place] = h[mask | bit] - h[mask] if few else -np.inf
    step = np.int64(1)
    while step < half and not stopping():
        for high in range(0, half, 2 * step):
            without, with_it = out[high : high + step], out[high + step : high + 2 * step]
            for place in range(step):
                with_it[place] = max(with_it[place], without[place])
        step *= 2


@kernel
def best_sinks(best: Array, n: int, total: Array, sink: Array) -> None:
    """Fill the best score of every set of nodes as a network of its own, and its last node; ties go to the lowest.

    Scores that differ by rounding tie, so that the order of the rows does not choose between equivalent networks.
    """
    # best network of a set = over its nodes, that of the set without the node + the node's best family in it:
    # n * 2^n steps, each reading one total and one family.
    total[0] = 0.0
    for mask in range(1, np.int64(1) << n):
        if stopping():
            return
        top, found, where = -np.inf, -np.inf, 0
        for node in range(n):
            bit = np.int64(1) << node
            if mask & bit:
                place = (mask >> (node + 1) << node) | (mask & (bit - 1))
                value = total[mask ^ bit] + best[node, place]
                top = max(top, value)
                if value > found + rounding(value):
                    found, where = value, node
        total[mask], sink[mask] = top, where


@kernel
def rounding(score: float) -> float:
    """Return the rounding error of sums of this size."""
    return 1e-9 + 1e-12 * abs(score)


@kernel
def find_parents(h: Array, node: int, above: int, goal: float, most: int) -> int:
    """Find the smallest subset of ``above`` that reaches a score: the fewest members, then the lowest mask."""
    bit = np.int64(1) << node
    found, members, part = -1, 64, above
    while True:
        if h[part | bit] - h[part] >= goal:
            size = int(popcount(np.uint64(part)))
            if size <= most and (size < members or (size == members and part < found)):
                found, members = part, size
        if part == 0:
            return found
        part = (part - 1) & above


@kernel
def grow_clusters(
    child: Array, member: Array, fraction: Array, starts: Array, order: int, violated: float, found: Array
) -> None:
    """Grow a cluster of an order from every start, two nodes, by the node that helps most; keep it once it is violated.

    It is violated if the fractions of its members' parent sets with fewer than ``order`` parents in it sum to less than
    ``order``. Sets one parent short of the order count a little as if they had it.
    """
    # outside[v] is how that sum changes if v joins, within[k] counts the parents in it; each step reads all sets once.
    n, n_sets = member.shape[1], len(child)
    inside, within, outside = np.zeros(n, np.bool_), np.zeros(n_sets, np.int64), np.empty(n)
    for number in range(len(starts)):
        if stopping():
            return
        inside[:], within[:] = False, 0
        for node in starts[number]:
            inside[node] = True
            for k in range(n_sets):
                within[k] += member[k, node]
        for _ in range(n):
            outside[:] = 0.0
            total = 0.0
            for k in range(n_sets):
                short = order - within[k]
                if short <= 0:
                    continue
                if inside[child[k]]:
                    total += fraction[k]
                    nearer = fraction[k] * (1.0 if short == 1 else NEARER if short == 2 else 0.0)
                    for node in range(n):
                        outside[node] -= nearer * member[k, node]
                else:
                    outside[child[k]] += fraction[k]
            if total < order - violated:
                found[number] = inside
                break
            best, least = -1, np.inf
            for node in range(n):
                if not inside[node] and outside[node] < least:
                    best, least = node, outside[node]
            if best < 0:
                break
            inside[best] = True
            for k in range(n_sets):
                within[k] += member[k, best]


@kernel
def best_allowed(place: int, order: Array, starts: Array, words: Array, before: Array) -> int:
    """Find the best parent set of the node at a place among the nodes before it; its sets come by falling score."""
    node = order[place]
    for k in range(starts[node], starts[node + 1]):
        able = True
        for word in range(words.shape[1]):
            able = able and words[k, word] & ~before[word] == 0
        if able:
            return k
    return -1


@kernel
def improve_order(order: Array, starts: Array, words: Array, scores: Array, picked: Array) -> float:
    """Move single nodes of an order to better places until a local optimum; return its score.

    ``picked[place]`` is the best set of the node at a place among the nodes before it.
    """
    # A node moves by swaps of neighbours, which change the sets of two nodes only: n^2 swaps per round.
    n = len(order)
    before = np.zeros(words.shape[1], np.uint64)
    total = 0.0
    for place in range(n):
        picked[place] = best_allowed(place, order, starts, words, before)
        total += scores[picked[place]]
        before[order[place] >> 6] |= np.uint64(1) << np.uint64(order[place] & 63)
    trial, chosen = order.copy(), picked.copy()
    moved = True
    while moved and not stopping():
        moved = False
        for source in range(n):
            for step in (-1, 1):
                trial[:], chosen[:] = order, picked
                here, place = total, source
                best, best_place = total + rounding(total), -1
                while 0 <= place + step < n:
                    here += _swap(min(place, place + step), trial, chosen, starts, words, scores)
                    place += step
                    if here > best:
                        best, best_place = here, place
                if best_place >= 0:
                    place = source
                    while place != best_place:
                        total += _swap(min(place, place + step), order, picked, starts, words, scores)
                        place += step
                    moved = True
    return total


@kernel
def _swap(left: int, order: Array, picked: Array, starts: Array, words: Array, scores: Array) -> float:
    """Swap two neighbours in an order and return the change of the score."""
    before = np.zeros(words.shape[1], np.uint64)
    for place in range(left):
        before[order[place] >> 6] |= np.uint64(1) << np.uint64(order[place] & 63)
    change = -scores[picked[left]] - scores[picked[left + 1]]
    order[left], order[left + 1] = order[left + 1], order[left]
    for place in (left, left + 1):
        picked[place] = best_allowed(place, order, starts, words, before)
        change += scores[picked[place]]
        before[order[place] >> 6] |= np.uint64(1) << np.uint64(order[place] & 63)
    return change  # type: ignore[no-any-return]  # an element of an array
