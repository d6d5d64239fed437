"""Slow twins of structure search: every graph is scored from the rows, and every neighbour is listed."""

from __future__ import annotations

import itertools
import math

import naive
from tanbark.graph import Dag


def family_score(table, node, parents, criterion, ess=1.0):
    """Score one family from the rows that have all of its columns."""
    counts = naive.table(table.codes, table.schema.cardinalities, (*parents, node), table.weights)
    n = counts.reshape(-1, counts.shape[-1])
    if criterion in ("bdeu", "k2"):
        alpha = ess / n.size if criterion == "bdeu" else 1.0
        total = 0.0
        for row in n:
            total += math.lgamma(alpha * len(row)) - math.lgamma(alpha * len(row) + row.sum())
            total += sum(math.lgamma(alpha + cell) - math.lgamma(alpha) for cell in row)
        return total
    penalty = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * math.log(max(n.sum(), 1.0))}[criterion]
    fit = sum(cell * math.log(cell / row.sum()) for row in n for cell in row if cell > 0)
    return fit - penalty * n.shape[0] * (n.shape[1] - 1)


def graph_score(table, dag, criterion, ess=1.0):
    return sum(family_score(table, node, parents, criterion, ess) for node, parents in enumerate(dag.parents))


def neighbours(dag):
    """List (kind, x, y) of every legal move, and the graph after it."""
    n = len(dag.names)
    arcs = {(p, c) for c, parents in enumerate(dag.parents) for p in parents}
    for x, y in itertools.permutations(range(n), 2):
        changes = {} if (x, y) in arcs or (y, x) in arcs else {0: arcs | {(x, y)}}
        if (x, y) in arcs:
            changes = {1: arcs - {(x, y)}, 2: arcs - {(x, y)} | {(y, x)}}
        for kind, changed in changes.items():
            try:
                yield (kind, x, y), make_dag(dag.names, changed)
            except ValueError:
                continue


def make_dag(names, arcs):
    return Dag(tuple(names), tuple(tuple(sorted(p for p, c in arcs if c == node)) for node in range(len(names))))


def all_dags(names):
    pairs = list(itertools.combinations(range(len(names)), 2))
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = {(a, b) if how == 1 else (b, a) for (a, b), how in zip(pairs, choice, strict=True) if how}
        try:
            yield make_dag(names, arcs)
        except ValueError:
            continue


def essence(dag):
    """The skeleton and the v-structures, which two DAGs share if and only if they are equivalent."""
    skeleton = {frozenset((p, c)) for c, parents in enumerate(dag.parents) for p in parents}
    return skeleton, {
        (a, c, b)
        for c, parents in enumerate(dag.parents)
        for a, b in itertools.combinations(parents, 2)
        if frozenset((a, b)) not in skeleton
    }
