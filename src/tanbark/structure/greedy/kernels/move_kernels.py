"""Compiled moves of a DAG: the best one, and the paths after it.

``arcs[x, y]`` is the arc x -> y, ``reach[x, y]`` a path from x to y, ``toggle[x, y]`` the gain of adding the arc
x -> y, or of removing it where it is there.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.kernel import kernel
from tanbark.structure.greedy.moves import ADD, REVERSE


@kernel
def best_graph_move(
    arcs: Array, reach: Array, toggle: Array, allowed: Array, fixed: Array, max_parents: int
) -> tuple[float, int, int, int, int]:
    """Find the best legal move: its gain, kind (-1 for none), x, y; and the number of legal moves.

    Ties within 1e-9 go to additions, then deletions, then reversals, and to the lowest x, y.
    """
    # Idea: one sweep finds the highest gain of a legal move, another one the first move that ties with it; whether a
    # move is legal is looked at last there. Cost: O(nodes^2), and O(arcs x nodes) for the paths that a reversal would
    # close to a cycle.
    n = len(arcs)
    room = np.zeros(n, np.int64)
    for x in range(n):
        for y in range(n):
            room[y] += arcs[x, y]
    for y in range(n):
        room[y] = room[y] < max_parents
    top, tried = -np.inf, 0
    for x in range(n):
        for y in range(n):
            gain = toggle[x, y]
            if arcs[x, y]:
                if fixed[x, y]:
                    continue
                tried += gain > -np.inf
                top = max(top, gain)
                gain += toggle[y, x]
                if gain > -np.inf and _may_reverse(arcs, reach, allowed, room, x, y):
                    tried += 1
                    top = max(top, gain)
            elif (gain > -np.inf) & allowed[x, y] & (not reach[y, x]) & (room[y] > 0):
                tried += 1
                top = max(top, gain)
    if top == -np.inf:
        return -np.inf, -1, 0, 0, tried
    edge = top - TIE * max(1.0, abs(top))
    for kind in range(3):
        for x in range(n):
            for y in range(n):
                if (kind == ADD) == arcs[x, y]:
                    continue
                gain = toggle[x, y] + (toggle[y, x] if kind == REVERSE else 0.0)
                if gain >= edge:
                    legal = not fixed[x, y]
                    if kind == ADD:
                        legal = allowed[x, y] and room[y] > 0 and not reach[y, x]
                    elif kind == REVERSE:
                        legal = legal and _may_reverse(arcs, reach, allowed, room, x, y)
                    if legal:
                        return gain, kind, x, y, tried
    return -np.inf, -1, 0, 0, tried


@kernel
def _may_reverse(arcs: Array, reach: Array, allowed: Array, room: Array, x: int, y: int) -> bool:
    """Return whether the arc x -> y may be reversed: no path leads from x to y beside it."""
    found = allowed[y, x] and room[x] > 0
    for z in range(len(arcs)):
        found &= not (arcs[x, z] and reach[z, y])
    return bool(found)


@kernel
def connect(arcs: Array, reach: Array, x: int, y: int) -> None:
    """Add the arc x -> y and the paths through it."""
    arcs[x, y] = True
    for node in range(len(arcs)):
        if node == x or reach[node, x]:
            for other in range(len(arcs)):
                reach[node, other] |= reach[y, other] or other == y


@kernel
def disconnect(arcs: Array, reach: Array, x: int, y: int) -> None:
    """Remove the arc x -> y, and find the paths from x and its ancestors anew, those with fewest descendants first."""
    arcs[x, y] = False
    n = len(arcs)
    size = np.zeros(n, np.int64)  # descendants before; 0 for the nodes whose paths stay
    for node in range(n):
        if node == x or reach[node, x]:
            for other in range(n):
                size[node] += reach[node, other]
    for descendants in range(1, n):
        for node in range(n):
            if size[node] == descendants:
                _find_paths(arcs, reach, node)


@kernel
def _find_paths(arcs: Array, reach: Array, node: int) -> None:
    """Find the paths from a node, those from its children being known."""
    n = len(arcs)
    for other in range(n):
        reach[node, other] = arcs[node, other]
    for child in range(n):
        if arcs[node, child]:
            for other in range(n):
                reach[node, other] |= reach[child, other]
