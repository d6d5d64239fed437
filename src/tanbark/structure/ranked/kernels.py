"""The compiled dynamic programme for the K best graphs over subsets of columns.

A set of columns is a mask of bits. A family of a node is numbered by the mask of its parents without the node's bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.stopping import stopping

NONE = -1  # a place of a list that is not filled


class Lists(NamedTuple):
    """The K best graphs of every set of nodes, (2^n, k) each, and how many there are.

    A graph is its last node, the parents of that node, and a graph of the set without it, by its place in the list.
    ``keys`` identify graphs, or equivalence classes of them.
    """

    scores: Array
    keys: Array
    nodes: Array
    parents: Array
    below: Array
    lengths: Array


@kernel
def list_families(h: Array, node: int, n: int, most: int, lists: Array) -> None:
    """Fill ``lists[P]`` with the best parent sets of a node among the subsets of P, the best first.

    The score of a family is h(P + node) - h(P). Only sets with at most ``most`` members are listed. Ties go to the set
    without the highest column in which two sets differ.
    """
    # One sweep per bit merges the list of a set with that of the set without the bit; no subset is in both:
    # k n 2^(n - 1) steps. lists: (2^(n - 1), k) masks over all n columns.
    bit = np.int64(1) << node
    below = bit - 1
    half, k = lists.shape
    for place in range(half):
        mask = (place >> node << (node + 1)) | (place & below)
        lists[place, :] = NONE
        if most >= n or np.int64(popcount(np.uint64(mask))) <= most:
            lists[place, 0] = mask
    merged = np.empty(k, lists.dtype)
    step = np.int64(1)
    while step < half and not stopping():
        for high in range(0, half, 2 * step):
            for place in range(high, high + step):
                one, other = lists[place], lists[place + step]
                i = j = 0
                for at in range(k):
                    first = one[i] if i < k else NONE
                    second = other[j] if j < k else NONE
                    if first == NONE and second == NONE:
                        merged[at] = NONE
                    elif second == NONE or (first != NONE and h[first | bit] - h[first] >= h[second | bit] - h[second]):
                        merged[at] = first
                        i += 1
                    else:
                        merged[at] = second
                        j += 1
                other[:] = merged
        step *= 2


@kernel
def list_graphs(h: Array, families: Array, n: int, by_class: bool, lists: Lists) -> None:
    """Fill the K best graphs of every set of nodes, no two of them alike.

    With ``by_class`` two graphs are alike if they are equivalent; then ``families`` must be scored alike in equivalent
    graphs, as BDeu does.
    """
    # A graph of S = a last node, its parents, a graph of the rest. For every last node the sums of two sorted lists are
    # visited from the best on with one heap; a graph turns up once for each node that may be last, which its key shows.
    # heap: rows (node, place in the list of the rest, place in the list of families), by ``value``.
    k = lists.scores.shape[1]
    value, heap = np.empty(n * (2 * k + 2)), np.empty((n * (2 * k + 2), 3), np.int64)
    linked = np.zeros(n, np.int64)
    lists.scores[0, 0], lists.keys[0, 0], lists.lengths[0] = 0.0, np.uint64(0), 1
    for mask in range(1, np.int64(1) << n):
        if stopping():
            return
        size = 0
        for node in range(n):
            bit = np.int64(1) << node
            if mask & bit and lists.lengths[mask ^ bit] > 0:
                size = _push(h, families, lists, mask, node, 0, 0, value, heap, size)
        found = 0
        while size > 0 and found < k:
            top, node, place, rank = value[0], heap[0, 0], heap[0, 1], heap[0, 2]
            size = _pop(value, heap, size)
            size = _push(h, families, lists, mask, node, place, rank + 1, value, heap, size)
            if rank == 0:
                size = _push(h, families, lists, mask, node, place + 1, 0, value, heap, size)
            rest = mask ^ (np.int64(1) << node)
            parents = np.int64(families[node, _number(rest, node), rank])
            if by_class:
                key = lists.keys[rest, place] ^ _class_key(lists, rest, place, node, parents, linked)
            else:
                key = lists.keys[rest, place] ^ _mix(np.int64(node), parents, np.int64(0))
            new = True
            for at in range(found):
                new = new and lists.keys[mask, at] != key
            if new:
                lists.scores[mask, found], lists.keys[mask, found] = top, key
                lists.nodes[mask, found], lists.parents[mask, found] = node, parents
                lists.below[mask, found] = place
                found += 1
        lists.lengths[mask] = found


@kernel
def trace(lists: Lists, mask: int, place: int, parents: Array) -> None:
    """Fill the parents of every node, as masks, in one of the graphs of a set."""
    while mask:
        node = lists.nodes[mask, place]
        parents[node] = lists.parents[mask, place]
        place = lists.below[mask, place]
        mask ^= np.int64(1) << node


@kernel
def _number(mask: int, node: int) -> np.int64:
    """Return the number of a set of parents of a node: its mask without the node's bit."""
    return (mask >> (node + 1) << node) | (mask & ((np.int64(1) << node) - 1))


@kernel
def _mix(first: int, second: int, third: int) -> np.uint64:
    """Return 64 bits that look random, the same for the same numbers (the finaliser of SplitMix64, twice)."""
    x = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15)
    for part in (np.uint64(second), np.uint64(third)):
        x = (x + part) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return x


@kernel
def _class_key(lists: Lists, rest: int, place: int, node: int, parents: int, linked: Array) -> np.uint64:
    """Return what a last node adds to the key of an equivalence class: its edges, and its v-structures.

    Two graphs are equivalent if they have the same edges and v-structures (Verma and Pearl 1990).
    """
    linked[:] = 0
    mask, at = np.int64(rest), place
    while mask:
        child = np.int64(lists.nodes[mask, at])
        above = np.int64(lists.parents[mask, at])
        linked[child] |= above
        at = lists.below[mask, at]
        mask ^= np.int64(1) << child
    key = np.uint64(0)
    n = len(linked)
    for a in range(n):
        if not parents >> a & 1:
            continue
        key ^= _mix(np.int64(min(a, node)), np.int64(max(a, node)), np.int64(n))
        for b in range(a):
            if parents >> b & 1 and not linked[a] >> b & 1 and not linked[b] >> a & 1:
                key ^= _mix(np.int64(b), np.int64(a), np.int64(node + n + 1))
    return key


@kernel
def _push(
    h: Array, families: Array, lists: Lists, mask: int, node: int, place: int, rank: int, value: Array, heap: Array,
    size: int,
) -> int:  # fmt: skip
    """Push a candidate if there is one at these places; return the size of the heap."""
    bit = np.int64(1) << node
    rest = mask ^ bit
    if place >= lists.lengths[rest] or rank >= families.shape[2]:
        return size
    parents = np.int64(families[node, _number(rest, node), rank])
    if parents == NONE:
        return size
    score = lists.scores[rest, place] + (h[parents | bit] - h[parents])
    at = size
    while at > 0 and score > value[(at - 1) // 2]:
        value[at], heap[at] = value[(at - 1) // 2], heap[(at - 1) // 2]
        at = (at - 1) // 2
    value[at], heap[at, 0], heap[at, 1], heap[at, 2] = score, node, place, rank
    return size + 1


@kernel
def _pop(value: Array, heap: Array, size: int) -> int:
    """Take the top out of the heap; return the size that is left."""
    size -= 1
    score, node, place, rank = value[size], heap[size, 0], heap[size, 1], heap[size, 2]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and value[child + 1] > value[child]:
            child += 1
        if value[child] <= score:
            break
        value[at], heap[at] = value[child], heap[child]
        at = child
    if size > 0:
        value[at], heap[at, 0], heap[at, 1], heap[at, 2] = score, node, place, rank
    return size
