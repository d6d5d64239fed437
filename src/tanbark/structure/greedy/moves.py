"""Graphs that a search changes arc by arc, and which of their changes are legal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanbark.arrays import TIE, Bools, Floats

KINDS = ("add", "delete", "reverse")


@dataclass(frozen=True, eq=False)
class Rules:
    """What a search may do: ``allowed[x, y]`` arcs may be there, ``fixed[x, y]`` arcs must stay."""

    allowed: Bools
    fixed: Bools
    max_parents: int


class MovingGraph:
    """A graph without cycles under change: its arcs, and what is reachable from where."""

    def __init__(self, rules: Rules, start: Bools) -> None:
        self.rules = rules
        self.arcs = start.copy()
        self.reach = reachable(start)

    def parents(self, node: int) -> tuple[int, ...]:
        """Return the sorted parents of a node."""
        return tuple(np.flatnonzero(self.arcs[:, node]).tolist())

    def legal(self) -> Bools:
        """Mark the moves, (kind, x, y), that keep the rules and close no circle."""
        arcs, rules = self.arcs, self.rules
        room = arcs.sum(axis=0) < rules.max_parents
        loose = arcs & ~rules.fixed
        turned = np.zeros_like(arcs)
        x, y = np.nonzero(loose & rules.allowed.T & room[:, None])
        turned[x, y] = ~(arcs[x] & self.reach.T[y]).any(axis=1)  # another way from x to y would close a circle
        return np.stack([rules.allowed & ~(arcs | arcs.T | self.reach.T) & room, loose, turned])

    def move(self, kind: int, x: int, y: int) -> None:
        """Add, delete or reverse the arc x -> y."""
        if kind == 0:
            self._connect(x, y)
        else:
            self._disconnect(x, y)
        if kind == 2:
            self._connect(y, x)

    def _connect(self, x: int, y: int) -> None:
        self.arcs[x, y] = True
        below = self.reach[y].copy()
        below[y] = True
        above = self.reach[:, x].copy()
        above[x] = True
        self.reach[above] |= below

    def _disconnect(self, x: int, y: int) -> None:
        """Remove an arc; only x and the nodes above it may reach less than before, those furthest down first."""
        self.arcs[x, y] = False
        above = np.flatnonzero(self.reach[:, x] | (np.arange(len(self.arcs)) == x))
        for node in above[np.argsort(self.reach[above].sum(axis=1), kind="stable")]:
            self.reach[node] = self.arcs[node] | self.reach[self.arcs[node]].any(axis=0)


def reachable(arcs: Bools) -> Bools:
    """Find which nodes arcs lead to from which."""
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
