"""Directions of a skeleton from separating sets, the same whatever the order of the columns.

Every step collects all that it would direct before it directs anything. What is disputed, or would close a cycle, stays
undirected for good. Colombo and Maathuis (2014), Order-independent constraint-based causal structure learning,
sections 4.2 and 4.3; Meek (1995), section 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tanbark.arrays import Bools
from tanbark.counts.column_sets import ColumnSet
from tanbark.graph.pdag import PartialGraph

Separators = Mapping[tuple[int, int], Sequence[ColumnSet]]


class Orientation:
    """A skeleton whose edges are directed step by step.

    Parameters
    ----------
    linked : (n, n) array of bool
        The skeleton, symmetric.
    separators : mapping from pairs of nodes (x < y) to sets
        For every two nodes without an edge, the sets that separate them equally well. A node between them is a collider
        if it is in none of the sets, no collider if it is in all, and otherwise nothing is concluded.
    """

    def __init__(self, linked: Bools, separators: Separators) -> None:
        self.linked, self._separators = linked, separators
        self.directed = np.zeros_like(linked)
        self._frozen = np.zeros_like(linked)  # edges that are disputed

    def direct(self) -> Bools:
        """Direct v-structures and what follows from them; return a -> b or a - b, both ways where undirected."""
        self._draw(self._colliders())
        while self._draw(self._implied()):
            pass
        return np.asarray(self.linked & ~self.directed.T)

    def _colliders(self) -> Bools:
        wanted = np.zeros_like(self.linked)
        for (x, y), sets in self._separators.items():
            for z in np.flatnonzero(self.linked[x] & self.linked[y]).tolist():
                if not any(z in chosen for chosen in sets):
                    wanted[x, z] = wanted[y, z] = True
        return wanted

    def _draw(self, wanted: Bools) -> bool:
        """Direct edges that are wanted one way and close no cycle; freeze the others. Return whether any is new."""
        both = wanted & wanted.T
        self._frozen |= both
        new = wanted & ~both & ~self._frozen & ~self.directed & ~self.directed.T
        circular = new & _within_cycles(self.directed | new)
        self._frozen |= circular | circular.T
        self.directed |= new & ~circular
        return bool((new & ~circular).any())

    def _implied(self) -> Bools:
        """Collect the directions that Meek's rules 1 to 3 give undirected edges."""
        free = self.linked & ~self.directed & ~self.directed.T & ~self._frozen
        wanted = np.zeros_like(free)
        for a, b in np.argwhere(free).tolist():
            wanted[a, b] = self._must_point(a, b)
        return wanted

    def _must_point(self, a: int, b: int) -> bool:
        apart = ~self.linked[:, b]
        apart[b] = False
        if any(self._separates(a, c, b) for c in np.flatnonzero(self.directed[:, a] & apart).tolist()):
            return True  # c -> a - b, or it were a v-structure
        if (self.directed[a] & self.directed[:, b]).any():
            return True  # a -> c -> b, or there were a cycle
        open_a = self.linked[a] & ~self.directed[a] & ~self.directed[:, a]
        through = np.flatnonzero(open_a & self.directed[:, b]).tolist()  # a - c -> b
        return any(
            not self.linked[c, d] and self._separates(a, c, d)
            for place, c in enumerate(through)
            for d in through[:place]
        )

    def _separates(self, z: int, x: int, y: int) -> bool:
        """Return whether z is in all sets that separate x and y."""
        sets = self._separators.get((min(x, y), max(x, y)), ())
        return bool(sets) and all(z in chosen for chosen in sets)


def _within_cycles(directed: Bools) -> Bools:
    """Mark the pairs of nodes that arrows lead to and fro between."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(csr_array(directed), directed=True, connection="strong")
    return np.asarray(group[:, None] == group[None, :])


def extend(adjacent: Bools, order: Sequence[int]) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Direct all edges of a partially directed graph as ``PartialGraph.extension`` does, its ties going by an order."""
    place = np.array(order, np.int64)
    graph = PartialGraph(len(adjacent))
    graph.adjacent = np.ascontiguousarray(adjacent[np.ix_(place, place)])
    parents, broken = graph.extension()
    found: list[tuple[int, ...]] = [()] * len(adjacent)
    for node, above in zip(order, parents, strict=True):
        found[node] = tuple(sorted(order[p] for p in above))
    return tuple(found), broken
