"""Many networks whose likelihoods are pooled: the plain ensemble, and the classifier that chooses by itself."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.checks import check_count
from tanbark.errors import OptionError
from tanbark.estimators.classifier import Absent
from tanbark.estimators.ensemble.classifier import PooledClassifier
from tanbark.estimators.ensemble.pooled import Plan, learn_pooled
from tanbark.estimators.ensemble.reading import learn_reading
from tanbark.estimators.ensemble.selection import LEAST_CHOSEN, Choice, choose, choose_order
from tanbark.estimators.ensemble.stepwise import KEPT_BYTES, Stepwise
from tanbark.estimators.options import estimator
from tanbark.graph import Network
from tanbark.inference import normalize
from tanbark.params.pool import log_loss
from tanbark.structure.progress import Progress
from tanbark.table import CodedTable

LEAST_CALIBRATED = 100  # held-out rows that prediction sets are calibrated on without being asked


@estimator
class NetworkEnsemble(Stepwise, PooledClassifier):
    """Pool the likelihoods of random k-dependence networks with hierarchical CPTs.

    Each network has its own order of the features, its own parents and, every second one, its own random intervals of
    numeric columns. The logit of a class is log P(c) plus the weighted sum of log P(observed | c) over the networks.
    The weights, which also calibrate, minimise the log-loss of rows that are left out of the counts. Missing values are
    summed out in every network before it is pooled.

    Parameters
    ----------
    n_estimators : int, default 12
        How many networks.
    max_parents : int, default 3
        Feature parents of each feature, beside the class.
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories, or the fine grid whose intervals the networks merge.
    model_ : Pooled
        Networks, weights and prior.
    weights_ : array
        The weights of the networks.
    rows_ : CodedTable
        The training rows on the grid, which ``partial_fit`` and ``forget`` need; kept where they take at most 8 MiB.

    Notes
    -----
    Sums over missing values are exact while no factor of a row has more than 2**14 entries; beyond that, the largest
    families leave out missing parents. Networks have at most 100 features, those with most information on the class,
    with noise. After Zhang, Petitjean and Buntine (2020), with a logarithmic pool of tempered likelihoods instead of an
    average of posteriors, and the expectation of table counts instead of samples.

    References
    ----------
    Zhang, Petitjean and Buntine (2020), Bayesian network classifiers using ensembles and smoothing.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9
    >>> clf = tb.NetworkEnsemble(n_estimators=3, random_state=0).fit(X, [0, 0, 1, 1] * 9)
    >>> clf.predict([[0, 0, 1], [1, None, 0]]).tolist()
    [0, 1]
    """

    n_estimators: int = field(default=12, kw_only=False)
    max_parents: int = field(default=3, kw_only=False)
    class_prior: Any = None
    discretize: Any = "mdlp+quantile"
    categorical_features: Any = "auto"
    suspicious: str = "drop"
    handle_unknown: str = "marginalize"
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    def _learn(self, table: CodedTable, plan: Plan) -> None:
        training = learn_pooled(table, plan)
        self.model_ = training.pooled
        loss = log_loss(training.left_out, training.labels, training.row_weights)
        progress = Progress("NetworkEnsemble", shown=self.verbose)
        progress.say(f"{len(self.model_.members)} networks, log-loss {loss:.4f} on rows left out of the counts")

    def _complete(self, table: CodedTable, learnt_prior: Floats) -> None:
        """Keep rows that are not too many, to be added to later."""
        if table.codes.nbytes <= KEPT_BYTES:
            self.rows_ = table


@estimator
class Classifier(PooledClassifier):
    """Pool networks and a correction chosen by cross-validation: the classifier to take for accuracy.

    The networks are those of :class:`NetworkEnsemble`. Where it lowers the held-out log-loss by more than one standard
    error, the classifier adds a correction: boosted trees, each grown on what the networks, with the row left out of
    their counts, and the trees before it leave to explain. The correction fades with missing values, as far as held-out
    rows with values taken away say it should. ``print(clf.choice_)`` shows what was chosen and why, and ``network_`` is
    one network to read.

    Parameters
    ----------
    n_estimators : int, default 12
        How many networks.
    max_parents : int or "auto", default "auto"
        Feature parents of each feature, beside the class; by default 1, 2 or 3, whichever has the least log-loss on
        rows that are left out of the counts.
    time_budget : float, optional
        Seconds after which no further tree is tried; what is chosen may then depend on the machine.
    {options}

    Attributes
    ----------
    classes_ : array of the labels
    schema_ : Schema
        Columns with their categories, or the fine grid whose intervals the networks merge.
    model_ : Pooled
        Networks, weights, correction and prior.
    choice_ : Choice or None
        The held-out log-loss of everything that was tried; None with fewer than 50 rows, where nothing is.
    network_ : Network
        One network to read and to query: every feature has the class and at most one feature as parents, and the
        intervals of MDLP. Its posteriors are not those of the classifier; ``choice_.network_log_loss`` is what reading
        it instead costs.

    Notes
    -----
    With at least 50 rows, some are held out in fit, and ``predict_set`` is calibrated on them where they are at least
    100; ``calibrate_sets`` replaces this.

    With missing values the networks' part is summed out as :class:`NetworkEnsemble` does. A tree sends a missing value
    where those of training went or, where there was none, both ways, weighted by the training rows: the correction is
    not a sum over missing values, and fades.

    References
    ----------
    Zhang, Petitjean and Buntine (2020), Bayesian network classifiers using ensembles and smoothing; Friedman (2001),
    Greedy function approximation: a gradient boosting machine.

    Examples
    --------
    >>> import tanbark as tb
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 9
    >>> clf = tb.Classifier().fit(X, [0, 0, 1, 1] * 9)
    >>> clf.predict([[0, 0, 1], [1, None, 0]]).tolist()
    [0, 1]
    """

    n_estimators: int = field(default=12, kw_only=False)
    max_parents: Any = field(default="auto", kw_only=False)
    time_budget: float | None = None
    class_prior: Any = None
    discretize: Any = "mdlp+quantile"
    categorical_features: Any = "auto"
    suspicious: str = "drop"
    handle_unknown: str = "marginalize"
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    partial_fit = forget = Absent(
        "its correction was learnt from what the networks of all rows leave over, and chosen by cross-validation; use "
        "fit with all rows, or NetworkEnsemble, which has no correction."
    )
    leave_one_out_proba = leave_one_out_measures = Absent(
        "``choice_.held_out`` has posteriors of rows that were held out, which are more honest."
    )

    choice_: Choice | None = field(init=False)
    network_: Network = field(init=False)

    def _check_order(self) -> None:
        if self.max_parents != "auto":
            check_count("max_parents", self.max_parents)

    def _check_options(self) -> None:
        super()._check_options()
        budget = self.time_budget
        if budget is not None and not (isinstance(budget, Real) and not isinstance(budget, bool) and budget > 0):
            msg = f"time_budget must be a number of seconds above 0, or None for no limit; got {budget!r:.80}."
            raise OptionError(msg)

    def _learn(self, table: CodedTable, plan: Plan) -> None:
        progress = Progress("Classifier", shown=self.verbose)
        rows = table.n_rows if table.weights is None else table.weights.sum()
        chosen = rows >= LEAST_CHOSEN and len(self.classes_) > 1
        orders: dict[int, float] = {}
        if self.max_parents == "auto" and chosen:
            orders = choose_order(table, plan)
            plan = replace(plan, max_parents=min(orders, key=lambda order: orders[order]))
        training = learn_pooled(table, plan)
        self.choice_ = None
        self.model_ = training.pooled
        if not chosen:
            return
        self._selection = choose(table, plan, progress, time_budget=self.time_budget)
        self.choice_ = choice = replace(self._selection.choice, orders=orders)
        progress.say(str(choice))
        trees = islice(training.boost(choice.leaves, plan), choice.rounds)
        tempered = {name: getattr(choice, name) for name in ("fade", "temperature", "plain_temperature")}
        self.model_ = replace(training.corrected(trees), **tempered)
        if choice.single:
            reading = learn_reading(table, n_jobs=self.n_jobs)
            self.model_ = replace(self.model_, members=[reading], weights=np.ones(1))

    def _complete(self, table: CodedTable, learnt_prior: Floats) -> None:
        """Learn the network to read, and calibrate prediction sets on the rows that were held out."""
        self.network_ = learn_reading(table, n_jobs=self.n_jobs).dense_network(self.model_.log_prior)
        if self.choice_ is None:
            return
        held_out, shift = self.choice_.held_out, self.model_.log_prior - learnt_prior
        _, half, n_folds = self.__dict__.pop("_selection")
        tested = np.flatnonzero(~np.isnan(held_out[:, 0]))
        if len(tested) >= LEAST_CALIBRATED:
            proba, fewer = (
                None if part is None else normalize(part[tested] + shift, logs=False, n_jobs=self.n_jobs)[0]
                for part in (held_out, half)
            )
            assert proba is not None
            labels = table.codes[-1, tested].astype(np.int64)
            self._keep_scores(proba, labels, fewer=fewer, factor=1.0 / n_folds)
        if table.kept is not None:
            spread = np.full((len(table.kept), held_out.shape[1]), np.nan)
            spread[table.kept] = held_out
            self.choice_ = replace(self.choice_, held_out=spread)

    def _picture(self) -> str:
        drawn = super()._picture()
        if not drawn:
            return ""
        n_networks = len(self.model_.members)
        what = "are its own, tempered" if n_networks == 1 else f"pool {n_networks} networks"
        note = f"The network to read, <code>network_</code>; predictions {what}."
        return f"{drawn}<p>{note}</p>"
