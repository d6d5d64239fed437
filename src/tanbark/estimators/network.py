"""Classifiers whose model is one network: a structure learner, and a way to turn counts into tables."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_positive
from tanbark.counts import CountEngine, MemoryCounts, PartitionedCounts, StoredCounts
from tanbark.errors import OptionError, find
from tanbark.estimators import inputs
from tanbark.estimators.classifier import TableClassifier
from tanbark.estimators.options import NetworkOptions
from tanbark.estimators.parts.em import EM
from tanbark.estimators.parts.parameters import ParameterEstimator, Tables
from tanbark.estimators.questions.model import Asked, Generative, plain_asked
from tanbark.estimators.reports import leave_one_out
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.reports.uncertainty import feature_support, network_counts, proba_interval
from tanbark.estimators.scikit import check_is_fitted, clone
from tanbark.evaluation.discriminative import Estimated
from tanbark.evaluation.folds import make_evaluator
from tanbark.evaluation.nested import NestedModels
from tanbark.evaluation.temperature import fit_temperature
from tanbark.graph import Dag, Network
from tanbark.inference import class_log_prior, joint_log_proba, temper
from tanbark.inference.factors.junction import pair_marginals
from tanbark.params import Laplace, Smoothing, as_smoothing, family_counts, fit
from tanbark.params.dirichlet import fit_with_trees
from tanbark.structure import LEARNERS, Learner
from tanbark.structure.cost import warn_if_long
from tanbark.structure.registry import FOLDS
from tanbark.structure.trace import History
from tanbark.table import CodedTable

MISSING = ("available-case", "em", "category", "drop")


class NetworkClassifier(NetworkOptions, TableClassifier):
    """A classifier with one network: a subclass names its learner and spells out its options."""

    _learner_name: str

    dag_: Dag
    family_counts_: tuple[NDArray[Any], ...]
    network_: Network
    parameters_: ParameterEstimator
    temperature_: float
    structure_score_: float
    history_: History
    report_: Any
    _sample: MemoryCounts  # rows that a learner kept for the temperature

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        """Return the structure learner and its options."""
        learner = LEARNERS[self._learner_name]
        return learner, {name: getattr(self, name) for name in learner.defaults}

    def _parameters(self) -> ParameterEstimator | None:
        """Return the parameter estimator, which is EM where it fills missing values in; None for a smoothing alone."""
        if isinstance(self.parameters, ParameterEstimator):
            return self.parameters
        return EM(smoothing=self.parameters) if self.missing == "em" else None

    def _smoothing(self) -> Smoothing:
        """Return the smoothing that was chosen, or the learner's own."""
        part, default = self._parameters(), self._learner()[0].smoothing
        if part is not None:
            own = "laplace" if part.fixed_prior and as_smoothing(default, default).uses_counts else default
            return as_smoothing(part.smoothing, own, option="smoothing")
        return as_smoothing(self.parameters, default, others=", MANB(), AWNB(), WANBIA(), Discriminative() or EM()")

    def _stored_order(self) -> int:
        parameters = self._parameters()
        if parameters is not None and parameters.needs_rows:
            return 0
        return self._learner()[0].stored_order

    def _collects_rows(self, engine: PartitionedCounts) -> bool:
        parameters = self._parameters()
        quicker = self._learner()[0].wrapper and engine.coded_bytes <= engine.max_memory
        return quicker or (parameters is not None and parameters.needs_rows)

    def _check_options(self) -> None:
        super()._check_options()
        find("missing", self.missing, dict.fromkeys(MISSING))
        if self.missing == "em" and not isinstance(self._parameters(), EM):
            msg = f"missing='em' needs parameters=EM() or a smoothing; got {self.parameters!r}."
            raise OptionError(msg)
        self._smoothing()
        if isinstance(self.temperature, str):
            find("temperature, where it is not a number above 0,", self.temperature, {"auto": None})
        elif self.temperature is not None:
            check_positive("temperature", self.temperature)
        parameters = self._parameters()
        if self.temperature is not None and parameters is not None and parameters.corrects:
            msg = f"{type(parameters).__name__} fits a temperature of its own; leave temperature at None."
            raise OptionError(msg)

    def _fits_to_rows(self) -> bool:
        return bool(self.temperature == "auto")

    def _fit_to_rows(self, rows: MemoryCounts | PartitionedCounts) -> None:
        rows = self.__dict__.pop("_sample", rows)
        if self._fits_to_rows():
            known = self.parameters_.validated_temperature if hasattr(self, "parameters_") else None
            self.temperature_ = known or fit_temperature(leave_one_out.open_model(self), rows, n_jobs=self.n_jobs)

    def _learn_structure(self, counts: CountEngine, rows: MemoryCounts | None) -> None:
        learner, options = self._learner()
        if learner.wrapper:
            folds = {name: options.pop(name) for name in FOLDS}
            folds["random_state"] = inputs.read_random_state(folds["random_state"])
            if "random_state" in learner.arguments:
                options["random_state"] = folds["random_state"]
            options["evaluate"] = make_evaluator(counts, rows, max_cells=self.max_cells, **folds)
        if learner.infers:
            options["pair_marginals"] = self._pair_marginals(counts)
        if learner.nested:
            options["evaluate"] = nested = self._nested_models(counts)
        if "max_cells" in learner.arguments:
            options["max_cells"] = self.max_cells
        warn_if_long(next((name for name, each in LEARNERS.items() if each is learner), ""), counts)
        learnt = learner.learn(counts, **options)
        self.__dict__.pop("_sample", None)
        if learner.nested and nested.sample is not None:
            self._sample = nested.sample
        self.dag_ = learnt.dag
        self.family_counts_ = family_counts(learnt.dag, counts, max_cells=self.max_cells)
        found = (("structure_score_", learnt.score), ("history_", learnt.history or None), ("report_", learnt.report))
        for name, value in found:
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self.__dict__.pop("parameters_", None)

    def _pair_marginals(self, counts: CountEngine) -> Callable[[Dag], list[list[Floats]]]:
        """Return what the pairs of columns look like in a graph with its maximum-likelihood tables."""
        plain = Laplace(0.0)

        def marginals(dag: Dag) -> list[list[Floats]]:
            tables = family_counts(dag, counts, max_cells=self.max_cells)
            return pair_marginals(fit(self.schema_, dag, tables, plain))

        return marginals

    def _nested_models(self, counts: CountEngine) -> NestedModels:
        """Return what measures nested models as this classifier would predict with them."""
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        fixed = None if self._fits_to_rows() else float(self.temperature or 1.0)
        return NestedModels(counts, self._smoothing(), class_prior=prior, temperature=fixed, max_cells=self.max_cells)

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Turn the counts of the families into the network; without rows, weights that were learnt stay."""
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        smoothing = self.smoothing_ = self._smoothing()
        parameters = self._parameters()
        if parameters is not None and not hasattr(self, "parameters_"):
            self.parameters_ = clone(parameters)
        if parameters is not None and rows is not None:
            network = self._estimate_from_rows(rows, prior)
        else:
            network = fit(self.schema_, self.dag_, self.family_counts_, smoothing, class_prior=prior)
        if parameters is not None:
            network = self.parameters_.estimate(network, self.family_counts_, smoothing, rows)
        self.network_ = network
        if self.temperature != "auto":
            self.temperature_ = 1.0 if self.temperature is None else float(self.temperature)
        self.n_parameters_ = network.n_parameters
        return self

    def _estimate_from_rows(self, rows: MemoryCounts, prior: Floats | None) -> Network:
        """Complete the counts, estimate the CPTs, and learn what goes beyond them."""
        if self.parameters_.completes:
            network = fit(self.schema_, self.dag_, self.family_counts_, self.smoothing_, class_prior=prior)
            self.family_counts_ = self.parameters_.complete(
                network, self.family_counts_, self.smoothing_, rows, class_prior=prior,
                unlabelled=rows.table.unlabelled,
            )  # fmt: skip
        estimated = self._estimated(self.dag_, self.family_counts_, prior)
        self.parameters_.learn(estimated, rows, self._relearn, tempered=self._fits_to_rows())
        return estimated.network

    def _relearn(self, rows: MemoryCounts) -> Estimated:
        """Learn another network, structure included, from rows with the same columns."""
        other = copy(self)
        other._learn_structure(rows, rows)
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        return self._estimated(other.dag_, other.family_counts_, prior)

    def _estimated(self, dag: Dag, counts: Tables, prior: Floats | None) -> Estimated:
        network, trees = fit_with_trees(self.schema_, dag, counts, self.smoothing_, class_prior=prior)
        return Estimated(network, counts, self.smoothing_, prior is not None, trees)

    def _stored_counts(self) -> StoredCounts:
        if not hasattr(self, "counts_") and self._stored_order() == 1:
            tables = [self.family_counts_[-1], *self.family_counts_[:-1]]
            return StoredCounts(self.schema_, 1, np.concatenate([table.ravel() for table in tables]))
        return super()._stored_counts()

    def _untempered(self, codes: Codes) -> Floats:
        return self._joint_of(self.network_, codes)

    def _joint_of(self, network: Network, codes: Codes) -> Floats:
        """Return log P(class, observed values) in a network with CPTs of its own, corrected as this model is."""
        if not hasattr(self, "parameters_"):
            return joint_log_proba(network, codes, n_jobs=self.n_jobs)
        return self.parameters_.joint(network, codes, n_jobs=self.n_jobs)

    def _joint(self, codes: Codes) -> Floats:
        joint = self._untempered(codes)
        return joint if self.temperature_ == 1.0 else temper(joint, class_log_prior(self.network_), self.temperature_)

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        total = float(self.family_counts_[self.schema_.target].sum())
        return feature_support(network_counts(self.network_, self.family_counts_), codes, total)

    def predict_proba_interval(
        self, X: Any, *, level: float = 0.9, n_draws: int = 500, random_state: Any = 0
    ) -> tuple[Floats, Floats]:
        """Return credible intervals of the class probabilities: how far the tables may be off for want of rows.

        The tables are drawn again and again from the Dirichlet distributions that counts and prior leave them, and
        each row is predicted with all of them; missing values are marginalised. The structure is taken as it is, and so
        are a class prior that was given and the weights of AWNB and WANBIA; expected counts of EM count as rows. A
        hierarchical CPT is drawn level by level: first the distributions without parents, then those with one parent
        around them, and so on; its concentrations are held. An interval that would leave the prediction out, since the
        draws are skewed, is extended to it.

        Parameters
        ----------
        X : rows
        level : float, default 0.9
            Posterior probability of each interval; the tails on both sides are equal, unless it was extended.
        n_draws : int, default 500
        random_state : int, Generator, RandomState or None, default 0

        Returns
        -------
        low, high : arrays of the shape of ``predict_proba``

        Examples
        --------
        >>> import tanbark as tb
        >>> few = tb.NaiveBayes(parameters="laplace").fit([["a"], ["b"]] * 4, [0, 1, 0, 1, 0, 1, 1, 0])
        >>> many = tb.NaiveBayes(parameters="laplace").fit([["a"], ["b"]] * 400, [0, 1, 0, 1, 0, 1, 1, 0] * 100)
        >>> [[round(float(end[0, 0]), 2) for end in clf.predict_proba_interval([["a"]])] for clf in (few, many)]
        [[0.32, 0.92], [0.71, 0.79]]
        """
        return proba_interval(self, self._codes(X), level=level, n_draws=n_draws, random_state=random_state)

    def leave_one_out_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return the class probabilities of the training rows, each as if it had not been among them.

        The count of a row is taken out of every CPT, in one pass over the rows and without learning again. Structure,
        cut points, weights of features and the temperature are held, so the probabilities are a little too good where
        the structure was fitted closely to few rows; :func:`cross_validate_network` learns everything again. With EM,
        the expected counts of a row in families with missing values are not taken out.

        Parameters
        ----------
        X, y : the training rows and their labels
        sample_weight : array-like, optional
            The weights that the rows were learnt with. A row of weight 3 stands for three, one of which is left out.

        Returns
        -------
        (n_rows, n_classes) array, as of ``predict_proba``

        Examples
        --------
        >>> import tanbark as tb
        >>> X, y = [["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]
        >>> clf = tb.NaiveBayes(parameters="laplace").fit(X, y)
        >>> clf.predict_proba(X)[0].round(2).tolist(), clf.leave_one_out_proba(X, y)[0].round(2).tolist()
        ([0.75, 0.25], [0.64, 0.36])
        """
        check_is_fitted(self)
        return leave_one_out.left_out_proba(self, X, y, sample_weight)[0]

    def _left_out(self, table: CodedTable) -> Floats:
        """Return log P(class, observed) of training rows up to a constant, each without its own count."""
        joint, prior = leave_one_out.open_model(self).log_joints(table.codes, table.weights, n_jobs=self.n_jobs)
        return temper(joint, prior, self.temperature_)

    def leave_one_out_measures(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """Measure ``leave_one_out_proba`` of the training rows against their labels.

        Returns
        -------
        dict with accuracy, balanced_accuracy, log_loss (nats per row), brier, auc and calibration_error
            Every row counts once, whatever its weight.

        Examples
        --------
        >>> import tanbark as tb
        >>> clf = tb.NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
        >>> clf.leave_one_out_measures([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])["accuracy"]
        1.0
        """
        check_is_fitted(self)
        return leave_one_out.left_out_measures(self, X, y, sample_weight)

    def _explained(self) -> Explained:
        network = self.network_
        parents = tuple(tuple(p for p in found if p != network.target) for found in network.dag.parents)
        order = tuple(node for node in network.dag.order if node != network.target)
        return Explained(network.schema, order, parents, self._joint)

    def _drawn_from(self, codes: Codes) -> tuple[Network, Codes]:
        return self.network_, codes

    def _asked(self) -> Asked:
        network = self.network_ if self.network_.exponents is None else replace(self.network_, exponents=None)
        joint = partial(joint_log_proba, network, n_jobs=self.n_jobs)
        return plain_asked(self.schema_, self._joint, (Generative(joint),))
