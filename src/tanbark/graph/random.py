"""Random networks, for studies and teaching."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from tanbark.checks import check_count, check_flag, check_positive
from tanbark.errors import OptionError, TableTooLargeError, find
from tanbark.graph.dag import Dag
from tanbark.graph.network import Network, family_axes
from tanbark.table import Column, Schema

MAX_CELLS = 1 << 24  # of one CPT
KINDS = ("anb", "tan", "naive", "tree", "dag")

Parents = list[list[int]]


def random_network(
    n_features: int, *, kind: str, width: int, n_states: Any, n_classes: int, concentration: float, random_state: Any
) -> Network:
    """Draw a graph and its CPTs; see :meth:`Network.random`."""
    check_count("n_features", n_features, least=1)
    find("kind", kind, dict.fromkeys(KINDS))
    check_count("width", width)
    check_count("n_classes", n_classes, least=1)
    check_positive("concentration", concentration)
    rng = np.random.default_rng(random_state)
    low, high = _bounds(n_states)
    states = [*rng.integers(low, high + 1, n_features).tolist(), int(n_classes)]
    if kind in ("tree", "dag"):
        parents = random_parents(n_features + 1, 1 if kind == "tree" else width, rng)
    else:
        inner = random_parents(n_features, {"naive": 0, "tan": 1}.get(kind, width), rng)
        parents = [[*found, n_features] for found in inner] + [[]]
    columns = [Column(f"x{i}", "category", "number", tuple(range(r))) for i, r in enumerate(states[:-1])]
    schema = Schema((*columns, Column("class", "category", "number", tuple(range(states[-1])))))
    dag = Dag(schema.names, tuple(tuple(found) for found in parents))
    tables = []
    for node, found in enumerate(dag.parents):
        axes = family_axes(found, node, n_features)
        shape = [states[axis] for axis in axes if axis != node]
        if math.prod(shape) * states[node] > MAX_CELLS:
            msg = f"A CPT of {math.prod(shape) * states[node]:,} cells is too large to draw. Lower width or n_states."
            raise TableTooLargeError(msg)
        drawn = rng.dirichlet(np.full(states[node], float(concentration)), shape)
        tables.append(np.ascontiguousarray(np.moveaxis(drawn, -1, axes.index(node))))
    return Network(schema, dag, tuple(tables))


def _bounds(n_states: Any) -> tuple[int, int]:
    pair = n_states if isinstance(n_states, (tuple, list)) else (n_states, n_states)
    if len(pair) != 2:
        msg = f"n_states must be a number, or the least and the most; got {n_states!r}."
        raise OptionError(msg)
    low, high = (check_count("n_states", bound, least=1) for bound in pair)
    if low > high:
        msg = f"The least of n_states must not be above the most; got {n_states!r}."
        raise OptionError(msg)
    return low, high


def random_parents(n: int, width: int, rng: np.random.Generator, *, shuffled: bool = True) -> Parents:
    """Draw the parents of n nodes: each node joins the members of a random clique of ``width`` earlier nodes.

    The graph is a random k-tree, so the moral graph has exactly the tree-width min(width, n - 1) and needs no fill-in.
    """
    check_flag("shuffled", shuffled)
    order = rng.permutation(n).tolist() if shuffled else list(range(n))
    parents: Parents = [[] for _ in range(n)]
    first = order[: width + 1]
    for place, node in enumerate(first):
        parents[node] = first[:place]
    cliques = [list(chosen) for chosen in combinations(first, width)] if width else []
    for node in order[width + 1 :]:
        if not width:
            continue
        clique = cliques[int(rng.integers(len(cliques)))]
        parents[node] = list(clique)
        cliques += [[*(member for member in clique if member != left), node] for left in clique]
    return parents
