"""Counts of chosen sets of columns, kept without the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Integers
from tanbark.counts.column_sets import ColumnSet, ColumnSets
from tanbark.counts.engine import CountEngine
from tanbark.counts.low_order import StoredCounts, stored_cells
from tanbark.errors import InputError
from tanbark.table import Schema


@dataclass(frozen=True, eq=False)
class ChosenCounts:
    """The contingency tables of chosen sets of columns, those of the class alone and with each feature among them.

    Parameters
    ----------
    schema : Schema
    sets : tuple of (n_sets, size) arrays
        The sets by their size; the columns of each are sorted, and so are the sets of one size.
    flat : array
        The tables one after another, in the order of ``sets``.
    """

    schema: Schema
    sets: tuple[Integers, ...]
    flat: Counts

    @classmethod
    def count(cls, counts: CountEngine, sets: tuple[Integers, ...]) -> ChosenCounts:
        """Count sets of columns."""
        members = np.concatenate([some.ravel() for some in sets])
        widths = np.repeat([some.shape[1] for some in sets], [len(some) for some in sets])
        return cls(counts.schema, sets, counts.flat_tables(ColumnSets(members, np.append(0, np.cumsum(widths)))))

    @cached_property
    def _starts(self) -> dict[int, tuple[Integers, Integers]]:
        """The keys of the sets of each size, ascending, and where their tables begin."""
        found, end = {}, 0
        for some in self.sets:
            sizes = self._states[some].prod(axis=1)
            found[some.shape[1]] = self._keys(some), end + np.cumsum(sizes) - sizes
            end += int(sizes.sum())
        return found

    @cached_property
    def _states(self) -> Integers:
        return np.array(self.schema.cardinalities, np.int64)

    def _keys(self, sets: Integers) -> Integers:
        """Number sets of one size in lexicographic order."""
        return np.asarray(np.ravel_multi_index(tuple(sets.T), (len(self._states),) * sets.shape[1]), np.int64)

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.stored(1).total

    def stored(self, order: int) -> StoredCounts:
        """Return the counts of each feature with the class (order 1); others are not all kept."""
        if order != 1:
            msg = f"Chosen counts do not hold all tables of order {order}; learn from rows."
            raise InputError(msg)
        return StoredCounts(self.schema, 1, self.flat[: stored_cells(self.schema, 1)])

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Look up kept tables, in any order of their columns."""
        return [self.stack(np.array([columns], np.int64))[0] for columns in sets]

    def stack(self, sets: NDArray[np.int64]) -> Counts:
        """Look up the tables of sets of columns, one a row, that have one shape."""
        patterns = np.argsort(sets, axis=1)
        keys, starts = self._starts[sets.shape[1]]
        places = starts[np.searchsorted(keys, self._keys(np.take_along_axis(sets, patterns, axis=1)))]
        shape = self._states[sets[0]]
        found = np.empty((len(sets), *shape), self.flat.dtype)
        kinds = np.ravel_multi_index(tuple(patterns.T), (sets.shape[1],) * sets.shape[1])
        for first in np.unique(kinds, return_index=True)[1]:
            pattern, some = patterns[first], kinds == kinds[first]
            kept = self.flat[places[some][:, None] + np.arange(shape.prod())].reshape(-1, *shape[pattern])
            found[some] = kept.transpose(0, *(1 + np.argsort(pattern)))
        return found


def chosen_cells(schema: Schema, sets: tuple[Integers, ...]) -> int:
    """Number of cells that :class:`ChosenCounts` of sets hold."""
    states = np.array(schema.cardinalities, np.int64)
    return sum(int(states[some].prod(axis=1).sum()) for some in sets)
