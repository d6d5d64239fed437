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
        self.reach = reachable(start) if start.any() else start.copy()

    def parents(self, node: int) -> tuple[int, ...]:
        """Return the sorted parents of a node."""
        return tuple(self.arcs[:, node].nonzero()[0].tolist())

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
        from tanbark.structure.greedy.kernels import move_kernels as kernels

        if kind == ADD:
            kernels.connect(self.arcs, self.reach, x, y)
        else:
            kernels.disconnect(self.arcs, self.reach, x, y)
        if kind == REVERSE:
            kernels.connect(self.arcs, self.reach, y, x)

    def best_move(self, gains: Floats, tabu: Collection[Hashable]) -> Move | None:
        """Return the best move to a graph that is not tabu, given the gain of every move, (kind, x, y)."""
        gains, names = gains.copy(), self.rules.names
        while (found := best_move(gains)) is not None:
            kind, x, y = found
            if self.key_after(kind, x, y) not in tabu:
                return Move(float(gains[found]), f"{KINDS[kind]} {names[x]} -> {names[y]}", found)
            gains[found] = -np.inf
        return None

    def key_after(self, kind: int, x: int, y: int) -> bytes:
        """Identify the graph after a move."""
        graph = self.arcs.copy()
        graph[x, y] = kind == ADD
        graph[y, x] |= kind == REVERSE
        return graph.tobytes()

    def key(self) -> bytes:
        """Identify the graph."""
        return self.arcs.tobytes()

    def solution(self) -> Bools:
        """Return a copy of the adjacency matrix."""
        return self.arcs.copy()


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
