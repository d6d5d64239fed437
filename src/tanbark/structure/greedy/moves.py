"""A DAG that a search changes arc by arc, its legal moves, and the best of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import numpy as np

from tanbark.arrays import TIE, Bools, Floats
from tanbark.structure.ascent import Move
from tanbark.structure.rules import Rules

KINDS = ("add", "delete", "reverse")
ADD, DELETE, REVERSE = range(3)


class MovingGraph:
    """A DAG under change: its adjacency matrix ``arcs``, and ``reach[x, y]`` where a path leads from x to y."""

    def __init__(self, rules: Rules, start: Bools) -> None:
        self.rules = rules
        self.arcs = start.copy()
        self.reach = reachable(start)

    def parents(self, node: int) -> tuple[int, ...]:
        """Return the sorted parents of a node."""
        return tuple(np.flatnonzero(self.arcs[:, node]).tolist())

    def legal(self) -> Bools:
        """Mark the moves, (kind, x, y), that keep the rules and close no cycle."""
        arcs, rules = self.arcs, self.rules
        room = arcs.sum(axis=0) < rules.max_parents
        loose = arcs & ~rules.fixed
        reversible = np.zeros_like(arcs)
        x, y = np.nonzero(loose & rules.allowed.T & room[:, None])
        reversible[x, y] = ~(arcs[x] & self.reach.T[y]).any(axis=1)  # another path from x to y would close a cycle
        return np.stack([rules.allowed & ~(arcs | arcs.T | self.reach.T) & room, loose, reversible])

    def move(self, kind: int, x: int, y: int) -> None:
        """Add, delete or reverse the arc x -> y."""
        if kind == ADD:
            self._connect(x, y)
        else:
            self._disconnect(x, y)
        if kind == REVERSE:
            self._connect(y, x)

    def best_move(self, gains: Floats, tabu: Collection[Hashable]) -> Move | None:
        """Return the best move to a graph that is not tabu, given the gain of every move, (kind, x, y)."""
        gains, names = gains.copy(), self.rules.names
        while (found := best_move(gains)) is not None:
            kind, x, y = found
            graph = self.arcs.copy()
            graph[x, y] = kind == ADD
            graph[y, x] |= kind == REVERSE
            if graph.tobytes() not in tabu:
                return Move(float(gains[found]), f"{KINDS[kind]} {names[x]} -> {names[y]}", found)
            gains[found] = -np.inf
        return None

    def key(self) -> bytes:
        """Identify the graph."""
        return self.arcs.tobytes()

    def solution(self) -> Bools:
        """Return a copy of the adjacency matrix."""
        return self.arcs.copy()

    def _connect(self, x: int, y: int) -> None:
        self.arcs[x, y] = True
        below = self.reach[y].copy()
        below[y] = True
        above = self.reach[:, x].copy()
        above[x] = True
        self.reach[above] |= below

    def _disconnect(self, x: int, y: int) -> None:
        """Remove an arc and update x and its ancestors, those with the fewest descendants first."""
        self.arcs[x, y] = False
        above = np.flatnonzero(self.reach[:, x] | (np.arange(len(self.arcs)) == x))
        for node in above[np.argsort(self.reach[above].sum(axis=1), kind="stable")]:
            self.reach[node] = self.arcs[node] | self.reach[self.arcs[node]].any(axis=0)


def reachable(arcs: Bools) -> Bools:
    """Return the transitive closure: ``[x, y]`` where a path leads from x to y."""
    reach = arcs.copy()
    for middle in range(len(arcs)):
        reach[reach[:, middle]] |= reach[middle]
    return reach


def best_move(moves: Floats) -> tuple[int, int, int] | None:
    """Find the best move; ties within 1e-9 go to additions, then deletions, then reversals, and to the lowest x, y.

    >>> best_move(np.array([[[-np.inf, 1.0], [1.0 + 1e-12, -np.inf]]]))
    (0, 0, 1)
    """
    top = float(moves.max(initial=-np.inf))
    if top == -np.inf:
        return None
    place = int(np.argmax(moves >= top - TIE * max(1.0, abs(top))))
    kind, x, y = (int(part) for part in np.unravel_index(place, moves.shape))
    return kind, x, y
