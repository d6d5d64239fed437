"""Discretisers as transformers; inside a classifier they are chosen by ``discretize=``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tanbark.arrays import Floats
from tanbark.checks import check_count
from tanbark.errors import InputError
from tanbark.estimators.inputs import read_labels, read_weights
from tanbark.estimators.options import estimator
from tanbark.table.discretize import DEFAULT_BINS, mdlp, median, quantile, uniform


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Learn cut points per column and replace every number by the position of its interval."""

    def _cutter(self) -> Callable[..., Floats]:
        """Return the function that finds cut points."""
        raise AssertionError("every discretiser has a way to cut")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the cut points of every column."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weights = read_weights(sample_weight, len(X))
        labels, n_classes = np.zeros(len(X), np.int64), 1
        if self.__sklearn_tags__().target_tags.required:
            classes, labels = read_labels(y)
            n_classes = len(classes)
            if len(labels) != len(X):
                msg = f"X has {len(X)} rows and y has {len(labels)} labels; they must be as many."
                raise InputError(msg)
        counted = np.ones(len(X), bool) if weights is None else weights > 0
        cutter = self._cutter()
        self.cut_points_: list[Floats] = []
        for column in X.T:
            rows = counted & ~np.isnan(column)
            part = None if weights is None else weights[rows]
            cuts = cutter(column[rows], labels[rows], n_classes, part) if rows.any() else np.zeros(0)
            self.cut_points_.append(cuts)
        return self

    def transform(self, X: Any) -> Floats:
        """Replace every number by the position of its interval, 0 for the lowest; missing values stay NaN."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        out = np.empty(X.shape)
        for column, cuts in enumerate(self.cut_points_):
            out[:, column] = np.searchsorted(cuts, X[:, column], side="left")
        out[np.isnan(X)] = np.nan
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MDLPDiscretizer(Discretizer):
    """Cut where the class changes, as many times as the minimum description length allows.

    A range of values is cut at the point that leaves the least class entropy, if that saves more than it costs to
    encode; then both parts are tried in turn. A column without information about the class is not cut.

    References
    ----------
    Fayyad and Irani (1993), Multi-interval discretization of continuous-valued attributes for classification learning.

    Examples
    --------
    >>> MDLPDiscretizer().fit_transform(np.arange(20.0)[:, None], np.arange(20) // 10)[[9, 10], 0].tolist()
    [0.0, 1.0]
    """

    def _cutter(self) -> Callable[..., Floats]:
        return mdlp

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class MedianDiscretizer(Discretizer):
    """Cut every column once, at its median: 1 above it, else 0.

    Examples
    --------
    >>> MedianDiscretizer().fit_transform([[1.0], [2.0], [9.0]]).ravel().tolist()
    [0.0, 0.0, 1.0]
    """

    def _cutter(self) -> Callable[..., Floats]:
        return median


@estimator
class _BinDiscretizer(Discretizer):
    n_bins: int = field(default=DEFAULT_BINS, kw_only=False)

    def _check_bins(self) -> int:
        return check_count("n_bins", self.n_bins, least=2)


@estimator
class QuantileDiscretizer(_BinDiscretizer):
    """Cut every column into intervals that hold about as many rows each.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> QuantileDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [90.0]]).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """

    def _cutter(self) -> Callable[..., Floats]:
        bins = self._check_bins()
        return lambda *args: quantile(*args, n_bins=bins)


@estimator
class UniformDiscretizer(_BinDiscretizer):
    """Cut every column into intervals of the same width.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> UniformDiscretizer(n_bins=2).fit_transform([[1.0], [2.0], [3.0], [90.0]]).ravel().tolist()
    [0.0, 0.0, 0.0, 1.0]
    """

    def _cutter(self) -> Callable[..., Floats]:
        bins = self._check_bins()
        return lambda *args: uniform(*args, n_bins=bins)
