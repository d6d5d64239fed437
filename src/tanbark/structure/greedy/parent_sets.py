"""Scored parent sets that a search has met, the neighbours of every set whose gains were counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Integers
from tanbark.structure.greedy.gains import Family, Gains
from tanbark.structure.greedy.moves import reachable
from tanbark.structure.rules import Rules, parents_in

if TYPE_CHECKING:
    from tanbark.structure.greedy.kernels.set_kernels import SetList

Words = NDArray[np.uint64]

MOST_LIST_BYTES = 1 << 30  # of the lists of parent sets; more columns are climbed over DAGs only
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
        """Score the sets of required parents; those without any are scored by the kernel that counts, which enters all.

        Without a counter they are entered here, and their neighbours too.
        """
        lists, fixed = self.lists, self._rules.fixed
        if self.counter is None:
            lists.bits[:, 0], lists.size[:] = pack_parents(fixed), 1
            least = list(enumerate(parents_in(fixed)))
            lists.score[:, 0] = self._gains.family_scores(least)
            lists.counted[:, 0] = True
            self.expand(least, lists.score[:, 0].tolist())
        elif fixed.any():
            bound = np.flatnonzero(fixed.any(axis=0))
            lists.score[bound, 0] = self.family_scores(fixed, bound)

    def family_scores(self, arcs: Bools, chosen: Integers | None = None) -> list[float]:
        """Score the families of a graph, or those of the chosen columns."""
        families = list(enumerate(parents_in(arcs)))
        return self._gains.family_scores(families if chosen is None else [families[y] for y in chosen.tolist()])

    @property
    def is_long(self) -> bool:
        """Whether a kernel may take so long that it has to be interruptible."""
        return self.counter is None or self.counter.data.codes.size * self._n > SHORT

    @property
    def scores_graphs(self) -> bool:
        """Whether the kernel that counts scores the graph that it ends with, too."""
        return not self.is_long and not len(self.counter.data.weights)

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


def unpack_parents(masks: Words) -> Bools:
    """Return the adjacency matrix of a graph whose parents are packed.

    >>> unpack_parents(np.array([[0], [1]], np.uint64)).tolist()
    [[False, True], [False, False]]
    """
    member = np.unpackbits(masks.view(np.uint8), axis=1, count=len(masks), bitorder="little")
    return member.view(bool).T
