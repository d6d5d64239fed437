"""Learning a schema in one pass over batches: the columns, the classes and the rows of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tanbark.arrays import Floats, Integers
from tanbark.errors import EmptyColumnWarning, warn
from tanbark.machine import run_threads, thread_count
from tanbark.table.column_view import ColumnView, Cutter
from tanbark.table.findings import Facts
from tanbark.table.learn_schema import FEW
from tanbark.table.objects import rank_value
from tanbark.table.raw import RawTable
from tanbark.table.schema import Column, Level


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
    label_rows : list of int
        The rows of every class, in the order in which the classes came.
    """

    views: list[ColumnView]
    labels: dict[Level, int] = field(default_factory=dict)
    n_rows: int = 0
    weighted: bool = False
    label_rows: list[int] = field(default_factory=list)

    def add(
        self, features: RawTable, label_codes: Integers, label_levels: list[Level], weights: Floats | None,
        *, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        """Add a batch of rows with the codes of their labels."""
        self.n_rows += features.n_rows
        self.weighted = self.weighted or weights is not None
        labels = self._numbers(label_levels)[label_codes] if len(label_levels) else np.zeros(len(label_codes), np.int64)
        n = len(self.labels)
        self._count_labels(np.bincount(labels, minlength=n).tolist())
        calls = [
            (self.views[c].add_numbers, block.values[:, k], labels, n, weights)
            for block in features.blocks
            for k, c in enumerate(block.columns)
        ] + [(self.views[item.column].add_coded, item, labels, n, weights) for item in features.coded]
        run_threads(_call, calls, thread_count(n_jobs) if features.n_rows > 1 << 14 else 1)

    def _numbers(self, levels: list[Level]) -> Integers:
        return np.array([self.labels.setdefault(level, len(self.labels)) for level in levels], np.int64)

    def _count_labels(self, rows: list[int]) -> None:
        before = self.label_rows + [0] * (len(rows) - len(self.label_rows))
        self.label_rows = [old + new for old, new in zip(before, rows, strict=True)]

    def merge(self, other: Observed) -> Observed:
        """Add the summary of another part of the rows."""
        self.n_rows += other.n_rows
        self.weighted = self.weighted or other.weighted
        places = self._numbers(list(other.labels))
        self._count_labels(np.bincount(places, other.label_rows, len(self.labels)).astype(np.int64).tolist())
        for mine, theirs in zip(self.views, other.views, strict=True):
            mine.merge(theirs, places, max(1, len(self.labels)))
        return self

    def classes(self) -> list[Level]:
        """List the classes, sorted."""
        return sorted(self.labels, key=rank_value)

    def facts(self, few: int = FEW) -> tuple[Facts, ...]:
        """Return what was found in every feature; whole numbers with at most ``few`` values are categories."""
        return tuple(view.facts(max(1, len(self.labels)), few) for view in self.views)

    def settle(self) -> Observed:
        """Return the same with numbers instead of the texts that are written numbers."""
        return replace(self, views=[view.settled() for view in self.views])

    def without(self, left_out: tuple[int, ...]) -> Observed:
        """Return the same without some of the features."""
        return replace(self, views=[view for place, view in enumerate(self.views) if place not in left_out])

    def class_rows(self) -> tuple[int, ...]:
        """Return the rows of every class, in the order of the schema."""
        return tuple(self.label_rows[self.labels[label]] for label in self.classes())

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
