"""Learning a schema in one pass over batches: categories, summaries of numbers, labels and missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats, Integers
from tanbark.errors import EmptyColumnWarning, InputError, warn
from tanbark.machine import run_threads, thread_count
from tanbark.table.encode import refuse_infinity
from tanbark.table.learn_schema import FEW
from tanbark.table.raw import CodedColumn, RawTable
from tanbark.table.schema import Column, Level
from tanbark.table.sketch import Summary, make_points

Cutter = Callable[[Floats, Integers, int, Floats], Floats]

MOST_LEVELS = 1 << 16
PLURAL = {"number": "numbers", "text": "strings", "boolean": "booleans"}


@dataclass
class ColumnView:
    """Summary of one column over the batches so far.

    Parameters
    ----------
    name : str
    forced : bool, optional
        Whether the user declares its numbers categorical (True) or continuous (False).
    """

    name: str
    forced: bool | None = None
    values: str | None = None
    nominal: str = "text"
    levels: dict[Level, None] = field(default_factory=dict)
    declared: bool = False
    as_declared: tuple[Level, ...] | None = None
    summary: Summary = field(default_factory=Summary)
    fractional: bool = False
    has_missing: bool = False

    def __post_init__(self) -> None:
        if self.forced:
            self.summary.most = MOST_LEVELS

    def _be(self, values: str) -> None:
        """Record the kind of values, or raise an error if it differs from earlier batches."""
        if self.values not in (None, values):
            msg = (
                f"Column {self.name!r} holds {PLURAL[str(self.values)]} in some rows and {PLURAL[values]} in others. "
                "Make it one type in the files first; with CSV, types={name: 'string'} reads it as strings."
            )
            raise InputError(msg)
        self.values = values

    def add_numbers(
        self, values: NDArray[np.generic], labels: Integers, n_classes: int, weights: Floats | None
    ) -> None:
        """Add a batch of numbers or booleans; NaN is missing."""
        self.nominal = "boolean" if values.dtype == bool else "number"
        if values.dtype == np.float64:
            observed = ~np.isnan(values)
            if not observed.all():
                self.has_missing = True
                values, labels = values[observed], labels[observed]
                weights = None if weights is None else weights[observed]
        if not len(values):
            return
        self._be(self.nominal)
        if values.dtype == bool:
            self._note_levels([bool(level) for level in np.unique(values)])
            return
        if values.dtype == np.float64:
            if np.isinf(values).any():
                refuse_infinity(self.name)
            self.fractional = self.fractional or bool((values != np.floor(values)).any())
            if not self.fractional and abs(values).max() < 2**53:
                values = values.astype(np.int64)
        self.summary.add(make_points(values, labels, n_classes, weights))

    def add_coded(self, item: CodedColumn, labels: Integers, n_classes: int, weights: Floats | None) -> None:
        """Add a batch of strings, booleans or declared categories."""
        self.nominal = item.values
        used = np.bincount(item.codes[item.codes >= 0], minlength=len(item.levels)) > 0
        self.has_missing = self.has_missing or bool((item.codes < 0).any())
        if item.declared:
            self.declared = True
            if self.as_declared not in (None, item.levels):
                same_sort = list(self.as_declared or ()) == _sorted(self.as_declared or ())
                self.as_declared = None if same_sort and list(item.levels) == _sorted(item.levels) else self.as_declared
            elif not self.levels:
                self.as_declared = item.levels
            self._note_levels(item.levels)
            if item.levels:
                self._be(item.values)
            return
        if not used.any():
            return
        self._be(item.values)
        if item.values == "number":
            self.add_numbers(item.numbers(), labels, n_classes, weights)
        else:
            self._note_levels([level for level, there in zip(item.levels, used, strict=True) if there])

    def _note_levels(self, levels: tuple[Level, ...] | list[Level]) -> None:
        self.levels.update(dict.fromkeys(levels))
        if len(self.levels) > MOST_LEVELS:
            msg = (
                f"Column {self.name!r} has more than {MOST_LEVELS:,} different categories. Group them, or leave the "
                "column out (columns=)."
            )
            raise InputError(msg)

    def merge(self, other: ColumnView, places: Integers, n_classes: int) -> None:
        """Add the summary of another part of the rows; ``places[k]`` is our number of the other's class k."""
        if other.values is not None:
            self._be(other.values)
        if self.values is None:
            self.nominal = other.nominal
        if other.as_declared != self.as_declared:
            first = self.as_declared if self.levels else other.as_declared
            both = self.as_declared is not None and other.as_declared is not None
            self.as_declared = None if both and list(first or ()) == _sorted(first or ()) else first
        self.declared = self.declared or other.declared
        self._note_levels(list(other.levels))
        self.fractional, self.has_missing = self.fractional or other.fractional, self.has_missing or other.has_missing
        for level, points in enumerate(other.summary.levels):
            if points is not None:
                counts = np.zeros((len(points.values), n_classes))
                counts[:, places[: points.counts.shape[1]]] = points.counts
                self.summary.add(replace(points, counts=counts), level)

    def column(self, cutter: Cutter, order: Integers, few: int) -> Column:
        """Describe the column.

        ``order`` lists the classes as they are numbered in the schema, ``few`` is the most different values of whole
        numbers that are categories.
        """
        if self.values != "number" or self.declared:
            return Column(self.name, "category", self.values or self.nominal, self._category_levels())
        points = self.summary.points()
        exact = points.error + points.spread == 0.0
        nominal = exact and not self.fractional and len(points.values) <= few
        if nominal if self.forced is None else self.forced:
            if not exact:
                msg = (
                    f"Column {self.name!r} is to be a category and has more than {MOST_LEVELS:,} different numbers. "
                    "Leave it out of categorical_features, group its values, or leave the column out (columns=)."
                )
                raise InputError(msg)
            return Column(self.name, "category", "number", _plain_numbers(points.values))
        counts = np.zeros((len(points.values), len(order)))
        counts[:, : points.counts.shape[1]] = points.counts
        counts = counts[:, order]
        place, label = np.nonzero(counts)
        cuts = cutter(points.values[place], label, len(order), counts[place, label])
        return Column(self.name, "interval", "number", cuts=tuple(cuts.tolist()))

    def _category_levels(self) -> tuple[Level, ...]:
        if self.as_declared is not None and set(self.as_declared) == set(self.levels):
            return self.as_declared
        if self.as_declared is not None:
            return tuple(self.levels)
        return tuple(_sorted(self.levels))


def _sorted(levels: tuple[Level, ...] | dict[Level, None]) -> list[Level]:
    return sorted(levels, key=lambda level: (isinstance(level, str), str(type(level)), level))


def _plain_numbers(values: Floats) -> tuple[Level, ...]:
    whole = (values == np.floor(values)).all() and (np.abs(values) < 2.0**53).all()
    return tuple((values.astype(np.int64) if whole else values).tolist())


@dataclass
class Observed:
    """What training needs to know about all rows before it encodes them; summaries of parts can be merged.

    Parameters
    ----------
    views : list of ColumnView
        The features.
    labels : dict
        The classes, numbered in the order in which they came.
    n_rows : int
    weighted : bool
        Whether any row has a weight other than one.
    """

    views: list[ColumnView]
    labels: dict[Level, int] = field(default_factory=dict)
    n_rows: int = 0
    weighted: bool = False

    def add(
        self, features: RawTable, label_codes: Integers, label_levels: list[Level], weights: Floats | None,
        *, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        """Add a batch of rows with the codes of their labels."""
        self.n_rows += features.n_rows
        self.weighted = self.weighted or weights is not None
        labels = self._numbers(label_levels)[label_codes] if len(label_levels) else np.zeros(len(label_codes), np.int64)
        n = len(self.labels)
        calls = [
            (self.views[c].add_numbers, block.values[:, k], labels, n, weights)
            for block in features.blocks
            for k, c in enumerate(block.columns)
        ] + [(self.views[item.column].add_coded, item, labels, n, weights) for item in features.coded]
        run_threads(_call, calls, thread_count(n_jobs) if features.n_rows > 1 << 14 else 1)

    def _numbers(self, levels: list[Level]) -> Integers:
        return np.array([self.labels.setdefault(level, len(self.labels)) for level in levels], np.int64)

    def merge(self, other: Observed) -> Observed:
        """Add the summary of another part of the rows."""
        self.n_rows += other.n_rows
        self.weighted = self.weighted or other.weighted
        places = self._numbers(list(other.labels))
        for mine, theirs in zip(self.views, other.views, strict=True):
            mine.merge(theirs, places, max(1, len(self.labels)))
        return self

    def classes(self) -> list[Level]:
        """List the classes, sorted."""
        return _sorted(dict.fromkeys(self.labels))

    def columns(self, cutter: Cutter, *, missing_states: bool = False, few: int = FEW) -> tuple[Column, ...]:
        """Describe every feature.

        With ``missing_states``, missing values are a state where they occur; whole numbers with at most ``few``
        different values are categories.
        """
        order = np.array([self.labels[label] for label in self.classes()], np.int64)
        found = tuple(
            replace(view.column(cutter, order, few), missing_state=missing_states and view.has_missing)
            for view in self.views
        )
        empty = [column.name for column in found if column.kind == "category" and not column.levels]
        if empty:
            msg = f"These columns have no value in any row and carry no information about the class: {empty[:10]}."
            warn(msg, EmptyColumnWarning)
        return found

    @property
    def errors(self) -> dict[str, float]:
        """Largest error of the number of rows below a cut point, as a fraction of all rows, where it is not 0."""
        return {view.name: view.summary.error for view in self.views if view.summary.error > 0}


def _call(task: Callable[..., None], *arguments: object) -> None:
    task(*arguments)
