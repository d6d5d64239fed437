"""The best tree over all columns, the class among them."""

from __future__ import annotations

import math

import numpy as np

from tanbark.counts import CountEngine
from tanbark.counts.column_sets import cut
from tanbark.counts.information import measure_by_cells
from tanbark.graph import Dag
from tanbark.graph.spanning import pair_indices
from tanbark.scores import log_likelihood, mutual_information, penalty
from tanbark.structure.result import Learnt
from tanbark.structure.rules import find_column
from tanbark.structure.trees.tan import best_forest, penalty_per_parameter

CELLS_AT_ONCE = 1 << 22  # of dense tables; a pair with more is measured by the cells that occur


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
    penalty(criterion, 1.0)  # raises for a wrong name before the counting starts
    start = schema.target if root is None else find_column("root", root, schema.names)
    states = np.array(schema.cardinalities, dtype=float)
    first, second = pair_indices(len(schema.names))
    gain, rows = np.zeros(len(first)), np.zeros(len(first))
    sizes = states[first] * states[second]
    for low, high in cut(np.minimum(sizes, CELLS_AT_ONCE), CELLS_AT_ONCE):
        pairs = list(zip(first[low:high].tolist(), second[low:high].tolist(), strict=True))
        if sizes[low] > CELLS_AT_ONCE:
            ((cells, n),) = counts.cells(pairs)
            gain[low], rows[low] = measure_by_cells(np.pad(cells, ((0, 0), (0, 1))), n)
            continue
        for place, table in enumerate(counts.tables(pairs), start=low):
            rows[place] = table.sum()
            gain[place] = rows[place] * mutual_information(table)
    parameters = (states[first] - 1) * (states[second] - 1)
    weights = gain - penalty_per_parameter(criterion, rows) * parameters
    parents, gained = best_forest(weights, states, start)
    return Learnt(Dag(schema.names, tuple(parents)), _empty_score(counts, criterion) + gained)


def _empty_score(counts: CountEngine, criterion: str) -> float:
    """Score the empty graph that the tree is added to."""
    tables = counts.tables([(node,) for node in range(len(counts.schema.names))])
    cost = penalty(criterion, counts.total)
    return math.fsum(log_likelihood(table[None]) - cost * (len(table) - 1) for table in tables)
