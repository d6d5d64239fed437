"""Classifiers whose structure needs no search: naive Bayes, super-parents, k-dependence, and given graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import estimator


@estimator
class NaiveBayes(NetworkClassifier):
    """Naive Bayes: every feature depends on the class alone.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [["red", 1], ["red", 0], ["blue", 1], ["blue", None]]
    >>> clf = tb.NaiveBayes().fit(X, ["yes", "yes", "no", "no"])
    >>> clf.predict([["red", None]]).tolist()
    ['yes']
    """

    _learner_name = "naive"


@estimator
class KDB(NetworkClassifier):
    """k-dependence classifier: every feature has the class and up to k other features as parents.

    Features are ordered by their mutual information with the class; each takes as parents the k earlier ones with the
    highest mutual information given the class.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    References
    ----------
    Sahami (1996), Learning limited dependence Bayesian classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]]
    >>> tb.KDB(max_parents=1).fit(X, [0, 1, 0, 1]).network_.families()["x1"]
    ['x0', 'class']
    """

    _learner_name = "kdb"

    max_parents: int = field(default=2, kw_only=False)
    min_cmi: float | None = None


@estimator
class SPODE(NetworkClassifier):
    """Super-parent one-dependence estimator: one feature is, besides the class, a parent of all others.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.SPODE("x1").fit([[0, 0], [0, 1], [1, 1]], [0, 1, 0]).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1')]
    """

    _learner_name = "spode"

    superparent: str | int | None = field(default=None, kw_only=False)


@estimator
class FixedStructure(NetworkClassifier):
    """A network drawn by hand: only its tables are learnt.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.FixedStructure([("x0", "class"), ("class", "x1")])
    >>> clf.fit([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1]).network_.families()
    {'x0': [], 'x1': ['class'], 'class': ['x0']}
    """

    _learner_name = "fixed"

    arcs: Iterable[tuple[str, str]] = field(default=(), kw_only=False)
