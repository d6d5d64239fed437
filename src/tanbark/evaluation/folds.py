"""Folds for learners that search by cross-validated score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import MemoryCounts, PartitionedCounts
from tanbark.errors import InputError, OptionError
from tanbark.evaluation.fold_passes import FoldPasses
from tanbark.evaluation.fold_scores import FoldEvaluator, check_scoring
from tanbark.table.coded import code_dtype

KeptRows = Callable[[], NDArray[np.bool_] | None]


def make_evaluator(
    counts: Any, rows: MemoryCounts | None, *, cv: Any, alpha: float, scoring: str, random_state: Any,
    max_cells: int | None = None,
) -> FoldEvaluator | FoldPasses:  # fmt: skip
    """Assign rows to folds and return an evaluator of structures; without rows in memory it works in passes."""
    check_scoring(scoring, alpha)
    if rows is None:
        folds = make_folds(cv, _labels(counts), random_state, counts.kept_rows)
        return FoldPasses(counts, folds, alpha=alpha, scoring=scoring, max_cells=max_cells)
    codes, weights = next(rows.batches(size=max(1, rows.n_rows)))
    folds = make_folds(cv, codes[-1], random_state, counts.kept_rows)
    return FoldEvaluator(codes, rows.schema, folds, weights=weights, alpha=alpha, scoring=scoring, max_cells=max_cells)


def _labels(counts: PartitionedCounts) -> NDArray[np.unsignedinteger]:
    """Read the labels of all rows, which are kept until the folds are dealt, if there is room for both."""
    n_rows = int(counts.rows_by_piece.sum())
    needed = n_rows * (1 + code_dtype((counts.schema.cardinalities[-1],))().nbytes)
    if needed > counts.max_memory:
        msg = (
            f"A search by cross-validation keeps the class and the fold of every row, and for {n_rows:,} rows these "
            f"take {needed:,} bytes, above max_memory={counts.max_memory:,}. Raise max_memory, or learn from a sample "
            "of the rows."
        )
        raise InputError(msg)
    return counts.labels()


def make_folds(
    cv: Any, labels: NDArray[np.integer], random_state: Any, kept_rows: KeptRows = lambda: None
) -> NDArray[np.integer]:
    """Assign every row its fold: from a number of stratified folds, a splitter of scikit-learn, or folds by row.

    Folds by row are those of the rows that were given; ``kept_rows`` returns a mask of those that are learnt from.
    """
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _stratified(int(cv), labels, random_state)
    from sklearn.model_selection import PredefinedSplit

    if isinstance(cv, PredefinedSplit) and (cv.test_fold >= 0).all():
        cv = cv.test_fold
    if hasattr(cv, "split") and not isinstance(cv, (str, bytes)):
        given = _held_out(cv, labels)
    else:
        listed = isinstance(cv, Sized) and not isinstance(cv, (str, bytes, Mapping, Set))
        kept = kept_rows() if listed else None
        n_rows = len(labels) if kept is None else len(kept)
        if not listed or len(cv) != n_rows:
            msg = f"cv must be a number of folds, a splitter, or one fold per row ({n_rows} rows); got {cv!r:.80}."
            raise OptionError(msg)
        given = _read_folds(cv)[slice(None) if kept is None else kept]
    different, folds = np.unique(given, return_inverse=True)
    if len(different) < 2:
        msg = "cv must hold every row out once, in at least two folds; here is only one fold."
        raise OptionError(msg)
    return folds.astype(code_dtype((len(different),)))


def _held_out(splitter: Any, labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number the folds of a splitter of scikit-learn, if each row is held out once."""
    folds = np.full(len(labels), -1, np.int64)
    for fold, (_, test) in enumerate(splitter.split(np.zeros((len(labels), 1)), labels)):
        if (folds[test] >= 0).any():
            msg = "cv must hold every row out once; this splitter holds some out more than once."
            raise OptionError(msg)
        folds[test] = fold
    if (folds < 0).any():
        msg = f"cv must hold every row out once; this splitter never holds out {int((folds < 0).sum())} rows."
        raise OptionError(msg)
    return folds


def _read_folds(cv: Any) -> NDArray[Any]:
    """Read one fold per row, numbers or names."""
    try:
        folds = np.asarray(cv)
    except ValueError:
        folds = np.empty((0, 0))
    if folds.ndim == 1 and folds.dtype.kind == "O" and all(isinstance(fold, str) for fold in folds):
        folds = folds.astype(np.str_)
    if folds.ndim != 1 or folds.dtype.kind not in "biufUST" or (folds.dtype.kind == "f" and np.isnan(folds).any()):
        msg = f"cv, given as folds by row, must be numbers or names without missing values; got {cv!r:.80}."
        raise OptionError(msg)
    return folds


def _stratified(n_folds: int, labels: NDArray[np.integer], random_state: Any) -> NDArray[np.integer]:
    """Shuffle the rows of each class and deal them out to the folds in turn; small types, as rows may be many."""
    if n_folds < 2:
        msg = f"cv must be at least 2 folds; got {n_folds}."
        raise OptionError(msg)
    if n_folds > len(labels):
        msg = f"cv={n_folds} folds need at least as many rows; got n_samples={len(labels)}. Use fewer folds."
        raise InputError(msg)
    order = np.arange(len(labels), dtype=np.min_scalar_type(len(labels)))
    from sklearn.utils import check_random_state

    check_random_state(random_state).shuffle(order)
    shuffled = labels[order]
    folds = np.empty(len(labels), code_dtype((n_folds,)))
    start = 0
    for label in range(int(labels.max()) + 1):
        rows = order[shuffled == label]
        folds[rows] = np.arange(start, start + len(rows)) % n_folds
        start += len(rows)
    return folds
