"""Classifiers whose structure needs no search: naive Bayes, super-parents, k-dependence, and given graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.options import estimator


@estimator
class NaiveBayes(NetworkClassifier):
    """Naive Bayes: every feature depends on the class alone.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [["red", 1], ["red", 0], ["blue", 1], ["blue", None]]
    >>> clf = tb.NaiveBayes().fit(X, ["yes", "yes", "no", "no"])
    >>> clf.predict([["red", None]]).tolist()
    ['yes']
    """

    _learner_name = "naive"


@estimator
class KDB(NetworkClassifier):
    """k-dependence classifier: every feature has the class and up to k other features as parents.

    Features are ordered by their mutual information with the class; each takes as parents the k earlier ones with the
    highest mutual information given the class.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

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

    _learner_name = "kdb"

    max_parents: int = field(default=2, kw_only=False)
    min_cmi: float | None = None


@estimator
class SelectiveKDB(NetworkClassifier):
    """Selective k-dependence classifier: the number of parents and of features is chosen by leave-one-out.

    A k-dependence classifier of the highest order contains a model for every k up to ``max_parents`` and every number
    of features, taken by falling mutual information with the class. One pass over the rows, each without its own
    count, adds up the losses of all of them, and the best is kept; the features that it leaves out have no arc. Rows
    in a file are read three times after the schema is learnt: for pairs, for families and for losses.

    Parameters
    ----------
    max_parents : int, default 3
        The most feature parents that are tried; 0 chooses features of naive Bayes alone.
    criterion : {"log_loss", "rmse"}, default "log_loss"
        What is minimised: the mean log-loss, or the root mean square of one minus the probability of the right class,
        as in the paper. On 29 data sets of up to 62 columns the mean test log-loss was 0.305 by the first and 0.309 by
        the second; with ``temperature="auto"``, 0.289 by both.
    {options}

    Attributes
    ----------
    {network}
    report_ : Selection
        The losses by k and number of features (``log_loss``, ``rmse``, ``to_frame()``), and what was chosen
        (``n_parents``, ``n_features``, ``chosen``).

    Notes
    -----
    Of a feature whose CPTs would be very large, fewer parents are tried, with a warning: no CPT has more than
    ``max_cells`` cells, and those of all features and all k together have at most 2**23.

    With ``temperature="auto"`` models are compared at the best of four temperatures. The temperature itself is fitted
    to rows that the same pass kept: all of them, or of more than 262,144 every second, every fourth, and so on. While
    models are compared, a row with missing values is scored without the features that it lacks, and a feature with
    the parents before the first missing one; predictions sum over missing values exactly.

    References
    ----------
    Martínez, Webb, Chen and Zaidi (2016), Scalable learning of Bayesian network classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]] * 8
    >>> clf = tb.SelectiveKDB(max_parents=1).fit(X, [0, 1, 1, 0, 0] * 8)
    >>> clf.report_
    <Selection: 3 of 3 features, k = 1 of 1; leave-one-out log_loss 0.0023, of the whole 0.0023>
    """

    _learner_name = "skdb"

    max_parents: int = field(default=3, kw_only=False)
    criterion: str = "log_loss"
    verbose: bool = False


@estimator
class SPODE(NetworkClassifier):
    """Super-parent one-dependence estimator: one feature is, besides the class, a parent of all others.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    References
    ----------
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers.

    Examples
    --------
    >>> import tanbark as tb
    >>> tb.SPODE("x1").fit([[0, 0], [0, 1], [1, 1]], [0, 1, 0]).dag_.arcs()
    [('x1', 'x0'), ('class', 'x0'), ('class', 'x1')]
    """

    _learner_name = "spode"

    superparent: str | int | None = field(default=None, kw_only=False)


@estimator
class FixedStructure(NetworkClassifier):
    """A network drawn by hand: only its tables are learnt.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    {network}

    Examples
    --------
    >>> import tanbark as tb
    >>> clf = tb.FixedStructure([("x0", "class"), ("class", "x1")])
    >>> clf.fit([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1]).network_.families()
    {'x0': [], 'x1': ['class'], 'class': ['x0']}
    """

    _learner_name = "fixed"

    arcs: Iterable[tuple[str, str]] = field(default=(), kw_only=False)
