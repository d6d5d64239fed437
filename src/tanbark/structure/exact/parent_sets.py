"""Candidate parent sets: for every column those that some best network may need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.column_sets import combination_at
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.scores.dirichlet import h, make_term_cache
from tanbark.structure.exact.subset_scores import CompleteRows

MIN_SETS_PER_TASK = 256


@dataclass(frozen=True)
class Candidates:
    """Parent sets that are better than all their subsets.

    Parameters
    ----------
    child : (k,) array
        Whose parents they are, as places among the searched columns; ascending.
    score : (k,) array
        The score of the child with these parents.
    member : (k, n) array of bool
        Who the parents are.
    """

    child: NDArray[np.int64]
    score: NDArray[np.float64]
    member: NDArray[np.bool_]

    @classmethod
    def sorted(cls, child: NDArray[np.int64], score: NDArray[np.float64], member: NDArray[np.bool_]) -> Candidates:
        """Sort sets by child, then by falling score, then as they come."""
        order = np.lexsort((-score, child))
        return cls(child[order], score[order], member[order])

    @property
    def n_columns(self) -> int:
        """Number of searched columns."""
        return int(self.member.shape[1])


def pack(member: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack rows of members into words of 64 bits."""
    n_words = -(-member.shape[1] // 64)
    padded = np.zeros((len(member), 64 * n_words), bool)
    padded[:, : member.shape[1]] = member
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(len(member), n_words)


def unpack(words: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Unpack words into rows of n members."""
    return np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").astype(bool)


def small_families(
    rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, max_parents: int,
    n_jobs: int | None, report: Callable[[str], None],
) -> Candidates:  # fmt: skip
    """List the sets of at most ``max_parents`` parents that score above all their subsets, by ascending size.

    Every set of columns is counted once, for all its members as children. All supersets of a set are left out unscored
    where bound 1 of ``bounded_sets`` allows it.

    Parameters
    ----------
    rows : CompleteRows
    columns : tuple of int
        The searched columns.
    given : int, optional
        A further column that is in every family.
    report : callable
        Called with a line about every size.
    """
    levels = _Levels(rows, columns, given, ess, n_jobs)
    n = len(columns)
    found = [levels.next()]
    while levels.size <= min(max_parents, n - 1) and levels.level.alive.any():
        found.append(levels.next())
        report(f"{len(found[-1][0]):,} candidate sets of {levels.size - 1} parents")
    child, score, member = (np.concatenate([part[k] for part in found]) for k in range(3))
    return Candidates.sorted(child, score, member)


def n_small_sets(n: int, max_parents: int) -> int:
    """Return how many sets of columns ``small_families`` may have to count.

    >>> n_small_sets(30, 2)
    4525
    """
    return sum(math.comb(n, size) for size in range(1, min(max_parents + 1, n) + 1))


class _Levels:
    """The families of one size after another."""

    def __init__(
        self, rows: CompleteRows, columns: tuple[int, ...], given: int | None, ess: float, n_jobs: int | None
    ) -> None:
        from tanbark.structure.exact.parent_set_kernels import Level

        self.rows = rows.positive().labelled(columns, given)
        self.ess, self.n, self.threads = ess, len(columns), thread_count(n_jobs)
        self.n_rows = len(self.rows.labels)
        weights = self.rows.weights
        self.log_states = np.log(self.rows.n_states)
        self.prune = bool((weights >= 1).all())
        self.size = 0
        by_label = np.bincount(self.rows.labels, weights if len(weights) else None, self.rows.n_labels)
        families = np.zeros((1, 0), bool)
        self.level = Level(
            np.array([h(by_label, len(by_label), ess)]), np.zeros(1, np.int32), families, np.zeros((1, 0)), families,
            families,
        )  # fmt: skip

    def _calls(self, size: int) -> list[tuple[NDArray[np.int64], int, int]]:
        """Cut the sets of a size into tasks: the first set of each, its number, and where it ends."""
        total = math.comb(self.n, size)
        step = max(MIN_SETS_PER_TASK, -(-total // (8 * self.threads)))
        return [(combination_at(start, self.n, size), start, stop) for start, stop in blocks(total, step)]

    def _binomials(self, size: int) -> NDArray[np.int64]:
        """Return the binomials "a over b", b up to a size."""
        return np.array([[math.comb(a, b) for b in range(size + 1)] for a in range(self.n + 1)], np.int64)

    def _count(self, size: int, wanted: Any, level: Any) -> None:
        """Fill in h and the number of observed cells of the wanted sets of a size."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        def work(chosen: NDArray[np.int64], start: int, stop: int) -> None:
            cache = make_term_cache(self.n_rows)
            kernels.h_of_sets(chosen, start, stop, wanted, self.rows, self.ess, cache, level.h, level.cells)

        run_threads(work, self._calls(size), self.threads, long=True)

    def next(self) -> tuple[NDArray[Any], ...]:
        """Go on to the next size; return child, score and members of its candidates."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        below, size = self.level, self.size + 1
        shape = math.comb(self.n, size), size
        binomials, calls = self._binomials(size), self._calls(size)
        level = kernels.Level(
            np.full(shape[0], np.nan), np.zeros(shape[0], np.int32), np.zeros(shape, bool), np.full(shape, -np.inf),
            np.zeros(shape, bool), np.zeros(shape, bool),
        )  # fmt: skip
        opening = [(c.copy(), a, b, binomials, below.alive, level.opened) for c, a, b in calls]
        run_threads(kernels.open_families, opening, self.threads, long=True)
        wanted = np.zeros(len(below.h), bool)
        marking = [(c.copy(), a, b, binomials, level.opened, wanted) for c, a, b in calls]
        run_threads(kernels.sets_below, marking, 1, long=True)  # they write to the same places
        self._count(self.size, wanted & np.isnan(below.h), below)
        self._count(size, level.opened.any(axis=1), level)
        scoring = [(*call, binomials, below, level, self.log_states, self.prune) for call in calls]
        run_threads(kernels.score_families, scoring, self.threads, long=True)
        self.size, self.level = size, level
        return self._listed(level.kept)

    def _listed(self, kept: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
        number, place = np.nonzero(kept)
        sets = np.array([combination_at(int(k), self.n, self.size) for k in number], np.int64).reshape(-1, self.size)
        rows = np.arange(len(number))
        child = sets[rows, place]
        member = np.zeros((len(number), self.n), bool)
        member[rows[:, None], sets] = True
        member[rows, child] = False
        return child, self.level.best[number, place], member
