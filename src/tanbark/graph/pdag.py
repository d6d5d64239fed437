"""Partially directed graphs: skeletons whose edges are directed step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers


class PartialGraph:
    """A graph with directed and undirected edges, and what separated the pairs without one.

    It is the workbench of a constraint-based search, so it changes in place.

    Parameters
    ----------
    n : int
        Number of nodes.
    members : sequence of int, optional
        The nodes that are joined to one another at first; all by default.

    Attributes
    ----------
    adjacent : (n, n) array of bool
        Whether a -> b or a - b; both ways for an undirected edge.

    >>> graph = PartialGraph(3)
    >>> graph.delete([[0, 2, 1]])
    >>> graph.separator(0, 2)
    (1,)
    >>> graph.extension()
    (((1,), (2,), ()), 0)
    """

    def __init__(self, n: int, members: Sequence[int] | None = None) -> None:
        inside = np.zeros(n, bool)
        inside[list(range(n) if members is None else members)] = True
        self.adjacent = inside[:, None] & inside[None, :] & ~np.eye(n, dtype=bool)
        self._ambiguous = np.zeros((n, n), bool)
        self._where = np.full((n, n), -1, np.int64)
        self._pool = np.zeros(0, np.int64)

    def delete(self, rows: Any) -> None:
        """Delete edges and remember their separating sets: rows (x, y, members of the set), all of one size."""
        rows = np.asarray(rows, np.int64)
        if not len(rows):
            return
        x, y, size = rows[:, 0], rows[:, 1], rows.shape[1] - 2
        self.adjacent[x, y] = self.adjacent[y, x] = False
        sets = np.concatenate([np.full((len(rows), 1), size), rows[:, 2:]], axis=1)
        at = len(self._pool) + (size + 1) * np.arange(len(rows))
        self._where[x, y] = self._where[y, x] = at
        self._pool = np.concatenate([self._pool, sets.ravel()])

    def separator(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separated two nodes, or None."""
        at = int(self._where[x, y])
        return None if at < 0 else tuple(self._pool[at + 1 : at + 1 + self._pool[at]].tolist())

    def orient_colliders(self, nodes: Integers) -> None:
        """Direct edges into the middle of unshielded triples, among ``nodes``, that did not separate its ends."""
        from tanbark.graph import kernels

        kernels.orient_colliders(self.adjacent, nodes, (self._where, self._pool), self._ambiguous)

    def orient_by_rules(self, nodes: Integers, guard: str = "none") -> None:
        """Direct further edges between ``nodes`` by Meek's rules 1 to 3.

        ``guard`` selects the edges that only triples whose middle separated the ends may direct: "none", "all" or
        "ambiguous" (those that colliders direct both ways). Meek (1995), section 2.1.
        """
        from tanbark.graph import kernels

        inside = np.zeros(len(self.adjacent), bool)
        inside[nodes] = True
        code = ("none", "all", "ambiguous").index(guard)
        kernels.orient_by_rules(self.adjacent, nodes, inside, code, (self._where, self._pool), self._ambiguous)

    def lowest(self, nodes: Integers) -> NDArray[np.bool_]:
        """Mark the ``nodes`` that no directed edge leads away from, by groups that undirected edges hold together."""
        from tanbark.graph import kernels

        group, leads = kernels.strong_groups(self.adjacent, nodes)
        return np.asarray(~leads[group])

    def components(self, nodes: Integers) -> list[Integers]:
        """Split ``nodes`` into groups that edges of any kind connect, by their smallest members."""
        from tanbark.graph import kernels

        group = kernels.loose_groups(self.adjacent, nodes)
        return [nodes[group == number] for number in range(int(group.max(initial=-1)) + 1)]

    def extension(self) -> tuple[tuple[tuple[int, ...], ...], int]:
        """Direct every edge without a cycle: the parents of every node, and how often no consistent choice was left.

        One sink after another is taken out; where no node is a proper sink, the one that breaks least is. Dor and Tarsi
        (1992), completed so that it always ends.
        """
        from tanbark.graph import kernels

        directed = self.adjacent.copy()
        broken = kernels.extend(directed, *kernels.list_neighbours(directed))
        return tuple(tuple(np.flatnonzero(column).tolist()) for column in directed.T), int(broken)
