"""What every classifier of ours can do once it has learnt, whatever its model: predict, measure, explain."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.checks import check_fraction
from tanbark.errors import ImpossibleEvidenceWarning, OptionError, warn
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder, report_unseen
from tanbark.estimators.explorer_page import ExplorerPage
from tanbark.estimators.files.predict_file import FilePrediction
from tanbark.estimators.fit import TableLearner
from tanbark.estimators.predict_set import SetPrediction
from tanbark.estimators.questions.mixin import Questions
from tanbark.estimators.reports.data_report import DataReport, make_report
from tanbark.estimators.reports.explain import Explained, Explanation, explain_rows
from tanbark.estimators.reports.suspicious import Seen
from tanbark.estimators.scikit import BaseEstimator, ClassifierMixin, check_is_fitted
from tanbark.estimators.training import check_same_length
from tanbark.inference import normalize
from tanbark.table import Schema


class Absent:
    """A method of other classifiers that this one does not have; asking for it raises an error with the reason."""

    def __init__(self, reason: str) -> None:
        self.__doc__ = reason

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        reason = (self.__doc__ or "").replace("``", "")
        msg = f"{owner.__name__} does not have this method: {reason}"
        raise AttributeError(msg)


class TablePredictor(ExplorerPage, Questions, FilePrediction, SetPrediction, ClassifierMixin, BaseEstimator):
    """What every classifier of tables can do once it is fitted: predict, measure, explain."""

    n_jobs: int | None

    classes_: NDArray[Any]
    schema_: Schema
    encoder_: Encoder
    _seen: Seen

    # ------------------------------------------------------------------ what a subclass adds

    def _joint(self, codes: Codes) -> Floats:
        """Return log P(class, observed), up to a constant for every row."""
        raise AssertionError("every classifier predicts")

    def _explained(self) -> Explained:
        """Return what explanations need to know of the model."""
        raise AssertionError("every classifier can be explained")

    def _support(self, codes: Codes) -> tuple[Floats, Floats]:
        """Return the training rows behind every row, (n_rows,), and behind every value, (n_features, n_rows)."""
        raise AssertionError("every classifier knows its counts")

    # ------------------------------------------------------------------ prediction

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the class probabilities."""
        return self._posterior(self._joint(self._codes(X)))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities; missing values are marginalised exactly."""
        return self._proba(self._codes(X))

    def _proba(self, codes: Codes) -> Floats:
        return self._posterior(self._joint(codes), logs=False)

    def predict(self, X: Any, *, abstain_below: float | None = None) -> NDArray[Any]:
        """Return the most probable class of every row; ties go to the first.

        Parameters
        ----------
        X : rows
        abstain_below : float, optional
            Return None, in an array of objects, for rows whose most probable class has a lower probability than this.
        """
        if abstain_below is not None:
            least = check_fraction("abstain_below", abstain_below)
            proba = self.predict_proba(X)
            labels = self.classes_[proba.argmax(axis=1)].astype(object)
            labels[proba.max(axis=1) < least] = None
            return np.asarray(labels)
        joint = self._joint(self._codes(X))
        impossible = np.isneginf(joint).all(axis=1)
        if impossible.any():
            joint = self._posterior(joint)
        return np.asarray(self.classes_[joint.argmax(axis=1)])

    def _codes(self, X: Any) -> NDArray[np.unsignedinteger]:
        check_is_fitted(self)
        raw = inputs.read_features(self, X)
        encoded = self.encoder_.encode(raw, n_jobs=self.n_jobs)
        report_unseen(encoded.unseen, raw.n_rows, self.handle_unknown)
        return encoded.codes

    def _posterior(self, joint: Floats, *, logs: bool = True) -> Floats:
        posterior, impossible = normalize(joint, logs=logs, n_jobs=self.n_jobs)
        if impossible.any():
            msg = (
                f"{int(impossible.sum())} rows are impossible under every class (probability zero); they get the class "
                "prior. Use a smoothing such as parameters=1.0 to leave nothing impossible."
            )
            warn(msg, ImpossibleEvidenceWarning)
            nothing = np.full((self.schema_.target, 1), 255, np.uint8)
            posterior[impossible] = normalize(self._joint(nothing), logs=logs)[0]
        return posterior

    # ------------------------------------------------------------------ measures

    def conditional_log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the total log P(label | observed values) in nats; higher is better."""
        return self._total(self.predict_log_proba(X), y, sample_weight)

    def _total(self, per_class: Floats, y: Any, sample_weight: Any) -> float:
        _, labels = inputs.read_labels(y, self.classes_)
        check_same_length(len(per_class), len(labels))
        chosen = per_class[np.arange(len(labels)), labels]
        weights = inputs.read_weights(sample_weight, len(labels))
        return float(chosen.sum() if weights is None else (weights * chosen)[weights > 0].sum())

    # ------------------------------------------------------------------ looking inside

    @property
    def data_report_(self) -> DataReport:
        """What training saw: rows, classes, and every column with its states, missing values and what is odd.

        Training from counts, or with a given schema, sees no rows, and there is no report.
        """
        if not hasattr(self, "_seen"):
            msg = f"This {type(self).__name__} has no data_report_: it has not been fitted to rows that it looked at."
            raise AttributeError(msg)
        return make_report(self.schema_, self._seen)

    def explain(self, X: Any, *, label: Any = None) -> Explanation:
        """Return how much the prior and each observed value speak for a class against the rest.

        Parameters
        ----------
        X : rows to explain
        label : optional
            The class to explain; by default each row's predicted class.
        """
        codes = self._codes(X)
        return explain_rows(self._explained(), codes, None if label is None else self._label_code(label))

    def _label_code(self, label: Any) -> int:
        found = [code for code, known in enumerate(self.classes_.tolist()) if known == label]
        if not found:
            msg = f"label must be one of the classes {self.classes_.tolist()[:10]}; got {label!r}."
            raise OptionError(msg)
        return found[0]

    def support(self, X: Any, *, per_feature: bool = False) -> Floats:
        """Count the training rows behind the rarest of a row's values.

        A value counts together with the values of the features that the model has it depend on; missing values
        are left aside. At most this many training rows had all the values of the row. A row without values has
        the support of all rows.

        Parameters
        ----------
        X : rows
        per_feature : bool, default False
            Return the support of every value instead, (n_rows, n_features), NaN for missing values.
        """
        rows, values = self._support(self._codes(X))
        return values.T if per_feature else rows

    def _picture(self) -> str:
        """Return the picture of the learnt network as HTML, where there is one."""
        network = getattr(self, "network_", None)
        return "" if network is None else str(network._repr_html_())

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {**shown, "text/html": shown["text/html"] + self._picture()} if "text/html" in shown else shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableClassifier(TablePredictor, TableLearner):
    """The base of classifiers that are one model: a subclass turns counts into a model, and codes into log-joints."""

    arc_frequencies = Absent("it is one model; dag_.arcs() lists the arcs of a network.")

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(class, observed values) for every row and class, whatever the temperature."""
        return self._untempered(self._codes(X))

    def _untempered(self, codes: Codes) -> Floats:
        """Return log P(class, observed), without a temperature."""
        return self._joint(codes)

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the total log P(label, observed values) in nats; higher is better."""
        return self._total(self.predict_joint_log_proba(X), y, sample_weight)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the log-likelihood less the number of free parameters; higher is better."""
        return self.log_likelihood(X, y, sample_weight) - self.n_parameters_

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the log-likelihood less half the log of the rows for every free parameter; higher is better."""
        weights = inputs.read_weights(sample_weight, len(y))
        rows = float(len(y) if weights is None else weights.sum())
        return self.log_likelihood(X, y, sample_weight) - 0.5 * math.log(rows) * self.n_parameters_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file; ``tanbark.load`` reads it."""
        from tanbark.estimators.model_files.model_file import save

        save(self, path)
