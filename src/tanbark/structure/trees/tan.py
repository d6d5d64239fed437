"""Tree-augmented naive Bayes: the best tree over the features, by Chow and Liu's algorithm given the class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine
from tanbark.errors import OptionError, find, nearest
from tanbark.graph import Dag, direct_forest, maximum_spanning_forest
from tanbark.graph.trees import pair_indices
from tanbark.scores import log_likelihood, penalty
from tanbark.structure.result import Learnt
from tanbark.structure.trees import tan_mml

SCORES = dict.fromkeys(("loglik", "aic", "bic", "mml"))


def learn(counts: CountEngine, *, score: str = "loglik", root: str | int | None = None) -> Learnt:
    r"""Find the one-dependence structure of highest score.

    An arc between Xi and Xj gains :math:`N_{ij} I(X_i; X_j | C)` nats, less the penalty of
    :math:`(r_i - 1)(r_j - 1) r_C` parameters. The heaviest spanning tree of these gains is the optimum; arcs that lose
    are left out, which may leave a forest. Columns with one state take no part. Ties go to the earlier pair.

    Parameters
    ----------
    counts : CountEngine
    score : {"loglik", "aic", "bic", "mml"}
        "mml" is the forest of shortest message, where the two directions of an arc differ a little.
    root : str or int, optional
        The feature that arcs of its tree lead away from; by default the first of each tree.

    Notes
    -----
    Friedman, Geiger and Goldszmidt (1997), Theorem 4.4; the penalised form follows from decomposability.
    """
    schema = counts.schema
    n, target = len(schema.features), schema.target
    find("score", score, SCORES)
    start = None if root is None else find_root(root, schema.names[:n])
    if score == "mml":
        return tan_mml.learn(counts, root=start)
    states = np.array(schema.cardinalities, dtype=float)
    first, second = pair_indices(n)
    pairs = counts.pair_information()
    parameters = (states[first] - 1) * (states[second] - 1) * states[target]
    price = penalty_per_parameter(score, pairs.rows)
    weights = np.where((states[first] > 1) & (states[second] > 1), pairs.gain - price * parameters, -np.inf)
    edges = maximum_spanning_forest(weights, n)
    dag = Dag.augmented(schema.names, direct_forest(edges, n, start))
    chosen = np.array([i * n - i * (i + 1) // 2 + j - i - 1 for i, j in edges], np.int64)
    return Learnt(dag, _naive_score(counts, score) + float(weights[chosen].sum()))


def penalty_per_parameter(score: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the price of a parameter for every pair; with gaps, pairs rest on different numbers of rows."""
    if len(rows) and (rows == rows[0]).all():
        return np.full(len(rows), penalty(score, float(rows[0])))
    different, place = np.unique(rows, return_inverse=True)
    return np.array([penalty(score, float(n)) for n in different])[place]


def _naive_score(counts: CountEngine, score: str) -> float:
    """Score the naive Bayes structure that the arcs are added to."""
    target = counts.schema.target
    price = penalty(score, counts.total)
    (prior, *tables) = counts.tables([(target,), *((i, target) for i in range(target))])
    cells = np.concatenate([table.ravel() for table in tables]).astype(float)
    classes = np.concatenate([np.broadcast_to(table.sum(axis=0), table.shape).ravel() for table in tables])
    seen = cells > 0
    gained = float((cells[seen] * np.log(cells[seen] / classes[seen])).sum())
    parameters = len(prior) - 1 + sum((len(table) - 1) * len(prior) for table in tables)
    return log_likelihood(prior[None]) + gained - price * parameters


def find_root(root: object, names: tuple[str, ...], option: str = "root") -> int:
    """Find a feature by its name or position, or say what was expected."""
    if isinstance(root, str):
        if root in names:
            return names.index(root)
        msg = f"{option} must be the name of a feature; got {root!r}.{nearest(root, names)}"
        raise OptionError(msg)
    if isinstance(root, bool) or not isinstance(root, (int, np.integer)) or not 0 <= root < len(names):
        msg = f"{option} must be the name of a feature or its position from 0 to {len(names) - 1}; got {root!r}."
        raise OptionError(msg)
    return int(root)
