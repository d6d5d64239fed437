"""Scored parent sets that a search has met, the neighbours of every set whose gains were counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE, Bools, Floats, Integers
from tanbark.structure.greedy.gains import Family, Gains
from tanbark.structure.rules import Rules

Words = NDArray[np.uint64]


class ParentSets:
    """Parent sets of every column with their scores, growing while a search goes on.

    Counting a family gives the gain of toggling each column as a parent, and with it the scores of all its neighbours.
    Those of them that may be best in some order of the columns are kept: sets without a parent, and sets with one more
    parent that gains.
    """

    def __init__(self, gains: Gains, rules: Rules) -> None:
        n = len(rules.names)
        self._gains, self._rules, self._n = gains, rules, n
        self._scores: dict[Family, float] = {}  # of the families whose neighbours were counted
        self._bit = np.zeros((n, (n + 63) // 64), np.uint64)
        self._bit[np.arange(n), np.arange(n) // 64] = np.uint64(1) << (np.arange(n) % 64).astype(np.uint64)
        least = [(y, tuple(np.flatnonzero(rules.fixed[:, y]).tolist())) for y in range(n)]
        scores = gains.family_scores(least)
        self._floor = np.array(scores)
        self.child, self.bits, self.score = np.arange(n), self._masks(least), self._floor.copy()
        self.counted, self.first = np.zeros(n, bool), np.arange(n + 1)
        self.expand(least, scores)
        self.counted[self.first[1:] - 1] = True

    def expand(self, families: Sequence[Family], scores: Sequence[float]) -> None:
        """Count the neighbours of families whose scores are known, and add them."""
        if not families:
            return
        rows = np.stack(self._gains.toggles(families))
        self._scores.update(zip(families, scores, strict=True))
        child, bits = np.array([y for y, _ in families]), self._masks(families)
        member = np.unpackbits(bits.view(np.uint8), axis=1, count=self._n, bitorder="little").astype(bool)
        room = member.sum(axis=1) < self._rules.max_parents
        less = member & ~self._rules.fixed[:, child].T & (rows > -np.inf)
        more = ~member & room[:, None] & (rows > TIE)
        which, column = np.nonzero(less | more)
        found = np.asarray(scores)[which] + rows[which, column]
        self._merge(
            np.concatenate([child, child[which]]), np.concatenate([bits, bits[which] ^ self._bit[column]]),
            np.concatenate([np.asarray(scores), found]), np.arange(len(child) + len(which)) < len(child),
        )  # fmt: skip

    def absorb(self) -> None:
        """Add what was counted for other searches by the same gains."""
        fresh = [family for family in self._gains.counted() if family not in self._scores]
        fresh.sort(key=lambda family: len(family[1]))
        scores: dict[Family, float] = {}
        unknown: list[Family] = []
        for family in fresh:
            y, parents = family
            row = self._gains.toggles([family])[0]
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

    def families(self, rows: Iterable[int]) -> list[Family]:
        """Return the families of rows of the list."""
        rows = list(rows)
        member = np.unpackbits(self.bits[rows].view(np.uint8), axis=1, count=self._n, bitorder="little")
        return [
            (y, tuple(np.flatnonzero(mine).tolist())) for y, mine in zip(self.child[rows].tolist(), member, strict=True)
        ]

    def promising(self, chosen: Integers) -> list[int]:
        """Return for each column the best parent set above the chosen one whose neighbours were not counted."""
        found = []
        for low, high in zip(self.first[:-1].tolist(), chosen.tolist(), strict=True):
            fresh = np.flatnonzero(~self.counted[low:high])
            found += [low + int(fresh[0])] if len(fresh) else []
        return found

    def arcs(self, chosen: Integers) -> Bools:
        """Return the adjacency matrix of the graph in which every column has its chosen parents."""
        member = np.unpackbits(self.bits[chosen].view(np.uint8), axis=1, count=self._n, bitorder="little")
        return np.ascontiguousarray(member.T).astype(bool)

    def _masks(self, families: Sequence[Family]) -> Words:
        masks = np.zeros((len(families), self._bit.shape[1]), np.uint64)
        for mask, (_, parents) in zip(masks, families, strict=True):
            if parents:
                mask[:] = np.bitwise_or.reduce(self._bit[list(parents)], axis=0)
        return masks

    def _merge(self, child: Integers, bits: Words, score: Floats, counted: Bools) -> None:
        """Merge further sets into the lists, the best first, and drop those that are never best."""
        from tanbark.structure.greedy.order_kernels import list_best

        high = score > self._floor[child] + 3 * TIE * np.maximum(1.0, np.abs(score))  # the required parents stay last
        child = np.concatenate([self.child, child[high]])
        bits, score = np.concatenate([self.bits, bits[high]]), np.concatenate([self.score, score[high]])
        counted = np.concatenate([self.counted, counted[high]])
        order = np.lexsort((-score, child))
        child, bits, score, counted = child[order], bits[order], score[order], counted[order]
        self.first, kept = list_best(child, bits, score, counted, self._n)
        self.child, self.bits, self.score, self.counted = child[kept], bits[kept], score[kept], counted[kept]
