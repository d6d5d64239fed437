"""The same findings from rows that come in batches: what has to be kept of the batches before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array, Floats, Integers
from tanbark.table.findings.rules import INCREASING, LEAST_ROWS, ROW_NUMBER, determines, numbers_rows
from tanbark.table.schema import Level

MOST_FOLLOWED = 1 << 16  # categories whose class is remembered


@dataclass
class OneClass:
    """The class of every category, as long as none has several; ``rows`` maps a category to its class and rows."""

    rows: dict[Level, tuple[int, int]] | None = field(default_factory=dict)

    def add(self, levels: Sequence[Level], counts: NDArray[Any]) -> None:
        """Add categories with their rows by class, (n_levels, n_classes)."""
        if self.rows is None:
            return
        if (np.count_nonzero(counts, axis=1) > 1).any() or len(self.rows) + len(levels) > 2 * MOST_FOLLOWED:
            self.rows = None
            return
        for level, label, n in zip(levels, counts.argmax(axis=1).tolist(), counts.sum(axis=1).tolist(), strict=True):
            if n and not self._follow(level, label, int(n)):
                return

    def merge(self, other: OneClass, places: Integers) -> None:
        """Add what another part of the rows has; ``places[k]`` is our number of the other's class k."""
        if self.rows is None or other.rows is None:
            self.rows = None
            return
        for level, (label, n) in other.rows.items():
            if not self._follow(level, int(places[label]), n):
                return

    def _follow(self, level: Level, label: int, n: int) -> bool:
        """Add rows of one category; return whether every category still has one class."""
        assert self.rows is not None
        known, before = self.rows.get(level, (label, 0))
        if known != label or len(self.rows) > MOST_FOLLOWED:
            self.rows = None
            return False
        self.rows[level] = (label, before + n)
        return True

    def leaks(self, n_classes: int) -> bool:
        """Return whether the categories determine the class beyond chance."""
        if not self.rows:
            return False
        counts: Floats = np.zeros((len(self.rows), n_classes))
        for place, (label, n) in enumerate(self.rows.values()):
            counts[place, label] = n
        return determines(counts)


@dataclass
class NumberOrder:
    """Whether whole numbers repeat within a batch, and whether they increase from row to row."""

    pairs: float = 0.0  # of rows within a batch
    repeated: bool = False
    increasing: bool = True
    low: float = np.inf
    high: float = -np.inf
    first: float | None = None
    last: float = -np.inf

    def add(self, values: Array, distinct: int) -> None:
        """Add the observed numbers of a batch, of which so many are different."""
        n = len(values)
        self.pairs += n * (n - 1) / 2.0
        self.repeated = self.repeated or distinct < n
        if self.increasing:
            self.increasing = bool(values[0] > self.last) and bool((values[1:] > values[:-1]).all())
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        self.first = float(values[0]) if self.first is None else self.first
        self.last = float(values[-1])

    def merge(self, other: NumberOrder) -> None:
        """Add the rows that come after these."""
        if other.first is None:
            return
        self.increasing = self.increasing and other.increasing and other.first > self.last
        self.pairs, self.repeated = self.pairs + other.pairs, self.repeated or other.repeated
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.first = other.first if self.first is None else self.first
        self.last = other.last

    def finding(self, observed: int, *, distinct: int | None, complete: bool) -> str | None:
        """Return whether the numbers number the rows, or increase with them.

        Parameters
        ----------
        observed : int
            Rows with a value.
        distinct : int, optional
            Number of different values, where it is known; repeats within batches count otherwise.
        complete : bool
            Whether no value is missing.
        """
        if observed < LEAST_ROWS or self.repeated or (distinct is not None and distinct < observed):
            return None
        pairs = self.pairs if distinct is None else observed * (observed - 1) / 2.0
        if numbers_rows(pairs / (self.high - self.low + 1.0), observed):
            return ROW_NUMBER
        return INCREASING if complete and self.increasing else None
