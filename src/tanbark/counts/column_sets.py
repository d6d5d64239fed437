"""Sets of columns: laid out for the kernels, numbered in lexicographic order, and cut into batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from tanbark.arrays import Array, Bools, Integers

ColumnSet = tuple[int, ...]


class ColumnSets(Sequence[ColumnSet]):
    """Sets of columns one after another in one array: those of set s are ``members[ends[s] : ends[s + 1]]``.

    >>> ColumnSets.of([(3, 1), (2,)])[0]
    (3, 1)
    """

    def __init__(self, members: Integers, ends: Integers) -> None:
        self.members, self.ends = members, ends

    @classmethod
    def of(cls, sets: Sequence[ColumnSet]) -> ColumnSets:
        """Lay out a list of sets, unless it is laid out already."""
        if isinstance(sets, ColumnSets):
            return sets
        members = np.array([column for columns in sets for column in columns], np.int64)
        return cls(members, np.cumsum([0, *map(len, sets)]))

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, place: int) -> ColumnSet: ...
    @overload
    def __getitem__(self, place: slice) -> list[ColumnSet]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        return tuple(self.members[self.ends[number] : self.ends[number + 1]].tolist())

    def chosen(self, mask: Bools) -> ColumnSets:
        """Return the sets that a mask marks.

        >>> list(ColumnSets.of([(3, 1), (2,), (0, 4)]).chosen(np.array([True, False, True])))
        [(3, 1), (0, 4)]
        """
        sizes = np.diff(self.ends)
        return ColumnSets(self.members[np.repeat(mask, sizes)], np.append(0, np.cumsum(sizes[mask])))

    def measure(self, states: Integers) -> tuple[Integers, Integers]:
        """Return the number of cells of each set's table, and the most states that a column in it has."""
        from tanbark.counts import kernels

        sizes, highest = np.ones(len(self), np.int64), np.ones(len(self), np.int64)
        kernels.measure_sets(self.members, self.ends, states, sizes, highest)
        return sizes, highest


def combination_at(rank: int, n: int, size: int) -> Integers:
    """Return the combination of ``range(n)`` with a rank in lexicographic order.

    >>> combination_at(4, 4, 2).tolist()
    [1, 3]
    """
    chosen: list[int] = []
    value = 0
    for left in range(size, 0, -1):
        while (skipped := math.comb(n - value - 1, left - 1)) <= rank:
            rank -= skipped
            value += 1
        chosen.append(value)
        value += 1
    return np.array(chosen, np.int64)


def cut(sizes: Array, most: int) -> Iterator[tuple[int, int]]:
    """Cut a list of sizes into consecutive runs (start, stop) that sum to at most ``most``, or hold one.

    >>> list(cut(np.array([2, 2, 5, 1]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.cumsum(sizes)
    low = 0
    while low < len(sizes):
        before = ends[low] - sizes[low]
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield low, high
        low = high
