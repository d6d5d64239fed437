"""The compiled search among equivalent graphs: their pattern, the families they hold, and the best move from any."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.graph.kernels import extend, list_neighbours, orient_by_rules
from tanbark.machine import kernel

MOST_CLIQUES = 64  # sets of neighbours that are tried as parents of a node, the smallest first


@kernel
def find_pattern(arcs: Array, forced: Array) -> Array:
    """Leave only those arcs directed that all equivalent graphs share: colliders, forced arcs and what follows.

    ``forced[x, y]`` says that x -> y may not be turned. ``adjacent[a, b]`` is a -> b or a - b.
    """
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
def find_families(adjacent: Array, states: Array, most: int, max_cells: float) -> tuple[Array, Array]:
    """List the parent sets that nodes have in some graph of a class: their parents and a clique of their neighbours.

    Returns the nodes and, row by row, masks of their parents.
    """
    n, size = len(adjacent), 0
    owner, masks = np.empty(4 * n + MOST_CLIQUES, np.int64), np.zeros((4 * n + MOST_CLIQUES, n), np.bool_)
    last = np.empty(MOST_CLIQUES, np.int64)  # the highest neighbour in a clique
    for y in range(n):
        if size + MOST_CLIQUES > len(owner):
            owner = np.concatenate((owner, np.empty_like(owner)))
            masks = np.concatenate((masks, np.zeros_like(masks)))
        first, at = size, size
        owner[first], last[0], size = y, -1, size + 1
        for x in range(n):
            masks[first, x] = adjacent[x, y] and not adjacent[y, x]
        while at < size:
            for w in range(last[at - first] + 1, n):
                if size - first == MOST_CLIQUES:
                    break
                if adjacent[w, y] and adjacent[y, w] and _joins(adjacent, y, w, masks[at]):
                    owner[size], last[size - first] = y, w
                    masks[size] = masks[at]
                    masks[size, w] = True
                    size += 1
            at += 1
    fit = np.zeros(size, np.bool_)
    for at in range(size):
        fit[at] = _fits(masks[at], owner[at], states, most, max_cells)
    return owner[:size][fit], masks[:size][fit]


@kernel
def _joins(adjacent: Array, y: int, w: int, mask: Array) -> bool:
    """Return whether a neighbour of y is adjacent to all neighbours of y in a set."""
    joined = True
    for v in range(len(mask)):
        joined &= not (mask[v] and adjacent[y, v]) or adjacent[v, w] or adjacent[w, v]
    return joined


@kernel
def _fits(mask: Array, node: int, states: Array, most: int, max_cells: float) -> bool:
    count, cells = 0, float(states[node])
    for x in range(len(mask)):
        if mask[x]:
            count += 1
            cells *= states[x]
    return count <= most and cells <= max_cells


@kernel
def _descendants(arcs: Array, start: int, around: int, seen: Array, stack: Array) -> None:
    """Mark what can be reached from a node without its arc to ``around``."""
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
def _bounds(adjacent: Array, owner: Array, masks: Array, gains: Array, fixed: Array, allowed: Array) -> Array:
    """Bound what the best move into each family can gain, whatever the rest of its graph looks like.

    A neighbour that is no parent is a child, and so is below the node; so is what all graphs of the class have there.
    """
    m, n = masks.shape
    arcs = adjacent & ~adjacent.T
    below, stack = np.empty((n, n), np.bool_), np.empty(n, np.int64)
    for y in range(n):
        _descendants(arcs, y, -1, below[y], stack)
    top = np.full((n, n), -np.inf)  # top[x, y]: the most that y gains as a new parent of x
    for row in range(m):
        for x in range(n):
            if not masks[row, x]:
                top[owner[row], x] = max(top[owner[row], x], gains[row, x])
    bound = np.full(m, -np.inf)
    for row in range(m):
        y = owner[row]
        for x in range(n):
            if x == y or (masks[row, x] and fixed[x, y]):
                continue
            if not masks[row, x] and (adjacent[x, y] or adjacent[y, x] or below[y, x]):
                continue
            value = gains[row, x]
            if masks[row, x] and allowed[y, x]:
                value = max(value, value + top[x, y])
            bound[row] = max(bound[row], value)
    return bound


@kernel
def best_class_move(
    adjacent: Array, owner: Array, masks: Array, gains: Array, allowed: Array, fixed: Array, states: Array, most: int,
    max_cells: float,
) -> tuple[float, int, int, int, Array]:  # fmt: skip
    """Find the best move from any graph of a class: its gain, its kind (0 add, 1 delete, 2 reverse), x, y, the graph.

    ``gains[row, x]`` is the gain of toggling x in the family of ``owner[row]`` with the parents ``masks[row]``. Rows
    are tried from the highest bound downwards; ties within 1e-9 go to additions, deletions, reversals, and then to the
    lowest x, y.
    """
    n = len(adjacent)
    near = list_neighbours(adjacent)
    roomy = _all_fit(adjacent, states, most, max_cells)  # even if all neighbours were parents
    bound = _bounds(adjacent, owner, masks, gains, fixed, allowed)
    best, kind, from_x, to_y, graph = TIE, -1, 0, 0, adjacent
    below, stack = np.empty(n, np.bool_), np.empty(n, np.int64)
    for row in np.argsort(-bound, kind="mergesort"):
        if bound[row] < best - TIE * max(1.0, abs(best)):
            break
        y, mask = owner[row], masks[row]
        _surely_below(adjacent, y, mask, below, stack)
        room = mask.sum() < most
        for x in range(n):
            if x == y or (mask[x] and fixed[x, y]) or (not mask[x] and (below[x] or not room)):
                continue
            for other in range(-1, len(owner) if mask[x] else 0):
                value, how = gains[row, x], 1 if mask[x] else 0
                if other >= 0:
                    if owner[other] != x or masks[other, y] or not allowed[y, x] or masks[other].sum() >= most:
                        continue
                    value, how = value + gains[other, y], 2
                edge = TIE * max(1.0, abs(best))
                sooner = kind >= 0 and value >= best - edge and (how, x, y) < (kind, from_x, to_y)
                if value > best + edge or sooner:
                    found = _legal_member(adjacent, near, y, mask, x, masks[max(other, 0)], how, stack)
                    if len(found) and (roomy or _all_fit(found, states, most, max_cells)):
                        best, kind, from_x, to_y, graph = value, how, x, y, found
    return best, kind, from_x, to_y, graph


@kernel
def _surely_below(adjacent: Array, y: int, mask: Array, below: Array, stack: Array) -> None:
    """Mark what is below y in every graph of a class in which y has given parents, and the neighbours that are not.

    A path from a child of y on, along arrows and undirected edges, that meets no parent of y has no chord where it is
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
    """Return a graph of a class in which y, and x unless that is below 0, have given parents; empty if there is none.

    With ``late`` as little as possible leads into that node; x, if it can be, then stands right before it.
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
def _may_turn(adjacent: Array, x: int, y: int, mask: Array, other: Array) -> bool:
    """Return whether no neighbour of both ends of x -> y, given their parents, closes a cycle with it or y -> x."""
    may = True
    for w in range(len(mask)):
        to_x, to_y = adjacent[w, x] or adjacent[x, w], adjacent[w, y] or adjacent[y, w]
        may &= not (to_x and to_y and w != x and w != y) or mask[w] == other[w]
    return may


@kernel
def _legal_member(
    adjacent: Array, near: Any, y: int, mask: Array, x: int, other: Array, how: int, stack: Array
) -> Array:
    """Return a graph of a class from which an arc x -> y may be added (0), deleted (1) or turned (2); empty if none is.

    y has the parents ``mask`` in it and, for a turn, x the parents ``other``.
    """
    nothing = np.zeros((0, 0), np.bool_)
    if how == 1:
        return _member(adjacent, near, y, mask, -1, mask, -1)  # type: ignore[no-any-return]  # a kernel of our own
    if how == 2 and not _may_turn(adjacent, x, y, mask, other):
        return nothing
    found = _member(adjacent, near, y, mask, -1 if how == 0 else x, other, x if how == 0 else y)
    if len(found) == 0:
        return nothing
    seen = np.empty(len(mask), np.bool_)
    _descendants(found, y if how == 0 else x, -1 if how == 0 else y, seen, stack)
    return nothing if seen[x if how == 0 else y] else found


@kernel
def _all_fit(arcs: Array, states: Array, most: int, max_cells: float) -> bool:
    fit = True
    for node in range(len(arcs)):
        fit &= _fits(arcs[:, node], node, states, most, max_cells)
    return fit
