"""Classifiers that search for the structure that predicts best, by cross-validation."""

from __future__ import annotations

from typing import Any

from tanbark.errors import find
from tanbark.estimators.documentation import MAX_CELLS, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner
from tanbark.structure.blanket.scores import SCORERS


class SearchedClassifier(NetworkClassifier):
    """What the searches share: their options."""

    cv: Any
    tol: float
    scoring: str
    smooth: float
    random_state: Any
    verbose: bool

    def _search(self) -> dict[str, Any]:
        names = ("cv", "tol", "scoring", "smooth", "random_state", "verbose")
        return {name: getattr(self, name) for name in names}


@documented
class HillClimbTAN(SearchedClassifier):
    """Tree-augmented naive Bayes grown arc by arc, each the one that helps prediction most (TAN-HC).

    Parameters
    ----------
    {searched}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.
    """

    def __init__(
        self, *, cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy", smooth: float = 0.01,
        random_state: Any = None, verbose: bool = False, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["tan-hc"], self._search()


@documented
class SuperParentTAN(SearchedClassifier):
    """Tree-augmented naive Bayes grown from super-parents (TAN-HCSP).

    Each step finds the feature that helps most as a parent of all features it may be a parent of, and then adds the
    one arc from it that helps most.

    Parameters
    ----------
    {searched}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.
    """

    def __init__(
        self, *, cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy", smooth: float = 0.01,
        random_state: Any = None, verbose: bool = False, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["tan-hcsp"], self._search()


@documented
class WrapperKDB(SearchedClassifier):
    """Features with up to k feature parents, grown arc by arc, each the one that helps prediction most.

    What R's bnclassify calls ``kdb``; :class:`KDB` is Sahami's algorithm.

    Parameters
    ----------
    max_parents : int, default 2
        Most feature parents of a feature, the class not counted.
    {searched}

    References
    ----------
    Mihaljević, Bielza and Larrañaga (2018), bnclassify: Learning Bayesian network classifiers.
    """

    def __init__(
        self, max_parents: int = 2, *, cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy", smooth: float = 0.01,
        random_state: Any = None, verbose: bool = False, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["kdb-hc"], {"max_parents": self.max_parents, **self._search()}


@documented
class FSSJ(SearchedClassifier):
    """Forward sequential selection and joining: features enter one at a time, alone or joined to others.

    Joined features are as one feature with the product of their states. Features that never enter do not count in
    prediction.

    Parameters
    ----------
    {searched}

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes.
    """

    def __init__(
        self, *, cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy", smooth: float = 0.01,
        random_state: Any = None, verbose: bool = False, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["fssj"], self._search()


@documented
class BSEJ(SearchedClassifier):
    """Backward sequential elimination and joining: from naive Bayes, features are left out or joined.

    Joined features are as one feature with the product of their states.

    Parameters
    ----------
    {searched}

    References
    ----------
    Pazzani (1996), Constructive induction of Cartesian product attributes.
    """

    def __init__(
        self, *, cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy", smooth: float = 0.01,
        random_state: Any = None, verbose: bool = False, alpha: float = 1.0, prior: str = "laplace",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case",
        handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["bsej"], self._search()


@documented
class SelectiveNaiveBayes(SearchedClassifier):
    """Naive Bayes on the features that help: they enter one at a time, the most helpful first.

    What helps is told by cross-validation, or by how much shorter the class column can be told (minimum message
    length), which needs no folds and stops by itself.

    Parameters
    ----------
    criterion : {"cv", "mml"} or the name of a message length, default "cv"
        "mml" is "nb_logit"; others are "nb_joint", "cpt", "logit", "nb_adaptive" and "mbp", see
        :class:`MarkovBlanketMML`. With a message length, the options of cross-validation do not count, and ``history_``
        is the trace of the search.
    {searched}

    References
    ----------
    Langley and Sage (1994), Induction of selective Bayesian classifiers.
    Li, Korb and Allison (2021), Markov blanket discovery using minimum message length.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 1], [0, 0], [1, 1], [1, 0]] * 5
    >>> tb.SelectiveNaiveBayes(criterion="mml").fit(X, [0, 0, 1, 1] * 5).dag_.arcs()
    [('class', 'x0')]
    """

    def __init__(
        self, *, criterion: str = "cv", cv: Any = 10, tol: float = 0.01, scoring: str = "accuracy",
        smooth: float = 0.01, random_state: Any = None, verbose: bool = False, alpha: float = 1.0,
        prior: str = "laplace", class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        parameters: Any = None, missing: str = "available-case", handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        known = {"cv": None, "mml": "nb_logit", **{name: name for name in SCORERS}}
        length = find("criterion", self.criterion, known)
        if length is None:
            return LEARNERS["selective"], self._search()
        return LEARNERS["selective-mml"], {"criterion": length}
