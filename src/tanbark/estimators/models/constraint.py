"""Classifiers found by tests of conditional independence: RAI, PC and max-min hill climbing."""

from __future__ import annotations

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import MaxMinOptions, PCOptions, SeparationOptions, estimator


@estimator
class RAIANB(SeparationOptions, NetworkClassifier):
    """Augmented naive Bayes whose feature graph is found by tests of independence (RAI-ANB).

    Edges between features are deleted by tests of rising order, each given the class; in between, edges are directed
    and the graph is decomposed into descendants and their ancestors, so that the tests stay small. A test, by default
    the BDeu Bayes factor, rests on the rows that have a value in each of its columns.

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
    Sugahara, Kishida, Kato and Ueno (2022), Recursive autonomy identification-based learning of augmented naive Bayes
    classifiers. Yehezkel and Lerner (2009), Bayesian network structure learning by recursive autonomy identification.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.RAIANB().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1'), ('class', 'x2')]
    """

    _learner_name = "rai-anb"


@estimator
class RAIGBN(SeparationOptions, NetworkClassifier):
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


@estimator
class PCANB(PCOptions, NetworkClassifier):
    """Augmented naive Bayes whose feature graph is found by the PC algorithm, stable.

    Edges between features are deleted by tests of rising order, each given the class and neighbours of one end as they
    were at the beginning of the order; v-structures and Meek's rules then direct what remains.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; higher is better.
    report_ : PCReport
        Tests and edges by order, and what separated the ends of each edge that is gone.

    References
    ----------
    Spirtes, Glymour and Scheines (2000), Causation, Prediction, and Search, section 5.4.2. Colombo and Maathuis (2014),
    Order-independent constraint-based causal structure learning.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.PCANB().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1'), ('class', 'x2')]
    """

    _learner_name = "pc-anb"


@estimator
class PCGBN(PCOptions, NetworkClassifier):
    """General network over the features and the class, found by the PC algorithm, stable.

    As :class:`PCANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}
    structure_score_ : float
        The BDeu of the graph with ``ess``, in nats; higher is better.
    report_ : PCReport
        Tests and edges by order, and what separated the ends of each edge that is gone.

    References
    ----------
    Spirtes, Glymour and Scheines (2000), Causation, Prediction, and Search, section 5.4.2. Colombo and Maathuis (2014),
    Order-independent constraint-based causal structure learning.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.PCGBN().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x1', 'x0'), ('x2', 'class')]
    """

    _learner_name = "pc-gbn"


@estimator
class MMHCANB(MaxMinOptions, NetworkClassifier):
    """Augmented naive Bayes by max-min hill climbing: tests name candidates, a score chooses among them.

    For every feature, tests given the class and other candidates find its possible parents and children; hill climbing
    then adds, deletes and reverses arcs between features that are candidates of each other.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bdeu"
        What is maximised.
    {options}

    Attributes
    ----------
    {network}
    {climbed}
    report_ : MMHCReport
        Tests by order, and the candidates of every column.

    References
    ----------
    Tsamardinos, Brown and Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.MMHCANB().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('class', 'x0'), ('x0', 'x1'), ('class', 'x1'), ('class', 'x2')]
    """

    _learner_name = "mmhc-anb"


@estimator
class MMHCGBN(MaxMinOptions, NetworkClassifier):
    """General network over the features and the class by max-min hill climbing.

    As :class:`MMHCANB`, with the class an ordinary column. Only the class's Markov blanket takes part in predictions.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bdeu"
        What is maximised.
    {options}

    Attributes
    ----------
    {network}
    {climbed}
    report_ : MMHCReport
        Tests by order, and the candidates of every column.

    References
    ----------
    Tsamardinos, Brown and Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 3
    >>> tb.MMHCGBN().fit(X, [0, 1, 0, 1] * 3).dag_.arcs()
    [('x0', 'x1'), ('x2', 'class')]
    """

    _learner_name = "mmhc-gbn"
