"""Tree-augmented naive Bayes: the best tree over the features, by Chow and Liu's algorithm given the class."""

from __future__ import annotations

import math

import numpy as np

from tanbark.arrays import Floats
from tanbark.counts import CountEngine
from tanbark.errors import NaiveStructureWarning, find, warn
from tanbark.graph import Dag, direct_forest, maximum_spanning_forest
from tanbark.graph.spanning import maximum_branching, pair_indices
from tanbark.scores import log_likelihood, mml, penalty
from tanbark.structure.result import Learnt
from tanbark.structure.rules import find_column

DENSE_CELLS = 1 << 22  # larger pair tables are scored by their observed cells alone
BLOCK_CELLS = 1 << 22  # cells of pair tables that are held at once
SURELY = 5.0  # standard deviations of the likelihood ratio of independent columns
FEW_ROWS = 1.5  # where cells have few rows, the mean of the ratio is up to 1.39 times the degrees of freedom
SCORES = dict.fromkeys(("loglik", "aic", "bic", "mml"))


def learn(counts: CountEngine, *, criterion: str = "loglik", root: str | int | None = None) -> Learnt:
    r"""Find the one-dependence structure of highest score.

    An arc between Xi and Xj gains :math:`N_{ij} I(X_i; X_j | C)` nats, less the penalty of
    :math:`(r_i - 1)(r_j - 1) r_C` parameters. The heaviest spanning tree of these gains is the optimum; arcs that lose
    are left out, which may leave a forest. Columns with one state take no part. Ties go to the earlier pair.

    Parameters
    ----------
    counts : CountEngine
    criterion : {"loglik", "aic", "bic", "mml"}
        "mml" is the forest of shortest message, where the two directions of an arc differ a little.
    root : str or int, optional
        The feature that arcs of its tree lead away from; by default the first of each tree.

    Notes
    -----
    Friedman, Geiger and Goldszmidt (1997), Theorem 4.4; the penalised form follows from decomposability.
    """
    schema = counts.schema
    n, target = len(schema.features), schema.target
    find("criterion", criterion, SCORES)
    start = None if root is None else find_column("root", root, schema.names[:n])
    if criterion == "mml":
        found = _learn_mml(counts, start)
        if found.dag.n_arcs <= n:
            _report_naive(counts, criterion, counts.pair_information().gain)
        return found
    states = np.array(schema.cardinalities, dtype=float)
    first, second = pair_indices(n)
    pairs = counts.pair_information()
    parameters = (states[first] - 1) * (states[second] - 1) * states[target]
    cost = penalty_per_parameter(criterion, pairs.rows)
    parents, gained = best_forest(pairs.gain - cost * parameters, states[:n], start)
    dag = Dag.augmented(schema.names, parents)
    if criterion != "loglik" and dag.n_arcs <= n:
        _report_naive(counts, criterion, pairs.gain)
    return Learnt(dag, _naive_score(counts, criterion) + gained)


def _report_naive(counts: CountEngine, criterion: str, gain: Floats) -> None:
    """Warn that no arc between features is left, if the two of largest gain depend on each other.

    Twice the gain of independent columns has about a chi-square distribution, with the degrees of freedom of the states
    that were seen in each class.
    """
    schema = counts.schema
    if not len(gain):
        return
    target = schema.target
    first, second = pair_indices(len(schema.features))
    best = int(np.argmax(gain))
    pair = (int(first[best]), int(second[best]))
    ((cells, _),) = counts.cells([(*pair, target)])
    n_classes = schema.cardinalities[target]
    seen = [np.bincount(np.unique(cells[:, [k, 2]], axis=0)[:, 1], minlength=n_classes) for k in (0, 1)]
    freedom = float(np.maximum(seen[0] - 1, 0) @ np.maximum(seen[1] - 1, 0))
    if 2.0 * gain[best] > FEW_ROWS * freedom + SURELY * np.sqrt(2.0 * freedom) + SURELY:
        x, y = (f"{schema.names[k]!r} ({schema.cardinalities[k]:,} states)" for k in pair)
        msg = (
            f"criterion={criterion!r} leaves out every arc between features, so that TAN is naive Bayes, although {x} "
            f"and {y} depend on each other given the class: its penalty grows with the number of states. Use "
            "criterion='loglik', or give columns fewer states, as by discretize= or by grouping categories."
        )
        warn(msg, NaiveStructureWarning)


def best_forest(weights: Floats, states: Floats, start: int | None) -> tuple[list[tuple[int, ...]], float]:
    """Return the parents in the heaviest spanning forest, directed away from ``start``, and its weight.

    The weights are those of all pairs, in the order of :func:`pair_indices`; columns with one state stay alone.
    """
    n = len(states)
    first, second = pair_indices(n)
    weights = np.where((states[first] > 1) & (states[second] > 1), weights, -np.inf)
    edges = maximum_spanning_forest(weights, n)
    chosen = np.array([i * n - i * (i + 1) // 2 + j - i - 1 for i, j in edges], np.int64)
    return direct_forest(edges, n, start), float(weights[chosen].sum())


def penalty_per_parameter(criterion: str, rows: Floats) -> Floats:
    """Return the penalty of a parameter for every pair; with missing values, pairs have different numbers of rows."""
    if len(rows) and (rows == rows[0]).all():
        return np.full(len(rows), penalty(criterion, float(rows[0])))
    different, place = np.unique(rows, return_inverse=True)
    return np.array([penalty(criterion, float(n)) for n in different])[place]


def _naive_score(counts: CountEngine, criterion: str) -> float:
    """Score the naive Bayes structure that the arcs are added to."""
    target = counts.schema.target
    cost = penalty(criterion, counts.total)
    states = counts.schema.cardinalities[:target]
    flat = counts.feature_tables()
    prior = flat[: counts.schema.cardinalities[target]]
    cells = flat[len(prior) :].reshape(-1, len(prior)).astype(float)
    classes = np.repeat(np.add.reduceat(cells, np.cumsum([0, *states[:-1]])), states, axis=0)
    seen = cells > 0
    gained = float((cells[seen] * np.log(cells[seen] / classes[seen])).sum())
    parameters = len(prior) - 1 + (sum(states) - len(states)) * len(prior)
    return log_likelihood(prior[None]) + gained - cost * parameters


def _learn_mml(counts: CountEngine, root: int | None, alpha: float = 1.0) -> Learnt:
    """Find the forest of shortest message: the class first, then each feature given the class and at most one other.

    The two directions of an arc differ a little in length, so that the optimum is a branching and not a spanning tree.
    Columns with one state take no part. Wallace and Korb (1999) for the length of a family, Edmonds (1967) for the
    search.
    """
    schema = counts.schema
    n, target = len(schema.features), schema.target
    gains = pair_gains(counts, alpha=alpha)
    parents = maximum_branching(gains, root=root)
    (prior, *tables) = counts.tables([(target,), *((i, target) for i in range(n))])
    score = mml.family_score(prior[None], alpha=alpha) + math.fsum(
        mml.family_score(table.T, alpha=alpha) for table in tables
    )
    gained = math.fsum(float(gains[parent, child]) for child, found in enumerate(parents) for parent in found)
    return Learnt(Dag.augmented(schema.names, parents), score + gained)


def pair_gains(counts: CountEngine, *, alpha: float = 1.0) -> Floats:
    """Return the gain of every arc i -> j given the class, in nits, (n, n); -inf for columns with one state."""
    schema = counts.schema
    n, target = len(schema.features), schema.target
    states = np.array(schema.cardinalities, np.int64)
    gains = np.full((n, n), -np.inf)
    first, second = pair_indices(n)
    varied = (states[first] > 1) & (states[second] > 1)
    sizes = states[first] * states[second] * states[target]
    for a, b in np.unique(np.stack([states[first], states[second]], axis=1)[varied], axis=0):
        alike = np.flatnonzero(varied & (states[first] == a) & (states[second] == b))
        size = int(sizes[alike[0]])
        if size > DENSE_CELLS:
            for pair in alike:
                i, j = int(first[pair]), int(second[pair])
                gains[i, j], gains[j, i] = _by_cells(counts, (i, j, target), alpha)
            continue
        step = max(1, BLOCK_CELLS // size)
        for low in range(0, len(alike), step):
            x, y = first[alike[low : low + step]], second[alike[low : low + step]]
            tables = counts.tables([(i, j, target) for i, j in zip(x.tolist(), y.tolist(), strict=True)])
            gains[x, y], gains[y, x] = mml.arc_gains(np.stack(tables), alpha=alpha)
    return gains


def _by_cells(counts: CountEngine, columns: tuple[int, int, int], alpha: float) -> tuple[float, float]:
    """Return the gains of one pair from the observed cells alone: empty cells cost nothing."""
    ((cells, n),) = counts.cells([columns])
    r_x, r_y, n_classes = (counts.schema.cardinalities[c] for c in columns)
    weights = n.astype(float)
    x_class = np.bincount(cells[:, 0] * n_classes + cells[:, 2], weights, r_x * n_classes).reshape(r_x, n_classes)
    y_class = np.bincount(cells[:, 1] * n_classes + cells[:, 2], weights, r_y * n_classes).reshape(r_y, n_classes)
    return mml.sparse_arc_gains(weights, x_class, y_class, alpha=alpha)
