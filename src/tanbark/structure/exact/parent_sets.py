"""Candidate parent sets: for every column those that some best network may need."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.counts.column_sets import combination_at
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.scores.dirichlet import h, make_term_cache
from tanbark.structure.exact.cluster_cuts import Clusters
from tanbark.structure.exact.subset_scores import CompleteRows

MIN_SETS_PER_TASK = 256
SET_BYTES, FAMILY_BYTES = 14, 19  # memory per set and per family of a size


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

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Join lists; of a set that is in several the first stays."""
        child = np.concatenate([part.child for part in parts])
        score = np.concatenate([part.score for part in parts])
        member = np.concatenate([part.member for part in parts])
        keys = np.column_stack([child.astype(np.uint64), pack(member)])
        _, first = np.unique(keys, axis=0, return_index=True)
        first.sort()
        return cls.sorted(child[first], score[first], member[first])

    def where(self, chosen: NDArray[Any]) -> Candidates:
        """Return some of the sets."""
        return Candidates(self.child[chosen], self.score[chosen], self.member[chosen])

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


def n_small_sets(n: int, max_parents: int) -> int:
    """Return how many sets of columns ``Levels`` may have to count.

    >>> n_small_sets(30, 2)
    4525
    """
    return sum(math.comb(n, size) for size in range(1, min(max_parents + 1, n) + 1))


class Levels:
    """The parent sets that score above all their subsets, one size after another.

    Every set of columns is counted once, for all its members as children. All supersets of a set are left out unscored
    where bound 1 of ``bounded_sets`` allows it.

    Parameters
    ----------
    rows : CompleteRows
    columns : tuple of int
        The searched columns.
    given : int, optional
        A further column that is in every family.
    ess : float
        Equivalent sample size.
    n_jobs : int, optional
    """

    def __init__(
        self, rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, n_jobs: int | None
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

    def up_to(self, max_parents: int, report: Callable[[str], None] = lambda line: None) -> Candidates:
        """List the sets of at most so many parents; ``report`` is called with a line about every size."""
        found = [self.next()]
        while self.size <= min(max_parents, self.n - 1) and self.level.alive.any():
            found.append(self.next())
            report(f"{len(found[-1].child):,} candidate sets of {self.size - 1} parents")
        return Candidates.joined(found)

    def bytes_of_next(self) -> int:
        """Return the memory that the next size takes."""
        return math.comb(self.n, self.size + 1) * (SET_BYTES + FAMILY_BYTES * (self.size + 1))

    def _calls(self, size: int) -> list[tuple[NDArray[np.int64], int, int]]:
        """Cut the sets of a size into tasks: the first set of each, its number, and where it ends."""
        total = math.comb(self.n, size)
        step = max(MIN_SETS_PER_TASK, -(-total // (32 * self.threads)))
        return [(combination_at(start, self.n, size), start, stop) for start, stop in blocks(total, step)]

    def _binomials(self, size: int) -> NDArray[np.int64]:
        """Return the binomials "a over b", b up to a size."""
        return np.array([[math.comb(a, b) for b in range(size + 1)] for a in range(self.n + 1)], np.int64)

    def _count(self, size: int, wanted: Any, level: Any, deadline: float) -> None:
        """Fill in h and the number of observed cells of the wanted sets of a size; past the deadline of no more."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        def work(chosen: NDArray[np.int64], start: int, stop: int) -> None:
            if time.perf_counter() >= deadline:
                return
            cache = make_term_cache(self.n_rows)
            kernels.h_of_sets(chosen, start, stop, wanted, self.rows, self.ess, cache, level.h, level.cells)

        run_threads(work, self._calls(size), self.threads, long=True)

    def open_next(self, wanted: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Mark the families of the next size that may be of use to wanted children; return also how many by child."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        size = self.size + 1
        calls, binomials = self._calls(size), self._binomials(size)
        opened = np.zeros((math.comb(self.n, size), size), bool)
        counts = np.zeros((len(calls), self.n), np.int64)
        opening = [
            (*call, binomials, self.level.alive, wanted, opened, out) for call, out in zip(calls, counts, strict=True)
        ]
        run_threads(kernels.open_families, opening, self.threads, long=True)
        return opened, counts.sum(axis=0)

    def next(self) -> Candidates:
        """Go on to the next size; return its candidates."""
        found = self.go_on(self.open_next(np.ones(self.n, bool))[0], self.floors(), np.inf)
        assert found is not None  # there is no deadline
        return found

    def go_on(self, opened: NDArray[np.bool_], floors: Any, deadline: float) -> Candidates | None:
        """Go on to the next size with the families opened; return its candidates, or None if time is up before.

        ``deadline`` is by ``time.perf_counter``.
        """
        from tanbark.structure.exact import parent_set_kernels as kernels

        below, size = self.level, self.size + 1
        shape, binomials, calls = opened.shape, self._binomials(size), self._calls(size)
        level = kernels.Level(
            np.full(shape[0], np.nan), np.zeros(shape[0], np.int32), opened, np.full(shape, -np.inf),
            np.zeros(shape, bool), np.zeros(shape, bool),
        )  # fmt: skip
        wanted = np.zeros(len(below.h), bool)
        marking = [(c.copy(), a, b, binomials, opened, wanted) for c, a, b in calls]
        run_threads(kernels.sets_below, marking, 1, long=True)  # they write to the same places
        self._count(self.size, wanted & np.isnan(below.h), below, deadline)
        self._count(size, opened.any(axis=1), level, deadline)
        if time.perf_counter() >= deadline:
            return None
        scoring = [(*call, binomials, below, level, self.log_states, self.prune, floors) for call in calls]
        run_threads(kernels.score_families, scoring, self.threads, long=True)
        self.size, self.level = size, level
        return self._listed(level.kept)

    def floors(
        self, values: Floats | None = None, clusters: Clusters | None = None, penalties: Floats | None = None
    ) -> Any:
        """Gather floors for the kernels: the least values by child, and the penalties of clusters; none by default."""
        from tanbark.structure.exact.parent_set_kernels import Floors

        values = np.full(self.n, -np.inf) if values is None else values
        clusters = Clusters.none(self.n) if clusters is None else clusters
        penalties = np.zeros(0) if penalties is None else penalties
        child, number = np.nonzero(clusters.members.T)
        starts = np.searchsorted(child, np.arange(self.n + 1))
        return Floors(values, starts, pack(clusters.members)[number], clusters.orders[number], penalties[number])

    def _listed(self, kept: NDArray[np.bool_]) -> Candidates:
        number, place = np.nonzero(kept)
        sets = np.array([combination_at(int(k), self.n, self.size) for k in number], np.int64).reshape(-1, self.size)
        rows = np.arange(len(number))
        child = sets[rows, place]
        member = np.zeros((len(number), self.n), bool)
        member[rows[:, None], sets] = True
        member[rows, child] = False
        return Candidates.sorted(child, self.level.best[number, place], member)
