"""The candidate parent sets of an exact search, in stages: small sets, penalties for cycles, then all that may matter.

1. List the sets of few parents, and relax the choice among them: that gives a network, and penalties for clusters.
2. List the sets whose value, score less penalties, is not far below the best of the few. The best values of all columns
   add up to a bound on every network.
3. Where the gap between that bound and the known network is wider than the values that were listed, list again.

No other set is in a network better than the one known. The branch and bound of stage 2 and the proofs are in
``bounded_sets``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.errors import TableTooLargeError
from tanbark.structure.exact.bounded_sets import BoundedSearch, Sets, Wanted
from tanbark.structure.exact.branch_and_cut import Solution, relax
from tanbark.structure.exact.parent_sets import Candidates, n_small_sets, pack, small_families, unpack
from tanbark.structure.exact.subset_scores import CompleteRows

SMALL_SETS = 100_000  # sets of columns that may be counted for the first stage
SMALL_PARENTS = 3
ALL_SETS = 5_000_000  # where there are no more sets of up to max_parents parents, all of them are counted
SET_BYTES, FAMILY_BYTES = 14, 19  # memory per set and per family of the largest size
RELAXING, LISTING = 0.15, 0.8  # fractions of the time after which stages end
MARGIN = 1e-2  # of the score: how much larger sets may add to the gap before they are listed again
SLACK = 1e-6  # what rounding may hide of a value
GIB = 1 << 30


@dataclass(frozen=True, eq=False)
class Listing:
    """Candidate parent sets, and what is known beside them.

    Parameters
    ----------
    candidates : Candidates
    bound : float
        No network scores higher.
    unlisted : float
        No network with a set that is not listed scores higher; -inf where none of them is of use.
    order : array, optional
        The columns of a good network, parents first.
    n_nodes : int
        Nodes of the branch and bound.
    n_bytes : int
        Memory that its tables took at most.
    """

    candidates: Candidates
    bound: float = np.inf
    unlisted: float = -np.inf
    order: NDArray[np.int64] | None = None
    n_nodes: int = 0
    n_bytes: int = 0


class Lister:
    """The stages of one search; ``note`` is called with a score and a bound whenever they are known better."""

    def __init__(
        self, rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, max_parents: int | None,
        time_limit: float | None, max_memory: float, n_jobs: int | None, report: Callable[[str], None],
        note: Callable[[str, float, float], None],
    ) -> None:  # fmt: skip
        self.rows, self.columns, self.given, self.ess, self.n_jobs = rows, columns, given, ess, n_jobs
        self.n = len(columns)
        self.most = self.n - 1 if max_parents is None else min(max_parents, self.n - 1)
        self.begun, self.limit = time.perf_counter(), time_limit
        self.max_memory, self.report, self.note = max_memory, report, note

    def _end_of(self, fraction: float) -> float:
        """Return when a stage has to end, by ``time.perf_counter``."""
        return np.inf if self.limit is None else self.begun + fraction * self.limit

    def run(self) -> Listing:
        """List the candidates."""
        few = self._few()
        small = small_families(
            self.rows, self.columns, given=self.given, ess=self.ess, max_parents=few, n_jobs=self.n_jobs,
            report=self.report,
        )  # fmt: skip
        if few == self.most:
            return Listing(small)
        search = BoundedSearch(self.rows, self.columns, given=self.given, ess=self.ess, n_jobs=self.n_jobs)
        self._check_memory(search)
        left = None if self.limit is None else max(self._end_of(RELAXING) - time.perf_counter(), 0.0)
        relaxed = relax(small, time_limit=left, report=self.report)
        self.note("relaxed", relaxed.score, np.inf)
        return self._list(search, small, relaxed)

    def _few(self) -> int:
        """Return the most parents of the sets of the first stage: all that there are, if it is not too many sets."""
        needed = math.comb(self.n, self.most + 1) * (SET_BYTES + FAMILY_BYTES * (self.most + 1))
        if n_small_sets(self.n, self.most) <= ALL_SETS and needed <= self.max_memory:
            return self.most
        few = min(SMALL_PARENTS, self.most)
        while few > 1 and n_small_sets(self.n, few) > SMALL_SETS:
            few -= 1
        return few

    def _check_memory(self, search: BoundedSearch) -> None:
        needed = search.n_bytes(self.max_memory)
        if needed > self.max_memory:
            msg = (
                f"Listing the parent sets of {self.n} columns takes {needed / GIB:,.2f} GiB for {len(search.counts):,} "
                f"different rows, above the {self.max_memory / GIB:,.2f} GiB that it may take (max_memory). Raise "
                "max_memory, give max_parents of 1 or 2, drop columns, or use RAIANB or RAIGBN, which take little."
            )
            raise TableTooLargeError(msg)

    def _wanted(self, child: int, relaxed: Solution) -> Wanted:
        """Gather the clusters of a child, and what its sets pay for meeting them."""
        mine = relaxed.clusters[:, child] & (relaxed.multipliers > 0)
        return Wanted(self.most, clusters=pack(relaxed.clusters[mine]), penalties=relaxed.multipliers[mine])

    def _best_values(self, small: Candidates, relaxed: Solution) -> Floats:
        """Return the best value of every column among the small sets."""
        best = np.full(self.n, -np.inf)
        clusters, costs = relaxed.clusters, relaxed.multipliers
        meets = clusters[:, small.child] & (small.member @ clusters.T).T
        np.maximum.at(best, small.child, small.score - costs @ meets)
        return best

    def _list(self, search: BoundedSearch, small: Candidates, relaxed: Solution) -> Listing:
        """List the sets whose values are within the gap."""
        values = self._best_values(small, relaxed)
        slack = max(values.sum() + relaxed.constant - relaxed.score, 0.0) + MARGIN * abs(relaxed.score)
        goals = {child: self._wanted(child, relaxed) for child in range(self.n)}
        found: dict[int, Sets] = {}
        floors, nodes, again = np.full(self.n, np.inf), 0, list(goals)
        while again:
            floors[again] = values[again] - slack
            wanted = {child: replace(goals[child], floor=float(floors[child])) for child in again}
            fresh = search.run(
                wanted, deadline=self._end_of(LISTING), max_memory=self.max_memory, report=self.report
            )  # fmt: skip
            nodes += sum(sets.n_nodes for sets in fresh.values())
            found.update(fresh)
            values = np.array([max(values[c], found[c].values.max(initial=-np.inf), found[c].beyond) for c in goals])
            bound = float(values.sum() + relaxed.constant)
            self.note("parent sets", relaxed.score, bound)
            slack = max(bound - relaxed.score, 0.0) + SLACK
            late = time.perf_counter() >= self._end_of(LISTING)
            again = [c for c in goals if values[c] - slack < floors[c] and not late and found[c].beyond == -np.inf]
        # sets below their column's floor, and those that were not looked at
        beyond = np.array([max(floors[c], found[c].beyond) for c in goals])
        beyond = np.where(values - slack < floors, beyond, [found[c].beyond for c in goals])
        unlisted = float((bound - values + np.minimum(beyond, values)).max())
        child = np.concatenate([np.full(len(found[c].scores), c) for c in goals])
        score = np.concatenate([found[c].scores for c in goals])
        member = np.concatenate([unpack(found[c].words, self.n) for c in goals])
        candidates = with_others(Candidates.sorted(child, score, member), small, relaxed)
        return Listing(candidates, bound, unlisted, relaxed.order, nodes, search.n_bytes(self.max_memory))


def with_others(found: Candidates, small: Candidates, relaxed: Solution) -> Candidates:
    """Add the empty sets, so that every order has a network, and those of the known network."""
    empty = ~small.member.any(axis=1)
    child = np.concatenate([found.child, small.child[empty], relaxed.chosen_child])
    score = np.concatenate([found.score, small.score[empty], relaxed.chosen_score])
    member = np.concatenate([found.member, small.member[empty], relaxed.chosen_member])
    _, first = np.unique(np.column_stack([child, member]), axis=0, return_index=True)
    first.sort()
    return Candidates.sorted(child[first], score[first], member[first])
