"""Networks to sample from: a published one from a file, or a random one of ALARM's size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tanbark as tb


@dataclass(frozen=True)
class Known:
    """A network whose tables are known: parents before children, a table of (configurations, states) for each."""

    names: list[str]
    states: list[int]
    parents: list[list[int]]
    tables: list[np.ndarray]


def sample(network: Known, n_rows: int, seed: int) -> np.ndarray:
    """Draw (n_rows, n_columns) codes."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_rows, len(network.names)), np.uint8)
    for node, (parents, table) in enumerate(zip(network.parents, network.tables, strict=True)):
        config = np.zeros(n_rows, np.int64)
        for parent in parents:
            config = config * network.states[parent] + codes[:, parent]
        steps = table.cumsum(axis=1)[config, :-1]
        codes[:, node] = (rng.random(n_rows)[:, None] > steps).sum(axis=1)
    return codes


def random_network(n: int = 37, n_arcs: int = 46, seed: int = 0) -> Known:
    """Draw a network with as many columns and arcs as ALARM, and two to four states."""
    rng = np.random.default_rng(seed)
    states = [int(r) for r in rng.choice([2, 2, 2, 3, 3, 4], n)]
    parents: list[list[int]] = [[] for _ in range(n)]
    while sum(map(len, parents)) < n_arcs:
        child = int(rng.integers(1, n))
        parent = int(rng.integers(max(0, child - 8), child))
        if parent not in parents[child] and len(parents[child]) < 4:
            parents[child].append(parent)
    configs = [int(np.prod([states[p] for p in found])) for found in parents]
    tables = [rng.dirichlet(np.full(r, 0.5), q) for r, q in zip(states, configs, strict=True)]
    return Known([f"x{i}" for i in range(n)], states, parents, tables)


def published(path: Path) -> Known:
    """Take a network from a file in any format that Tanbark reads."""
    network = tb.export.read_network(path)
    order, sizes = network.dag.order, network.schema.cardinalities
    place = {node: position for position, node in enumerate(order)}
    return Known(
        [network.dag.names[node] for node in order],
        [sizes[node] for node in order],
        [[place[p] for p in network.axes(node)[:-1]] for node in order],
        [network.tables[node].reshape(-1, sizes[node]) for node in order],
    )
