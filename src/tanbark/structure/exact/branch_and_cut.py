"""The best network from lists of candidate parent sets: an integer programme, solved by branch and cut.

One 0-1 variable per candidate set, one set per node, and a constraint for every cluster of nodes (``cluster_cuts``),
added once it is violated. HiGHS solves the linear programmes; every bound is computed again from their multipliers, so
that it is valid whatever their tolerances: for any multipliers y >= 0 of the clusters,

    sum over v of max over P of (score(P -> v) - sum of y over clusters that P -> v counts in) + sum of y (|C| - 1).

Bartlett and Cussens (2017), Integer linear programming for the Bayesian network structure learning problem.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.exact import kernels
from tanbark.structure.exact.cluster_cuts import violated_clusters
from tanbark.structure.exact.parent_sets import Candidates, pack

CLOSE = 1e-7  # bounds and scores nearer than this are equal
RESTARTS = 60
ROOT_ROUNDS, NODE_ROUNDS = 300, 8
IDLE = 30  # a cluster that was not binding for so many linear programmes is left out
REPORT_SECONDS = 2.0
USED = 1e-9  # fractions and multipliers above this count as positive


@dataclass(frozen=True, eq=False)
class Solution:
    """The best choice of parent sets that was found, its score, and a score that no choice exceeds.

    ``clusters`` and ``multipliers`` are those of the best bound of the first linear programmes, and ``constant`` is
    the sum of multiplier times (size - 1): with the multipliers as penalties of sets that meet a cluster of their
    child, the best values of all nodes and the constant add up to a bound.
    """

    chosen: Integers
    score: float
    bound: float
    order: Integers
    chosen_child: Integers
    chosen_score: Floats
    chosen_member: Bools
    clusters: Bools
    multipliers: Floats

    @property
    def constant(self) -> float:
        """What the multipliers add to the sum of the best values."""
        return float(self.multipliers @ (self.clusters.sum(axis=1) - 1.0))


def solve(
    candidates: Candidates, *, time_limit: float | None, report: Callable[[str], None],
    order: Integers | None = None, note: Callable[[str, float, float], None] = lambda stage, score, bound: None,
) -> Solution:  # fmt: skip
    """Choose one candidate set per node so that no cycle arises and the scores add up to the most.

    Parameters
    ----------
    candidates : Candidates
        Each node's list has a set for every order, such as the empty one, or all sets of one network.
    time_limit : float, optional
        Seconds after which the best choice so far is returned, with its bound.
    report : callable
        Called with a line about the bounds every few seconds.
    order : array, optional
        An order to begin with.
    note : callable
        Called with "search", score and bound whenever one of them is better than before.
    """
    return _Program(candidates, time_limit, report, order, note).run()


def relax(candidates: Candidates, *, time_limit: float | None, report: Callable[[str], None]) -> Solution:
    """Find a good choice, and the multipliers of a good bound, without branching."""
    return _Program(candidates, time_limit, report, None, lambda stage, score, bound: None).run(branch=False)


class _Program:
    """One integer programme: its candidates, the clusters and the best choice so far, and the open nodes."""

    def __init__(
        self, candidates: Candidates, time_limit: float | None, report: Callable[[str], None], order: Integers | None,
        note: Callable[[str, float, float], None],
    ) -> None:  # fmt: skip
        self.child, self.score, self.member = candidates.child, candidates.score, candidates.member
        self.n = candidates.n_columns
        self.starts = np.searchsorted(self.child, np.arange(self.n + 1))
        self.words = pack(self.member)
        self.stop = np.inf if time_limit is None else time.perf_counter() + time_limit
        self.report, self.reported = report, time.perf_counter()
        self.clusters = np.zeros((0, self.n), bool)
        self.counted = np.zeros((0, len(self.child)), bool)  # which candidates count in which cluster
        self.idle = np.zeros(0, np.int64)
        self.best, self.chosen = -np.inf, np.zeros(self.n, np.int64)
        self.rng, self.start, self.note, self.noted = np.random.default_rng(0), order, note, (-np.inf, np.inf)
        self.rooted = np.inf, self.clusters, np.zeros(0)  # the best bound of the root, and how it was got

    def run(self, *, branch: bool = True) -> Solution:
        """Search the best order, then cut the root, then branch and cut."""
        self._search_orders()
        everything = np.arange(len(self.child))
        bound, _ = self._bound(everything, np.zeros(0))
        heap = [(-bound, 0, everything)]
        made = 0
        while heap and -heap[0][0] > self.best + CLOSE and time.perf_counter() < self.stop:
            above, number, columns = heapq.heappop(heap)
            bound, columns, branches = self._cut_node(columns, -above, ROOT_ROUNDS if number == 0 else NODE_ROUNDS)
            for each in branches:
                made += 1
                heapq.heappush(heap, (-bound, made, each))
            self._report(heap, len(columns))
            if not branch:
                break
        bound = max(self.best, -heap[0][0] if heap else -np.inf)
        self._note(bound)
        _, clusters, multipliers = self.rooted
        return Solution(
            self.chosen, self.best, bound, self.child[self.chosen], self.child[self.chosen], self.score[self.chosen],
            self.member[self.chosen], clusters, multipliers,
        )  # fmt: skip

    def _note(self, bound: float) -> None:
        """Pass on a better score or bound."""
        score, before = self.noted
        if self.best > score or bound < before:
            self.noted = self.best, min(bound, before)
            self.note("search", *self.noted)

    def _report(self, heap: list[tuple[float, int, Integers]], n_columns: int) -> None:
        if heap:
            self._note(max(self.best, -heap[0][0]))
        if heap and time.perf_counter() > self.reported + REPORT_SECONDS:
            self.reported = time.perf_counter()
            gap = max(0.0, -heap[0][0] - self.best)
            self.report(
                f"best {self.best:.6f}, gap {gap:.6f}, {len(heap)} nodes open, {n_columns:,} candidates, "
                f"{len(self.clusters)} clusters"
            )

    def _cut_node(self, columns: Integers, bound: float, rounds: int) -> tuple[float, Integers, list[Integers]]:
        """Add cuts to one node until its bound stalls; return the bound, the candidates left, and its branches."""
        fraction, last = np.zeros(0), np.inf
        for turn in range(rounds):
            solved = self._relax(columns)
            if solved is None:
                return bound, columns, [columns]
            fraction, multipliers = solved
            if not len(fraction):
                return bound, columns, []
            here, loss = self._bound(columns, multipliers)
            if rounds == ROOT_ROUNDS and here < self.rooted[0]:
                self.rooted = here, self.clusters, multipliers
            bound = min(bound, here)
            self._order_of(columns, fraction)
            if bound <= self.best + CLOSE:
                return bound, columns, []
            used = fraction > USED
            picked = columns[used]
            found = violated_clusters(
                self.child[picked], self.member[picked], fraction[used], exactly=rounds == ROOT_ROUNDS
            )
            able = here - loss > self.best + CLOSE
            columns, fraction = columns[able], fraction[able]
            stuck = turn > 20 and turn % 20 == 0 and last - bound < 1e-4 * (bound - self.best)
            last = bound if turn % 20 == 0 else last
            if not len(found) or stuck:
                break
            self._add(found)
            self._report([(-bound, 0, columns)], len(columns))
        return bound, columns, self._branches(columns, fraction)

    def _relax(self, columns: Integers) -> tuple[Floats, Floats] | None:
        """Solve the linear relaxation over some candidates: their fractions, and the multipliers of the clusters.

        None where time is up; no fractions where no acyclic choice is left among the candidates.
        """
        left = self.stop - time.perf_counter()
        if left <= 0:
            return None
        child = self.child[columns]
        active = self.idle < IDLE
        ones = np.ones(len(columns))
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        each = csr_array((ones, (child, np.arange(len(columns)))), shape=(self.n, len(columns)))
        programme = partial(
            linprog,
            self.score[self.starts[child]] - self.score[columns],
            A_ub=csr_array(self.counted[np.ix_(active, columns)]).astype(float) if active.any() else None,
            b_ub=self.clusters[active].sum(axis=1) - 1.0 if active.any() else None,
            A_eq=each, b_eq=np.ones(self.n), bounds=(0, None), method="highs",
            options={} if left == np.inf else {"time_limit": left},
        )  # fmt: skip
        (solved,) = run_threads(programme, [()], 1, long=True)
        if solved.status == 2:
            return np.zeros(0), np.zeros(0)
        if solved.status != 0:
            return None if time.perf_counter() >= self.stop else self._without_solution(child)
        multipliers = np.zeros(len(self.clusters))
        if active.any():
            multipliers[active] = np.maximum(-solved.ineqlin.marginals, 0.0)
        self.idle = np.where(active & (multipliers > USED), 0, self.idle + 1)
        return np.asarray(solved.x), multipliers

    def _without_solution(self, child: Integers) -> tuple[Floats, Floats]:
        """Return equal fractions and no multipliers, for a linear programme that the solver could not solve."""
        return 1.0 / np.bincount(child, minlength=self.n)[child], np.zeros(len(self.clusters))

    def _bound(self, columns: Integers, multipliers: Floats) -> tuple[float, Floats]:
        """Bound the score of any choice among some candidates; return also what choosing each takes off the bound."""
        used = multipliers > 0
        value = self.score[columns] - multipliers[used] @ self.counted[np.ix_(used, columns)]
        child = self.child[columns]
        best = np.full(self.n, -np.inf)
        np.maximum.at(best, child, value)
        bound = float(best.sum() + multipliers[used] @ (self.clusters[used].sum(axis=1) - 1.0))
        return bound, best[child] - value

    def _add(self, found: NDArray[np.bool_]) -> None:
        """Add clusters, and drop those that have been idle for long."""
        keep = self.idle < IDLE
        counted = np.array([c[self.child] & (self.member & c).any(axis=1) for c in found])
        self.clusters = np.concatenate([self.clusters[keep], found])
        self.counted = np.concatenate([self.counted[keep], counted])
        self.idle = np.concatenate([self.idle[keep], np.zeros(len(found), np.int64)])

    def _branches(self, columns: Integers, fraction: Floats) -> list[Integers]:
        """Branch on the arc whose fraction is nearest to one half: the candidates with it, and those without.

        Only arcs count that some candidates of the child have and others do not; without any there is one choice left,
        which has been tried.
        """
        child, member = self.child[columns], self.member[columns]
        arcs, some = np.zeros((self.n, self.n)), np.zeros((self.n, self.n), np.int64)
        np.add.at(arcs, child, member * fraction[:, None])
        np.add.at(some, child, member)
        open_arcs = (some > 0) & (some < np.bincount(child, minlength=self.n)[:, None])
        if not open_arcs.any():
            return []
        node, parent = np.unravel_index(np.argmin(np.where(open_arcs, np.abs(arcs - 0.5), np.inf)), arcs.shape)
        with_it = member[:, parent]
        return [columns[(child != node) | with_it], columns[(child != node) | ~with_it]]

    def _search_orders(self) -> None:
        """Find a good order by local search, from random orders and then from the best one, perturbed."""
        if self.start is not None:
            self._try(self.start)
        for turn in range(RESTARTS):
            if turn < RESTARTS // 3 or self.n < 3:
                order = self.rng.permutation(self.n)
            else:
                order = self._perturbed(self.child[self.chosen])
            self._try(order)
            if time.perf_counter() > self.stop:
                return

    def _perturbed(self, order: Integers) -> Integers:
        for _ in range(3):
            node = order[self.rng.integers(self.n)]
            rest = order[order != node]
            order = np.insert(rest, self.rng.integers(self.n), node)
        return order

    def _order_of(self, columns: Integers, fraction: Floats) -> None:
        """Try the order that fractions suggest: always the node that depends least on those still left."""
        used = fraction > USED
        child, member, part = self.child[columns[used]], self.member[columns[used]], fraction[used]
        left = np.ones(self.n, bool)
        order = []
        for _ in range(self.n):
            need = np.bincount(child, part * (member & left).any(axis=1), self.n)
            node = int(np.argmin(np.where(left, need, np.inf)))
            order.append(node)
            left[node] = False
        self._try(np.array(order, np.int64))

    def _try(self, order: Integers) -> None:
        order, picked = order.astype(np.int64), np.zeros(self.n, np.int64)
        call = (order, self.starts, self.words, self.score, picked)
        run_threads(kernels.improve_order, [call], 1, long=True)
        score = float(self.score[np.sort(picked)].sum())
        if score > self.best:
            self.best, self.chosen = score, picked
