"""The number of graphs in an equivalence class."""

from __future__ import annotations

import math
from functools import cache

from tanbark.graph.dag import Dag


def class_size(dag: Dag) -> int:
    """Count the DAGs that are equivalent to a DAG, itself included.

    The class's undirected edges form chordal graphs that are directed independently, each without a cycle or a new
    v-structure. Such a graph has one source: the ways are counted by source, and for each by what remains undirected.
    He, Jia and Yu (2015), Counting and exploring sizes of Markov equivalence classes of directed acyclic graphs,
    section 3.

    >>> class_size(Dag.from_arcs([("A", "B"), ("B", "C")], "ABC")), class_size(Dag.augmented("ABC", [(), (0,)]))
    (3, 6)
    """
    place = {name: index for index, name in enumerate(dag.names)}
    linked = [0] * len(place)
    for a, b in dag.cpdag().undirected:
        linked[place[a]] |= 1 << place[b]
        linked[place[b]] |= 1 << place[a]

    @cache
    def orientations(inside: int) -> int:
        """Count the directions of a connected chordal graph on some nodes."""
        nodes = _members(inside)
        degrees = [(linked[node] & inside).bit_count() for node in nodes]
        if sum(degrees) == 2 * (len(nodes) - 1):  # a tree
            return len(nodes)
        if min(degrees) == len(nodes) - 1:  # complete
            return math.factorial(len(nodes))
        return sum(
            math.prod(orientations(part) for part in _components(inside, _rooted(inside, root, linked)))
            for root in nodes
        )

    return math.prod(orientations(part) for part in _components((1 << len(place)) - 1, linked))


def _members(mask: int) -> list[int]:
    return [node for node in range(mask.bit_length()) if mask >> node & 1]


def _components(inside: int, linked: list[int]) -> list[int]:
    """Split nodes into connected parts of at least two."""
    found = []
    while inside:
        part, fresh = 0, inside & -inside
        while fresh:
            part |= fresh
            reached = 0
            for node in _members(fresh):
                reached |= linked[node]
            fresh = reached & inside & ~part
        inside &= ~part
        found += [part] if part & (part - 1) else []
    return found


def _rooted(inside: int, root: int, linked: list[int]) -> list[int]:
    """Return the edges of a chordal graph that stay undirected once one node is the source, by Meek's rules 1 and 2."""
    left = [edges & inside if inside >> node & 1 else 0 for node, edges in enumerate(linked)]
    above = [0] * len(linked)  # the nodes with an arc to each node
    waiting = [(root, child) for child in _members(left[root])]
    while waiting:
        parent, child = waiting.pop()
        if not left[parent] >> child & 1:
            continue
        left[parent] &= ~(1 << child)
        left[child] &= ~(1 << parent)
        above[child] |= 1 << parent
        waiting += [(child, other) for other in _members(left[child] & ~linked[parent])]  # rule 1
        waiting += [(parent, other) for other in _members(left[parent]) if above[other] >> child & 1]  # rule 2
        waiting += [(other, child) for other in _members(left[child]) if above[parent] >> other & 1]
    return left
