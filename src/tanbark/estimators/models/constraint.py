"""Classifiers found by tests of conditional independence: recursive autonomy identification."""

from __future__ import annotations

from typing import Any

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import MAX_CELLS, documented, store


@documented
class RAIANB(NetworkClassifier):
    """Augmented naive Bayes whose feature graph is found by tests of independence (RAI-ANB).

    Edges between features are deleted by tests of rising order, each given the class; in between, edges are directed
    and the graph is decomposed into descendants and their ancestors, so that the tests stay small. A test is the BDeu
    Bayes factor; with gaps it rests on the rows that have a value in each of its columns.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
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

    _learner_name = "rai-anb"

    def __init__(
        self, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False,
        parameters: Any = None, class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        missing: str = "available-case", handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())


@documented
class RAIGBN(NetworkClassifier):
    """General network over the features and the class, found by tests of independence (RAI-GBN).

    As :class:`RAIANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
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

    _learner_name = "rai-gbn"

    def __init__(
        self, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False,
        parameters: Any = None, class_prior: Any = None, discretize: Any = "mdlp", categorical_features: Any = "auto",
        missing: str = "available-case", handle_unknown: str = "marginalize", max_cells: int = MAX_CELLS,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        store(self, locals())
