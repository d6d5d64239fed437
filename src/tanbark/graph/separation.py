"""d-separation, and the part of a network that a posterior depends on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tanbark.errors import InputError
from tanbark.graph.dag import Dag
from tanbark.graph.network import Network, family_axes
from tanbark.table import Schema


def reachable(dag: Dag, sources: Iterable[int], given: Iterable[int]) -> set[int]:
    """Find the nodes with an active trail from the sources, given the observed ones.

    Walks over (node, direction): a trail goes on through an unobserved node downwards, and upwards out of a collider
    that is observed or has an observed descendant. Koller and Friedman (2009), algorithm 3.1.

    >>> dag = Dag.from_arcs([("A", "C"), ("B", "C")], "ABC")
    >>> reachable(dag, [0], []), reachable(dag, [0], [2])
    ({0, 2}, {0, 1})
    """
    seen = set(given)
    opened = ancestors(dag, seen)
    waiting = [(node, True) for node in sources]  # True: arrived from below, or the start
    visited: set[tuple[int, bool]] = set()
    found = set()
    while waiting:
        state = waiting.pop()
        if state in visited:
            continue
        visited.add(state)
        node, from_below = state
        if node not in seen:
            found.add(node)
            waiting += [(child, False) for child in dag.children[node]]
        if node in opened if not from_below else node not in seen:
            waiting += [(parent, True) for parent in dag.parents[node]]
    return found


def ancestors(dag: Dag, nodes: Iterable[int]) -> set[int]:
    """Return the nodes themselves and all of their ancestors."""
    waiting, found = list(nodes), set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += dag.parents[node]
    return found


def requisite(dag: Dag, targets: Iterable[int], given: Iterable[int]) -> tuple[set[int], set[int]]:
    """Find the nodes whose CPTs a posterior needs, and the observed ones whose states it needs.

    Barren nodes, of which no target and no observed node is a descendant, and whatever is d-separated from the targets
    are left out. The CPT of an observed node matters only where one of its parents is unobserved and active.
    """
    wanted, seen = set(targets), set(given)
    active = reachable(dag, wanted, seen)
    within = ancestors(dag, wanted | seen)
    tables = {node for node in within if node in active or (node in seen and active & set(dag.parents[node]))}
    states = {node for node in seen if node in tables or any(node in dag.parents[child] for child in tables)}
    return tables, states


def prune(network: Network, targets: set[int], given: set[int]) -> Network:
    """Keep the CPTs and observations that the posterior of the targets needs; see :meth:`Network.prune`."""
    if not targets or targets & given:
        msg = "Name the variables to ask for; they must not be among the evidence."
        raise InputError(msg)
    needed, states = requisite(network.dag, targets, given)
    kept = sorted(needed | states)
    place = {node: index for index, node in enumerate(kept)}
    columns = tuple(network.schema.columns[node] for node in kept)
    schema = Schema(columns, has_class=network.schema.has_class and network.target in place)
    parents = [tuple(place[p] for p in network.dag.parents[node]) if node in needed else () for node in kept]
    tables = []
    for index, node in enumerate(kept):
        if node not in needed:
            tables.append(np.full(columns[index].n_states, 1 / columns[index].n_states))
            continue
        axes = [place[axis] for axis in network.axes(node)]
        wanted = family_axes(parents[index], index, schema.target)
        tables.append(network.tables[node].transpose([axes.index(axis) for axis in wanted]))
    return Network(schema, Dag(schema.names, tuple(parents)), tuple(tables))
