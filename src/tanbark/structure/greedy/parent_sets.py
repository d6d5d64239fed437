"""Scored parent sets that a search has met, the neighbours of every set whose gains were counted."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Integers
from tanbark.machine import run_here, run_threads
from tanbark.structure.greedy.gains import Family, Gains
from tanbark.structure.greedy.moves import KINDS, reachable
from tanbark.structure.rules import Rules, parents_in
from tanbark.structure.trace import Trace

if TYPE_CHECKING:
    from tanbark.structure.greedy.kernels.set_kernels import SetList

Words = NDArray[np.uint64]

STEPS_AT_ONCE = 1024  # moves of a climb that are made before they are reported
MOST_LIST_BYTES = 1 << 30  # of the lists of parent sets; more columns are climbed over DAGs only
MOST_CELLS = 1 << 12  # of a family that is scored from rows, one by one; more are counted as the engine does
SHORT = 1 << 22  # codes times columns: less is searched before anybody could interrupt


class ParentSets:
    """Parent sets of every column with their scores, growing while a search goes on.

    Counting a family gives the gain of toggling each column as a parent, and with it the scores of all its neighbours.
    Those of them that may be best in some order of the columns are kept: sets without a parent, and sets with one more
    parent that gains. Rows in memory are counted by the kernels that search; otherwise the gains are asked for.
    """

    def __init__(self, gains: Gains, rules: Rules) -> None:
        n = len(rules.names)
        self._gains, self._rules, self._n = gains, rules, n
        self.counter = gains.counter(rules.max_parents)
        self._scores: dict[Family, float] = {}  # of the families whose neighbours were asked for
        self._roots = np.empty((0, n))
        self.lists = self._make_lists(first_room(n))
        self._begin()

    def _make_lists(self, room: int) -> SetList:
        """Make empty lists that have room for some sets of each column."""
        from tanbark.structure.greedy.kernels.set_kernels import SetList

        n, words = self._n, (self._n + 63) // 64
        return SetList(
            np.zeros(n, np.int64), np.empty((n, room, words), np.uint64), np.empty((n, room)),
            np.zeros((n, room), bool), self._rules.fixed,
        )  # fmt: skip

    def widen(self) -> None:
        """Double the room of the lists."""
        before, room = self.lists, self.lists.score.shape[1]
        self.lists = self._make_lists(2 * room)
        self.lists.size[:] = before.size
        self.lists.bits[:, :room], self.lists.score[:, :room] = before.bits, before.score
        self.lists.counted[:, :room] = before.counted

    def _begin(self) -> None:
        """Enter the sets of required parents and their neighbours."""
        n, lists = self._n, self.lists
        fixed = self._rules.fixed
        lists.bits[:, 0], lists.size[:] = pack_parents(fixed), 1
        least = list(enumerate(parents_in(fixed)))
        if self.counter is None:
            lists.score[:, 0] = self._gains.family_scores(least)
            lists.counted[:, 0] = True
            self.expand(least, lists.score[:, 0].tolist())
            return
        from tanbark.structure.greedy.kernels import climb_kernels as kernels

        bound = fixed.any(axis=0)
        self._roots, scores = np.empty((n, n)), np.empty(n)
        kernels.enter_columns(self.counter, lists, bound, self._roots, scores)
        if bound.any():
            some = [family for family in least if family[1]]
            lists.score[bound, 0] = self._gains.family_scores(some)
            kernels.expand_rows(self.counter, lists, np.where(bound, 0, -1))

    def climb(self, start: Bools, trace: Trace, deadline: float) -> tuple[Bools, Integers]:
        """Climb from a graph by the best move in each step, counting in the kernel.

        Returns the local optimum, and an order in which parents come before children: that of their ancestors' number.
        """
        from tanbark.structure.greedy.kernels import climb_kernels as kernels

        n, begun = self._n, perf_counter()
        same = (start == self._rules.fixed).all(axis=0)
        score = self.lists.score[np.arange(n), self.lists.size - 1]
        if not same.all():
            score[~same] = self._gains.family_scores(
                [family for family in enumerate(parents_in(start)) if not same[family[0]]]
            )
        graph = kernels.Climb(
            start.copy(), reachable(start) if start.any() else start.copy(), np.empty((n, n)), score,
            pack_parents(start), np.ones(n, bool), np.empty((STEPS_AT_ONCE, 4), np.int64), np.empty(STEPS_AT_ONCE),
        )  # fmt: skip
        trace.add(float(score.sum()), "start", 1, perf_counter() - begun)
        while perf_counter() < deadline:
            begun = perf_counter()
            call = (self.counter, self.lists, graph, self._roots)
            ((steps, why),) = run_threads(kernels.climb, [call], 1, long=self.is_long)
            each = (perf_counter() - begun) / max(steps, 1)
            for (kind, x, y, tried), after in zip(graph.steps[:steps].tolist(), graph.scores.tolist(), strict=False):
                trace.add(after, f"{KINDS[kind]} {self._rules.names[x]} -> {self._rules.names[y]}", tried, each)
            if why == kernels.FULL:
                self.widen()
            elif why == kernels.DONE:
                break
        return graph.arcs, np.argsort(graph.reach.sum(axis=0), kind="stable")

    @property
    def is_long(self) -> bool:
        """Whether a kernel may take so long that it has to be interruptible."""
        return self.counter is None or self.counter.data.codes.size * self._n > SHORT

    def expand(self, families: Sequence[Family], scores: Sequence[float]) -> None:
        """Ask for the neighbours of families whose scores are known, and add them."""
        from tanbark.structure.greedy.kernels.set_kernels import insert_neighbours

        member = np.zeros((len(families), self._n), bool)
        for mine, (_, parents) in zip(member, families, strict=True):
            mine[list(parents)] = True
        masks, found = pack_parents(member.T), self._gains.toggles(families)
        self._scores.update(zip(families, scores, strict=True))
        for (y, _), mask, score, row in zip(families, masks, scores, found, strict=True):
            while self.lists.size[y] + self._n >= self.lists.score.shape[1]:
                self.widen()
            insert_neighbours(self.lists, y, mask, score, row, self._rules.max_parents)

    def expand_rows(self, rows: Integers) -> None:
        """Ask for the neighbours of one set of each column, ``rows[y]``, unless that is below 0."""
        columns = np.flatnonzero(rows >= 0)
        rows = rows[columns]
        member = np.unpackbits(self.lists.bits[columns, rows].view(np.uint8), axis=1, count=self._n, bitorder="little")
        parents = [tuple(mine.nonzero()[0].tolist()) for mine in member]
        self.lists.counted[columns, rows] = True
        self.expand(list(zip(columns.tolist(), parents, strict=True)), self.lists.score[columns, rows].tolist())

    def absorb(self) -> None:
        """Add what was counted for other searches by the same gains."""
        fresh = [family for family in self._gains.counted() if family not in self._scores]
        fresh.sort(key=lambda family: len(family[1]))
        scores: dict[Family, float] = {}
        unknown: list[Family] = []
        for family, row in zip(fresh, self._gains.toggles(fresh), strict=True):
            y, parents = family
            for x in parents:
                smaller = (y, tuple(p for p in parents if p != x))
                score = scores.get(smaller, self._scores.get(smaller))
                if score is not None and row[x] > -np.inf:
                    scores[family] = score - float(row[x])
                    break
            else:
                unknown.append(family)
        scores.update(zip(unknown, self._gains.family_scores(unknown), strict=True))
        self.expand(fresh, [scores[family] for family in fresh])

    def arcs(self, chosen: Integers) -> Bools:
        """Return the adjacency matrix of the graph in which every column has its chosen parents."""
        bits = self.lists.bits[np.arange(self._n), chosen]
        member = np.unpackbits(bits.view(np.uint8), axis=1, count=self._n, bitorder="little")
        return np.ascontiguousarray(member.T).astype(bool)

    def score(self, arcs: Bools) -> float:
        """Score a graph anew, to the same last digit by all engines; few rows are counted by a kernel."""
        from tanbark.structure.greedy.kernels import climb_kernels as kernels

        if self.counter is not None and not self.is_long and not len(self.counter.data.weights):
            scores = np.empty(self._n)
            if run_here(kernels.score_graph, self.counter, arcs, np.empty(MOST_CELLS), scores):
                return float(sum(scores.tolist()))
        return sum(self._gains.family_scores(list(enumerate(parents_in(arcs)))))

    def floor(self) -> float:
        """Return the score of the graph with the required arcs only."""
        return float(self.lists.score[np.arange(self._n), self.lists.size - 1].sum())


def first_room(n: int) -> int:
    """Return how many sets of each of n columns the lists have room for at first; more than the columns."""
    return n + max(64, min(3 * n, 1024))


def fits_lists(n: int) -> bool:
    """Return whether lists of parent sets of n columns fit into memory.

    >>> fits_lists(1000), fits_lists(5000)
    (True, False)
    """
    return n * first_room(n) * (-(-n // 64) + 1) * 8 <= MOST_LIST_BYTES


def ancestral_order(arcs: Bools) -> Integers:
    """List the columns by the number of their ancestors, so that parents come before children.

    >>> ancestral_order(np.array([[False, False, False], [True, False, False], [True, True, False]])).tolist()
    [2, 1, 0]
    """
    return np.argsort(reachable(arcs).sum(axis=0), kind="stable")


def pack_parents(arcs: Bools) -> Words:
    """Pack the parents of every node, which are the columns of an adjacency matrix, 64 to a word.

    >>> pack_parents(np.array([[False, True], [False, False]])).tolist()
    [[0], [1]]
    """
    packed = np.packbits(arcs.T, axis=1, bitorder="little")
    found = np.zeros((arcs.shape[1], -(-arcs.shape[0] // 64) * 8), np.uint8)
    found[:, : packed.shape[1]] = packed
    return found.view(np.uint64)
