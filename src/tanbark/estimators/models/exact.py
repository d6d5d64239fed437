"""Classifiers whose graph has the highest BDeu score of all."""

from __future__ import annotations

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import ExactOptions, estimator


@estimator
class ExactANB(ExactOptions, NetworkClassifier):
    """The augmented naive Bayes of highest BDeu score.

    Dynamic programming over all subsets of the features: time and memory double with every feature; about 25 are
    possible. Beyond that the parent sets that may be needed are listed, and a search over orders proves its graph the
    best, or reports how much better one may be; it goes far where few parent sets are worth having, and
    ``max_parents`` helps. Rows with missing values are left out while the graph is learnt, and count in the tables.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; no graph of its kind has one that is more than the gap higher.
    report_ : ExactReport
        The method, columns searched, memory, bound, ``gap`` (0 where the graph is proved the best) and
        ``proved_optimal``.

    References
    ----------
    Silander and Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure.
    Sugahara and Ueno (2021), Exact learning augmented naive Bayes classifier.
    Yuan and Malone (2013), Learning optimal Bayesian networks: a shortest path perspective.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.ExactANB(max_parents=1).fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1'), ('class', 'x2')]
    """

    _learner_name = "exact-anb"


@estimator
class ExactGBN(ExactOptions, NetworkClassifier):
    """The network over the features and the class of highest BDeu score.

    As :class:`ExactANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; no graph of its kind has one that is more than the gap higher.
    report_ : ExactReport
        The method, columns searched, memory, bound, ``gap`` (0 where the graph is proved the best) and
        ``proved_optimal``.

    References
    ----------
    Silander and Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.ExactGBN().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x2')]
    """

    _learner_name = "exact-gbn"
