"""Class probabilities of training rows, each without its own count, and how good they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.errors import OptionError
from tanbark.estimators import inputs
from tanbark.estimators.parts.parameters import MANB
from tanbark.estimators.reports.measures import calibration, measure
from tanbark.estimators.training import check_same_length, code_rows, kept_rows
from tanbark.evaluation.leave_one_out import LeaveOneOut

if TYPE_CHECKING:
    from tanbark.estimators.models.ensemble import NetworkEnsemble
    from tanbark.estimators.network import NetworkClassifier


def open_model(model: NetworkClassifier) -> LeaveOneOut:
    """Prepare the counts of a fitted classifier, or raise an error if a row cannot be taken out of its CPTs."""
    part: Any = getattr(model, "parameters_", None)
    if isinstance(part, MANB) or getattr(part, "normalize", False) or getattr(part, "corrects", False):
        msg = (
            f"A row cannot be taken out of what is made by {part!r}. Use a smoothing, or weights that are not "
            "normalised; or cross-validate instead, see cross_validate_network."
        )
        raise OptionError(msg)
    return LeaveOneOut(
        model.network_, model.family_counts_, model.smoothing_, fixed_prior=model.class_prior is not None
    )


def left_out_proba(
    model: NetworkClassifier | NetworkEnsemble, X: Any, y: Any, sample_weight: Any
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the class probabilities of training rows without their own counts, and the codes of their labels."""
    raw = inputs.read_features(model, X)
    _, labels = inputs.read_labels(y, model.classes_)
    check_same_length(raw.n_rows, len(labels))
    weights = inputs.read_weights(sample_weight, raw.n_rows)
    kept = kept_rows(model, raw, weights)
    if kept is not None:  # a row that training left out is in no count
        weights = np.where(kept, 1.0 if weights is None else weights, 0.0)
    table = code_rows(model, raw, labels, weights, handle_unknown=model.handle_unknown)
    return model._posterior(model._left_out(table), logs=False), labels


def left_out_measures(
    model: NetworkClassifier | NetworkEnsemble, X: Any, y: Any, sample_weight: Any
) -> dict[str, float]:
    """Measure the class probabilities of training rows without their own counts."""
    proba, codes = left_out_proba(model, X, y, sample_weight)
    places = np.arange(len(model.classes_))
    return {**measure(codes, proba, places), "calibration_error": calibration(codes, proba, places).error}
