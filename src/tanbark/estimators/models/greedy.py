"""Classifiers found by hill climbing: general networks and augmented naive Bayes."""

from __future__ import annotations

from dataclasses import field

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import ClimbOptions, estimator


@estimator
class GBN(ClimbOptions, NetworkClassifier):
    """General Bayesian network: hill climbing over the graphs of all columns, the class being one of them.

    Complete rows are classified by the class's Markov blanket, since all else cancels; missing values are marginalised
    in the whole network.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bic"
        What is maximised.
    time_limit : float, default None
        Seconds after which the search stops and returns the best graph so far; how far it comes depends on the machine.
    {options}

    Attributes
    ----------
    {network}
    {climbed}

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

    _learner_name = "hill-climb"

    blanket_only: bool = False


@estimator
class BAN(ClimbOptions, NetworkClassifier):
    """Bayesian-network-augmented naive Bayes: the class is a parent of all features, and any graph joins them.

    Parameters
    ----------
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bdeu"
        What is maximised.
    conditional : bool, default True
        Score the features' families with the class in them; otherwise the class is ignored until the graph is found.
    time_limit : float, default None
        Seconds after which the search stops and returns the best graph so far; how far it comes depends on the machine.
    {options}

    Attributes
    ----------
    {network}
    {climbed}

    References
    ----------
    Friedman, Geiger and Goldszmidt (1997), Bayesian network classifiers, section 4.3.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> tb.BAN(criterion="bic").fit(X, [0, 0, 1, 1] * 9).dag_.arcs()
    [('class', 'x0'), ('class', 'x1'), ('x1', 'x2'), ('class', 'x2')]
    """

    _learner_name = "ban"

    criterion: str = "bdeu"
    conditional: bool = True


@estimator
class SparseCandidateGBN(ClimbOptions, NetworkClassifier):
    """General Bayesian network by the sparse candidate algorithm: few candidate parents for every column.

    The candidates are first the columns of highest mutual information, then those whose joint distribution with the
    column the network of the round before misses most.

    Parameters
    ----------
    n_candidates : int, default 5
        Candidate parents of every column.
    measure : {"kl", "shield", "gain"}, default "kl"
        What ranks the candidates after the first round: how far the network's joint distribution of two columns is
        from that of the data, the information of a column beside the present parents, or its gain in score.
    criterion : {"loglik", "aic", "bic", "bdeu", "k2", "mml"}, default "bic"
        What is maximised.
    time_limit : float, default None
        Seconds after which the search stops and returns the best graph so far; how far it comes depends on the machine.
    {options}

    Attributes
    ----------
    {network}
    {climbed}

    References
    ----------
    Friedman, Nachman and Pe'er (1999), Learning Bayesian network structure from massive datasets: the "sparse
    candidate" algorithm.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 9
    >>> tb.SparseCandidateGBN(n_candidates=1).fit(X, [0, 0, 1, 1] * 9).network_.markov_blanket()
    ['x0']
    """

    _learner_name = "sparse-candidate"

    n_candidates: int = field(default=5, kw_only=False)
    measure: str = "kl"
    space: str = "dags"
    tabu: int = 0
    blanket_only: bool = False
