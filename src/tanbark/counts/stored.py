"""Counts kept without the rows: they add, subtract, and answer a learner as an engine does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.engine import ColumnSet, Counts, Floats, PairInformation
from tanbark.counts.memory import MemoryCounts
from tanbark.errors import InputError
from tanbark.table import Schema


@dataclass(frozen=True, eq=False)
class StoredCounts:
    """The tables of the class, of each feature with the class and, with ``order`` 2, of each pair with the class.

    Parameters
    ----------
    schema : Schema
    order : {1, 2}
        How many features a table may hold beside the class.
    flat : array
        All tables, one after another: (class), (i, class) for every i, (i, j, class) for every i < j.
    """

    schema: Schema
    order: int
    flat: Counts

    @classmethod
    def of(cls, counts: MemoryCounts, order: int) -> StoredCounts:
        """Count everything that learners of this order may ask."""
        target = counts.schema.target
        single = counts.tables([(target,), *((i, target) for i in range(target))])
        flat = np.concatenate([table.ravel() for table in single])
        if order == 2:
            flat = np.concatenate([flat, counts.pair_tables()])
        return cls(counts.schema, order, flat)

    @cached_property
    def _starts(self) -> dict[ColumnSet, int]:
        target, states = self.schema.target, self.schema.cardinalities
        sets: list[ColumnSet] = [(target,), *((i, target) for i in range(target))]
        if self.order == 2:
            sets += [(i, j, target) for i in range(target) for j in range(i + 1, target)]
        starts, end = {}, 0
        for columns in sets:
            starts[columns] = end
            end += math.prod(states[c] for c in columns)
        return starts

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.tables([(self.schema.target,)])[0].sum())

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Look up stored tables, in any order of their columns."""
        return [self._table(columns) for columns in sets]

    def _table(self, columns: ColumnSet) -> Counts:
        stored = tuple(sorted(columns))
        if stored not in self._starts:
            names = [self.schema.names[c] for c in columns]
            msg = f"These counts do not hold the table of {names}; learn from rows, or keep counts of a higher order."
            raise InputError(msg)
        shape = tuple(self.schema.cardinalities[c] for c in stored)
        start = self._starts[stored]
        table = self.flat[start : start + math.prod(shape)].reshape(shape)
        return table.transpose([stored.index(c) for c in columns])

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[NDArray[np.int64], Counts]]:
        """Give the cells that occur in stored tables."""
        found = []
        for table in self.tables(sets):
            states = np.argwhere(table)
            found.append((states, table[tuple(states.T)]))
        return found

    def pair_information(self) -> PairInformation:
        """Measure the dependence of every two features given the class."""
        from tanbark.counts import kernels

        states = np.array(self.schema.cardinalities, np.int64)
        first, second = np.triu_indices(self.schema.target, 1)
        n_classes = int(states[self.schema.target])
        sizes = states[first] * states[second] * n_classes
        starts = self.flat.size - int(sizes.sum()) + np.cumsum(sizes) - sizes
        gain, rows = np.zeros(len(first)), np.zeros(len(first))
        kernels.pair_gains(self.flat, starts, states[first], states[second], n_classes, gain, rows)
        return PairInformation(gain, rows)

    def batches(self, size: int = 65536) -> Iterator[tuple[NDArray[np.unsignedinteger], Floats | None]]:
        """Refuse: the rows are gone."""
        msg = "Stored counts hold no rows; this learner must see the rows themselves. Use fit."
        raise InputError(msg)

    def grown(self, schema: Schema) -> StoredCounts:
        """Make room for categories that were appended to the schema."""
        if schema.cardinalities == self.schema.cardinalities:
            return replace(self, schema=schema)
        larger = StoredCounts(schema, self.order, np.zeros(0, self.flat.dtype))
        parts = []
        for columns in larger._starts:
            old = self._table(columns)
            new = np.zeros([schema.cardinalities[c] for c in columns], self.flat.dtype)
            new[tuple(slice(0, size) for size in old.shape)] = old
            parts.append(new.ravel())
        return replace(larger, flat=np.concatenate(parts))

    def __add__(self, other: StoredCounts) -> StoredCounts:
        self._check_alike(other)
        return StoredCounts(self.schema, self.order, self.flat + other.flat)

    def __sub__(self, other: StoredCounts) -> StoredCounts:
        self._check_alike(other)
        rest = self.flat - other.flat
        if (rest < -1e-9).any():
            msg = "These counts hold rows that were never added, so they cannot be subtracted."
            raise InputError(msg)
        return StoredCounts(self.schema, self.order, np.maximum(rest, 0))

    def _check_alike(self, other: StoredCounts) -> None:
        if self.schema != other.schema or self.order != other.order:
            msg = "Only counts of the same columns, states and order can be added or subtracted."
            raise InputError(msg)
