"""Classifiers whose graph is climbed to by conditional log-likelihood."""

from __future__ import annotations

from typing import Any

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import estimator


@estimator
class BNC2P(NetworkClassifier):
    """Network of high conditional log-likelihood, with at most two parents per column (BNC-2P).

    Hill climbing over the graphs of all columns by the log-likelihood of the class given the features, with tables of
    maximum likelihood; the tables of the classifier are smoothed. What does not change the class's posterior is never
    added, so features may stay without an arc.

    Parameters
    ----------
    start : "naive", Dag or list of arcs, optional
        Where the search begins: naive Bayes, or a graph; by default without any arc but the required ones.
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The conditional log-likelihood of the graph at its maximum-likelihood tables, in nats; higher is better.
    history_ : History
        Every step: the score after it, what it changed, the legal moves after it, and its seconds.

    References
    ----------
    Grossman and Domingos (2004), Learning Bayesian network classifiers by maximizing conditional likelihood, section
    4.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> clf = tb.BNC2P().fit(X, [0, 0, 0, 1] * 9)
    >>> [step.move for step in clf.history_]
    ['start', 'add class -> x0', 'add class -> x1', 'add x0 -> x1']
    """

    _learner_name = "bnc2p"

    max_parents: int | None = 2
    required: Any = ()
    forbidden: Any = ()
    start: Any = None


@estimator
class CMDLGBN(NetworkClassifier):
    """Network of short conditional description length (GBN-CMDL).

    Hill climbing over the graphs of all columns by the log-likelihood of the class given the features, less half the
    logarithm of the rows for every free parameter.

    Parameters
    ----------
    start : "naive", Dag or list of arcs, optional
        Where the search begins: naive Bayes, or a graph; by default without any arc but the required ones.
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The conditional log-likelihood less the price of the parameters, in nats; higher is better.
    history_ : History
        Every step: the score after it, what it changed, the legal moves after it, and its seconds.

    References
    ----------
    Grossman and Domingos (2004), Learning Bayesian network classifiers by maximizing conditional likelihood, section
    5.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> clf = tb.CMDLGBN().fit(X, [0, 0, 0, 1] * 9)
    >>> [(step.move, round(step.score, 2)) for step in clf.history_]
    [('start', -27.41), ('add class -> x0', -21.44), ('add class -> x1', -13.34)]
    """

    _learner_name = "cmdl-gbn"

    max_parents: int | None = None
    required: Any = ()
    forbidden: Any = ()
    start: Any = None
