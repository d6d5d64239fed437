"""Compiled moves of a DAG: the best one, and the paths after it.

``arcs[x, y]`` is the arc x -> y, ``reach[x, y]`` a path from x to y, ``toggle[x, y]`` the gain of adding the arc
x -> y, or of removing it where it is there.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.machine import kernel
from tanbark.structure.greedy.moves import ADD, DELETE, REVERSE


@kernel
def best_graph_move(
    arcs: Array, reach: Array, toggle: Array, allowed: Array, fixed: Array, max_parents: int
) -> tuple[float, int, int, int, int]:
    """Find the best legal move: its gain, kind (-1 for none), x, y; and the number of legal moves.

    Ties within 1e-9 go to additions, then deletions, then reversals, and to the lowest x, y.
    """
    # Idea: one sweep lists the gains of all legal moves and their maximum, another one finds the first that ties with
    # it. Cost: O(nodes^2), and O(arcs x nodes) for the paths that a reversal would close to a cycle.
    n = len(arcs)
    gains = np.full((3, n, n), -np.inf)
    room = np.zeros(n, np.bool_)
    for y in range(n):
        room[y] = arcs[:, y].sum() < max_parents
    top, tried = -np.inf, 0
    for x in range(n):
        for y in range(n):
            if arcs[x, y]:
                if fixed[x, y]:
                    continue
                gains[DELETE, x, y] = toggle[x, y]
                if allowed[y, x] and room[x] and not _leads_round(arcs, reach, x, y):
                    gains[REVERSE, x, y] = toggle[x, y] + toggle[y, x]
            elif allowed[x, y] and room[y] and not arcs[y, x] and not reach[y, x]:
                gains[ADD, x, y] = toggle[x, y]
            for kind in range(3):
                tried += gains[kind, x, y] > -np.inf
                top = max(top, gains[kind, x, y])
    edge = top - TIE * max(1.0, abs(top))
    for kind in range(3):
        for x in range(n):
            for y in range(n):
                if top > -np.inf and gains[kind, x, y] >= edge:
                    return gains[kind, x, y], kind, x, y, tried
    return -np.inf, -1, 0, 0, tried


@kernel
def _leads_round(arcs: Array, reach: Array, x: int, y: int) -> bool:
    """Return whether a path leads from x to y beside the arc x -> y."""
    found = False
    for z in range(len(arcs)):
        found |= arcs[x, z] and reach[z, y]
    return found


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
    size = np.full(n, n + 1)
    for node in range(n):
        if node == x or reach[node, x]:
            size[node] = reach[node].sum()
    for node in np.argsort(size, kind="mergesort"):
        if size[node] > n:
            break
        reach[node] = arcs[node]
        for child in range(n):
            if arcs[node, child]:
                reach[node] |= reach[child]
