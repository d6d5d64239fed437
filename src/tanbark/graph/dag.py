"""Directed acyclic graphs over named columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

from tanbark.arrays import Bools
from tanbark.errors import InputError, nearest
from tanbark.graph.cpdag import Cpdag, adjacency, find_cpdag, hamming_distance


@dataclass(frozen=True)
class Dag:
    """An immutable directed acyclic graph: the parents of every node, as sorted column indices.

    >>> dag = Dag.from_arcs([("C", "A"), ("C", "B"), ("A", "B")], ["A", "B", "C"])
    >>> dag.parents
    ((2,), (0, 2), ())
    >>> dag.arcs()
    [('C', 'A'), ('A', 'B'), ('C', 'B')]
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.parents):
            msg = f"A graph needs the parents of each of its {len(self.names)} nodes; got {len(self.parents)}."
            raise InputError(msg)
        tidy = tuple([tuple(sorted(set(parents))) for parents in self.parents])
        object.__setattr__(self, "parents", tidy)
        self.order  # noqa: B018  # finding the order is how a cycle is found

    @classmethod
    def from_arcs(cls, arcs: Iterable[tuple[str, str]], names: Sequence[str]) -> Dag:
        """Build a graph from (parent, child) names."""
        place = {name: index for index, name in enumerate(names)}
        parents: list[list[int]] = [[] for _ in names]
        for arc in arcs:
            if not isinstance(arc, (tuple, list)) or len(arc) != 2:
                msg = f"An arc is a pair (parent, child) of names; got {arc!r}."
                raise InputError(msg)
            for end in arc:
                if not isinstance(end, str) or end not in place:
                    msg = f"The arc {tuple(arc)} names {end!r}, which is no column.{nearest(end, place)}"
                    raise InputError(msg)
            parents[place[arc[1]]].append(place[arc[0]])
        return cls(tuple(names), tuple(tuple(found) for found in parents))

    @classmethod
    def known(cls, names: tuple[str, ...], parents: tuple[tuple[int, ...], ...]) -> Dag:
        """Build a graph whose parents are known to be sorted and to close no cycle, without looking at them again.

        >>> Dag.known(("A", "B"), ((1,), ())) == Dag(("A", "B"), ((1,), ()))
        True
        """
        dag = cls.__new__(cls)
        object.__setattr__(dag, "names", names)
        object.__setattr__(dag, "parents", parents)
        return dag

    @classmethod
    def augmented(cls, names: Sequence[str], feature_parents: Sequence[Sequence[int]]) -> Dag:
        """Build an augmented naive Bayes graph: the class, last of ``names``, is a parent of every feature."""
        target = len(names) - 1
        return cls(tuple(names), (*((*parents, target) for parents in feature_parents), ()))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of every node."""
        found: list[list[int]] = [[] for _ in self.names]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                found[parent].append(child)
        return tuple(map(tuple, found))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order, parents first; among the ready nodes the lowest index comes first."""
        import heapq

        waiting = [len(parents) for parents in self.parents]
        children = self.children
        ready = [node for node, count in enumerate(waiting) if count == 0]
        order = []
        while ready:
            node = heapq.heappop(ready)
            order.append(node)
            for child in children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heapq.heappush(ready, child)
        if len(order) < len(self.names):
            stuck = [self.names[node] for node, count in enumerate(waiting) if count > 0]
            msg = f"The arcs form a cycle through some of {stuck[:10]}; a Bayesian network has none. Remove an arc."
            raise InputError(msg)
        return tuple(order)

    def arcs(self) -> list[tuple[str, str]]:
        """List the arcs as (parent, child) names, by child and then by parent."""
        return [(self.names[p], self.names[c]) for c, parents in enumerate(self.parents) for p in parents]

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.parents))

    @property
    def max_parents(self) -> int:
        """The most parents of a node.

        >>> Dag.augmented("ABC", [(), (0,)]).max_parents
        2
        """
        return max(map(len, self.parents), default=0)

    def blanket_edges(self, node: str | int | None = None) -> int:
        """Count the arcs into a node and into its children: those of its Markov blanket that its posterior rests on.

        By default the node is the last one, which is the class in the graphs of classifiers.

        >>> Dag.from_arcs([("A", "B"), ("B", "C"), ("C", "D"), ("E", "D")], "ABDEC").blanket_edges()
        3
        """
        index = len(self.names) - 1 if node is None else self.index(node)
        return sum(len(self.parents[member]) for member in (index, *self.children[index]))

    def adjacency(self) -> Bools:
        """Return an (n, n) array that is True at (a, b) where there is an arc from a to b."""
        return adjacency(self)

    def cpdag(self) -> Cpdag:
        """Return the equivalence class of the graph: the arcs that all its members have, and the other edges.

        >>> Dag.from_arcs([("A", "C"), ("B", "C"), ("D", "A")], "ABCD").cpdag().undirected
        (('A', 'D'),)
        """
        return find_cpdag(self)

    def hamming_distance(self, other: Dag, *, equivalence: bool = False) -> int:
        """Return the structural Hamming distance: the pairs of columns that are joined otherwise than in another graph.

        An arc too many, one too few and one that points the other way count 1 each. With ``equivalence`` the
        equivalence classes are compared, so that a direction that data cannot show does not count.

        >>> first, second = Dag.from_arcs([("A", "B")], "ABC"), Dag.from_arcs([("B", "A"), ("A", "C")], "ABC")
        >>> first.hamming_distance(second), first.hamming_distance(second, equivalence=True)
        (2, 1)
        """
        pair = (self.cpdag(), other.cpdag()) if equivalence else (self, other)
        return hamming_distance(*pair)

    def index(self, node: str | int) -> int:
        """Find a node by name or index."""
        if isinstance(node, Integral) and not isinstance(node, bool) and 0 <= int(node) < len(self.names):
            return int(node)
        if node in self.names:
            return self.names.index(str(node))
        msg = f"There is no node {node!r}.{nearest(node, self.names)}"
        raise InputError(msg)

    def markov_blanket(self, node: str | int) -> list[str]:
        """Name the parents, the children and the children's other parents of a node.

        >>> Dag.from_arcs([("A", "B"), ("C", "B"), ("B", "D")], "ABCD").markov_blanket("A")
        ['B', 'C']
        """
        index = self.index(node)
        members = set(self.parents[index]) | set(self.children[index])
        for child in self.children[index]:
            members |= set(self.parents[child])
        return [self.names[member] for member in sorted(members - {index})]

    def modelstring(self) -> str:
        """Write the graph as one line: ``[node|parents]`` for every node, parents before children.

        Nodes come by their longest path from a root, and then by column.

        >>> Dag.from_arcs([("A", "B"), ("C", "B")], "ABC").modelstring()
        '[A] [C] [B|A:C]'
        """
        depth = [0] * len(self.names)
        for node in self.order:
            depth[node] = max((depth[p] + 1 for p in self.parents[node]), default=0)
        nodes = sorted(range(len(self.names)), key=lambda node: (depth[node], node))
        parents = {node: ":".join(self.names[p] for p in self.parents[node]) for node in nodes}
        return " ".join(f"[{self.names[n]}|{parents[n]}]" if parents[n] else f"[{self.names[n]}]" for n in nodes)

    def __repr__(self) -> str:
        return f"Dag({len(self.names)} nodes, {self.n_arcs} arcs)"
