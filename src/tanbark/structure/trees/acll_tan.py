"""Tree-augmented naive Bayes that maximises the approximate conditional log-likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_positive, is_number
from tanbark.counts import CountEngine
from tanbark.counts.column_sets import cut
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.graph.spanning import maximum_arborescence
from tanbark.scores.conditional import acll_slope, approximate_cll
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, check_cells

CELLS_AT_ONCE = 1 << 22


def learn(
    counts: CountEngine, *, beta: float | None = None, min_count: float = 1.0, max_cells: int = MAX_CELLS
) -> Learnt:
    """Find the tree over the features of highest aCLL; it spans all features with more than one state.

    Parameters
    ----------
    counts : CountEngine
    beta : float, optional
        The weight of all classes' log-joints; by default the one for the data's number of classes.
    min_count : float
        The least count that a parameter of the score rests on.
    max_cells : int
        The most cells of two features and the class; more raise an error before anything is counted.

    Notes
    -----
    An arc l -> i gains what it adds to the family of i, which depends on its direction, so the optimum is a directed
    spanning tree. Carvalho, Roos, Oliveira and Myllymäki (2011), Discriminative learning of Bayesian networks via
    factorized conditional log-likelihood, section 3.
    """
    schema = counts.schema
    if beta is not None and (not is_number(beta) or not -1 < float(beta) <= 0):
        msg = f"beta must be None or a number above -1 and at most 0; got {beta!r}."
        raise OptionError(msg)
    check_positive("min_count", min_count)
    slope = acll_slope(schema.cardinalities[-1]) if beta is None else float(beta)
    varied = [i for i in range(schema.target) if schema.cardinalities[i] > 1]
    gains = arc_gains(counts, varied, slope, float(min_count), max_cells=max_cells)
    tree = maximum_arborescence(gains)
    parents: list[tuple[int, ...]] = [()] * schema.target
    score = 0.0
    alone = counts.tables([(i, schema.target) for i in varied])
    for place, above in enumerate(tree):
        score += float(approximate_cll(alone[place][None], beta=slope, min_count=float(min_count)))
        if above >= 0:
            parents[varied[place]] = (varied[above],)
            score += gains[above, place]
    return Learnt(Dag.augmented(schema.names, parents), score)


def arc_gains(
    counts: CountEngine, features: list[int], beta: float, min_count: float, *, max_cells: int = MAX_CELLS
) -> NDArray[np.float64]:
    """Return the gain in aCLL of each arc between features, (parent, child), on the rows that have both."""
    n, target = len(features), counts.schema.target
    gains = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    sets = np.array([(features[i], features[j], target) for i, j in pairs], np.int64).reshape(-1, 3)
    for low, high in cut(check_cells(counts.schema, sets, max_cells), CELLS_AT_ONCE):
        tables = counts.tables([tuple(columns) for columns in sets[low:high].tolist()])
        for (i, j), table in zip(pairs[low:high], tables, strict=True):
            for above, below, counted in ((i, j, table), (j, i, table.swapaxes(0, 1))):
                alone = approximate_cll(counted.sum(axis=0, keepdims=True), beta=beta, min_count=min_count)
                gains[above, below] = approximate_cll(counted, beta=beta, min_count=min_count) - alone
    return gains
