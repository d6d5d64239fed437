"""Candidate parent sets: for every column those that some best network may need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tanbark.machine import blocks, run_threads, thread_count
from tanbark.structure.constraint.independence import combination_at, make_store

SMALLEST_BLOCK = 256
FAMILY_BYTES, SET_BYTES = 19, 14  # what a family of the two sizes at hand takes, and a set

Rows = tuple[NDArray[np.unsignedinteger], NDArray[np.float64]]


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
        The most parents that were looked at.
    beyond : (n,) array
        A score that no larger set reaches, per child; -inf where larger ones cannot be better than those listed.
    """

    child: NDArray[np.int64]
    score: NDArray[np.float64]
    member: NDArray[np.bool_]
    largest: int
    beyond: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.beyond)


def candidate_families(
    rows: Rows, cardinalities: tuple[int, ...], columns: tuple[int, ...], *, given: int | None, ess: float,
    most: int | None, max_memory: float, max_work: float, n_jobs: int | None, tell: Callable[[str], None],
) -> Candidates:  # fmt: skip
    r"""List the parent sets that a network of highest BDeu score may need, sizes ascending.

    A set goes if a subset of it scores as well. All supersets of a set P go unscored if a subset of P scores above what
    any of them can,

    .. math:: s_i(T) \le -D_i(P) \ln r_i \quad \text{for all } T \supseteq P,

    with the number D of observed cells of the child and P and the child's number r of states: the first row of a
    configuration has probability 1/r, and the first with a further state less than that. This holds for whole counts
    and for weights of at least 1; with smaller ones nothing goes unscored.

    Parameters
    ----------
    rows : codes and weights, without gaps
    cardinalities : tuple of int
    columns : tuple of int
        The searched columns.
    given : int, optional
        A further column that is in every family.
    ess : float
    most : int, optional
        The most parents.
    max_memory : float
        Bytes that a size may take; larger sizes are left out, and ``beyond`` says what they might score.
    max_work : float
        The same for the sets of one size times the rows.
    n_jobs : int, optional
    tell : callable
        Is told of every size.
    """
    levels = _Levels(rows, cardinalities, columns, given, ess, n_jobs)
    n = len(columns)
    limit = n - 1 if most is None else min(most, n - 1)
    found = [levels.next()]
    size = 1
    while size <= limit and levels.alive.any():
        sets = math.comb(n, size + 1)
        needed = sets * (FAMILY_BYTES * (size + 1) + SET_BYTES)
        if needed > max_memory or sets * levels.n_rows > max_work:
            tell(f"sets of {size} parents and more left out: {sets:,} sets, {needed / 2**30:,.2f} GiB")
            break
        found.append(levels.next())
        size += 1
        tell(f"{len(found[-1][0]):,} candidate sets of {size - 1} parents")
    beyond = levels.beyond() if size < n and (most is None or size <= most) else np.full(n, -np.inf)
    child, score, member = (np.concatenate([part[k] for part in found]) for k in range(3))
    order = np.lexsort((-score, child))
    return Candidates(child[order], score[order], member[order], size - 1, beyond)


class _Levels:
    """The families of one size after another."""

    def __init__(
        self, rows: Rows, cardinalities: tuple[int, ...], columns: tuple[int, ...], given: int | None, ess: float,
        n_jobs: int | None,
    ) -> None:  # fmt: skip
        codes, weights = rows
        if len(weights):
            codes, weights = codes[:, weights > 0], weights[weights > 0]
        labels = np.zeros(codes.shape[1], np.int64) if given is None else codes[given].astype(np.int64)
        states = np.array([cardinalities[c] for c in columns], np.int64)
        self.n, self.n_rows, self.threads = len(columns), codes.shape[1], thread_count(n_jobs)
        self.counting = (
            np.ascontiguousarray(codes[list(columns)]), weights, states, labels,
            1 if given is None else cardinalities[given], ess,
        )  # fmt: skip
        self.log_states = np.log(states)
        self.prune = bool((weights >= 1).all())
        self.size = 0
        alone = np.bincount(labels, weights if len(weights) else None, self.counting[4])
        a = ess / len(alone)
        self.h, self.cells = np.array([(gammaln(a + alone) - gammaln(a)).sum()]), np.zeros(1, np.int32)
        self.best, self.alive = np.zeros((1, 0)), np.ones((1, 0), bool)

    def _calls(self, size: int) -> list[tuple[NDArray[np.int64], int, int]]:
        """Cut the sets of a size into stretches: the first set of each, its number, and where it ends."""
        total = math.comb(self.n, size)
        step = max(SMALLEST_BLOCK, -(-total // (8 * self.threads)))
        return [(combination_at(start, self.n, size), start, stop) for start, stop in blocks(total, step)]

    def _numbers(self, size: int) -> NDArray[np.int64]:
        """Return the binomials "a over b", b up to a size."""
        return np.array([[math.comb(a, b) for b in range(size + 1)] for a in range(self.n + 1)], np.int64)

    def _count(self, size: int, wanted: Any, h: NDArray[np.float64], cells: NDArray[np.int32]) -> None:
        from tanbark.structure.exact import parent_set_kernels as kernels

        def work(chosen: NDArray[np.int64], start: int, stop: int) -> None:
            store = make_store(self.n_rows)
            kernels.count_sets(chosen, start, stop, wanted, *self.counting, store, h, cells)

        run_threads(work, self._calls(size), self.threads)

    def next(self) -> tuple[NDArray[Any], ...]:
        """Go on to the next size; give child, score and members of its candidates."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        size = self.size + 1
        shape = math.comb(self.n, size), size
        numbers, calls = self._numbers(size), self._calls(size)
        opened = np.zeros(shape, bool)
        run_threads(kernels.open_families, [(c.copy(), a, b, numbers, self.alive, opened) for c, a, b in calls],
                    self.threads)  # fmt: skip
        wanted = np.zeros(len(self.h), bool)
        for chosen, start, stop in calls:
            kernels.sets_below(chosen.copy(), start, stop, numbers, opened, wanted)
        self._count(self.size, wanted & np.isnan(self.h), self.h, self.cells)
        h, cells = np.full(shape[0], np.nan), np.zeros(shape[0], np.int32)
        self._count(size, opened.any(axis=1), h, cells)
        best, alive, kept = np.full(shape, -np.inf), np.zeros(shape, bool), np.zeros(shape, bool)
        parts = (self.h, self.best, h, cells, opened, self.log_states, self.prune, best, alive, kept)
        run_threads(kernels.score_families, [(c.copy(), a, b, numbers, *parts) for c, a, b in calls], self.threads)
        self.size, self.h, self.cells, self.best, self.alive = size, h, cells, best, alive
        return self._listed(kept)

    def _listed(self, kept: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
        number, place = np.nonzero(kept)
        sets = np.array([combination_at(int(k), self.n, self.size) for k in number], np.int64).reshape(-1, self.size)
        rows = np.arange(len(number))
        child = sets[rows, place]
        member = np.zeros((len(number), self.n), bool)
        member[rows[:, None], sets] = True
        member[rows, child] = False
        return child, self.best[number, place], member

    def beyond(self) -> NDArray[np.float64]:
        """Bound the scores of families that are larger than those looked at, child by child."""
        from tanbark.structure.exact import parent_set_kernels as kernels

        most = np.full(self.n, -np.inf)
        for chosen, start, stop in self._calls(self.size):
            kernels.bound_larger(chosen, start, stop, self.n, self.alive, self.cells, self.log_states, self.prune, most)
        return most
