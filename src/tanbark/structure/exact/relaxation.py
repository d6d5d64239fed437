"""The linear relaxation of the choice of parent sets: a bound on all networks, its multipliers, and a good network.

One fraction per candidate set, fractions of a node add up to one, and a constraint for every cluster of nodes
(``cluster_cuts``), added once it is violated. HiGHS solves the linear programmes, over the sets that have had the best
value of their node under some multipliers; every bound is computed again from the multipliers over all sets, so that it
is valid whatever the tolerances: for any multipliers y >= 0 of the clusters,

    sum over v of max over P of (score(P -> v) - sum of y over clusters that P -> v counts in) + sum of y (|C| - k).

Bartlett and Cussens (2017), Integer linear programming for the Bayesian network structure learning problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tanbark.arrays import Bools, Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.exact import kernels
from tanbark.structure.exact.cluster_cuts import Clusters, violated_clusters
from tanbark.structure.exact.parent_sets import Candidates, pack

CLOSE = 1e-7  # bounds and scores nearer than this are equal
RESTARTS = 60
ROUNDS = 300
IDLE = 30  # a cluster that was not binding for so many linear programmes is left out
STALLED, NARROWER = 20, 1e-3  # stop where so many rounds narrow the gap by less than this fraction
ENTERING = 20  # the most sets per node that enter the programme at once
REPORT_SECONDS = 2.0
USED = 1e-9  # fractions and multipliers above this count as positive


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The best network that was found, by its sets and its order, and the clusters and multipliers of the best bound.

    With the multipliers as penalties of sets that count in a cluster of their child, the best values of all nodes and
    the ``constant``, the sum of multiplier times (size - order), add up to a bound.
    """

    chosen: Integers
    score: float
    bound: float
    order: Integers
    clusters: Clusters
    multipliers: Floats

    @property
    def constant(self) -> float:
        """What the multipliers add to the sum of the best values."""
        return float(self.multipliers @ self.clusters.most)


def relax(candidates: Candidates, *, time_limit: float | None, report: Callable[[str], None]) -> Relaxed:
    """Find a good network, and the multipliers of a good bound.

    Parameters
    ----------
    candidates : Candidates
        Each node's list has a set for every order, such as the empty one.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    report : callable
        Called with a line about the bounds every few seconds.
    """
    return _Programme(candidates, time_limit, report).run()


class _Programme:
    """One linear programme: its candidates, the clusters so far, the best network and the best multipliers."""

    def __init__(self, candidates: Candidates, time_limit: float | None, report: Callable[[str], None]) -> None:
        self.child, self.score, self.member = candidates.child, candidates.score, candidates.member
        self.n = candidates.n_columns
        self.starts = np.searchsorted(self.child, np.arange(self.n + 1))
        self.words = pack(self.member)
        self.stop = np.inf if time_limit is None else time.perf_counter() + time_limit
        self.report, self.reported = report, time.perf_counter()
        self.clusters = Clusters.none(self.n)
        self.counted = np.zeros((0, len(self.child)), bool)  # which candidates count in which cluster
        self.idle = np.zeros(0, np.int64)
        self.best, self.chosen, self.order = -np.inf, np.zeros(self.n, np.int64), np.arange(self.n)
        self.rng = np.random.default_rng(0)
        self.bound, self.kept = np.inf, (self.clusters, np.zeros(0))  # the best bound, and how it was got

    def run(self) -> Relaxed:
        """Search orders, then add clusters and sets until the bound does not fall any more."""
        self._search_orders()
        self._set_bound(np.zeros(0))
        inside: Bools = np.logical_not(self.member.any(axis=1))
        inside[self.starts[:-1]] = inside[self.chosen] = True
        history: list[float] = []
        while len(history) < ROUNDS and self.bound > self.best + CLOSE:
            columns = np.flatnonzero(inside)
            solved = self._solve(columns)
            if solved is None:
                break
            fraction, multipliers = solved
            value = self._set_bound(multipliers)
            self._order_of(columns, fraction)
            entering = self._entering(inside, value)
            used = fraction > USED
            picked = columns[used]
            found = violated_clusters(
                self.child[picked], self.member[picked], fraction[used], exactly=not len(entering)
            )
            history.append(self.bound - self.best)
            before = history[-STALLED - 1] if len(history) > STALLED else np.inf
            if not (len(found) or len(entering)) or before - history[-1] < NARROWER * history[-1]:
                break
            inside[entering] = True
            self._add(found)
            self._report(len(columns))
        clusters, multipliers = self.kept
        return Relaxed(self.chosen, self.best, self.bound, self.order, clusters, multipliers)

    def _report(self, n_columns: int) -> None:
        if time.perf_counter() > self.reported + REPORT_SECONDS:
            self.reported = time.perf_counter()
            self.report(
                f"best {self.best:.6f}, gap {self.bound - self.best:.6f}, {n_columns:,} of {len(self.child):,} "
                f"candidates, {len(self.clusters)} clusters"
            )

    def _solve(self, columns: Integers) -> tuple[Floats, Floats] | None:
        """Solve the programme over some candidates: their fractions, and the multipliers of the clusters.

        None where time is up, or the solver has no solution.
        """
        left = self.stop - time.perf_counter()
        if left <= 0:
            return None
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        child, active = self.child[columns], self.idle < IDLE
        clusters = self.clusters.where(active)
        counted, within = self.counted[np.ix_(active, columns)], clusters.members[:, child]
        # that |C| - k sets count in C at most, or that k do not at least, whichever has fewer entries
        apart = 2 * counted.sum(axis=1) > within.sum(axis=1)
        rows = np.where(apart[:, None], -1.0 * (within & ~counted), 1.0 * counted)
        most = np.where(apart, -1.0 * clusters.orders, clusters.most)
        each = csr_array((np.ones(len(columns)), (child, np.arange(len(columns)))), shape=(self.n, len(columns)))
        programme = partial(
            linprog, self.score[self.starts[child]] - self.score[columns],
            A_ub=csr_array(rows) if active.any() else None, b_ub=most if active.any() else None,
            A_eq=each, b_eq=np.ones(self.n), bounds=(0, None), method="highs",
            options={} if left == np.inf else {"time_limit": left},
        )  # fmt: skip
        (solved,) = run_threads(programme, [()], 1, long=True)
        if solved.status != 0:
            return None
        multipliers = np.zeros(len(self.clusters))
        if active.any():
            multipliers[active] = np.maximum(-solved.ineqlin.marginals, 0.0)
        self.idle = np.where(active & (multipliers > USED), 0, self.idle + 1)
        return np.asarray(solved.x), multipliers

    def _set_bound(self, multipliers: Floats) -> Floats:
        """Bound the score of any choice by some multipliers, and keep the best bound; return the sets' values."""
        used = multipliers > 0
        value: Floats = self.score - multipliers[used] @ self.counted[used]
        best = np.maximum.reduceat(value, self.starts[:-1])
        clusters = self.clusters.where(used)
        bound = float(best.sum() + multipliers[used] @ clusters.most)
        if bound < self.bound:
            self.bound, self.kept = bound, (clusters, multipliers[used])
        return value

    def _entering(self, inside: Bools, value: Floats) -> Integers:
        """Return the sets that are better than all of their node in the programme, up to some per node."""
        best = np.full(self.n, -np.inf)
        np.maximum.at(best, self.child[inside], value[inside])
        better = np.flatnonzero(value > best[self.child] + CLOSE)
        better = better[np.lexsort((-value[better], self.child[better]))]
        rank = np.arange(len(better)) - np.searchsorted(self.child[better], self.child[better])
        return better[rank < ENTERING]

    def _add(self, found: Clusters) -> None:
        """Add clusters, and drop those that have been idle for long."""
        keep = self.idle < IDLE
        self.clusters = self.clusters.where(keep).joined(found)
        self.counted = np.concatenate([self.counted[keep], found.counted(self.child, self.member)])
        self.idle = np.concatenate([self.idle[keep], np.zeros(len(found), np.int64)])

    def _search_orders(self) -> None:
        """Find a good order by local search, from random orders and then from the best one, perturbed."""
        for turn in range(RESTARTS):
            anew = turn < RESTARTS // 3 or self.n < 3
            self._try(self.rng.permutation(self.n) if anew else self._perturbed(self.order))
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
            self.best, self.chosen, self.order = score, picked, order
