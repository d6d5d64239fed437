"""What batches of rows tell of one column: its kind, its categories, a summary of its numbers, its missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats, Integers
from tanbark.errors import InputError
from tanbark.table.encode import refuse_infinity
from tanbark.table.findings import LEAK, Facts
from tanbark.table.findings.rules import NEARLY_ALL, category_facts, determines, suspect_categories
from tanbark.table.findings.streamed import NumberOrder, OneClass
from tanbark.table.objects import rank_value
from tanbark.table.raw import CodedColumn
from tanbark.table.schema import Column, Level, check_levels
from tanbark.table.sketch import Summary, make_points
from tanbark.table.written import THOUSANDS, UNITS, Tally, as_numbers, tally, warn_of_others

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
    used: dict[Level, None] = field(default_factory=dict)  # of the levels, those that some row has
    declared: bool = False
    as_declared: tuple[Level, ...] | None = None
    summary: Summary = field(default_factory=Summary)
    fractional: bool = False
    observed: int = 0
    missing: int = 0
    batch_distinct: int = 0  # different values of every batch, added up
    one_class: OneClass = field(default_factory=OneClass)
    order: NumberOrder = field(default_factory=NumberOrder)
    written: str = ""
    texts: WrittenTexts | None = field(default_factory=lambda: WrittenTexts())

    @property
    def has_missing(self) -> bool:
        """Whether any row has no value."""
        return self.missing > 0

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
                self.missing += int((~observed).sum())
                values, labels = values[observed], labels[observed]
                weights = None if weights is None else weights[observed]
        if not len(values):
            return
        self._be(self.nominal)
        self.observed += len(values)
        if values.dtype == bool:
            found: list[Level] = [bool(level) for level in np.unique(values)]
            self._note_levels(found, found)
            self.batch_distinct += len(found)
            self._follow(values.astype(np.int64), (False, True), labels, n_classes)
            return
        if values.dtype == np.float64:
            if np.isinf(values).any():
                refuse_infinity(self.name)
            self.fractional = self.fractional or bool((values != np.floor(values)).any())
            if not self.fractional and abs(values).max() < 2**53:
                values = values.astype(np.int64)
        points = make_points(values, labels, n_classes, weights)
        self.batch_distinct += len(points.values)
        if not self.fractional:
            self.order.add(values, len(points.values))
        self.summary.add(points)

    def _follow(self, codes: Integers, levels: tuple[Level, ...], labels: Integers, n_classes: int) -> None:
        """Follow the class of every category, while each has one."""
        if self.one_class.rows is not None:
            flat = np.bincount(codes * n_classes + labels, minlength=len(levels) * n_classes)
            self.one_class.add(levels, flat.reshape(len(levels), n_classes))

    def add_coded(self, item: CodedColumn, labels: Integers, n_classes: int, weights: Floats | None) -> None:
        """Add a batch of strings, booleans or declared categories."""
        self.nominal = item.values
        present = item.codes >= 0
        used = np.bincount(item.codes[present], minlength=len(item.levels)) > 0
        self.missing += int((~present).sum())
        if item.declared or item.values != "number":
            self.observed, self.batch_distinct = (
                self.observed + int(present.sum()),
                self.batch_distinct + int(used.sum()),
            )
            self._follow(item.codes[present].astype(np.int64), item.levels, labels[present], n_classes)
        found = [level for level, there in zip(item.levels, used, strict=True) if there]
        if self.texts is not None and used.any():
            numeric = item.values == "text" and not item.declared and self.forced is None
            self.texts = self.texts if numeric and self.texts.add(item, labels, n_classes, weights) else None
        if item.declared:
            self.declared = True
            if self.as_declared not in (None, item.levels):
                same_sort = list(self.as_declared or ()) == _sorted(self.as_declared or ())
                self.as_declared = None if same_sort and list(item.levels) == _sorted(item.levels) else self.as_declared
            elif not self.levels:
                self.as_declared = item.levels
            self._note_levels(item.levels, found)
            if item.levels:
                self._be(item.values)
            return
        if not used.any():
            return
        self._be(item.values)
        if item.values == "number":
            known = None if weights is None else weights[present]
            self.add_numbers(item.numbers()[present], labels[present], n_classes, known)
        else:
            self._note_levels(found, found)

    def _note_levels(self, levels: Sequence[Level], used: Sequence[Level]) -> None:
        check_levels(self.name, levels)
        if len(self.levels) <= MOST_LEVELS:
            self.levels.update(dict.fromkeys(levels))
            self.used.update(dict.fromkeys(used))
        many = len(self.levels) > MOST_LEVELS and self.batch_distinct < NEARLY_ALL * self.observed
        if many and (self.texts is None or not self.texts.tally.decide()):
            self._refuse_many()

    def _refuse_many(self) -> None:
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
        self.observed, self.missing = self.observed + other.observed, self.missing + other.missing
        self.batch_distinct += other.batch_distinct
        self._note_levels(list(other.levels), list(other.used))
        self.fractional = self.fractional or other.fractional
        self.one_class.merge(other.one_class, places)
        self.order.merge(other.order)
        if self.texts is not None:
            self.texts = self.texts if self.texts.merge(other.texts, places, n_classes) else None
        for level, points in enumerate(other.summary.levels):
            if points is not None:
                counts = np.zeros((len(points.values), n_classes))
                counts[:, places[: points.counts.shape[1]]] = points.counts
                self.summary.add(replace(points, counts=counts), level)

    def settled(self) -> ColumnView:
        """Return the view of the numbers that the texts are, where they are written numbers; else the view itself."""
        written = "" if self.texts is None else self.texts.tally.decide()
        if self.texts is None or not written:
            return self
        found = self.texts.numbers[written[0]]
        warn_of_others(self.name, written, found.missing, self.texts.strange[written[0]])
        return replace(found, name=self.name, written=written, missing=found.missing + self.missing, texts=None)

    def column(self, cutter: Cutter, order: Integers, few: int) -> Column:
        """Describe the column.

        ``order`` lists the classes as they are numbered in the schema, ``few`` is the most different values of whole
        numbers that are categories.
        """
        if self.values != "number" or self.declared:
            self._refuse_many()
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
            return Column(self.name, "category", "number", _plain_numbers(points.values), written=self.written)
        counts = np.zeros((len(points.values), len(order)))
        counts[:, : points.counts.shape[1]] = points.counts
        counts = counts[:, order]
        place, label = np.nonzero(counts)
        cuts = cutter(points.values[place], label, len(order), counts[place, label])
        return Column(self.name, "interval", "number", cuts=tuple(cuts.tolist()), written=self.written)

    def facts(self, n_classes: int, few: int) -> Facts:
        """Return what was found in the column; its class by category where that is known exactly."""
        if self.values != "number" or self.declared:
            many = len(self.levels) > MOST_LEVELS
            distinct = self.batch_distinct if many else len(self.used)
            found = category_facts(
                self.missing, _sorted(self.used), self.observed, distinct=distinct, declared=self.declared
            )
            leaks = found.finding is None and self.one_class.leaks(n_classes)
            return replace(found, finding=LEAK) if leaks else found
        points = self.summary.points()
        exact = points.error + points.spread == 0.0
        distinct = len(points.values) if exact else self.batch_distinct
        nominal = exact and not self.fractional and distinct <= few
        if nominal if self.forced is None else self.forced:
            finding = None
            if not self.fractional:  # an identifier has no fractions
                finding = suspect_categories(_plain_numbers(points.values), self.observed, distinct=distinct)
            total = float(points.counts.sum())
            if finding is None and total > 0 and determines(points.counts * (self.observed / total)):
                finding = LEAK
            return Facts(self.missing, distinct if self.forced else None, finding)
        if self.fractional:
            return Facts(self.missing)
        return Facts(self.missing, finding=self.order.finding(
            self.observed, distinct=distinct if exact else None, complete=not self.missing
        ))  # fmt: skip

    def _category_levels(self) -> tuple[Level, ...]:
        if self.as_declared is not None and set(self.as_declared) == set(self.levels):
            return self.as_declared
        if self.as_declared is not None:
            return tuple(self.levels)
        return tuple(_sorted(self.levels))


class WrittenTexts:
    """The texts of a column as numbers, by decimal mark, as long as they may be written numbers."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.numbers = {mark: ColumnView("", texts=None) for mark in THOUSANDS}
        self.strange: dict[str, list[Level]] = {mark: [] for mark in THOUSANDS}

    def add(self, item: CodedColumn, labels: Integers, n_classes: int, weights: Floats | None) -> bool:
        """Add a batch; return whether the texts may still be numbers."""
        found = tally(item)
        self.tally.merge(found)
        if self.tally.hopeless:
            return False
        present = item.codes >= 0
        known = None if weights is None else weights[present]
        unit = next((each for each in self.tally.units if each in UNITS), "")
        for mark, view in self.numbers.items():
            numbers = as_numbers(item, mark + unit)
            others = [text for text, x in zip(item.levels, numbers.levels, strict=True) if x != x]
            self.strange[mark] = self.strange[mark] or others[:1]
            view.add_numbers(numbers.numbers()[present], labels[present], n_classes, known)
        return True

    def merge(self, other: WrittenTexts | None, places: Integers, n_classes: int) -> bool:
        """Add another part of the rows; return whether the texts may still be numbers."""
        if other is None:
            return False
        self.tally.merge(other.tally)
        for mark, view in self.numbers.items():
            view.merge(other.numbers[mark], places, n_classes)
            self.strange[mark] = self.strange[mark] or other.strange[mark]
        return True


def _sorted(levels: Iterable[Level]) -> list[Level]:
    return sorted(levels, key=rank_value)


def _plain_numbers(values: Floats) -> tuple[Level, ...]:
    whole = (values == np.floor(values)).all() and (np.abs(values) < 2.0**53).all()
    return tuple((values.astype(np.int64) if whole else values).tolist())
