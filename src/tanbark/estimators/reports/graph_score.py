"""Scores of a graph from the counts of its families."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.checks import check_ess
from tanbark.errors import OptionError, find
from tanbark.graph import Dag
from tanbark.graph.network import family_axes
from tanbark.scores import FAMILY_SCORES


def graph_score(model: Any, criterion: str = "bic", *, ess: float = 1.0) -> float:
    """Score the graph of a fitted classifier on its training rows, whatever it was learnt by; a total in nats.

    Parameters
    ----------
    model : classifier with one network
        For a graph that was drawn by hand, a fitted ``FixedStructure``.
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml", "mdl"}, default "bic"
        Higher is better, but for "mdl": the description length, which is that of BIC with the other sign. "mml" is
        minus a message length.
    ess : float, default 1.0
        Equivalent sample size of "bdeu".

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.NaiveBayes().fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5)
    >>> round(graph_score(clf, "bdeu"), 3), round(graph_score(clf, "mdl"), 3)
    (-35.819, 35.215)
    """
    if not hasattr(model, "family_counts_"):
        msg = f"graph_score needs a fitted classifier with one network; got {type(model).__name__}."
        raise OptionError(msg)
    return score_graph(model.dag_, model.family_counts_, model.schema_.target, criterion, ess)


def score_graph(dag: Dag, counts: Sequence[NDArray[Any]], target: int, criterion: str, ess: float) -> float:
    """Add up the scores of the families, in nats; "mdl" is minus "bic".

    Parameters
    ----------
    counts : arrays
        The counts of every family, with the axes of ``family_axes``.
    """
    by_name = {**FAMILY_SCORES, "mdl": FAMILY_SCORES["bic"]}
    score = find("criterion", criterion, by_name)
    check_ess(ess)
    total = 0.0
    for node, table in enumerate(counts):
        axis = family_axes(dag.parents[node], node, target).index(node)
        states = table.shape[axis]
        by_config = np.moveaxis(table, axis, -1).reshape(1, -1, states).astype(float)
        total += float(score(by_config, math.prod(table.shape) // states, ess)[0])
    return -total if criterion == "mdl" else total
