"""Networks to sample from: a published one in the BIF format, or a random one of ALARM's size."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NAME = r"[^\s,(){}|;]+"


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


def read_bif(path: Path) -> Known:
    """Read a network of discrete columns in the BIF format."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    levels: dict[str, list[str]] = {}
    for name, found in re.findall(rf"variable\s+({NAME})\s*\{{\s*type\s+discrete\s*\[[^\]]*\]\s*\{{([^}}]*)\}}", text):
        levels[name] = [level.strip() for level in found.split(",")]
    families: dict[str, tuple[list[str], str]] = {}
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        child, _, given = head.partition("|")
        families[child.strip()] = [p.strip() for p in given.split(",") if p.strip()], body
    order: list[str] = []
    while len(order) < len(levels):
        order += [name for name in levels if name not in order and all(p in order for p in families[name][0])]
    place = {name: number for number, name in enumerate(order)}
    tables = [_table(name, *families[name], levels) for name in order]
    parents = [[place[p] for p in families[name][0]] for name in order]
    return Known(order, [len(levels[name]) for name in order], parents, tables)


def _table(name: str, parents: list[str], body: str, levels: dict[str, list[str]]) -> np.ndarray:
    table = np.zeros((*(len(levels[p]) for p in parents), len(levels[name])))
    for given, numbers in re.findall(r"(?:\(([^)]*)\)|table)\s*([^;]*);", body):
        config = [level.strip() for level in given.split(",") if level.strip()]
        cell = tuple(levels[p].index(level) for p, level in zip(parents, config, strict=True))
        table[cell] = [float(number) for number in numbers.split(",")]
    table = table.reshape(-1, len(levels[name]))
    return table / table.sum(axis=1, keepdims=True)
