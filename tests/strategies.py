"""Random tables, graphs and networks for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes
from tanbark.table import CodedTable, Column, Schema

seeds = st.integers(0, 2**32 - 1)


def make_schema(states):
    features = [Column(f"x{i}", "category", "number", tuple(range(r))) for i, r in enumerate(states[:-1])]
    return Schema((*features, Column("class", "category", "number", tuple(range(states[-1])))))


def make_table(rng, states, n_rows, *, gaps=0.0, weighted=False):
    """Draw a coded table; neighbours depend on one another so that trees mean something."""
    dtype = np.uint8 if max(states) < 255 else np.uint16
    codes = np.stack([rng.integers(0, r, n_rows) for r in states])
    for i in range(1, len(states) - 1):
        copied = rng.random(n_rows) < 0.4
        codes[i] = np.where(copied, codes[i - 1] % states[i], codes[i])
    codes = codes.astype(dtype)
    codes[:-1][rng.random((len(states) - 1, n_rows)) < gaps] = np.iinfo(dtype).max
    weights = rng.integers(1, 9, n_rows) / 4.0 if weighted else None
    return CodedTable(make_schema(states), codes, weights)


def make_network(rng, *, n_features, max_parents=3, max_states=3, augmented=None, zeros=False):
    """Draw a network with a random graph over the features and the class (the last column)."""
    n = n_features + 1
    states = [*rng.integers(1, max_states + 1, n_features).tolist(), int(rng.integers(1, 4))]
    order = rng.permutation(n)
    parents = [()] * n
    for place, node in enumerate(order):
        size = min(place, int(rng.integers(0, max_parents + 1)))
        parents[node] = tuple(int(p) for p in rng.choice(order[:place], size, replace=False)) if size else ()
    if augmented:
        place = {int(node): k for k, node in enumerate(order)}
        parents = [tuple({*(p for p in parents[i] if p != n - 1), n - 1}) for i in range(n - 1)] + [()]
        parents = [tuple(p for p in ps if p == n - 1 or place[p] < place[i]) for i, ps in enumerate(parents)]
    schema = make_schema(states)
    tables = []
    for node in range(n):
        axes = family_axes(parents[node], node, n - 1)
        table = rng.random([states[a] for a in axes]) + 0.01
        if zeros:
            table = np.where(rng.random(table.shape) < 0.3, 0.0, table)
        sums = table.sum(axis=axes.index(node), keepdims=True)
        table = np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / states[node])
        tables.append(table)
    return Network(schema, Dag(schema.names, tuple(parents)), tuple(tables))


@st.composite
def coded_tables(draw, *, max_features=5, max_states=5, max_rows=200):
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(1, max_features))
    states = [draw(st.integers(1, max_states)) for _ in range(n)] + [draw(st.integers(1, 3))]
    return make_table(
        rng,
        states,
        draw(st.integers(1, max_rows)),
        gaps=draw(st.sampled_from([0.0, 0.2])),
        weighted=draw(st.booleans()),
    )


def make_candidates(rng, n, n_sets=4):
    """Draw lists of parent sets by falling score, the empty set last."""
    child, score, member = [], [], []
    for v in range(n):
        sets = [set(), *({int(k) for k in np.flatnonzero(rng.random(n) < 0.5)} - {v} for _ in range(n_sets - 1))]
        for parents, value in zip(sets[::-1], sorted(rng.normal(size=n_sets), reverse=True), strict=True):
            child.append(v)
            score.append(value)
            member.append([k in parents for k in range(n)])
    from tanbark.structure.exact.parent_sets import Candidates

    return Candidates(np.array(child), np.array(score), np.array(member))
