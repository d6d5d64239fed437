"""Classifiers whose features form a tree: TAN, the tree of Chow and Liu, and the TAN of highest aCLL."""

from __future__ import annotations

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import estimator


@estimator
class TAN(NetworkClassifier):
    """Tree-augmented naive Bayes: besides the class, every feature depends on at most one other feature.

    The tree is the best there is by the chosen criterion (Chow and Liu's algorithm given the class). ``"loglik"``
    always gives a tree over all features; ``"aic"``, ``"bic"`` and ``"mml"`` (minimum message length) leave out arcs
    that are not worth their parameters.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic", "mml"}, default "loglik"
        What is maximised.
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The score of the structure at its maximum-likelihood parameters, in nats; higher is better.

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]]
    >>> tb.TAN().fit(X, [0, 1, 0, 1]).dag_.arcs()
    [('class', 'x0'), ('x0', 'x1'), ('class', 'x1'), ('x0', 'x2'), ('class', 'x2')]
    """

    _learner_name = "tan"

    criterion: str = "loglik"
    root: str | int | None = None


@estimator
class ChowLiuTree(NetworkClassifier):
    """The best tree over all columns, the class being one of them.

    Only the class's neighbours in the tree matter to complete rows. ``"loglik"`` gives a tree over all columns;
    ``"aic"`` and ``"bic"`` leave out arcs that are not worth their parameters.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic"}, default "loglik"
        What is maximised.
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The score of the structure at its maximum-likelihood parameters, in nats; higher is better.

    References
    ----------
    Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.ChowLiuTree().fit(X, [0, 0, 1, 1] * 3).dag_.arcs()
    [('class', 'x0'), ('x0', 'x1'), ('x0', 'x2')]
    """

    _learner_name = "chow-liu"

    criterion: str = "loglik"
    root: str | int | None = None


@estimator
class ACLLTAN(NetworkClassifier):
    """Tree-augmented naive Bayes whose tree maximises the approximate conditional log-likelihood (TAN-aCLL).

    The tree is the best there is by a score that is about P(class | features) rather than P(class, features).

    Parameters
    ----------
    beta : float, optional
        The weight that the approximation puts on the log-joints of all classes, above -1 and at most 0; by default that
        for the data's number of classes. 0 gives the tree of highest log-likelihood.
    min_count : float, default 1.0
        The least count that a parameter of the score rests on.
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The aCLL of the graph, up to a constant, in nats; higher is better.

    References
    ----------
    Carvalho, Roos, Oliveira and Myllymäki (2011), Discriminative learning of Bayesian networks via factorized
    conditional log-likelihood.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.ACLLTAN(beta=0.0).fit(X, [0, 1, 0, 1] * 3).network_.families()["x1"]
    ['x0', 'class']
    """

    _learner_name = "acll-tan"

    beta: float | None = None
    min_count: float = 1.0
