"""Information in networks: mutual information of columns, and the divergence of one network from another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tanbark.errors import InputError, find
from tanbark.graph import Network
from tanbark.inference import queries
from tanbark.scores import conditional_mutual_information
from tanbark.scores.information import UNITS


def mutual_information(
    network: Network, x: Any, y: Any, given: Any = (), *, unit: str = "nats", max_entries: int | None = None
) -> float:
    """Return I(x; y | given) in a network; see :meth:`Network.mutual_information`."""
    groups = [[group] if isinstance(group, (str, int)) else list(group) for group in (x, y, given)]
    columns = [network.dag.index(node) for group in groups for node in group]
    if len(set(columns)) < len(columns) or not groups[0] or not groups[1]:
        msg = "x and y must name at least one variable each, and x, y and given none in common."
        raise InputError(msg)
    joint = queries.query(network, columns, limits=queries.Limits(max_entries)).values
    sizes = np.array([network.schema.cardinalities[column] for column in columns])
    left, right = len(groups[0]), len(groups[0]) + len(groups[1])
    shape = [int(part.prod()) for part in (sizes[:left], sizes[left:right], sizes[right:])]
    return conditional_mutual_information(np.asarray(joint).reshape(shape)) / find("unit", unit, UNITS)


def kl_divergence(network: Network, other: Network, *, unit: str = "nats", max_entries: int | None = None) -> float:
    """Return KL(network || other), family by family; see :meth:`Network.kl_divergence`."""
    size = find("unit", unit, UNITS)
    if network.exponents is not None or other.exponents is not None:
        msg = "A network with weighted CPTs is unnormalised and has no divergence."
        raise InputError(msg)
    states = {column.name: column.states() for column in network.schema.columns}
    if states != {column.name: column.states() for column in other.schema.columns}:
        msg = "A divergence is between networks over the same columns with the same states."
        raise InputError(msg)
    total = 0.0
    for of, sign in ((network, 1.0), (other, -1.0)):
        for node, table in enumerate(of.tables):
            names = [of.dag.names[column] for column in of.axes(node)]
            weights = np.asarray(queries.query(network, names, limits=queries.Limits(max_entries)).values).reshape(
                table.shape
            )
            seen = weights > 0
            if sign < 0 and (table[seen] == 0).any():
                return math.inf
            total += sign * float((weights[seen] * np.log(table[seen])).sum())
    return max(total, 0.0) / size
