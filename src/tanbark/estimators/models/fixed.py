"""The classifiers by name, each with its own options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from types import MethodType
from typing import Any

from sklearn.base import ClassifierMixin

from tanbark.errors import OptionError, find
from tanbark.estimators.documentation import MAX_CELLS, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner

GIVEN = ("counts", "evaluate", "pair_marginals", "max_cells")  # what a classifier itself gives to a learner
SEARCH_OPTIONS = ("cv", "smooth", "scoring", "random_state")


class ScoreOption:
    """An option called ``score`` on an estimator that also has scikit-learn's method ``score``.

    Setting the attribute sets the option, reading it gives the method; ``get_params`` shows the option.
    """

    def __get__(self, instance: Any, owner: type) -> Any:
        return ClassifierMixin.score if instance is None else MethodType(ClassifierMixin.score, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["score"] = value


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
        unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["naive"], {}


@documented
class TAN(NetworkClassifier):
    """Tree-augmented naive Bayes: besides the class, every feature depends on at most one other feature.

    The tree is the best there is by the chosen score (Chow and Liu's algorithm given the class). ``"loglik"`` always
    gives a tree over all features; ``"aic"``, ``"bic"`` and ``"mml"`` (minimum message length) leave out arcs that are
    not worth their parameters.

    Parameters
    ----------
    score : {"loglik", "aic", "bic", "mml"}, default "loglik"
    root : str or int, optional
        The feature at the root of the tree; by default the first of each tree.
    {common}
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

    score = ScoreOption()

    def __init__(
        self, *, score: str = "loglik", root: str | int | None = None, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        parameters: Any = None, missing: str = "available-case", unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the options by name."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["tan"], {"score": self.__dict__["score"], "root": self.root}


@documented
class KDB(NetworkClassifier):
    """k-dependence classifier: every feature has the class and up to k other features as parents.

    Features are ordered by their mutual information with the class; each takes as parents the k earlier ones that tell
    most about it given the class.

    Parameters
    ----------
    k : int, default 2
        Feature parents of each feature; 0 is naive Bayes.
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
    >>> tb.KDB(k=1).fit(X, [0, 1, 0, 1]).network_.families()["x1"]
    ['x0', 'class']
    """

    def __init__(
        self, k: int = 2, *, min_cmi: float | None = None, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        unseen: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["kdb"], {"k": self.k, "min_cmi": self.min_cmi}


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
        unseen: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
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
        parameters: Any = None, missing: str = "available-case", unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["fixed"], {"arcs": self.arcs}


@documented
class BayesNetClassifier(NetworkClassifier):
    """A classifier whose structure learner is chosen by name.

    Parameters
    ----------
    learner : str, default "tan"
        A name in ``tanbark.LEARNERS``.
    options : mapping, optional
        Options of the learner, such as ``{"score": "bic"}`` for "tan".
    {common}

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.BayesNetClassifier("naive").fit([[0], [1]], ["a", "b"]).predict([[1]]).tolist()
    ['b']
    """

    def __init__(
        self, learner: str = "tan", *, options: Mapping[str, Any] | None = None, alpha: float = 1.0,
        prior: str = "laplace", class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        parameters: Any = None, missing: str = "available-case", unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        learner = find("learner", self.learner, LEARNERS)
        if self.options is not None and not isinstance(self.options, Mapping):
            msg = f"options must be a mapping from names to values, or None; got {self.options!r}."
            raise OptionError(msg)
        options = dict(self.options or {})
        known = {name: None for name in signature(learner.learn).parameters if name not in GIVEN}
        if learner.wrapper:
            known |= dict.fromkeys(SEARCH_OPTIONS)
        for name in options:
            find(f"an option of learner {self.learner!r}", name, known)
        return learner, options
