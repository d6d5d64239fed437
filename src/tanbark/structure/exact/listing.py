"""The candidate parent sets of an exact search, in stages: small sets, penalties for cycles, then all that may matter.

1. List the sets of few parents, and relax the choice among them: that gives a network, and penalties for clusters.
2. Find each column's best value, its score less penalties, over all sets of parents: their sum bounds every network.
3. List the sets whose value is within the gap of the best; no other is in a network better than the one known.

Stages 2 and 3 are the branch and bound of ``bounded_sets``, where the proofs are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.errors import TableTooLargeError
from tanbark.structure.exact.bounded_sets import BoundedSearch, Wanted, Words
from tanbark.structure.exact.branch_and_cut import Solution, relax
from tanbark.structure.exact.parent_sets import Candidates, n_small_sets, small_families
from tanbark.structure.exact.subset_scores import CompleteRows

SMALL_SETS = 100_000  # sets of columns that may be counted for the first stage
SMALL_PARENTS = 3
RELAXING, VALUING, LISTING = 0.15, 0.5, 0.8  # fractions of the time after which each stage ends
SLACK = 1e-6  # what rounding may hide of a value
GIB = 1 << 30
FOUND_BYTES = 96  # memory per set listed, and sorted


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
        few = SMALL_PARENTS
        while few > 1 and n_small_sets(self.n, few) > SMALL_SETS:
            few -= 1
        few = min(few, self.most)
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
        wanted = [self._wanted(child, relaxed) for child in range(self.n)]
        values, nodes = self._values(search, small, relaxed, wanted)
        bound = float(values.sum() + relaxed.constant)
        self.note("values", relaxed.score, bound)
        floors = values - max(bound - relaxed.score, 0.0) - SLACK
        wanted = [replace(goal, floor=float(floor)) for goal, floor in zip(wanted, floors, strict=True)]
        return self._list(search, small, relaxed, wanted, values, nodes)

    def _check_memory(self, search: BoundedSearch) -> None:
        needed = search.n_bytes()
        if needed > self.max_memory:
            msg = (
                f"Listing the parent sets of {self.n} columns takes {needed / GIB:,.2f} GiB for {len(search.counts):,} "
                f"different rows, above the {self.max_memory / GIB:,.2f} GiB that it may take (max_memory). Raise "
                f"max_memory, give max_parents of at most {SMALL_PARENTS}, drop columns, or use RAIANB or RAIGBN, "
                "which take little."
            )
            raise TableTooLargeError(msg)

    def _wanted(self, child: int, relaxed: Solution) -> Wanted:
        """Gather the clusters of a child, and what its sets pay for meeting them."""
        mine = relaxed.clusters[:, child] & (relaxed.multipliers > 0)
        return Wanted(self.most, clusters=pack(relaxed.clusters[mine]), penalties=relaxed.multipliers[mine])

    def _values(
        self, search: BoundedSearch, small: Candidates, relaxed: Solution, wanted: list[Wanted]
    ) -> tuple[Floats, int]:
        """Return the best value of every column, or a bound on it, and the nodes that took."""
        floors = np.full(self.n, -np.inf)
        used = relaxed.multipliers > 0
        pays = relaxed.multipliers[used] @ (
            relaxed.clusters[used][:, small.child] & (small.member @ relaxed.clusters[used].T).T
        )
        np.maximum.at(floors, small.child, small.score - pays)
        goals = {c: replace(wanted[c], floor=float(floors[c]), climb=True) for c in range(self.n)}
        found = search.run(goals, deadline=self._end_of(VALUING), room=self._room(), report=self._say("best values"))
        values = np.array([max(found[child].floor, found[child].beyond) for child in range(self.n)])
        return values, sum(sets.n_nodes for sets in found.values())

    def _list(
        self, search: BoundedSearch, small: Candidates, relaxed: Solution, wanted: list[Wanted], values: Floats,
        nodes: int,
    ) -> Listing:  # fmt: skip
        """List the sets of the columns whose values are within the gap."""
        found = search.run(
            dict(enumerate(wanted)), deadline=self._end_of(LISTING), room=self._room(), report=self._say("parent sets")
        )
        bound = float(values.sum() + relaxed.constant)
        beyond = np.array([found[child].beyond for child in range(self.n)])
        unlisted = float((bound - values + np.minimum(beyond, values)).max())
        child = np.concatenate([np.full(len(found[c].scores), c) for c in range(self.n)])
        score = np.concatenate([found[c].scores for c in range(self.n)])
        member = np.concatenate([unpack(found[c].words, self.n) for c in range(self.n)])
        nodes += sum(sets.n_nodes for sets in found.values())
        candidates = with_others(Candidates.sorted(child, score, member), small, relaxed)
        return Listing(candidates, bound, unlisted, relaxed.order, nodes, search.n_bytes())

    def _room(self) -> int:
        return max(1, int(self.max_memory / 2 / FOUND_BYTES / self.n))

    def _say(self, stage: str) -> Callable[[str], None]:
        return lambda line: self.report(f"{stage}: {line}")


def with_others(found: Candidates, small: Candidates, relaxed: Solution) -> Candidates:
    """Add the empty sets, so that every order has a network, and those of the known network."""
    empty = ~small.member.any(axis=1)
    child = np.concatenate([found.child, small.child[empty], relaxed.chosen_child])
    score = np.concatenate([found.score, small.score[empty], relaxed.chosen_score])
    member = np.concatenate([found.member, small.member[empty], relaxed.chosen_member])
    _, first = np.unique(np.column_stack([child, member]), axis=0, return_index=True)
    first.sort()
    return Candidates.sorted(child[first], score[first], member[first])


def pack(member: NDArray[np.bool_]) -> Words:
    """Pack rows of members into words of 64 bits."""
    n_words = -(-member.shape[1] // 64)
    padded = np.zeros((len(member), 64 * n_words), bool)
    padded[:, : member.shape[1]] = member
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(len(member), n_words)


def unpack(words: Words, n: int) -> NDArray[np.bool_]:
    """Unpack words into rows of n members."""
    return np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").astype(bool)
