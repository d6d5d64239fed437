"""Cross-validated scores of structures for rows in memory.

Every fold's model comes from the counts of all rows less the fold's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.errors import find
from tanbark.evaluation.fold_rows import FeatureFamily, FoldRows, too_large
from tanbark.params import Laplace, Smoothing, estimate
from tanbark.structure.wrapper.search import Structure
from tanbark.table import Schema

SURELY_ABOVE_ZERO = 1e-100  # with so much added to every cell no single estimate is zero


class FoldEvaluator(FoldRows):
    """Score structures by stratified cross-validation.

    Parameters
    ----------
    codes : (n_columns, n_rows) array
        The class last.
    schema : Schema
    folds : (n_rows,) array
        The fold that each row is held out in, from 0; none is empty.
    weights : (n_rows,) array, optional
    alpha : float
        Pseudo-counts per cell of the models of the folds.
    scoring : {"accuracy", "log-loss"}
        The mean over the folds of the fraction of right predictions (ties go to the first class), or of the mean
        log-posterior of the right class, in nats. A row that is impossible under every class gets the class prior.
    max_cells : int, optional
        A structure with a family that needs a larger CPT has the score -inf.
    """

    at_once = 1

    def __init__(
        self, codes: Codes, schema: Schema, folds: NDArray[np.integer], *, weights: Floats | None = None,
        alpha: float = 0.01, scoring: str = "accuracy", max_cells: int | None = None,
    ) -> None:  # fmt: skip
        check_scoring(scoring, alpha)
        self._scoring, self._max_cells = scoring, max_cells
        self._smoothing = Laplace(alpha)
        n_folds = int(folds.max()) + 1
        self._fold_weight = np.bincount(folds, weights, n_folds)
        super().__init__(codes, schema, folds, n_folds=n_folds, weights=weights, may_vanish=alpha < SURELY_ABOVE_ZERO)

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""
        return best_possible(self._scoring)

    def prefetch(self, structures: Sequence[Structure]) -> None:
        """Do nothing: with rows in memory a structure is scored when it is asked for."""

    def score(self, structure: Structure) -> float:
        """Return the mean score over the folds."""
        if too_large(structure, self._families, self._schema, self._max_cells):
            return -math.inf
        return float((self.fold_sums(structure, self._scoring) / self._fold_weight).mean())

    def fold_cpts(self, family: FeatureFamily) -> Floats:
        """Estimate P(feature | parents, class) for every fold from the counts of all rows less the fold's own."""
        return self._remember(("cpts", family), lambda: self._estimate(family), False)

    def _estimate(self, family: FeatureFamily) -> Floats:
        from tanbark.evaluation import kernels as fold_kernels

        members, strides, shape = self._layout((*family[1], family[0]))
        out = np.empty((self._n_folds, math.prod(shape)))
        smooth = float(self._smoothing.alpha)
        fold_kernels.estimate_folds(self._codes, self._weights, members, strides, self._states, smooth, out)
        return out.reshape(len(out), *shape)

    def _gather(self, family: FeatureFamily) -> Floats:
        """Estimate and read in one pass where all rows are complete; rows with missing values need the CPTs again."""
        if len(self._parts[1][1]):
            return super()._gather(family)
        from tanbark.evaluation import kernels as fold_kernels

        members, strides, shape = self._layout((*family[1], family[0]))
        cpts = np.empty((self._n_folds, math.prod(shape)))
        out = np.empty((self._codes.shape[1], shape[-1]))
        fold_kernels.estimate_fold_logs(
            self._codes, self._weights, members, strides, self._states, float(self._smoothing.alpha),
            self._parts[0][3], cpts, out,
        )  # fmt: skip
        return out

    def _log_prior(self) -> Floats:
        target = self._schema.target
        n_classes = self._schema.cardinalities[target]
        flat = self._codes[target + 1].astype(np.int64) * n_classes + self._codes[target]
        weights = self._weights if len(self._weights) else None
        by_fold = np.bincount(flat, weights, self._n_folds * n_classes).reshape(self._n_folds, n_classes)
        return log_prior(by_fold, self._smoothing)


def log_prior(by_fold: NDArray[np.number], smoothing: Smoothing) -> Floats:
    """Estimate log P(class) for every fold from the (n_folds, n_classes) counts of all."""
    with np.errstate(divide="ignore"):
        return np.log(estimate(by_fold.sum(axis=0) - by_fold, -1, smoothing))


def best_possible(scoring: str) -> float:
    """Return the score that nothing can exceed."""
    return 1.0 if scoring == "accuracy" else 0.0


def check_scoring(scoring: str, alpha: float) -> None:
    """Validate the measure and the pseudo-counts per cell."""
    find("scoring", scoring, {"accuracy": None, "log-loss": None})
    Laplace(alpha).check()
