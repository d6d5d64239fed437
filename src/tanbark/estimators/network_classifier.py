"""Classifiers whose model is one network: a structure learner, and a way to turn counts into tables."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tanbark.counts import CountEngine, MemoryCounts, StoredCounts
from tanbark.estimators import inputs
from tanbark.estimators.base import Codes, Floats, TableClassifier
from tanbark.estimators.explain import Explained
from tanbark.estimators.folds import make_evaluator
from tanbark.estimators.parameters import ParameterEstimator, check_parameters
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba
from tanbark.params import Smoothing, family_counts, fit
from tanbark.structure import Learner
from tanbark.structure.history import History


class NetworkClassifier(TableClassifier):
    """A classifier with one network: a subclass names its learner and spells out its options."""

    parameters: Any = None

    dag_: Dag
    family_counts_: tuple[NDArray[Any], ...]
    network_: Network
    parameters_: ParameterEstimator
    structure_score_: float
    history_: History
    report_: Any

    def _learner(self) -> tuple[Learner, dict[str, Any]]:
        """Give the structure learner and its options."""
        raise AssertionError("every classifier names its learner")

    def _stored_order(self) -> int:
        if self.parameters is not None and self.parameters.needs_rows:
            return 0
        return self._learner()[0].stored_order

    def _check_options(self) -> None:
        super()._check_options()
        check_parameters(self.parameters)
        self._learner()

    def _learn(self, counts: CountEngine, rows: MemoryCounts | None) -> Self:
        learner, options = self._learner()
        if learner.wrapper and rows is not None:
            names = ("cv", "smooth", "scoring", "random_state")
            search = {name: options.pop(name) for name in names if name in options}
            options["evaluate"] = make_evaluator(rows, max_cells=self.max_cells, **search)
        learnt = learner.learn(counts, **options)
        self.dag_ = learnt.dag
        self.family_counts_ = family_counts(learnt.dag, counts, max_cells=self.max_cells)
        told = (("structure_score_", learnt.score), ("history_", learnt.history or None), ("report_", learnt.report))
        for name, value in told:
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self.__dict__.pop("parameters_", None)
        return self._estimate(rows)

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Turn the counts of the families into the network; without rows, weights that were learnt stay."""
        prior = inputs.read_class_prior(self.class_prior, self.classes_)
        smoothing = Smoothing(self.prior, self.alpha)
        network = fit(self.schema_, self.dag_, self.family_counts_, smoothing, class_prior=prior)
        if self.parameters is not None:
            if not hasattr(self, "parameters_"):
                self.parameters_ = clone(self.parameters)
            network = self.parameters_.estimate(network, self.family_counts_, smoothing, rows)
        self.network_ = network
        self.n_parameters_ = network.n_parameters
        return self

    def _stored_counts(self) -> StoredCounts:
        if not hasattr(self, "counts_") and self._stored_order() == 1:
            tables = [self.family_counts_[-1], *self.family_counts_[:-1]]
            return StoredCounts(self.schema_, 1, np.concatenate([table.ravel() for table in tables]))
        return super()._stored_counts()

    def _joint(self, codes: Codes) -> Floats:
        return joint_log_proba(self.network_, codes, n_jobs=self.n_jobs)

    def _explained(self) -> Explained:
        network = self.network_
        parents = tuple(tuple(p for p in found if p != network.target) for found in network.dag.parents)
        order = tuple(node for node in network.dag.order if node != network.target)
        return Explained(network.schema, order, parents, lambda codes: joint_log_proba(network, codes))
