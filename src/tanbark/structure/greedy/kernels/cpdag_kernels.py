"""Compiled kernels of the search over equivalence classes: the CPDAG, its families, and the best move from any member.

A CPDAG is a boolean matrix: ``adjacent[a, b]`` alone is the compelled arc a -> b, both directions are the reversible
edge a - b. A member is a DAG of the equivalence class, that is a DAG extension of the CPDAG.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.graph.kernels import extend, list_neighbours, orient_by_rules
from tanbark.kernel import kernel
from tanbark.stopping import stopping
from tanbark.structure.greedy.moves import ADD, DELETE, REVERSE

MOST_CLIQUES = 64  # sets of neighbours that are tried as parents of a node, the smallest first


class Limits(NamedTuple):
    """States of every column, most parents of a column, and most cells of a family's contingency table."""

    states: Array
    max_parents: int
    max_cells: float


class ClassFamilies(NamedTuple):
    """Families of an equivalence class, one per row: child, mask of its parents, gain of toggling each column."""

    child: Array
    parents: Array
    gains: Array


@kernel
def find_cpdag(arcs: Array, forced: Array) -> Array:
    """Return the CPDAG of a DAG, in which ``forced`` arcs are compelled too."""
    # Idea: keep v-structures and forced arcs directed, make all others reversible, then close under Meek's rules.
    # Cost: O(arcs x nodes) for the v-structures, plus the rules.
    n = len(arcs)
    adjacent = arcs | arcs.T
    for z in range(n):
        for x in range(n):
            if not arcs[x, z]:
                continue
            if forced[x, z]:
                adjacent[z, x] = False
            for y in range(x + 1, n):
                if arcs[y, z] and not arcs[x, y] and not arcs[y, x]:
                    adjacent[z, x] = adjacent[z, y] = False
    none = np.full((n, n), -1, np.int64), np.zeros(0, np.int64)
    orient_by_rules(adjacent, np.arange(n), np.ones(n, np.bool_), 0, none, np.zeros((n, n), np.bool_))
    return adjacent


@kernel
def find_families(adjacent: Array, limits: Limits) -> tuple[Array, Array]:
    """Return the children and parent masks of the families that nodes have in some member of an equivalence class."""
    # Idea: the parents of y in a member are its compelled parents and a clique of its neighbours. Cliques grow breadth
    # first by a higher neighbour each, so that none comes twice; rows first .. size - 1 hold those of the current y.
    # Cost: at most MOST_CLIQUES rows per node, each with O(nodes^2) adjacency checks.
    n, size = len(adjacent), 0
    child, parents = np.empty(4 * n + MOST_CLIQUES, np.int64), np.zeros((4 * n + MOST_CLIQUES, n), np.bool_)
    highest = np.empty(MOST_CLIQUES, np.int64)  # the highest neighbour in each clique of y
    for y in range(n):
        if stopping():
            break
        if size + MOST_CLIQUES > len(child):
            child = np.concatenate((child, np.empty_like(child)))
            parents = np.concatenate((parents, np.zeros_like(parents)))
        first, at = size, size
        child[first], highest[0], size = y, -1, size + 1
        for x in range(n):
            parents[first, x] = adjacent[x, y] and not adjacent[y, x]
        while at < size:
            for w in range(highest[at - first] + 1, n):
                if size - first == MOST_CLIQUES:
                    break
                if adjacent[w, y] and adjacent[y, w] and _extends_clique(adjacent, y, w, parents[at]):
                    child[size], highest[size - first] = y, w
                    parents[size] = parents[at]
                    parents[size, w] = True
                    size += 1
            at += 1
    fit = np.zeros(size, np.bool_)
    for at in range(size):
        fit[at] = _fits(parents[at], child[at], limits)
    return child[:size][fit], parents[:size][fit]


@kernel
def _extends_clique(adjacent: Array, y: int, w: int, parents: Array) -> bool:
    """Return whether w is adjacent to all neighbours of y in a parent set."""
    joined = True
    for v in range(len(parents)):
        joined &= not (parents[v] and adjacent[y, v]) or adjacent[v, w] or adjacent[w, v]
    return joined


@kernel
def _fits(parents: Array, node: int, limits: Limits) -> bool:
    """Return whether a family keeps the limits."""
    states = limits.states
    count, cells = 0, float(states[node])
    for x in range(len(parents)):
        if parents[x]:
            count += 1
            cells *= states[x]
    return count <= limits.max_parents and cells <= limits.max_cells


@kernel
def _all_fit(arcs: Array, limits: Limits) -> bool:
    """Return whether all families of a graph keep the limits."""
    fit = True
    for node in range(len(arcs)):
        fit &= _fits(arcs[:, node], node, limits)
    return fit


@kernel
def _descendants(arcs: Array, start: int, around: int, seen: Array, stack: Array) -> None:
    """Mark the nodes that a path leads to from ``start`` without the arc start -> around."""
    seen[:] = False
    stack[0], size = start, 1
    while size:
        size -= 1
        node = stack[size]
        for other in range(len(arcs)):
            if arcs[node, other] and not seen[other] and not (node == start and other == around):
                seen[other] = True
                stack[size] = other
                size += 1


@kernel
def _bounds(adjacent: Array, families: ClassFamilies, fixed: Array, allowed: Array) -> Array:
    """Return an upper bound of the gain of the best move into each family, over all members that have the family."""
    # Idea: drop every condition on the rest of the graph. A neighbour that is no parent is a child, and compelled
    # descendants are descendants in every member: neither can become a parent. top[x, y] is the most that x gains by
    # y as a new parent, which is the other half of reversing x -> y. Cost: O(rows x nodes).
    child, parents, gains = families.child, families.parents, families.gains
    m, n = parents.shape
    arcs = adjacent & ~adjacent.T
    below, stack = np.empty((n, n), np.bool_), np.empty(n, np.int64)
    for y in range(n):
        _descendants(arcs, y, -1, below[y], stack)
    top = np.full((n, n), -np.inf)
    for row in range(m):
        for x in range(n):
            if not parents[row, x]:
                top[child[row], x] = max(top[child[row], x], gains[row, x])
    bound = np.full(m, -np.inf)
    for row in range(m):
        y = child[row]
        for x in range(n):
            if x == y or (parents[row, x] and fixed[x, y]):
                continue
            if not parents[row, x] and (adjacent[x, y] or adjacent[y, x] or below[y, x]):
                continue
            value = gains[row, x]
            if parents[row, x] and allowed[y, x]:
                value = max(value, value + top[x, y])
            bound[row] = max(bound[row], value)
    return bound


@kernel
def best_class_move(
    adjacent: Array, families: ClassFamilies, allowed: Array, fixed: Array, limits: Limits
) -> tuple[float, int, int, int, Array]:
    """Find the best move from any member of an equivalence class: its gain, kind (-1 for none), x, y, and the member.

    Ties within 1e-9 go to additions, deletions, reversals, and then to the lowest x, y.
    """
    # Idea: branch and bound. Families are tried from the highest bound down until no bound beats the best move; a
    # reversal of x -> y pairs a family of y with each family of x. Only a move that would be the best is checked for a
    # DAG extension from which it is legal, since that check costs O(nodes x arcs).
    child, parents, gains = families.child, families.parents, families.gains
    n = len(adjacent)
    near = list_neighbours(adjacent)
    roomy = _all_fit(adjacent, limits)  # even if all neighbours were parents
    bound = _bounds(adjacent, families, fixed, allowed)
    best, kind, from_x, to_y, graph = TIE, -1, 0, 0, adjacent
    below, stack = np.empty(n, np.bool_), np.empty(n, np.int64)
    for row in np.argsort(-bound, kind="mergesort"):
        if stopping() or bound[row] < best - TIE * max(1.0, abs(best)):
            break
        y, mask = child[row], parents[row]
        _descendants_in_all(adjacent, y, mask, below, stack)
        room = mask.sum() < limits.max_parents
        for x in range(n):
            if x == y or (mask[x] and fixed[x, y]) or (not mask[x] and (below[x] or not room)):
                continue
            for other in range(-1, len(child) if mask[x] else 0):  # -1: toggle x alone; else x takes this family too
                value, how = gains[row, x], DELETE if mask[x] else ADD
                if other >= 0:
                    full = parents[other].sum() >= limits.max_parents
                    if child[other] != x or parents[other, y] or not allowed[y, x] or full:
                        continue
                    value, how = value + gains[other, y], REVERSE
                edge = TIE * max(1.0, abs(best))
                sooner = kind >= 0 and value >= best - edge and (how, x, y) < (kind, from_x, to_y)
                if value > best + edge or sooner:
                    found = _legal_member(adjacent, near, y, mask, x, parents[max(other, 0)], how, stack)
                    if len(found) and (roomy or _all_fit(found, limits)):
                        best, kind, from_x, to_y, graph = value, how, x, y, found
    return best, kind, from_x, to_y, graph


@kernel
def _descendants_in_all(adjacent: Array, y: int, mask: Array, below: Array, stack: Array) -> None:
    """Mark the descendants of y in every member in which y has the parents ``mask``, with the neighbours that are not.

    A path from a child of y on, along arcs and reversible edges, that meets no parent of y has no chord where it is
    shortest, so that all of it points away from y (Chickering 2002, theorem 15).
    """
    below[:] = False
    size = 0
    for child in range(len(mask)):
        if adjacent[y, child] and not mask[child]:
            below[child] = True
            stack[size] = child
            size += 1
    while size:
        size -= 1
        node = stack[size]
        for other in range(len(mask)):
            if adjacent[node, other] and not below[other] and not mask[other] and other != y:
                below[other] = True
                stack[size] = other
                size += 1


@kernel
def _member(adjacent: Array, near: Any, y: int, mask: Array, x: int, other: Array, late: int) -> Array:
    """Return a member in which y has the parents ``mask`` and x, if not below 0, ``other``; an empty array if none has.

    The DAG extension directs as few edges as possible into ``late`` and puts x, where possible, right before it.
    """
    nodes, degree = near
    member = adjacent.copy()
    for w in nodes[y, : degree[y]]:
        if adjacent[w, y] and adjacent[y, w]:
            member[w, y], member[y, w] = mask[w], not mask[w]
    if x >= 0:
        for w in nodes[x, : degree[x]]:
            if adjacent[w, x] and adjacent[x, w]:
                if w == y and other[w] == mask[x]:
                    return np.zeros((0, 0), np.bool_)
                member[w, x], member[x, w] = other[w], not other[w]
    if extend(member, nodes, degree, late, x) > 0:
        return np.zeros((0, 0), np.bool_)
    return member


@kernel
def _may_reverse(adjacent: Array, x: int, y: int, mask: Array, other: Array) -> bool:
    """Return whether x -> y can be reversed: every neighbour of both ends is a parent of both or of neither."""
    may = True
    for w in range(len(mask)):
        to_x, to_y = adjacent[w, x] or adjacent[x, w], adjacent[w, y] or adjacent[y, w]
        may &= not (to_x and to_y and w != x and w != y) or mask[w] == other[w]
    return may


@kernel
def _legal_member(
    adjacent: Array, near: Any, y: int, mask: Array, x: int, other: Array, how: int, stack: Array
) -> Array:
    """Return a member from which x -> y may be added, deleted or reversed; an empty array if there is none.

    y has the parents ``mask`` in it and, for a reversal, x the parents ``other``.
    """
    nothing = np.zeros((0, 0), np.bool_)
    if how == DELETE:
        return _member(adjacent, near, y, mask, -1, mask, -1)  # type: ignore[no-any-return]  # a kernel of our own
    if how == REVERSE and not _may_reverse(adjacent, x, y, mask, other):
        return nothing
    found = _member(adjacent, near, y, mask, -1 if how == ADD else x, other, x if how == ADD else y)
    if len(found) == 0:
        return nothing
    seen = np.empty(len(mask), np.bool_)
    _descendants(found, y if how == ADD else x, -1 if how == ADD else y, seen, stack)
    return nothing if seen[x if how == ADD else y] else found
