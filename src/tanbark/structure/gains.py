"""What it gains to add or to remove a parent, for many families at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import CountEngine, PartedCounts
from tanbark.counts.engine import Counts
from tanbark.errors import OptionError, find
from tanbark.scores import FAMILY_SCORES

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Family = tuple[int, tuple[int, ...]]

DENSE_CELLS = 1 << 16  # larger tables are scored by their observed cells
BATCH_CELLS = 1 << 21  # cells of the tables that are asked for at once
COMPILED = {"loglik": 0, "aic": 1, "bic": 2, "bdeu": 0, "k2": 0}  # scores with a compiled gain, and their penalty
EQUIVALENT = frozenset({"aic", "bic", "bdeu"})  # alike for equivalent graphs; without a penalty none is ever sparse


def _masses(score: str, sizes: tuple[int, int, int, int], ess: float) -> Floats:
    """Give the prior masses of a cell, of a configuration, and of both without the candidate; 0 for n ln n."""
    if score == "bdeu":
        return np.array([ess / size for size in sizes])
    if score == "k2":
        states = float(sizes[0] // sizes[1])
        return np.array([1.0, states, 1.0, states])
    return np.zeros(4)


class Gains:
    r"""The gain of a parent x for the family of y with the parents P, as a function of one table.

    .. math:: gain(x; y | P) = s(N_{P y x}) - s(\textstyle\sum_x N_{P y x})

    Both terms rest on the same rows, those with a value in each column, so that a column with gaps does not look better
    for the rows it lacks. With complete rows it is the difference of two family scores. Removing a parent gains the
    same with the other sign. Gains are kept, so that a search asks for a family once.

    Parameters
    ----------
    counts : CountEngine
    score : str
        A name in ``FAMILY_SCORES``.
    ess : float
        Equivalent sample size of "bdeu".
    allowed : (n, n) mask
        Which arcs x -> y are considered at all; the others gain -inf.
    max_cells : int
        A parent that would need a larger table gains -inf.
    """

    def __init__(self, counts: CountEngine, score: str, *, ess: float, allowed: Mask, max_cells: int) -> None:
        self._score, self._name = find("score", score, FAMILY_SCORES), score
        if isinstance(ess, bool) or not isinstance(ess, (int, float, np.number)) or not 0 < float(ess) <= 1e100:
            msg = f"ess must be a number above 0; got {ess!r}."
            raise OptionError(msg)
        self._counts, self._ess, self._max_cells, self._allowed = counts, float(ess), max_cells, allowed
        self._states = counts.schema.cardinalities
        self._kept: dict[Family, Floats] = {}

    @property
    def equivalent(self) -> bool:
        """Whether the score treats graphs of one equivalence class alike."""
        return self._name in EQUIVALENT

    @property
    def states(self) -> tuple[int, ...]:
        """Number of states of every column."""
        return self._states

    @property
    def max_cells(self) -> int:
        """Cells of the largest table that is considered."""
        return self._max_cells

    def toggles(self, families: Sequence[Family], ahead: Iterable[Family] = ()) -> list[Floats]:
        """Give, for each family (child, sorted parents), the gain of toggling every column as a parent.

        Families that are likely to be asked for next, ``ahead``, are counted along where that saves a pass.
        """
        fresh = [family for family in dict.fromkeys(families) if family not in self._kept]
        if fresh and isinstance(self._counts, PartedCounts):
            later = (family for family in ahead if family not in self._kept)
            self._counts.prefetch(columns for family in (*fresh, *later) for columns in self._sets(*family))
        for family in fresh:
            self._kept[family] = np.full(len(self._states), -np.inf)
        alone = [child for child, parents in fresh if not parents]
        if alone:
            self._measure_pairs(set(alone))
        for child, parents in fresh:
            if parents:
                self._measure(child, parents)
        return [self._kept[family] for family in families]

    def _sets(self, child: int, parents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """List the tables of a family with each candidate that are counted in full."""
        base = (*parents, child)
        if self._size(base) <= DENSE_CELLS:
            yield base
        for candidate in np.flatnonzero(self._allowed[:, child]).tolist():
            columns = (*base, candidate)
            if candidate not in parents and self._size(columns) <= min(DENSE_CELLS, self._max_cells):
                yield columns

    def family_scores(self, families: Sequence[Family]) -> list[float]:
        """Score families, each on the rows that have a value in all of its columns."""
        columns = [(*parents, child) for child, parents in families]
        self._counts.prefetch(chosen for chosen in columns if self._size(chosen) <= DENSE_CELLS)
        return [self._family_score(child, parents) for child, parents in families]

    def _family_score(self, child: int, parents: tuple[int, ...]) -> float:
        columns = (*parents, child)
        if self._size(columns) > DENSE_CELLS:
            ((cells, counts),) = self._counts.cells([columns])
            table = self._compact(cells, counts, child)
        else:
            table = self._counts.tables([columns])[0].reshape(1, -1, self._states[child]).astype(np.float64)
        return float(self._score(table, self._size(parents), self._ess)[0])

    def _size(self, columns: Sequence[int]) -> int:
        return math.prod(self._states[column] for column in columns)

    def _measure_pairs(self, children: set[int]) -> None:
        """Measure every candidate for children without parents; a pair is counted once for both directions."""
        wanted = self._allowed & np.isin(np.arange(len(self._states)), list(children))
        alike: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for a, b in np.argwhere(np.triu(wanted | wanted.T)).tolist():
            alike.setdefault((self._states[a], self._states[b]), []).append((a, b))
        for (first, second), pairs in alike.items():
            if first * second > min(DENSE_CELLS, self._max_cells):
                for a, b in pairs:
                    self._measure_sparse(b, (), [a] if wanted[a, b] else [])
                    self._measure_sparse(a, (), [b] if wanted[b, a] else [])
                continue
            step = max(1, BATCH_CELLS // (first * second))
            for low in range(0, len(pairs), step):
                part = pairs[low : low + step]
                (stack,) = self._counts.stacks([part])
                self._keep_pairs(part, stack[:, None], wanted)

    def _keep_pairs(self, pairs: list[tuple[int, int]], stack: Counts, wanted: Mask) -> None:
        onto_first = self._stacked_gains(stack)
        onto_second = self._stacked_gains(np.ascontiguousarray(stack.transpose(0, 1, 3, 2)))
        for (a, b), backward, forward in zip(pairs, onto_first.tolist(), onto_second.tolist(), strict=True):
            if wanted[b, a]:
                self._kept[a, ()][b] = backward
            if wanted[a, b]:
                self._kept[b, ()][a] = forward

    def _measure(self, child: int, parents: tuple[int, ...]) -> None:
        """Measure all candidates for one family, those with as many states together, and the removal of its parents."""
        base = (*parents, child)
        size = self._size(base)
        alike: dict[int, list[int]] = {}
        for candidate in np.flatnonzero(self._allowed[:, child]).tolist():
            if candidate not in parents:
                alike.setdefault(self._states[candidate], []).append(candidate)
        held = size <= DENSE_CELLS
        dense = [r for r in alike if size * r <= min(DENSE_CELLS, self._max_cells)]
        groups = [[(*base, candidate) for candidate in alike[r]] for r in dense]
        *stacks, own = self._counts.stacks([*groups, [base] if held else [(child,)]])
        for levels, stack in zip(dense, stacks, strict=True):
            shaped = stack.reshape(len(stack), -1, self._states[child], levels)
            self._kept[child, parents][alike[levels]] = self._stacked_gains(shaped)
        for levels in alike.keys() - set(dense):
            self._measure_sparse(child, parents, alike[levels])
        if held:
            self._measure_removal(child, parents, own[0])
        else:
            for parent in parents:
                rest = tuple(p for p in parents if p != parent)
                self._kept[child, parents][parent] = -self._sparse_gain(child, rest, parent)

    def _measure_removal(self, child: int, parents: tuple[int, ...], table: Counts) -> None:
        for axis, parent in enumerate(parents):
            moved = np.moveaxis(table, axis, -1).reshape(1, -1, self._states[child], self._states[parent])
            moved = np.ascontiguousarray(moved)
            self._kept[child, parents][parent] = -self._stacked_gains(moved)[0]

    def _stacked_gains(self, stack: Counts) -> Floats:
        """Score (families, configs, child, candidate) tables with and without their candidates."""
        families, configs, states, levels = stack.shape
        if self._name in COMPILED:
            from tanbark.structure import gain_kernels

            found = np.empty(families)
            sizes = (configs * levels * states, configs * levels, configs * states, configs)
            gain_kernels.stacked_gains(stack, _masses(self._name, sizes, self._ess), COMPILED[self._name], found)
            return found
        stack = stack.astype(np.float64)
        joined = stack.transpose(0, 1, 3, 2).reshape(families, configs * levels, states)
        more = self._score(joined, configs * levels, self._ess)
        return more - self._score(stack.sum(axis=3), configs, self._ess)

    def _measure_sparse(self, child: int, parents: tuple[int, ...], candidates: Sequence[int]) -> None:
        for candidate in candidates:
            if self._size((*parents, child, candidate)) <= self._max_cells:
                self._kept[child, parents][candidate] = self._sparse_gain(child, parents, candidate)

    def _sparse_gain(self, child: int, parents: tuple[int, ...], candidate: int) -> float:
        """Gain of a candidate by the observed cells of a table that is too large to be held."""
        ((cells, counts),) = self._counts.cells([(*parents, candidate, child)])
        more = self._score(self._compact(cells, counts, child), self._size((*parents, candidate)), self._ess)
        rest = cells[:, [*range(len(parents)), len(parents) + 1]]
        return float((more - self._score(self._compact(rest, counts, child), self._size(parents), self._ess))[0])

    def _compact(self, cells: NDArray[np.int64], counts: NDArray[np.generic], child: int) -> Floats:
        """Make a (1, observed configurations, states) table of cells whose last column is the child."""
        configs, place = np.unique(cells[:, :-1], axis=0, return_inverse=True)
        table = np.zeros((len(configs), self._states[child]))
        np.add.at(table, (place.ravel(), cells[:, -1]), counts)
        return table[None]
