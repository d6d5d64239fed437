"""Classifiers whose structure needs no search: naive Bayes, super-parents, k-dependence, and given graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tanbark.estimators.documentation import MAX_CELLS, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner


@documented
class NaiveBayes(NetworkClassifier):
    """Naive Bayes: every feature depends on the class alone.

    Parameters
    ----------
    {common}

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [["red", 1], ["red", 0], ["blue", 1], ["blue", None]]
    >>> clf = tb.NaiveBayes().fit(X, ["yes", "yes", "no", "no"])
    >>> clf.predict([["red", None]]).tolist()
    ['yes']
    """

    def __init__(
        self, *, alpha: float = 1.0, prior: str = "laplace", class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", parameters: Any = None, missing: str = "available-case",
        handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["naive"], {}


@documented
class KDB(NetworkClassifier):
    """k-dependence classifier: every feature has the class and up to k other features as parents.

    Features are ordered by their mutual information with the class; each takes as parents the k earlier ones that tell
    most about it given the class.

    Parameters
    ----------
    max_parents : int, default 2
        Most feature parents of a feature, the class not counted; 0 is naive Bayes.
    min_cmi : float, optional
        Parents whose conditional mutual information (nats per row) is not above this are left out.
    {common}

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

    def __init__(
        self, max_parents: int = 2, *, min_cmi: float | None = None, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["kdb"], {"max_parents": self.max_parents, "min_cmi": self.min_cmi}


@documented
class SPODE(NetworkClassifier):
    """Super-parent one-dependence estimator: one feature is, besides the class, a parent of all others.

    Parameters
    ----------
    superparent : str or int, optional
        That feature; by default the one that tells most about the class.
    {common}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.SPODE("x1").fit([[0, 0], [0, 1], [1, 1]], [0, 1, 0]).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1')]
    """

    def __init__(
        self, superparent: str | int | None = None, *, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["spode"], {"superparent": self.superparent}


@documented
class FixedStructure(NetworkClassifier):
    """A network drawn by hand: only its tables are learnt.

    Parameters
    ----------
    arcs : iterable of (parent, child) names
        Columns of X by name (x0, x1, … for an array), and the class by the name of ``y``, or "class".
    {common}

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.FixedStructure([("x0", "class"), ("class", "x1")])
    >>> clf.fit([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1]).network_.families()
    {'x0': [], 'x1': ['class'], 'class': ['x0']}
    """

    def __init__(
        self, arcs: Iterable[tuple[str, str]] = (), *, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        parameters: Any = None, missing: str = "available-case", handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["fixed"], {"arcs": self.arcs}
