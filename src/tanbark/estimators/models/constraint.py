"""Classifiers found by tests of conditional independence: recursive autonomy identification."""

from __future__ import annotations

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import SeparationOptions, estimator


@estimator
class RAIANB(SeparationOptions, NetworkClassifier):
    """Augmented naive Bayes whose feature graph is found by tests of independence (RAI-ANB).

    Edges between features are deleted by tests of rising order, each given the class; in between, edges are directed
    and the graph is decomposed into descendants and their ancestors, so that the tests stay small. A test is the BDeu
    Bayes factor; with missing values it rests on the rows that have a value in each of its columns.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; higher is better.
    report_ : Report
        Tests and edges by order, and how the structure was decomposed.

    References
    ----------
    Yehezkel and Lerner (2009), Bayesian network structure learning by recursive autonomy identification.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.RAIANB().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1'), ('class', 'x2')]
    """

    _learner_name = "rai-anb"


@estimator
class RAIGBN(SeparationOptions, NetworkClassifier):
    """General network over the features and the class, found by tests of independence (RAI-GBN).

    As :class:`RAIANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; higher is better.
    report_ : Report
        Tests and edges by order, and how the structure was decomposed.

    References
    ----------
    Yehezkel and Lerner (2009), Bayesian network structure learning by recursive autonomy identification.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.RAIGBN().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x2')]
    """

    _learner_name = "rai-gbn"
