"""The classifiers by name, each with its own options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from types import MethodType
from typing import Any, TypeVar

from sklearn.base import ClassifierMixin

from tanbark.errors import find
from tanbark.estimators.base import NetworkClassifier
from tanbark.structure import LEARNERS, Learner

MAX_CELLS = 1 << 24

COMMON = """alpha : float, default 1.0
        Smoothing: what is added to every cell (``prior="laplace"``), or the equivalent sample size (``"bdeu"``), or m
        (``"m-estimate"``). 0 is maximum likelihood.
    prior : {"laplace", "k2", "bdeu", "m-estimate"}, default "laplace"
        How counts are smoothed; the class prior is smoothed the same way.
    class_prior : array-like or dict, optional
        Probabilities of the classes, in the order of ``classes_`` or by label, instead of those of the rows.
    discretize : {"mdlp", "median", "quantile", "uniform"} or transformer, default "mdlp"
        How continuous columns are cut into intervals, on the training rows only.
    categorical_features : "auto", "all", or names, positions or mask, default "auto"
        Which numeric columns are categories. "auto": whole numbers with at most 20 different values.
    unseen : {"marginalize", "error"}, default "marginalize"
        What to do with categories that training never saw: treat them as missing, or refuse them.
    max_cells : int, default 2**24
        The largest table that a family may need.
    n_jobs : int, optional
        Threads; None uses every core. Results do not depend on it.

    Attributes
    ----------
    network_ : Network
        The learnt network: tables, families, Markov blanket, a text drawing.
    dag_ : Dag
        Its graph; ``dag_.arcs()`` lists (parent, child) names.
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories or cut points.
    family_counts_ : tuple of arrays
        The counts that the tables were estimated from.
    n_parameters_ : int
        Number of free parameters."""


Class = TypeVar("Class", bound=type)


def _documented(cls: Class) -> Class:
    """Write the options and attributes that all classifiers share into a docstring."""
    cls.__doc__ = (cls.__doc__ or "").replace("{common}", COMMON)
    return cls


class _ScoreOption:
    """An option called ``score`` on an estimator that also has scikit-learn's method ``score``.

    Setting the attribute sets the option, reading it gives the method; ``get_params`` shows the option.
    """

    def __get__(self, instance: Any, owner: type) -> Any:
        return ClassifierMixin.score if instance is None else MethodType(ClassifierMixin.score, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["score"] = value


@_documented
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
        categorical_features: Any = "auto", unseen: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.discretize = discretize
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.max_cells = max_cells
        self.n_jobs = n_jobs

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["naive"], {}


@_documented
class TAN(NetworkClassifier):
    """Tree-augmented naive Bayes: besides the class, every feature depends on at most one other feature.

    The tree is the best there is by the chosen score (Chow and Liu's algorithm given the class). ``"loglik"`` always
    gives a tree over all features; ``"aic"`` and ``"bic"`` leave out arcs that are not worth their parameters.

    Parameters
    ----------
    score : {"loglik", "aic", "bic"}, default "loglik"
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

    score = _ScoreOption()

    def __init__(
        self, *, score: str = "loglik", root: str | int | None = None, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        unseen: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.score = score
        self.root = root
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.discretize = discretize
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.max_cells = max_cells
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the options by name."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["tan"], {"score": self.__dict__["score"], "root": self.root}


@_documented
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
        unseen: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.arcs = arcs
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.discretize = discretize
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.max_cells = max_cells
        self.n_jobs = n_jobs

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["fixed"], {"arcs": self.arcs}


@_documented
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
        unseen: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.options = options
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.discretize = discretize
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.max_cells = max_cells
        self.n_jobs = n_jobs

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        learner = find("learner", self.learner, LEARNERS)
        options = dict(self.options or {})
        known = {name: None for name in signature(learner.learn).parameters if name != "counts"}
        for name in options:
            find(f"an option of learner {self.learner!r}", name, known)
        return learner, options
