"""The base of classifiers that pool networks: reading rows, predicting and explaining."""

from __future__ import annotations

import os
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_count
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError, find
from tanbark.estimators import inputs
from tanbark.estimators.classifier import Absent, TablePredictor
from tanbark.estimators.ensemble.pooled import Plan, Pooled
from tanbark.estimators.files.scan import as_scan, is_scan, open_counts
from tanbark.estimators.parts.discretizers import GridDiscretizer, find_cutter
from tanbark.estimators.questions.model import Asked
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.reports.suspicious import check_choice
from tanbark.estimators.scikit import check_is_fitted
from tanbark.estimators.training import encode_training
from tanbark.graph import Network
from tanbark.structure.rules import generator
from tanbark.table import CodedTable

CUTTERS = ("mdlp", "mdlp+quantile", "median", "quantile")
NO_JOINT = "likelihoods are pooled, not joint probabilities; see conditional_log_likelihood."
LEARNT = (
    "classes_", "schema_", "encoder_", "n_features_in_", "feature_names_in_", "passes_", "sketch_errors_",
    "set_scores_", "rows_", "_seen",
)  # fmt: skip
MOST_PARENTS = 3  # where the number is not chosen


class PooledClassifier(TablePredictor):
    """The base of classifiers that pool networks: reading rows, predicting and explaining."""

    n_estimators: int
    max_parents: Any
    discretize: Any
    suspicious: str
    class_prior: Any
    random_state: Any
    verbose: bool

    model_: Pooled
    value_counts_: list[NDArray[Any]]

    predict_joint_log_proba = log_likelihood = aic = bic = Absent(NO_JOINT)
    fit_counts = Absent("structures and weights are learnt from rows, which counts do not replace.")
    scorecard = Absent("it pools many networks, whose points do not add up by feature. Train NaiveBayes or TAN.")
    arc_frequencies = Absent("its networks are random; ``network_`` of Classifier has one to read.")

    def _learn(self, table: CodedTable, plan: Plan) -> None:
        """Learn the model from rows on the grid."""
        raise AssertionError("every ensemble learns")

    def _complete(self, table: CodedTable, learnt_prior: Floats) -> None:
        """Learn what depends on the class prior that was asked for; ``learnt_prior`` is that of the rows."""

    @inputs.all_or_nothing
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

    def _check_order(self) -> None:
        check_count("max_parents", self.max_parents)

    def _check_options(self) -> None:
        check_count("n_estimators", self.n_estimators, least=1)
        self._check_order()
        find("handle_unknown", self.handle_unknown, {"marginalize": None, "error": None})
        check_choice(self.suspicious)
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

    def _drawn_from(self, codes: Codes) -> tuple[Network, Codes]:
        from tanbark.estimators.ensemble.coarsening import merge_to
        from tanbark.estimators.ensemble.reading import reading_network

        reading = reading_network(self)
        return reading, merge_to(self.schema_, reading.schema).apply(codes)

    def _asked(self) -> Asked:
        from tanbark.estimators.ensemble.asking import pooled_asked

        return pooled_asked(self.model_, n_jobs=self.n_jobs)

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_files.ensemble import save_pooled

        save_pooled(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")
