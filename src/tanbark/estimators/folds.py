"""Folds for learners that search by cross-validated score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError
from tanbark.inference.folds import FoldEvaluator


def make_evaluator(
    rows: MemoryCounts, *, cv: Any = 10, smooth: float = 0.01, scoring: str = "accuracy", random_state: Any = None
) -> FoldEvaluator:
    """Lay rows out in folds and give what scores structures on them."""
    batches = list(rows.batches(size=max(1, int(rows.n_rows))))
    codes, weights = batches[0]
    folds = make_folds(cv, codes[-1].astype(np.int64), random_state)
    return FoldEvaluator(codes, rows.schema, folds, weights=weights, smooth=smooth, scoring=scoring)


def make_folds(cv: Any, labels: NDArray[np.int64], random_state: Any) -> NDArray[np.int64]:
    """Give every row its fold: from a number of stratified folds, a splitter of scikit-learn, or folds by row."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _stratified(int(cv), labels, random_state)
    folds = np.full(len(labels), -1, np.int64)
    if hasattr(cv, "split"):
        for fold, (_, test) in enumerate(cv.split(np.zeros((len(labels), 1)), labels)):
            if (folds[test] >= 0).any():
                msg = "cv must hold every row out once; this splitter holds some out more than once."
                raise OptionError(msg)
            folds[test] = fold
    elif np.shape(cv) == (len(labels),):
        _, folds = np.unique(np.asarray(cv), return_inverse=True)
    else:
        msg = f"cv must be a number of folds, a splitter, or one fold per row ({len(labels)} rows); got {cv!r:.80}."
        raise OptionError(msg)
    if (folds < 0).any() or folds.max() < 1:
        msg = "cv must hold every row out once, in at least two folds."
        raise OptionError(msg)
    return folds.astype(np.int64)


def _stratified(n_folds: int, labels: NDArray[np.int64], random_state: Any) -> NDArray[np.int64]:
    """Shuffle the rows of each class and deal them out to the folds in turn."""
    if n_folds < 2:
        msg = f"cv must be at least 2 folds; got {n_folds}."
        raise OptionError(msg)
    if n_folds > len(labels):
        msg = f"cv={n_folds} folds need at least as many rows; got n_samples={len(labels)}. Use fewer folds."
        raise InputError(msg)
    generator = check_random_state(random_state)
    order = generator.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), np.int64)
    start = 0
    for label in range(int(labels.max()) + 1):
        size = int((labels == label).sum())
        folds[order[start : start + size]] = np.arange(start, start + size) % n_folds
        start += size
    return folds
