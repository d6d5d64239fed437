"""Measures of predicted probabilities, and the processor seconds that they took."""

from __future__ import annotations

import resource
import time

import numpy as np
from scipy.stats import rankdata

FLOOR = 1e-6  # probabilities below it count as this in the log-loss
BINS = 15

MEASURES = {  # the head of its column, and whether higher is better
    "accuracy": ("accuracy", True),
    "log_loss": ("log-loss", False),
    "auc": ("AUC", True),
    "brier": ("Brier score", False),
    "calibration_error": ("calibration error", False),
    "fit_seconds": ("fit, s", False),
    "predict_seconds": ("predict, s", False),
}


def measure(P: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Compare probabilities, rows by classes, with class codes.

    The AUC is the mean over the classes, each against the others (of two classes: that of the second). The calibration
    error is the mean over rows of the difference of accuracy and confidence in 15 equal bins of the highest
    probability.
    """
    hits = P.argmax(axis=1) == y
    truth = np.eye(P.shape[1])[y]
    return {
        "accuracy": float(hits.mean()),
        "log_loss": float(-log_proba(P)[np.arange(len(y)), y].mean()),
        "auc": auc(P, y),
        "brier": float(((P - truth) ** 2).sum(axis=1).mean()),
        "calibration_error": calibration_error(P.max(axis=1), hits),
    }


def log_proba(P: np.ndarray) -> np.ndarray:
    """Return logarithms of probabilities that are at least the floor, before rows are scaled to sum to one."""
    bounded = np.clip(P, FLOOR, 1.0)
    return np.log(bounded / bounded.sum(axis=1, keepdims=True))


def auc(P: np.ndarray, y: np.ndarray) -> float:
    """Average the areas under the curves of each class against the others; classes without test rows are left out."""
    areas = []
    for label in range(P.shape[1]) if P.shape[1] > 2 else (1,):
        positive = y == label
        n = int(positive.sum())
        if 0 < n < len(y):
            above = rankdata(P[:, label])[positive].sum() - n * (n + 1) / 2
            areas.append(above / (n * (len(y) - n)))
    return float(np.mean(areas)) if areas else 0.5


def calibration_error(confidence: np.ndarray, hits: np.ndarray) -> float:
    """Weigh by its rows each bin's difference of mean confidence and accuracy."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    differences = np.bincount(bins, hits - confidence, BINS)
    return float(np.abs(differences).sum() / len(hits))


def processor_seconds() -> float:
    """Return what this process, its threads and its finished child processes have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
