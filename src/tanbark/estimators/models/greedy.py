"""Classifiers found by hill climbing: general networks and augmented naive Bayes."""

from __future__ import annotations

from typing import Any

from tanbark.estimators.documentation import MAX_CELLS, ScoreOption, documented, store
from tanbark.estimators.network import NetworkClassifier
from tanbark.structure import LEARNERS, Learner

CLIMB = (
    "ess", "max_parents", "required", "forbidden", "start", "over", "tabu", "tabu_length", "restarts", "shake",
    "random_state", "verbose",
)  # fmt: skip


class GraphClassifier(NetworkClassifier):
    """What these share: an option called score, and the options of hill climbing."""

    score = ScoreOption()
    k: int
    measure: str
    root: str | int | None
    conditional: bool
    blanket_only: bool

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    def _options(self, *more: str) -> dict[str, Any]:
        return {"score": self.__dict__["score"], **{name: getattr(self, name) for name in more}}


@documented
class GBN(GraphClassifier):
    """General Bayesian network: hill climbing over the graphs of all columns, the class being one of them.

    Complete rows are classified by the class's Markov blanket, since all else cancels; gaps are summed out in the whole
    network.

    Parameters
    ----------
    score : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bic"
        "aic", "bic" and "bdeu" climb over classes of equivalent graphs, "k2", "mml" and "loglik" over graphs.
    {climbed}
    blanket_only : bool, default False
        Keep only the arcs into the class and into its children. The same for complete rows; with gaps, what the other
        columns tell about missing ones is lost.
    {common}
    {climbed_attributes}

    References
    ----------
    Heckerman, Geiger and Chickering (1995), Learning Bayesian networks: the combination of knowledge and statistical
    data. Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> clf = tb.GBN().fit(X, [0, 0, 1, 1] * 9)
    >>> clf.network_.markov_blanket()
    ['x0']
    """

    def __init__(
        self, *, score: str = "bic", ess: float = 1.0, max_parents: int | None = None, required: Any = (),
        forbidden: Any = (), start: Any = None, over: str = "classes", tabu: int = 10, tabu_length: int = 10,
        restarts: int = 0, shake: int = 8, random_state: Any = None, verbose: bool = False, blanket_only: bool = False,
        alpha: float = 1.0, prior: str = "bdeu",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case", unseen: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["hill-climb"], self._options(*CLIMB, "blanket_only")


@documented
class BAN(GraphClassifier):
    """Bayesian-network-augmented naive Bayes: the class is a parent of all features, and any graph joins them.

    Parameters
    ----------
    score : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bdeu"
    conditional : bool, default True
        Score the features' families with the class in them; otherwise the class is ignored until the graph is found.
    {climbed}
    {common}
    {climbed_attributes}

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers, section 4.3.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> tb.BAN(score="bic").fit(X, [0, 0, 1, 1] * 9).dag_.arcs()
    [('class', 'x0'), ('class', 'x1'), ('x1', 'x2'), ('class', 'x2')]
    """

    def __init__(
        self, *, score: str = "bdeu", conditional: bool = True, ess: float = 1.0, max_parents: int | None = None,
        required: Any = (), forbidden: Any = (), start: Any = None, over: str = "classes", tabu: int = 10,
        tabu_length: int = 10, restarts: int = 0, shake: int = 8, random_state: Any = None, verbose: bool = False,
        alpha: float = 1.0, prior: str = "bdeu",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case", unseen: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["ban"], self._options(*CLIMB, "conditional")


@documented
class SparseCandidateGBN(GraphClassifier):
    """General Bayesian network by the sparse candidate algorithm: few candidate parents for every column.

    The candidates are first the columns of highest mutual information, then those whose joint distribution with the
    column the network of the round before misses most.

    Parameters
    ----------
    k : int, default 5
        Candidate parents of every column.
    measure : {"kl", "shield", "gain"}, default "kl"
        What ranks the candidates after the first round: how far the network's joint distribution of two columns is
        from that of the data, what a column tells beside the parents that are there, or what it would gain.
    score : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bic"
    {climbed}
    blanket_only : bool, default False
        Keep only the arcs into the class and into its children.
    {common}
    {climbed_attributes}

    References
    ----------
    Friedman, Nachman and Pe'er (1999), Learning Bayesian network structure from massive datasets: the "sparse
    candidate" algorithm.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> tb.SparseCandidateGBN(k=1).fit(X, [0, 0, 1, 1] * 9).network_.markov_blanket()
    ['x0']
    """

    def __init__(
        self, k: int = 5, *, measure: str = "kl", score: str = "bic", ess: float = 1.0, max_parents: int | None = None,
        required: Any = (), forbidden: Any = (), start: Any = None, over: str = "graphs", tabu: int = 0,
        tabu_length: int = 10, restarts: int = 0, shake: int = 8, random_state: Any = None, verbose: bool = False,
        blanket_only: bool = False, alpha: float = 1.0, prior: str = "bdeu",
        class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto", parameters: Any = None,
        missing: str = "available-case", unseen: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        return LEARNERS["sparse-candidate"], self._options(*CLIMB, "k", "measure", "blanket_only")
