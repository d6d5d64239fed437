"""Hill climbing by conditional log-likelihood with few parents."""

from __future__ import annotations

from typing import Any

from tanbark.counts import CountEngine
from tanbark.structure.conditional.climb import search
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs


def learn(
    counts: CountEngine, *, max_parents: int | None = 2, required: Arcs = (), forbidden: Arcs = (), start: Any = None,
    max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    r"""Search for the graph over all columns of highest conditional log-likelihood (BNC-2P).

    .. math:: \sum_t \ln P(c_t | x_t), \quad \text{with maximum-likelihood CPTs}

    Parameters
    ----------
    counts : CountEngine
    max_parents : int, optional
        The most parents of a column, the class among them; two as published.
    required, forbidden : lists of (parent, child) names
        Arcs that must be there, and arcs that must not.
    start : None, "naive", Dag or list of arcs
        Where to begin; by default without any arc but the required ones.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    A family does not contribute to a row with a missing value in one of its columns. Grossman and Domingos (2004),
    Learning Bayesian network classifiers by maximizing conditional likelihood, section 4.
    """
    return search(
        counts, penalised=False, max_parents=max_parents, required=required, forbidden=forbidden, start=start,
        max_cells=max_cells,
    )  # fmt: skip
