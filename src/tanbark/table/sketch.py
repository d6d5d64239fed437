"""A summary of a numeric column that is larger than memory: values with their counts by class, and a stated error.

Values with their counts are exact as long as there are few different ones. Beyond that neighbours are brought together
at their largest value, so that the count of the rows at or below a kept value stays as it was. Summaries merge, whoever
made them, and carry with them by how many rows any such count may be wrong.
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
        By how many rows the count at or below a kept value may be too low.
    spread : float
        How many rows at most stand at a kept value while they lie below it.
    """

    values: Floats
    counts: Floats
    error: float = 0.0
    spread: float = 0.0

    def merged(self, other: Points) -> Points:
        """Bring two summaries together, without a loss of their own."""
        width = max(self.counts.shape[1], other.counts.shape[1])
        values = np.concatenate([self.values, other.values])
        order = np.argsort(values, kind="stable")
        values = values[order]
        counts = np.vstack([_widened(self.counts, width), _widened(other.counts, width)])[order]
        first = np.concatenate([[True], values[1:] != values[:-1]]) if len(values) else np.zeros(0, bool)
        summed = np.add.reduceat(counts, np.flatnonzero(first), axis=0) if len(values) else counts
        error = self.error + other.error + max(self.spread, other.spread)
        return Points(values[first], summed, error, max(self.spread, other.spread))

    def compressed(self, most: int) -> Points:
        """Keep about ``most`` values at most; the lowest and the highest always stay."""
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
    return np.pad(counts, ((0, 0), (0, width - counts.shape[1])))


def make_points(
    values: NDArray[np.generic], labels: NDArray[np.int64], n_classes: int, weights: Floats | None
) -> Points:
    """Summarise observed values exactly: each different one with its rows by class."""
    if len(values) == 0:
        return Points(np.zeros(0), np.zeros((0, n_classes)))
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, len(values)) and max(-low, high) < 2**53:
            place = values.astype(np.int64) - low
            counts = _by_class(place, labels, n_classes, weights, high - low + 1)
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
    """Points of a stream of batches, merged two by two like the digits of a binary number.

    A batch of n rows is cut down to ``most`` values, and so is every merge; the count of the rows at or below a kept
    value is then wrong by at most (number of merges in a row + 1) / ``most`` of all rows, and by how much at most is
    told in ``error``.
    """

    most: int = MOST_POINTS
    levels: list[Points | None] = field(default_factory=list)

    def add(self, points: Points, level: int = 0) -> None:
        """Take in the points of one more batch."""
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
        """Take in another summary."""
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
        """By what share of the rows the count at or below a value may be wrong."""
        points = self.points()
        rows = float(points.counts.sum())
        return (points.error + points.spread) / rows if rows else 0.0
