"""Hill climbing by conditional minimum description length."""

from __future__ import annotations

from typing import Any

from tanbark.counts import CountEngine
from tanbark.structure.conditional.climb import search
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Arcs


def learn(
    counts: CountEngine, *, max_parents: int | None = None, required: Arcs = (), forbidden: Arcs = (),
    start: Any = None, max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    r"""Search for the graph over all columns of lowest conditional description length (GBN-CMDL).

    .. math:: \sum_t \ln P(c_t | x_t) - \tfrac{\ln N}{2} \sum_i (r_i - 1) q_i

    is maximised, with maximum-likelihood CPTs; the description length is the same with the other sign.

    Parameters
    ----------
    counts : CountEngine
    max_parents : int, optional
        The most parents of a column; by default the length alone limits them.
    required, forbidden : lists of (parent, child) names
        Arcs that must be there, and arcs that must not.
    start : None, "naive", Dag or list of arcs
        Where to begin; by default without any arc but the required ones.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    A family does not contribute to a row with a missing value in one of its columns. Grossman and Domingos (2004),
    Learning Bayesian network classifiers by maximizing conditional likelihood, section 5.
    """
    return search(
        counts, penalised=True, max_parents=max_parents, required=required, forbidden=forbidden, start=start,
        max_cells=max_cells,
    )  # fmt: skip
