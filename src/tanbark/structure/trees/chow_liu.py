"""The best tree over all columns, the class among them."""

from __future__ import annotations

import numpy as np

from tanbark.counts import CountEngine
from tanbark.graph import Dag, direct_forest, maximum_spanning_forest
from tanbark.graph.spanning import pair_indices
from tanbark.scores import log_likelihood, mutual_information, penalty
from tanbark.structure.result import Learnt
from tanbark.structure.rules import find_column
from tanbark.structure.trees.tan import penalty_per_parameter


def learn(counts: CountEngine, *, criterion: str = "loglik", root: str | int | None = None) -> Learnt:
    r"""Find the tree over features and class of highest score.

    An arc between X and Y gains :math:`N_{XY} I(X; Y)` nats, less the penalty of :math:`(r_X - 1)(r_Y - 1)` parameters;
    with a penalty, arcs that lose are left out, which may leave a forest. Columns with one state stay alone. Ties go to
    the earlier pair.

    Parameters
    ----------
    counts : CountEngine
    criterion : {"loglik", "aic", "bic"}
    root : str or int, optional
        The column that arcs of its tree lead away from, by default the class; other trees begin at their first column.

    Notes
    -----
    Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
    """
    schema = counts.schema
    n = len(schema.names)
    penalty(criterion, 1.0)  # raises for a wrong name before the counting starts
    start = schema.target if root is None else find_column("root", root, schema.names)
    states = np.array(schema.cardinalities, dtype=float)
    first, second = pair_indices(n)
    gain, rows = np.zeros(len(first)), np.zeros(len(first))
    step = 4096
    for low in range(0, len(first), step):
        pairs = list(zip(first[low : low + step].tolist(), second[low : low + step].tolist(), strict=True))
        for place, table in enumerate(counts.tables(pairs), start=low):
            rows[place] = table.sum()
            gain[place] = rows[place] * mutual_information(table)
    parameters = (states[first] - 1) * (states[second] - 1)
    weights = gain - penalty_per_parameter(criterion, rows) * parameters
    weights = np.where((states[first] > 1) & (states[second] > 1), weights, -np.inf)
    edges = maximum_spanning_forest(weights, n)
    chosen = np.array([a * n - a * (a + 1) // 2 + b - a - 1 for a, b in edges], np.int64)
    dag = Dag(schema.names, tuple(direct_forest(edges, n, start)))
    return Learnt(dag, _empty_score(counts, criterion) + float(weights[chosen].sum()))


def _empty_score(counts: CountEngine, criterion: str) -> float:
    """Score the empty graph that the tree is added to."""
    tables = counts.tables([(node,) for node in range(len(counts.schema.names))])
    cost = penalty(criterion, counts.total)
    return sum(log_likelihood(table[None]) - cost * (len(table) - 1) for table in tables)
