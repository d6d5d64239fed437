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
FAMILY_BYTES, SET_BYTES = 19, 14  # memory per family of the two sizes in use, and per set


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
    largest : int
        The most parents that were considered.
    beyond : (n,) array
        An upper bound on the score of larger sets, per child; -inf where these cannot be better than those listed.
    """

    child: NDArray[np.int64]
    score: NDArray[np.float64]
    member: NDArray[np.bool_]
    largest: int
    beyond: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """Number of searched columns."""
        return len(self.beyond)


def candidate_families(
    rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, max_parents: int | None,
    max_memory: float, max_work: float, n_jobs: int | None, report: Callable[[str], None],
) -> Candidates:  # fmt: skip
    r"""List the parent sets that a network of highest BDeu score may need, by ascending size.

    A set is pruned if a subset of it scores as well. All supersets of a set P are pruned unscored if a subset of P
    scores above what any of them can,

    .. math:: s_i(T) \le -D_i(P) \ln r_i \quad \text{for all } T \supseteq P,

    with the number D of observed cells of the child and P and the child's number r of states: the first row of a
    configuration has probability 1/r, and the first with a further state less than that. This holds for whole counts
    and for weights of at least 1; with smaller ones no set is pruned unscored.

    Parameters
    ----------
    rows : CompleteRows
    columns : tuple of int
        The searched columns.
    given : int, optional
        A further column that is in every family.
    max_memory : float
        Bytes that a size may take; larger sizes are left out, and ``beyond`` bounds their scores.
    max_work : float
        The same for the sets of one size times the rows.
    report : callable
        Called with a line about every size.
    """
    levels = _Levels(rows, columns, given, ess, n_jobs)
    n = len(columns)
    limit = n - 1 if max_parents is None else min(max_parents, n - 1)
    found = [levels.next()]
    size = 1
    while size <= limit and levels.level.alive.any():
        sets = math.comb(n, size + 1)
        needed = sets * (FAMILY_BYTES * (size + 1) + SET_BYTES)
        if needed > max_memory or sets * levels.n_rows > max_work:
            report(f"sets of {size} parents and more left out: {sets:,} sets, {needed / 2**30:,.2f} GiB")
            break
        found.append(levels.next())
        size += 1
        report(f"{len(found[-1][0]):,} candidate sets of {size - 1} parents")
    unfinished = size < n and (max_parents is None or size <= max_parents)
    child, score, member = (np.concatenate([part[k] for part in found]) for k in range(3))
    order = np.lexsort((-score, child))
    beyond = levels.bound_larger() if unfinished else np.full(n, -np.inf)
    return Candidates(child[order], score[order], member[order], size - 1, beyond)


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

    def bound_larger(self) -> NDArray[np.float64]:
        """Return an upper bound on the scores of families larger than those scored, by child."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        bound = np.full(self.n, -np.inf)
        calls = [(*call, self.level, self.log_states, self.prune, bound) for call in self._calls(self.size)]
        run_threads(kernels.bound_larger, calls, 1, long=True)  # they write to the same places
        return bound
