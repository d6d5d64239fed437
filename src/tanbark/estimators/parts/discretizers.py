"""Discretisers as transformers; inside a classifier they are chosen by ``discretize=``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tanbark.arrays import Floats
from tanbark.checks import check_count
from tanbark.errors import InputError, find
from tanbark.estimators.inputs import all_or_nothing, read_labels, read_weights
from tanbark.estimators.options import estimator
from tanbark.estimators.scikit import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    validate_data,
)
from tanbark.table.discretize import CUTTERS, DEFAULT_BINS, UNION_BINS, grid
from tanbark.table.learn_schema import FEW, FEW_ORDERED

GRID_BINS = 250  # intervals of the grid of ensembles: codes of one byte


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Learn cut points per column and replace every number by the position of its interval."""

    _name: ClassVar[str]  # as an option of a classifier, and in CUTTERS
    _few: ClassVar[int] = FEW  # the most different values of whole numbers that are categories in a classifier

    def _cutter(self) -> Callable[..., Floats]:
        """Return the function that finds cut points."""
        return CUTTERS[self._name]

    @all_or_nothing
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

    _name = "mdlp"

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

    _name = "median"


@estimator
class _BinDiscretizer(Discretizer):
    n_bins: int = field(default=DEFAULT_BINS, kw_only=False)

    def _cutter(self) -> Callable[..., Floats]:
        cutter: Callable[..., Floats] = CUTTERS[self._name]
        return partial(cutter, n_bins=check_count("n_bins", self.n_bins, least=2))


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

    _name = "quantile"


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

    _name = "uniform"


@estimator
class MDLPQuantileDiscretizer(_BinDiscretizer):
    """Cut at the union of the cut points of :class:`MDLPDiscretizer` and :class:`QuantileDiscretizer`.

    The quantiles also cut columns that carry information about the class only together with others, which MDLP leaves
    whole. They make CPTs larger, so choose a smoothing that suits sparse counts. Of two cuts between the same
    neighbouring values, that of MDLP is kept.

    Inside a classifier, where ``categorical_features`` does not decide, whole numbers with more than 7 different values
    are cut; with other discretisers, those with more than 20.

    Parameters
    ----------
    n_bins : int, default 8
        The most intervals of equal frequency; there are fewer where one would hold under 50 rows.

    Examples
    --------
    >>> MDLPQuantileDiscretizer(n_bins=2).fit(np.arange(100.0)[:, None], np.arange(100) // 80).cut_points_[0].tolist()
    [49.0, 79.5]
    """

    _name = "mdlp+quantile"
    _few = FEW_ORDERED
    n_bins: int = field(default=UNION_BINS, kw_only=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class GridDiscretizer(_BinDiscretizer):
    """Cut every column into up to 250 intervals, one for each value if that suffices: an ensemble merges them."""

    _name = "quantile"
    _few = FEW_ORDERED

    def __init__(self) -> None:
        super().__init__(n_bins=GRID_BINS)

    def _cutter(self) -> Callable[..., Floats]:
        return partial(grid, n_bins=GRID_BINS)


def find_cutter(discretize: str | Discretizer) -> tuple[Callable[..., Floats], int]:
    """Return the function that finds cut points, and the most different values of whole numbers that are categories."""
    if isinstance(discretize, Discretizer):
        return discretize._cutter(), discretize._few
    cutter = find("discretize", discretize, CUTTERS)
    return cutter, FEW_ORDERED if discretize == MDLPQuantileDiscretizer._name else FEW
