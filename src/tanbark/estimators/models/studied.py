"""Classifiers of the RAI-ANB study that search by BDeu, and the tree of highest aCLL."""

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
        unseen: str = "marginalize",
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
        unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        names = ("ess", "max_order", "start_order", "strict")
        return LEARNERS["rai-gbn"], {name: getattr(self, name) for name in names}


@documented
class ExactANB(NetworkClassifier):
    """The augmented naive Bayes of highest BDeu score.

    Dynamic programming over all subsets of the features: time and memory double with every feature; about 25 are
    possible. Beyond that an integer programme proves its graph the best, or tells how much better one may be; it goes
    far where few parent sets are worth having, and ``max_parents`` helps. Rows with gaps are left out while the graph
    is learnt, and count in the tables.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the BDeu score.
    max_parents : int, optional
        The most feature parents of a feature.
    method : {"auto", "dp", "ip"}, default "auto"
        "dp" is dynamic programming, "ip" an integer programme over the parent sets that may be needed, "auto" the first
        as long as its tables fit in ``max_memory``.
    max_memory : float, optional
        Bytes that the search may take; by default half of what is free. What it needs is known beforehand.
    time_limit : float, optional, default 600
        Seconds for the integer programme. If it ends early, it warns and tells the gap.
    verbose : bool, default False
        Tell each stage and its seconds; otherwise a terminal is told of long searches.
    {common_bdeu}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; no graph of its kind has one that is more than the gap higher.
    report_ : ExactReport
        The method, columns searched, memory, bound, ``gap`` (0 where the graph is proved the best) and
        ``proved_optimal``.

    References
    ----------
    Silander and Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure.
    Sugahara and Ueno (2021), Exact learning augmented naive Bayes classifier.
    Bartlett and Cussens (2017), Integer linear programming for the Bayesian network structure learning problem.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.ExactANB(max_parents=1).fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1'), ('class', 'x2')]
    """

    def __init__(
        self, *, ess: float = 1.0, max_parents: int | None = None, method: str = "auto",
        max_memory: float | None = None, time_limit: float | None = 600.0, verbose: bool = False,
        alpha: float = 1.0, prior: str = "bdeu", class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", parameters: Any = None, missing: str = "available-case",
        unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        names = ("ess", "max_parents", "method", "max_memory", "time_limit", "verbose")
        return LEARNERS["exact-anb"], {name: getattr(self, name) for name in names}


@documented
class ExactGBN(NetworkClassifier):
    """The network over the features and the class of highest BDeu score.

    As :class:`ExactANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size of the BDeu score.
    max_parents : int, optional
        The most parents of a column.
    method : {"auto", "dp", "ip"}, default "auto"
        "dp" is dynamic programming, "ip" an integer programme over the parent sets that may be needed, "auto" the first
        as long as its tables fit in ``max_memory``.
    max_memory : float, optional
        Bytes that the search may take; by default half of what is free. What it needs is known beforehand.
    time_limit : float, optional, default 600
        Seconds for the integer programme. If it ends early, it warns and tells the gap.
    verbose : bool, default False
        Tell each stage and its seconds; otherwise a terminal is told of long searches.
    {common_bdeu}
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

    def __init__(
        self, *, ess: float = 1.0, max_parents: int | None = None, method: str = "auto",
        max_memory: float | None = None, time_limit: float | None = 600.0, verbose: bool = False,
        alpha: float = 1.0, prior: str = "bdeu", class_prior: Any = None, discretize: Any = "mdlp",
        categorical_features: Any = "auto", parameters: Any = None, missing: str = "available-case",
        unseen: str = "marginalize",
        max_cells: int = MAX_CELLS, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        names = ("ess", "max_parents", "method", "max_memory", "time_limit", "verbose")
        return LEARNERS["exact-gbn"], {name: getattr(self, name) for name in names}


@documented
class ACLLTAN(NetworkClassifier):
    """Tree-augmented naive Bayes whose tree maximises the approximate conditional log-likelihood (TAN-aCLL).

    The tree is the best there is by a score that is about P(class | features) rather than P(class, features).

    Parameters
    ----------
    beta : float, optional
        The weight that the approximation puts on the log-joints of all classes, above -1 and at most 0; by default that
        for the data's number of classes. 0 gives the tree of highest log-likelihood.
    pseudo : float, default 1.0
        The least count that a parameter of the score rests on.
    {common_bdeu}
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

    def __init__(
        self, *, beta: float | None = None, pseudo: float = 1.0, alpha: float = 1.0, prior: str = "bdeu",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case", unseen: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["acll-tan"], {"beta": self.beta, "pseudo": self.pseudo}
