"""Classifiers whose structure needs no search: naive Bayes, super-parents, k-dependence, and given graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import MAX_CELLS, documented, store


@documented
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

    def __init__(
        self, *, parameters: Any = None, class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", missing: str = "available-case", handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())


@documented
class KDB(NetworkClassifier):
    """k-dependence classifier: every feature has the class and up to k other features as parents.

    Features are ordered by their mutual information with the class; each takes as parents the k earlier ones that tell
    most about it given the class.

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

    def __init__(
        self, max_parents: int = 2, *, min_cmi: float | None = None, parameters: Any = None, class_prior: Any = None,
        discretize: Any = "mdlp", categorical_features: Any = "auto", missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())


@documented
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

    def __init__(
        self, superparent: str | int | None = None, *, parameters: Any = None, class_prior: Any = None,
        discretize: Any = "mdlp", categorical_features: Any = "auto", missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())


@documented
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

    def __init__(
        self, arcs: Iterable[tuple[str, str]] = (), *, parameters: Any = None, class_prior: Any = None,
        discretize: Any = "mdlp", categorical_features: Any = "auto", missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())
