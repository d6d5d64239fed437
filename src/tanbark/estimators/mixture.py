"""What classifiers share that average the class probabilities of several models."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from tanbark.arrays import Codes, Floats
from tanbark.errors import OptionError
from tanbark.estimators.classifier import Absent, TableClassifier, TablePredictor
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.questions.model import Asked, plain_asked
from tanbark.estimators.reports.explain import Explained
from tanbark.estimators.scikit import check_is_fitted

NO_JOINT = "class probabilities are averaged, not joint probabilities; see conditional_log_likelihood."


class PosteriorMixture(TablePredictor):
    """A weighted mean of the class probabilities of fitted models with the same columns and classes."""

    estimators_: list[Any]

    predict_joint_log_proba = log_likelihood = aic = bic = Absent(NO_JOINT)
    surprise = scorecard = Absent(
        "class probabilities are averaged, which is not one network. Ask one of ``estimators_``."
    )

    def _weights(self) -> Floats:
        """Return the weights of the models; they need not sum to one."""
        return np.ones(len(self.estimators_))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities: the mean of those of all models, missing values marginalised exactly."""
        check_is_fitted(self)
        return self._proba(self._codes(X))

    def _proba(self, codes: Codes) -> Floats:
        return self._mean(codes)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _joint(self, codes: Codes) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._mean(codes)))

    def _explained(self) -> Explained:
        n = self.schema_.target
        return Explained(self.schema_, tuple(range(n)), ((),) * n, self._joint)

    def _asked(self) -> Asked:
        networks = tuple(
            replace(network, weight=weight * network.weight)
            for weight, member in zip(self._weights().tolist(), self.estimators_, strict=True)
            for network in member._asked().networks
        )
        return plain_asked(self.schema_, self._joint, networks)

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        rows, values = zip(*(member._support(codes) for member in self.estimators_), strict=True)
        weights = self._weights()
        return np.average(rows, axis=0, weights=weights), np.average(values, axis=0, weights=weights)

    def _mean(self, codes: Codes) -> Floats:
        weights = self._weights()
        total = np.zeros((codes.shape[1], len(self.classes_)))
        for weight, member in zip(weights.tolist(), self.estimators_, strict=True):
            total += weight * member._posterior(member._joint(codes), logs=False)
        return np.asarray(total / weights.sum())

    def arc_frequencies(self) -> dict[tuple[str, str], float]:
        """Return the weight of the models that have each (parent, child) arc, the commonest first.

        Models that count alike give the fraction of the models with the arc.
        """
        check_is_fitted(self)
        weights = self._weights()
        counted: Counter[tuple[str, str]] = Counter()
        for weight, member in zip(weights.tolist(), self.estimators_, strict=True):
            for arc, frequency in _arcs(member).items():
                counted[arc] += weight * frequency
        ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        return {arc: float(times / weights.sum()) for arc, times in ranked}


def _arcs(member: TableClassifier) -> dict[tuple[str, str], float]:
    """Return how often a model has each arc: 1 for those of its graph, or what a mixture says."""
    if isinstance(member, NetworkClassifier):
        return dict.fromkeys(member.dag_.arcs(), 1.0)
    if isinstance(member, PosteriorMixture):
        return member.arc_frequencies()
    msg = f"{type(member).__name__} has no graph, so that there are no arcs to count."
    raise OptionError(msg)
