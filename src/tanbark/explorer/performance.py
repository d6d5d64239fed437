"""How good a classifier is, for the page: cross-validated measures, the confusion table and the calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.errors import InputError, OptionError, nearest
from tanbark.estimators.reports.measures import calibration, confusion
from tanbark.estimators.reports.validation import CrossValidation, cross_validate_network

FOLDS = 5
SHOWN = ("accuracy", "balanced_accuracy", "log_loss", "brier", "auc")


def performance_data(model: Any, performance: Any, X: Any, y: Any) -> dict[str, Any] | None:
    """Describe a cross-validation that is given, or is made with X and y in ``FOLDS`` folds; None without either."""
    if (X is None) != (y is None):
        msg = f"X and y are given together, to cross-validate the model; {'X' if X is None else 'y'} is missing."
        raise OptionError(msg)
    if performance is not None and X is not None:
        msg = "Give performance, the result of a cross-validation, or X and y to make one, not both."
        raise OptionError(msg)
    if X is not None:
        return _described(*_validated(model, X, y))
    if performance is None:
        return None
    return _described(performance, _chosen(model, performance))


def _validated(model: Any, X: Any, y: Any) -> tuple[CrossValidation, str]:
    if not hasattr(model, "fit"):
        msg = f"A {type(model).__name__} has no fit, so that X and y cannot cross-validate it. Leave them out."
        raise OptionError(msg)
    rarest = min(np.unique(np.asarray(y).astype(str), return_counts=True)[1].tolist(), default=0)
    if rarest < 2:
        msg = "X and y cannot be cross-validated: a class has fewer than two rows. Leave X and y out."
        raise InputError(msg)
    return cross_validate_network({"model": model}, X, y, cv=min(FOLDS, rarest), random_state=0), "model"


def _chosen(model: Any, result: Any) -> str:
    """Return the name of the model in the cross-validation: the only one, or the one that is written like it."""
    if not isinstance(result, CrossValidation):
        msg = f"performance must be a result of cross_validate_network; got {type(result).__name__}."
        raise OptionError(msg)
    names = list(result.scores)
    own = " ".join(repr(model).split())
    if len(names) == 1 or own in names:
        return own if own in names else names[0]
    msg = f"performance has several models, {names[:6]}, and none is written {own!r}.{nearest(own, names)}"
    raise OptionError(f"{msg} Cross-validate this model alone.")


def _described(result: CrossValidation, name: str) -> dict[str, Any]:
    scores = result.scores[name]
    folds = len(scores["accuracy"])
    found: dict[str, Any] = {
        "folds": folds,
        "measures": {key: [_finite(np.mean(scores[key])), _finite(np.std(scores[key]))] for key in SHOWN},
        "rows": None,
        "classes": None,
        "confusion": None,
        "calibration": None,
    }
    proba = result.probabilities.get(name)
    if proba is None or result.classes is None or result.labels is None:
        return found
    tested = np.isfinite(proba).all(axis=1)
    labels, proba = result.labels[tested], proba[tested]
    found["rows"] = len(labels)
    found["classes"] = [str(label) for label in result.classes.tolist()]
    found["confusion"] = confusion(labels, proba, result.classes).tolist()
    found["calibration"] = [_curve(labels, proba, result.classes, label) for label in result.classes]
    return found


def _curve(labels: Any, proba: Any, classes: Any, label: Any) -> dict[str, Any]:
    curve = calibration(labels, proba, classes, label=label)
    return {
        "predicted": curve.predicted.tolist(),
        "observed": curve.observed.tolist(),
        "rows": curve.rows.tolist(),
        "error": curve.error,
    }


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
