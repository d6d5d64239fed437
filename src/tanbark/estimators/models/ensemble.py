"""Many networks whose likelihoods are pooled: the plain ensemble, and the classifier that chooses by itself."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import field, replace
from itertools import islice
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError, find
from tanbark.estimators import inputs
from tanbark.estimators.classifier import Absent, TablePredictor
from tanbark.estimators.ensemble.pooled import Plan, Pooled, learn_pooled
from tanbark.estimators.ensemble.reading import learn_reading
from tanbark.estimators.ensemble.selection import LEAST_CHOSEN, Choice, choose, choose_order
from tanbark.estimators.ensemble.stepwise import KEPT_BYTES, Stepwise
from tanbark.estimators.options import estimator
from tanbark.estimators.parts.discretizers import GridDiscretizer, find_cutter
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.scan import as_scan, is_scan, open_counts
from tanbark.estimators.training import encode_training
from tanbark.graph import Network
from tanbark.inference import normalize
from tanbark.params.pool import log_loss
from tanbark.structure.progress import Progress
from tanbark.structure.rules import generator
from tanbark.table import CodedTable

CUTTERS = ("mdlp", "mdlp+quantile", "median", "quantile")
NO_JOINT = "likelihoods are pooled, not joint probabilities; see conditional_log_likelihood."
LEARNT = (
    "classes_", "schema_", "encoder_", "n_features_in_", "feature_names_in_", "passes_", "sketch_errors_",
    "set_scores_", "rows_",
)  # fmt: skip
MOST_PARENTS = 3  # where the number is not chosen
LEAST_CALIBRATED = 100  # held-out rows that prediction sets are calibrated on without being asked


class PooledClassifier(TablePredictor):
    """The base of classifiers that pool networks: reading rows, predicting and explaining."""

    n_estimators: int
    max_parents: Any
    discretize: Any
    class_prior: Any
    random_state: Any
    verbose: bool

    model_: Pooled
    value_counts_: list[NDArray[Any]]

    predict_joint_log_proba = log_likelihood = aic = bic = Absent(NO_JOINT)
    fit_counts = Absent("structures and weights are learnt from rows, which counts do not replace.")
    arc_frequencies = Absent("its networks are random; ``network_`` of Classifier has one to read.")

    def _learn(self, table: CodedTable, plan: Plan) -> None:
        """Learn the model from rows on the grid."""
        raise AssertionError("every ensemble learns")

    def _complete(self, table: CodedTable, learnt_prior: Floats) -> None:
        """Learn what depends on the class prior that was asked for; ``learnt_prior`` is that of the rows."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn the networks and how to pool them.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features); or a file, a lazy frame or a :func:`tanbark.scan`
            Strings, numbers, booleans and categoricals; None, NaN and NA are missing values. Rows of a file are coded
            batch by batch, one byte per value in most tables, and these codes are held in memory.
        y : array-like of shape (n_rows,)
            Labels, none missing.
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts; for a file, the name of the column that says it.
        target : str
            For a file and the like, the name of the column with the labels.
        """
        self._fit(X, y, sample_weight, target=target)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, target: str | None = None, classes: Any = None) -> CodedTable:
        """Learn, and return the rows on the grid."""
        self._check_options()
        lead = copy(self)
        for name in LEARNT:
            lead.__dict__.pop(name, None)
        lead.discretize = GridDiscretizer()
        if target is None and not is_scan(X):
            table = encode_training(lead, X, y, sample_weight, classes)
        else:
            engine = open_counts(lead, as_scan(X, target, y, sample_weight))
            table = engine.collected().table
            lead.passes_ = engine.passes.total
        seed = int(generator(self.random_state).integers(2**31 - 1))
        cutter, _ = find_cutter(self.discretize)
        order = MOST_PARENTS if self.max_parents == "auto" else int(self.max_parents)
        plan = Plan(int(self.n_estimators), order, cutter, seed, self.n_jobs)
        lead._learn(table, plan)
        learnt_prior = lead.model_.log_prior
        prior = inputs.read_class_prior(self.class_prior, lead.classes_)
        if prior is not None:
            with np.errstate(divide="ignore"):
                lead.model_ = lead.model_.with_prior(np.log(prior))
        lead._complete(table, learnt_prior)
        lead._count_values(table)
        lead.discretize = self.discretize
        self.__dict__.clear()  # what an earlier fit has left must not stay
        self.__dict__.update(lead.__dict__)
        return table

    def _check_options(self) -> None:
        check_count("n_estimators", self.n_estimators, least=1)
        if not (isinstance(self, Classifier) and self.max_parents == "auto"):
            check_count("max_parents", self.max_parents)
        find("handle_unknown", self.handle_unknown, {"marginalize": None, "error": None})
        if not isinstance(self.discretize, str) or self.discretize not in CUTTERS:
            msg = (
                f"discretize must be one of {list(CUTTERS)}: the networks merge intervals of one fine grid, and these "
                f"ways work on it; got {self.discretize!r:.80}."
            )
            raise OptionError(msg)

    def _count_values(self, table: CodedTable) -> None:
        """Count the rows with each state of the first network's intervals, for ``support``."""
        first = self.model_.members[0].coarsening
        merged = CodedTable(first.schema, first.apply(table.codes), table.weights)
        counts = MemoryCounts(merged, n_jobs=self.n_jobs)
        self.value_counts_ = counts.tables([(column,) for column in range(table.schema.target)])

    # ------------------------------------------------------------------ prediction

    def _joint(self, codes: Codes) -> Floats:
        return self.model_.logits(codes, n_jobs=self.n_jobs)

    def predict_proba_interval(
        self, X: Any, *, level: float = 0.9, n_draws: int = 500, random_state: Any = 0
    ) -> tuple[Floats, Floats]:
        """Return credible intervals of the class probabilities: how far they may be off for want of rows.

        Every draw takes one of the networks, by its weight, in place of the whole pool: the networks share their rows,
        so their errors do not average out. Its CPT entries are beta variates with the mean and the variance that their
        hierarchical Dirichlet posterior has, the uncertainty of the contexts above included. The class prior is drawn
        as well, unless it was given; cut points, weights, concentrations, temperatures and the correction of
        :class:`Classifier` are held. An interval that would leave the prediction out is extended to it.

        With missing values the likelihood of a network is summed out as in prediction, and a value varies as its
        distribution given the parents before the first missing one does; this part is an approximation.

        Parameters
        ----------
        X : rows
        level : float, default 0.9
            Posterior probability of each interval; the tails on both sides are equal, unless it was extended.
        n_draws : int, default 500
        random_state : int, Generator, RandomState or None, default 0
            The interval of a row does not depend on the other rows.

        Returns
        -------
        low, high : arrays of the shape of ``predict_proba``
        """
        from tanbark.estimators.ensemble.intervals import pooled_interval

        codes, fixed = self._codes(X), self.class_prior is not None
        return pooled_interval(
            self.model_, codes, level=level, n_draws=n_draws, random_state=random_state, fixed_prior=fixed,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _explained(self) -> Explained:
        n = self.schema_.target
        return Explained(self.schema_, tuple(range(n)), ((),) * n, self._joint)

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        merged = self.model_.members[0].coarsening.apply(codes)
        values = np.full(codes.shape, np.nan)
        for column, counts in enumerate(self.value_counts_):
            known = merged[column] < len(counts)
            values[column, known] = counts[merged[column, known]]
        total = float(max((counts.sum() for counts in self.value_counts_), default=0.0))
        rows = np.where(np.isnan(values), total, values).min(axis=0, initial=total)
        return rows, values

    @property
    def weights_(self) -> Floats:
        """The weights of the networks, with the temperature that they have without a correction."""
        check_is_fitted(self)
        return self.model_.plain_temperature * self.model_.weights

    @property
    def networks_(self) -> list[Network]:
        """The networks with full CPTs, each over its own intervals; large ones need much memory."""
        check_is_fitted(self)
        return [member.dense_network(self.model_.log_prior) for member in self.model_.members]

    def explore(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Any:
        """Make a page that predicts by clicking, and write it to a file where one is named.

        The class posterior is that of the pooled networks, as of ``predict_proba``. The page draws one network to read,
        and posteriors of other variables are of that network. Returns a :class:`tanbark.explorer.Page`, which a
        notebook shows.
        """
        from tanbark.explorer import explore

        check_is_fitted(self)
        return explore(self, path, title=title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_file_ensemble import save_pooled

        save_pooled(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


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
        choice = replace(choose(table, plan, progress, time_budget=self.time_budget), orders=orders)
        self.choice_ = choice
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
        logits = self.choice_.held_out + (self.model_.log_prior - learnt_prior)
        tested = np.flatnonzero(~np.isnan(logits[:, 0]))
        if len(tested) >= LEAST_CALIBRATED:
            proba = normalize(logits[tested], logs=False, n_jobs=self.n_jobs)[0]
            self._keep_scores(proba, table.codes[-1, tested].astype(np.int64))
        if table.kept is not None:
            held_out = np.full((len(table.kept), logits.shape[1]), np.nan)
            held_out[table.kept] = self.choice_.held_out
            self.choice_ = replace(self.choice_, held_out=held_out)

    def _picture(self) -> str:
        drawn = super()._picture()
        n_networks = len(self.model_.members)
        what = "are its own, tempered" if n_networks == 1 else f"pool {n_networks} networks"
        note = f"The network to read, <code>network_</code>; predictions {what}."
        return f"{drawn}<p>{note}</p>" if drawn else ""
