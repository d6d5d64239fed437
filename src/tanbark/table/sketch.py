"""A mergeable quantile summary of a numeric column: values with their counts by class, and an error bound.

With few distinct values the summary is exact. Beyond that, neighbouring values are merged at the largest of them, so
that the number of rows at or below a kept value does not change. Summaries of parts of the rows can be merged; each
carries a bound on the error of these numbers of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats

MOST_POINTS = 4096


@dataclass(frozen=True, eq=False)
class Points:
    """Increasing values and the weight of the rows at each, by class.

    Parameters
    ----------
    values : (n,) array
    counts : (n, n_classes) array
        ``counts[k]`` are the rows above ``values[k - 1]`` and at most ``values[k]``.
    error : float
        Bound on how many rows the count at or below a kept value may be too low.
    spread : float
        Bound on the number of rows below a kept value that are counted at it.
    """

    values: Floats
    counts: Floats
    error: float = 0.0
    spread: float = 0.0

    def merged(self, other: Points) -> Points:
        """Merge two summaries; the merge adds no error but that of their spreads."""
        width = max(self.counts.shape[1], other.counts.shape[1])
        error = self.error + other.error + max(self.spread, other.spread)
        spread = max(self.spread, other.spread)
        if np.array_equal(self.values, other.values):
            return Points(self.values, _widened(self.counts, width) + _widened(other.counts, width), error, spread)
        values = np.concatenate([self.values, other.values])
        order = np.argsort(values, kind="stable")
        values = values[order]
        counts = np.vstack([_widened(self.counts, width), _widened(other.counts, width)])[order]
        first = np.concatenate([[True], values[1:] != values[:-1]]) if len(values) else np.zeros(0, bool)
        summed = np.add.reduceat(counts, np.flatnonzero(first), axis=0) if len(values) else counts
        return Points(values[first], summed, error, spread)

    def compressed(self, most: int) -> Points:
        """Keep at most about ``most`` values, among them the lowest and the highest."""
        if len(self.values) <= most:
            return self
        weight = self.counts.sum(axis=1)
        step = float(weight.sum()) / most
        before = np.cumsum(weight) - weight
        place = np.floor(before / step).astype(np.int64)
        last = np.concatenate([place[1:] != place[:-1], [True]])
        last[0] = True
        starts = np.concatenate([[0], np.flatnonzero(last)[:-1] + 1])
        counts = np.add.reduceat(self.counts, starts, axis=0)
        return Points(self.values[last], counts, self.error, self.spread + step)


def _widened(counts: Floats, width: int) -> Floats:
    return counts if counts.shape[1] == width else np.pad(counts, ((0, 0), (0, width - counts.shape[1])))


def make_points(
    values: NDArray[np.generic], labels: NDArray[np.int64], n_classes: int, weights: Floats | None
) -> Points:
    """Summarise observed values exactly: each different one with its rows by class."""
    from tanbark.table import kernels

    if len(values) == 0:
        return Points(np.zeros(0), np.zeros((0, n_classes)))
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, len(values)) and max(-low, high) < 2**53:
            if weights is None:
                whole = np.zeros((high - low + 1, n_classes), np.int64)
                kernels.count_numbers(values, low, labels, whole)
                counts = whole.astype(np.float64)
            else:
                counts = _by_class(values.astype(np.int64) - low, labels, n_classes, weights, high - low + 1)
            there = counts.any(axis=1)
            return Points(np.flatnonzero(there).astype(np.float64) + low, counts[there])
    found, place = np.unique(values.astype(np.float64) + 0.0, return_inverse=True)
    return Points(found, _by_class(place, labels, n_classes, weights, len(found)))


def _by_class(
    place: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int, weights: Floats | None, size: int
) -> Floats:
    flat = np.bincount(place * n_classes + labels, weights, size * n_classes)
    return flat.reshape(size, n_classes).astype(np.float64)


@dataclass
class Summary:
    """Summary of a stream of batches, merged in pairs like the carries of a binary counter.

    Every batch and every merge is compressed to ``most`` values. The number of rows at or below a kept value is wrong
    by at most the fraction (depth of merges + 1) / ``most`` of all rows; ``error`` is the bound for the actual merges.
    """

    most: int = MOST_POINTS
    levels: list[Points | None] = field(default_factory=list)

    def add(self, points: Points, level: int = 0) -> None:
        """Add the points of one more batch."""
        points = points.compressed(self.most)
        while True:
            while len(self.levels) <= level:
                self.levels.append(None)
            there = self.levels[level]
            if there is None:
                self.levels[level] = points
                return
            self.levels[level] = None
            points = there.merged(points).compressed(self.most)
            level += 1

    def merge(self, other: Summary) -> None:
        """Add another summary."""
        for level, points in enumerate(other.levels):
            if points is not None:
                self.add(points, level)

    def points(self) -> Points:
        """Return all points together."""
        whole = Points(np.zeros(0), np.zeros((0, 1)))
        for points in self.levels:
            if points is not None:
                whole = whole.merged(points)
        return whole

    @property
    def error(self) -> float:
        """Bound on the error of the number of rows at or below a value, as a fraction of all rows."""
        points = self.points()
        rows = float(points.counts.sum())
        return (points.error + points.spread) / rows if rows else 0.0
