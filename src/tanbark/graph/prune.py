"""Cutting a network down to what a question needs."""

from __future__ import annotations

import numpy as np

from tanbark.errors import InputError
from tanbark.graph.dag import Dag
from tanbark.graph.network import Network, family_axes
from tanbark.graph.separation import requisite
from tanbark.table import Schema


def prune(network: Network, targets: set[int], given: set[int]) -> Network:
    """Keep the tables and observations that the posterior of the targets needs."""
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
