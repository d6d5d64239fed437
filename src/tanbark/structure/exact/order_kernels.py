"""The compiled search over orders: sets of nodes that come first, and bounds on what the others can add.

A set of at most 64 nodes is a word of bits. A *state* is the set U of nodes that come first in an order; its value is
the best score of U as a network of its own. A *pattern* is a set X of nodes of one group; its value bounds what the
nodes of X can score after all other nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.stopping import stopping

CHUNK = 11  # bits of a set that are looked up at once


class Lists(NamedTuple):
    """The parent sets of all nodes by falling score; those of node v are ``starts[v]`` to ``starts[v + 1]``.

    ``ahead`` is the union of the sets of the same node that come before a set.
    """

    starts: Array
    words: Array
    scores: Array
    ahead: Array


class Patterns(NamedTuple):
    """The values of all patterns, for some partitions of the nodes into groups.

    The number of the pattern X of group g of partition p is the sum over chunks c of ``places[p, g, c, bits of X]``;
    its value is in ``values`` so many places after ``firsts[p, g]``.
    """

    places: Array
    firsts: Array
    values: Array


class States(NamedTuple):
    """A table of states with open addressing: the sets (0 for a free place), their values and their last nodes."""

    sets: Array
    values: Array
    last: Array


@kernel
def best_without(node: int, outside: Any, lists: Lists) -> int:
    """Find the best parent set of a node that has no member in ``outside``."""
    for k in range(lists.starts[node], lists.starts[node + 1]):
        if lists.words[k] & outside == 0:
            return k
    return -1


@kernel
def value_patterns(members: Array, lists: Lists, out: Array) -> None:
    """Fill the values of all patterns of a group: the first node of an order has all but the pattern as parents."""
    # 2^g patterns, g nodes each, one look through the list of the node.
    g, one = len(members), np.uint64(1)
    out[0] = 0.0
    for pattern in range(1, 1 << g):
        if stopping():
            return
        outside = np.uint64(0)
        for k in range(g):
            if pattern >> k & 1:
                outside |= one << np.uint64(members[k])
        best = -np.inf
        for k in range(g):
            if pattern >> k & 1:
                score = lists.scores[best_without(members[k], outside, lists)]
                best = max(best, score + out[pattern ^ (1 << k)])
        out[pattern] = best


@kernel
def bound_of(left: Any, patterns: Patterns) -> float:
    """Bound what the nodes not in a state can add: the least sum of the values of their patterns."""
    places, firsts, values = patterns
    n_partitions, n_groups, n_chunks, _ = places.shape
    low, bound = np.uint64((1 << CHUNK) - 1), np.inf
    for partition in range(n_partitions):
        total = 0.0
        for group in range(n_groups):
            number = firsts[partition, group]
            for chunk in range(n_chunks):
                number += places[partition, group, chunk, np.int64(left >> np.uint64(chunk * CHUNK) & low)]
            total += values[number]
        bound = min(bound, total)
    return bound


@kernel
def _next_nodes(left: Any, depends: Array) -> Any:
    """Return nodes of which one may come next: the fewest that depend on none but each other."""
    # The closure of a node under "depends on"; a smallest one has no smaller within it, so it is strongly connected.
    one, found, fewest, others = np.uint64(1), np.uint64(0), 65, left
    while others:
        node = others & (~others + one)
        others ^= node
        closure = depends[np.int64(popcount(node - one))]
        todo = closure
        if closure == 0:
            return node
        while todo:
            each = todo & (~todo + one)
            todo ^= each
            new = depends[np.int64(popcount(each - one))] & ~closure
            closure |= new
            todo |= new
        size = int(popcount(closure))
        if size < fewest:
            fewest, found = size, closure
    return found


@kernel
def expand(
    sets: Array, values: Array, n: int, lists: Lists, patterns: Patterns, least: float, table: States
) -> tuple[int, float]:
    """Add the successors of states to a table unless no order through them exceeds ``least``.

    Return how many are new, and the highest bound of those added.
    """
    # Per state: the best set of every node left, what would still better it, then one step per node that may be next.
    one, mask = np.uint64(1), len(table.sets) - 1
    everything = ~np.uint64(0) if n == 64 else (one << np.uint64(n)) - one
    best, depends = np.empty(n, np.int64), np.zeros(n, np.uint64)
    added, highest = 0, -np.inf
    for state in range(len(sets)):
        if stopping():
            break
        left = everything & ~sets[state]
        for node in range(n):
            if left >> np.uint64(node) & one:
                best[node] = best_without(node, left, lists)
                depends[node] = lists.ahead[best[node]] & left
        following = _next_nodes(left, depends)
        for node in range(n):
            if not following >> np.uint64(node) & one:
                continue
            after = sets[state] | one << np.uint64(node)
            value = values[state] + lists.scores[best[node]]
            bound = value + bound_of(everything & ~after, patterns)
            if bound <= least:
                continue
            highest = max(highest, bound)
            added += insert(after, value, node, mask, table)
    return added, highest


@kernel
def insert(after: Any, value: float, last: int, mask: int, table: States) -> int:
    """Put a state into a table, or raise its value; return 1 if it is new."""
    place = np.int64(after * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while table.sets[place] != 0 and table.sets[place] != after:
        place = (place + 1) & mask
    new = table.sets[place] == 0
    if new or value > table.values[place]:
        table.sets[place], table.values[place], table.last[place] = after, value, last
    return 1 if new else 0


@kernel
def move(old: States, table: States) -> None:
    """Put all states of a table into a larger one."""
    for place in range(len(old.sets)):
        if stopping():
            return
        if old.sets[place] != 0:
            insert(old.sets[place], old.values[place], old.last[place], len(table.sets) - 1, table)
