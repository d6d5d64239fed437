"""Sparse candidate search: hill climbing among a few candidate parents, which are chosen again after each climb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE, Floats
from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.counts.column_sets import cut
from tanbark.errors import TableTooLargeError, find
from tanbark.graph import Dag
from tanbark.graph.spanning import falling_order, pair_indices
from tanbark.scores import mutual_information
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.hill_climb import Walk, blanket, search
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs, Draws, check_cells, make_rules
from tanbark.structure.trace import History, Step

PairMarginals = Callable[[Dag], Sequence[Sequence[Floats]]]

MOST_ROUNDS = 50
MOST_KEPT = 1 << 28  # cells of all pairs of columns
CELLS_AT_ONCE = 1 << 22


def learn(
    counts: CountEngine, *, pair_marginals: PairMarginals, n_candidates: int = 5, criterion: str = "bic",
    ess: float = 1.0, max_parents: int | None = None, required: Arcs = (), forbidden: Arcs = (), start: Any = None,
    measure: str = "kl", space: str = "dags", patience: int | None = None, time_limit: float | None = None,
    tabu: int = 0, tabu_length: int = 10, restarts: int = 0, perturbation: int = 8, random_state: Any = None,
    verbose: bool = False, blanket_only: bool = False, max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    r"""Restrict every column to few candidate parents, climb, and choose the candidates again until nothing is gained.

    First the candidates are the columns of highest mutual information. Then they are those whose joint distribution
    with the column the network misses most, :math:`KL(\hat P(X, Y) || P_B(X, Y))`, beside the parents it has
    already, so that the score never falls. Ties go to the earlier column. Two other measures judge a column beside
    the parents that are there: :math:`I(X; Y | Pa(X))`, whether these shield it from Y, and the gain in score.

    Parameters
    ----------
    counts : CountEngine
    pair_marginals : function
        Returns, for a graph with its maximum-likelihood CPTs, P(X, Y) of every two columns.
    n_candidates : int
        Candidate parents of a column; parents that it has already are never dropped.
    measure : {"kl", "shield", "gain"}
        What ranks the candidates after the first round.

    Notes
    -----
    The other options are those of hill climbing; the time limit is checked after every round as well. Friedman, Nachman
    and Pe'er (1999), Learning Bayesian network structure from massive datasets: the "sparse candidate" algorithm,
    section 3.
    """
    check_count("n_candidates", n_candidates, least=1)
    rules, begin = make_rules(counts, max_parents=max_parents, required=required, forbidden=forbidden, start=start)
    walk = Walk(tabu, tabu_length, restarts, perturbation, space, verbose, patience, time_limit)
    draws, names, deadline = Draws(random_state), counts.schema.names, walk.deadline()
    empirical = _empirical(counts, max_cells)
    wide = {"kl": None, "shield": "loglik", "gain": criterion}
    ranking = find("measure", measure, wide)
    every = None if ranking is None else Gains(counts, ranking, ess=ess, allowed=rules.allowed, max_cells=max_cells)

    def rank(dag: Dag) -> Floats:
        if every is None:
            return _symmetric(len(names), _divergences(empirical, pair_marginals(dag)))
        return np.stack(every.toggles(list(enumerate(dag.parents))), axis=1)

    distance = _symmetric(len(names), [mutual_information(table) for table in empirical])
    best: Learnt | None = None
    steps: list[Step] = []
    met: set[bytes] = set()
    for _ in range(MOST_ROUNDS):
        if best is not None and perf_counter() > deadline:
            break
        arcs = begin if best is None else _matrix(best.dag)
        allowed = candidates(distance, arcs, n_candidates, rules.allowed)
        if allowed.tobytes() in met:
            break
        met.add(allowed.tobytes())
        gains = Gains(counts, criterion, ess=ess, allowed=allowed, max_cells=max_cells)
        found = search(gains, replace(rules, allowed=allowed), arcs, walk, draws)
        assert found.score is not None
        if best is not None and best.score is not None and found.score <= best.score + TIE:
            break
        steps += [found.history[0]._replace(move="new candidates"), *found.history[1:]]
        best = found
        distance = rank(best.dag)
    assert best is not None
    dag = blanket(best.dag, counts.schema.target) if blanket_only else best.dag
    return Learnt(dag, best.score, History(steps))


def candidates(distance: Floats, arcs: NDArray[np.bool_], k: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark for every column its parents and, up to k in all, the columns at the largest distance."""
    chosen = arcs.copy()
    for node in range(len(arcs)):
        others = np.flatnonzero(allowed[:, node] & ~arcs[:, node])
        ranked = others[falling_order(np.clip(distance[others, node], -1e300, 1e300))]
        chosen[ranked[: max(0, k - int(arcs[:, node].sum()))], node] = True
    return chosen & (allowed | arcs)


def _empirical(counts: CountEngine, max_cells: int) -> list[Floats]:
    """Count every pair of columns."""
    pairs = np.stack(pair_indices(len(counts.schema.names)), axis=1)
    cells = check_cells(counts.schema, pairs, max_cells)
    if cells.sum() > MOST_KEPT:
        msg = (
            f"The sparse candidate algorithm keeps the counts of every two columns, here {cells.sum():,} cells, more "
            f"than {MOST_KEPT:,}. Drop or group the columns with most states, or use GBN."
        )
        raise TableTooLargeError(msg)
    found: list[Floats] = []
    for low, high in cut(cells, CELLS_AT_ONCE):
        tables = counts.tables([tuple(pair) for pair in pairs[low:high].tolist()])
        found += [table.astype(np.float64) for table in tables]
    return found


def _divergences(empirical: list[Floats], model: Sequence[Sequence[Floats]]) -> list[float]:
    """Return KL(empirical || model) of every pair; infinite where the model rules out what was seen."""
    first, second = pair_indices(len(model))
    found = []
    for table, x, y in zip(empirical, first.tolist(), second.tolist(), strict=True):
        fraction = table / max(float(table.sum()), 1e-300)
        seen = fraction > 0
        with np.errstate(divide="ignore"):
            found.append(float((fraction[seen] * np.log(fraction[seen] / model[x][y][seen])).sum()))
    return found


def _symmetric(n: int, values: Sequence[float]) -> Floats:
    matrix = np.zeros((n, n))
    matrix[pair_indices(n)] = values
    return matrix + matrix.T


def _matrix(dag: Dag) -> NDArray[np.bool_]:
    arcs = np.zeros((len(dag.names), len(dag.names)), bool)
    for child, parents in enumerate(dag.parents):
        arcs[list(parents), child] = True
    return arcs
