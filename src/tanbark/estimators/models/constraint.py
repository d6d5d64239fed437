"""Classifiers found by tests of conditional independence: recursive autonomy identification."""

from __future__ import annotations

from typing import Any

from tanbark.estimators.documentation import MAX_CELLS, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner


@documented
class RAIANB(NetworkClassifier):
    """Augmented naive Bayes whose feature graph is found by tests of independence (RAI-ANB).

    Edges between features are deleted by tests of rising order, each given the class; in between, edges are directed
    and the graph is decomposed into descendants and their ancestors, so that the tests stay small. A test is the BDeu
    Bayes factor; with gaps it rests on the rows that have a value in each of its columns.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the BDeu prior that the tests rest on.
    max_order : int, optional
        The most features in the condition of a test; None goes on as long as there are enough neighbours.
    start_order : int, default 0
        Features in the condition of the first tests.
    strict : bool, default False
        Direct edges whose direction colliders dispute only by columns that separated their neighbours.
    {common_bdeu}
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

    def __init__(
        self, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False,
        alpha: float = 1.0, prior: str = "bdeu", class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", parameters: Any = None, missing: str = "available-case",
        handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        names = ("ess", "max_order", "start_order", "strict")
        return LEARNERS["rai-anb"], {name: getattr(self, name) for name in names}


@documented
class RAIGBN(NetworkClassifier):
    """General network over the features and the class, found by tests of independence (RAI-GBN).

    As :class:`RAIANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the BDeu prior that the tests rest on.
    max_order : int, optional
        The most features in the condition of a test; None goes on as long as there are enough neighbours.
    start_order : int, default 0
        Features in the condition of the first tests.
    strict : bool, default False
        Direct edges whose direction colliders dispute only by columns that separated their neighbours.
    {common_bdeu}
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

    def __init__(
        self, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False,
        alpha: float = 1.0, prior: str = "bdeu", class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", parameters: Any = None, missing: str = "available-case",
        handle_unknown: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        names = ("ess", "max_order", "start_order", "strict")
        return LEARNERS["rai-gbn"], {name: getattr(self, name) for name in names}
