"""Cut points of continuous columns. Interval k holds the values x with cuts[k-1] < x <= cuts[k]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.checks import check_count

Cutter = Callable[[Floats, NDArray[np.integer[Any]], int, Floats | None], Floats]

DEFAULT_BINS = 5
UNION_BINS = 8  # intervals of equal frequency beside the cuts of MDLP
LEAST_ROWS = 50  # fewer intervals of equal frequency where one would hold fewer rows than this
MOST_TABLED = 1 << 20  # rows up to which x log x is computed once for every whole number
LEAST_DISTANCE = 0.25  # of random quantile levels, as a fraction of the distance of equal-frequency levels


def mdlp(values: Floats, labels: NDArray[np.integer[Any]], n_classes: int, weights: Floats | None = None) -> Floats:
    r"""Cut where the decrease of the class entropy exceeds the description length of the cut.

    A range S of N values is cut at T, the split of least class entropy, if

    .. math:: Gain(T; S) > \frac{\log_2(N-1) + \log_2(3^k-2) - [k H(S) - k_1 H(S_1) - k_2 H(S_2)]}{N}

    where k, k1, k2 count the classes in S and its two parts; then both parts are tried in turn. Ties go to the lowest
    cut. A weight counts as that many rows. Fayyad and Irani (1993), equations 1 to 9.

    >>> mdlp(np.arange(20.0), np.arange(20) // 10, 2).tolist()
    [9.5]
    """
    return _mdlp(*_counts_by_value(values, labels, n_classes, weights))


def _mdlp(points: Floats, counts: Floats) -> Floats:
    """Return the cuts of MDLP, given the distinct values and the class counts at each."""
    from tanbark.table import kernels

    below = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    size = float(below[-1].sum())
    whole = size <= MOST_TABLED and bool((counts == np.floor(counts)).all())
    products = _times_logarithm(np.arange(int(size) + 1.0)) if whole else np.zeros(0)
    cuts = kernels.mdlp_cuts(below, products).tolist()
    return np.array([_between(points[cut - 1], points[cut]) for cut in cuts], np.float64)


def _counts_by_value(
    values: Floats, labels: NDArray[np.integer[Any]], n_classes: int, weights: Floats | None
) -> tuple[Floats, Floats]:
    """Count the classes at each distinct value."""
    points, place = np.unique(values, return_inverse=True)
    flat = np.bincount(place * n_classes + labels, weights=weights, minlength=len(points) * n_classes)
    return points, flat.reshape(len(points), n_classes).astype(np.float64)


def _times_logarithm(counts: Floats) -> Floats:
    """Return x log2 x, 0 for 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1.0)))


def _between(low: float, high: float) -> float:
    """Return the midpoint, or the lower value where no float lies between them."""
    middle = low / 2.0 + high / 2.0  # their sum or difference may be too large for a float
    return float(middle if low < middle < high else low)


def median(
    values: Floats, labels: NDArray[np.integer[Any]] | None = None, n_classes: int = 0, weights: Floats | None = None
) -> Floats:
    """Cut once, at the median.

    >>> median(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [2.5]
    """
    points, below = _cumulate(values, weights)
    lower = int(np.searchsorted(below, below[-1] / 2.0))
    cut = points[lower]
    if below[lower] == below[-1] / 2.0 and lower + 1 < len(points):
        cut = _between(points[lower], points[lower + 1])
    return _useful(np.array([cut]), points)


def quantile(
    values: Floats, labels: NDArray[np.integer[Any]] | None = None, n_classes: int = 0, weights: Floats | None = None,
    *, n_bins: int = DEFAULT_BINS,
) -> Floats:  # fmt: skip
    """Cut into intervals of about equal frequency; the cuts are observed values.

    >>> quantile(np.arange(10.0), n_bins=2).tolist()
    [4.0]
    """
    points, below = _cumulate(values, weights)
    return _quantiles(points, below, np.arange(1, n_bins) / n_bins)


def _quantiles(points: Floats, below: Floats, fractions: Floats) -> Floats:
    """Return the useful cuts at some quantile levels, given the number of rows at or below each distinct value."""
    return _useful(points[np.searchsorted(below, fractions * below[-1] * (1.0 - 1e-12))], points)


def mdlp_quantile(
    values: Floats, labels: NDArray[np.integer[Any]], n_classes: int, weights: Floats | None = None,
    *, n_bins: int = UNION_BINS,
) -> Floats:  # fmt: skip
    """Cut at the union of the cuts of :func:`mdlp` and of :func:`quantile`.

    There are at most ``n_bins`` intervals of equal frequency, and fewer where one would hold under 50 rows; a weight
    counts as that many rows. Of two cuts between the same neighbouring values, that of MDLP is kept.

    >>> mdlp_quantile(np.arange(200.0), np.arange(200) // 180, 2).tolist()
    [49.0, 99.0, 149.0, 179.5]
    """
    points, counts = _counts_by_value(values, labels, n_classes, weights)
    cuts, below = _mdlp(points, counts), np.cumsum(counts.sum(axis=1))
    bins = _supported_bins(below, n_bins)
    if bins >= 2:
        cuts = np.concatenate([cuts, _quantiles(points, below, np.arange(1, bins) / bins)])
    _, first = np.unique(np.searchsorted(points, cuts, side="right"), return_index=True)
    return np.asarray(cuts[first])


def _supported_bins(below: Floats, n_bins: int) -> int:
    """Return the most intervals of equal frequency that hold ``LEAST_ROWS`` rows each, at most ``n_bins``."""
    rows = float(below[-1]) if len(below) else 0.0
    return int(min(n_bins, rows * (1.0 + 1e-12) // LEAST_ROWS))


def random_quantile_cuts(
    values: Floats, weights: Floats | None, rng: np.random.Generator, *, n_bins: int = UNION_BINS
) -> Floats:
    """Cut at random quantiles; the cuts are observed values.

    The n - 1 quantile levels are uniform on (0, 1) given that they are at least 1 / (4 n) from each other and from both
    ends. n is ``n_bins``, or fewer where intervals of equal frequency would hold under 50 rows each; a weight counts as
    that many rows. Levels with the same quantile are one cut.

    >>> random_quantile_cuts(np.arange(200.0), None, np.random.default_rng(0), n_bins=3).tolist()
    [57.0, 128.0]
    """
    check_count("n_bins", n_bins, least=2)
    points, below = _cumulate(values, weights)
    bins = _supported_bins(below, n_bins)
    if bins < 2:
        return np.zeros(0)
    # Sorted uniform draws from an interval that is shorter by all distances, then moved apart by these distances.
    levels = np.sort(rng.random(bins - 1)) * (1.0 - LEAST_DISTANCE) + np.arange(1, bins) * (LEAST_DISTANCE / bins)
    return _quantiles(points, below, levels)


def grid(
    values: Floats, labels: NDArray[np.integer[Any]] | None = None, n_classes: int = 0, weights: Floats | None = None,
    *, n_bins: int = DEFAULT_BINS,
) -> Floats:  # fmt: skip
    """Cut between all neighbouring values, or where there are more than ``n_bins`` into intervals of equal frequency.

    A value that has more rows than such an interval gets its own, and the others share what is left. Cuts lie halfway
    between neighbouring values.

    >>> grid(np.array([1.0, 2.0, 2.0, 5.0]), n_bins=4).tolist()
    [1.5, 3.5]
    """
    points, below = _cumulate(values, weights)
    if len(points) <= n_bins:
        ends = np.arange(len(points) - 1)
    else:
        size = np.diff(below, prepend=0.0)
        frequent = np.zeros(len(points), bool)
        order = np.argsort(-size, kind="stable")[: n_bins // 4]
        left = below[-1]
        for count, place in enumerate(order):
            if size[place] * (n_bins - 2 * count) <= left:
                break
            frequent[place] = True
            left -= size[place]
        rest = np.cumsum(np.where(frequent, 0.0, size))
        interval = np.ceil(rest * ((n_bins - 2 * frequent.sum()) / left) * (1.0 - 1e-12))
        ends = np.flatnonzero((np.diff(interval) > 0) | frequent[1:] | frequent[:-1])
    return np.array([_between(points[end], points[end + 1]) for end in ends])


def uniform(
    values: Floats, labels: NDArray[np.integer[Any]] | None = None, n_classes: int = 0, weights: Floats | None = None,
    *, n_bins: int = DEFAULT_BINS,
) -> Floats:  # fmt: skip
    """Cut into intervals of the same width.

    >>> uniform(np.array([0.0, 10.0]), n_bins=5).tolist()
    [2.0, 4.0, 6.0, 8.0]
    """
    low, high = values.min(), values.max()
    fractions = np.arange(1, n_bins) / n_bins
    return _useful(low * (1.0 - fractions) + high * fractions, np.array([low, high]))


def _cumulate(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    points, place = np.unique(values, return_inverse=True)
    return points, np.cumsum(np.bincount(place, weights=weights)).astype(np.float64)


def _useful(cuts: Floats, points: Floats) -> Floats:
    """Keep the different cuts that have a value on both sides."""
    cuts = np.unique(cuts)
    return np.asarray(cuts[(cuts >= points[0]) & (cuts < points[-1])])


CUTTERS: dict[str, Cutter] = {
    "mdlp": mdlp, "mdlp+quantile": mdlp_quantile, "median": median, "quantile": quantile, "uniform": uniform,
}  # fmt: skip
