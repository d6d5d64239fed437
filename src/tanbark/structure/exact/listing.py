"""The candidate parent sets of an exact search, in stages: small sets, penalties for cycles, then all that may matter.

1. List the sets of few parents, and relax the choice among them: that gives penalties for clusters. The best choice
   among them, or a good one, is the known network.
2. The best values of all columns, scores less penalties, add up to a bound on every network. A set whose value is
   further below the best of its column than the gap between the bound and the known network is in no better network.
3. List the larger sets of every column by the branch and bound of ``bounded_sets``, where the proofs are. Columns that
   take too long are gone through by size, so that it is known up to how many parents nothing is left out.
4. Where larger sets have raised the bound, and with it the gap, list again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Floats, Integers
from tanbark.errors import TableTooLargeError
from tanbark.structure.exact.bounded_sets import BoundedSearch, Sets, Wanted
from tanbark.structure.exact.order_graph import solve
from tanbark.structure.exact.parent_sets import Candidates, Levels, n_small_sets, unpack
from tanbark.structure.exact.relaxation import Relaxed, relax
from tanbark.structure.exact.subset_scores import CompleteRows

SMALL_SETS = 500_000  # sets of columns that may be counted for the first stage
SMALL_PARENTS = 4
ALL_SETS = 5_000_000  # where there are no more sets of up to max_parents parents, all of them are counted
COLUMN_SETS = 2_000_000  # the most sets of one size of a column that are gone through one after another
KNOWN_BYTES = 1 << 28  # memory of the search for the best choice among small sets
RELAXING, KNOWING, BOUNDING, LISTING = 0.15, 0.25, 0.8, 0.92  # fractions of the time after which stages end
MARGIN = 0.02  # of the gap: how much larger sets may add to it before they are listed again
SLACK = 1e-6  # what rounding may hide of a value
GIB = 1 << 30


@dataclass(frozen=True, eq=False)
class Listing:
    """Candidate parent sets, and what is known beside them.

    Parameters
    ----------
    candidates : Candidates
    relaxed : Relaxed
        The known network, and the multipliers of clusters.
    bound : float
        No network scores higher.
    unlisted : float
        No network with a set that is not listed scores higher; -inf where none of them is of use.
    complete : int
        Every set of at most so many parents that is of use is listed.
    n_nodes : int
        Nodes of the branch and bound.
    n_bytes : int
        Memory that its tables took at most.
    """

    candidates: Candidates
    relaxed: Relaxed
    bound: float
    unlisted: float
    complete: int
    n_nodes: int = 0
    n_bytes: int = 0


@dataclass(frozen=True, eq=False)
class _Grown:
    """The sets above the floors: all that were found, and those of the branch and bound by column.

    All sets of at most ``complete`` parents were looked at.
    """

    listed: Candidates
    bounded: dict[int, Sets]
    complete: int


class Lister:
    """The stages of one search; ``note`` is called with a score and a bound whenever they are known better."""

    def __init__(
        self, rows: CompleteRows, columns: tuple[int, ...], *, given: int | None, ess: float, max_parents: int | None,
        time_limit: float | None, max_memory: float, n_jobs: int | None, report: Callable[[str], None],
        note: Callable[[str, float, float], None],
    ) -> None:  # fmt: skip
        self.levels = Levels(rows, columns, given=given, ess=ess, n_jobs=n_jobs)
        self.make_search = partial(BoundedSearch, rows, columns, given=given, ess=ess, n_jobs=n_jobs)
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
        small = self.levels.up_to(few, self.report)
        search = None
        if few < self.most:
            search = self.make_search()
            self._check_memory(search)
        left = None if self.limit is None else max(self._end_of(RELAXING) - time.perf_counter(), 0.0)
        relaxed = relax(small, time_limit=left, report=self.report)
        self.note("relaxed", relaxed.score, np.inf if search else relaxed.bound)
        if search is None:
            values = self._values(small, relaxed)
            return self._closed(small, small, relaxed, self._best_values(small, values), {}, few)
        relaxed = self._known(small, relaxed)
        self.note("few parents", relaxed.score, np.inf)
        return self._list(search, small, relaxed)

    def _few(self) -> int:
        """Return the most parents of the sets of the first stage: all that there are, if it is not too many sets."""
        needed = math.comb(self.n, self.most + 1) * (14 + 19 * (self.most + 1))
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

    def _known(self, small: Candidates, relaxed: Relaxed) -> Relaxed:
        """Search the best choice among the small sets, as far as little memory and some of the time suffice."""
        found = solve(
            small, relaxed, deadline=self._end_of(KNOWING), max_memory=min(KNOWN_BYTES, self.max_memory),
            report=self.report,
        )  # fmt: skip
        if found.score <= relaxed.score:
            return relaxed
        return replace(relaxed, chosen=found.chosen, score=found.score, order=_order_of(small, found.chosen))

    def _values(self, sets: Candidates, relaxed: Relaxed) -> Floats:
        """Return the values of sets: their scores less the penalties of the clusters that they count in."""
        return np.asarray(sets.score - relaxed.multipliers @ relaxed.clusters.counted(sets.child, sets.member))

    def _best_values(self, sets: Candidates, values: Floats) -> Floats:
        best = np.full(self.n, -np.inf)
        np.maximum.at(best, sets.child, values)
        return best

    def _list(self, search: BoundedSearch, small: Candidates, relaxed: Relaxed) -> Listing:
        """List the sets whose values are within the gap."""
        few, nodes = self.levels, 0
        best = self._best_values(small, self._values(small, relaxed))
        slack = 0.0
        while True:
            gap = max(float(best.sum()) + relaxed.constant - relaxed.score, 0.0) + SLACK
            if gap <= slack or (time.perf_counter() >= self._end_of(LISTING) and slack > 0):
                break
            slack = (1 + MARGIN) * gap
            floors = best - slack
            grown = self._grow(copy(few), search, floors, relaxed)
            nodes += sum(sets.n_nodes for sets in grown.bounded.values())
            best = np.maximum(best, self._best_values(grown.listed, self._values(grown.listed, relaxed)))
            within = float(best.sum()) + relaxed.constant - relaxed.score <= slack
            for child, sets in grown.bounded.items():
                best[child] = max(best[child], sets.values.max(initial=-np.inf), sets.beyond)
            self.note("parent sets", relaxed.score, float(best.sum()) + relaxed.constant)
        beyond = {child: sets.beyond for child, sets in grown.bounded.items() if sets.beyond > -np.inf}
        if gap > slack:  # sets below the floors may matter, too
            beyond = {child: max(floors[child], beyond.get(child, -np.inf)) for child in range(self.n)}
        complete = grown.complete if within else few.size - 1
        listing = self._closed(Candidates.joined([small, grown.listed]), small, relaxed, best, beyond, complete)
        return replace(listing, n_nodes=nodes, n_bytes=search.n_bytes(self.max_memory))

    def _grow(self, levels: Levels, search: BoundedSearch, floors: Floats, relaxed: Relaxed) -> _Grown:
        """List the sets of more parents whose values are not below the floors of their columns."""
        goals = {child: self._wanted(child, floors, relaxed) for child in range(self.n)}
        bounded = search.run(
            goals, deadline=self._end_of(BOUNDING), max_memory=self.max_memory, report=self.report
        )  # fmt: skip
        found = [
            Candidates.sorted(np.full(len(sets.scores), child), sets.scores, unpack(sets.words, self.n))
            for child, sets in bounded.items()
        ]
        hard = np.array([bounded[child].beyond > -np.inf for child in range(self.n)])
        complete = self.most
        if hard.any():
            limits = levels.floors(floors, relaxed.clusters, relaxed.multipliers)
            larger, finished = self._by_size(levels, hard, limits)
            found += larger
            if finished:
                bounded = {child: replace(sets, beyond=-np.inf) for child, sets in bounded.items()}
            else:
                complete = levels.size - 1
        return _Grown(Candidates.joined(found), bounded, complete)

    def _by_size(self, levels: Levels, wanted: Bools, limits: Any) -> tuple[list[Candidates], bool]:
        """List the sets of some columns, one size after another, as long as time, memory and their number allow it.

        Return also whether all of them are listed.
        """
        found: list[Candidates] = []
        while levels.size <= self.most and levels.bytes_of_next() <= self.max_memory / 2:
            opened, counts = levels.open_next(wanted)
            if not counts.any():
                return found, True
            fresh = None if (counts > COLUMN_SETS).any() else levels.go_on(opened, limits, self._end_of(LISTING))
            if fresh is None:
                return found, False
            found.append(fresh)
            self.report(f"{len(fresh.child):,} candidate sets of {levels.size - 1} parents")
        return found, levels.size > self.most

    def _wanted(self, child: int, floors: Floats, relaxed: Relaxed) -> Wanted:
        """Gather the clusters of a child, and what its sets pay for counting in them."""
        mine = relaxed.clusters.members[:, child]
        return Wanted(self.most, float(floors[child]), relaxed.clusters.where(mine), relaxed.multipliers[mine])

    def _closed(
        self, found: Candidates, small: Candidates, relaxed: Relaxed, best: Floats, beyond: dict[int, float],
        complete: int,
    ) -> Listing:  # fmt: skip
        """Keep the sets within the gap, the empty ones, so that every order has a network, and those of the known one.

        ``beyond`` bounds the values of sets that were not listed, by column.
        """
        bound = float(best.sum()) + relaxed.constant
        gap = max(bound - relaxed.score, 0.0) + SLACK
        able = self._values(found, relaxed) >= (best - gap)[found.child]
        kept = Candidates.joined(
            [found.where(able | ~found.member.any(axis=1)), small.where(np.sort(relaxed.chosen))]
        )  # fmt: skip
        unlisted = max((bound - best[c] + min(value, best[c]) for c, value in beyond.items()), default=-np.inf)
        return Listing(kept, relaxed, bound, float(unlisted), complete)


def _order_of(candidates: Candidates, chosen: Integers) -> NDArray[np.int64]:
    """Return an order of a network's nodes, parents first."""
    child, member = candidates.child[chosen], candidates.member[chosen]
    left, order = np.ones(candidates.n_columns, bool), []
    while left.any():
        free = np.flatnonzero(left[child] & ~(member & left).any(axis=1))
        order.extend(child[free].tolist())
        left[child[free]] = False
    return np.array(order, np.int64)
