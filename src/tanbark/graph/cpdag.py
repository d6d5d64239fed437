"""Equivalence classes of graphs, and how far two graphs or two classes are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tanbark.arrays import Bools
from tanbark.errors import InputError

if TYPE_CHECKING:
    from tanbark.graph.dag import Dag


@dataclass(frozen=True)
class Cpdag:
    """A completed partially directed graph: the equivalence class of a DAG.

    Parameters
    ----------
    names : tuple of str
    directed : tuple of (parent, child) names
        The arcs that every graph of the class has.
    undirected : tuple of pairs of names
        Edges that point either way in some graph of the class.
    """

    names: tuple[str, ...]
    directed: tuple[tuple[str, str], ...]
    undirected: tuple[tuple[str, str], ...]

    def adjacency(self) -> Bools:
        """Return whether a -> b or a - b, as an (n, n) array; both ways for an undirected edge."""
        place = {name: index for index, name in enumerate(self.names)}
        found = np.zeros((len(place), len(place)), bool)
        for a, b in self.directed:
            found[place[a], place[b]] = True
        for a, b in self.undirected:
            found[place[a], place[b]] = found[place[b], place[a]] = True
        return found


def adjacency(dag: Dag) -> Bools:
    """Return whether a -> b, as an (n, n) array."""
    found = np.zeros((len(dag.names), len(dag.names)), bool)
    for child, parents in enumerate(dag.parents):
        found[list(parents), child] = True
    return found


def find_cpdag(dag: Dag) -> Cpdag:
    """Direct the v-structures of the skeleton, and what follows from them by Meek's rules 1 to 3.

    Meek (1995), Causal inference and causal explanation with background knowledge, section 2.1.2.
    """
    arcs = adjacency(dag)
    linked = arcs | arcs.T
    directed = np.zeros_like(arcs)
    for child, parents in enumerate(dag.parents):
        for a in parents:
            directed[a, child] = any(not linked[a, b] for b in parents if b != a)
    waiting = [(a, b) for a, b in np.argwhere(arcs).tolist() if not directed[a, b]]
    changed = True
    while changed:
        changed = False
        for a, b in waiting:
            if not directed[a, b] and _must_point(a, b, linked, directed):
                directed[a, b] = changed = True
    names = dag.names
    both = [(names[min(a, b)], names[max(a, b)]) for a, b in waiting if not directed[a, b]]
    found = tuple((names[a], names[b]) for b, a in np.argwhere(directed.T).tolist())
    return Cpdag(names, found, tuple(sorted(both, key=lambda pair: (names.index(pair[0]), names.index(pair[1])))))


def _must_point(a: int, b: int, linked: Bools, directed: Bools) -> bool:
    """Return whether an arc a -> b of the DAG has this direction in the whole class, given those known to have it."""
    apart = ~linked[:, b]
    apart[b] = False
    if (directed[:, a] & apart).any():  # c -> a - b, c and b not linked
        return True
    if (directed[a] & directed[:, b]).any():  # a -> c -> b
        return True
    free = linked[a] & ~directed[a] & ~directed[:, a] & directed[:, b]  # a - c -> b
    through = np.flatnonzero(free)
    return any(not linked[c, d] for c in through for d in through if c < d)


def hamming_distance(first: Dag | Cpdag, second: Dag | Cpdag) -> int:
    """Count the pairs of columns that are joined in one graph only, or in another way than in the other.

    Columns are matched by name. Tsamardinos, Brown and Aliferis (2006), section 6.1.2.
    """
    if set(first.names) != set(second.names):
        other = sorted(set(first.names) ^ set(second.names))
        msg = f"Two graphs are compared over the same columns; {other[:10]} are in one of them only."
        raise InputError(msg)
    left, right = (graph.adjacency() for graph in (first, second))
    place = [second.names.index(name) for name in first.names]
    differ = left != right[np.ix_(place, place)]
    return int(np.triu(differ | differ.T).sum())
