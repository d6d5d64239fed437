"""Greedy search over equivalence classes: every move is the best one from any DAG of the current class."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import numpy as np

from tanbark.arrays import Bools, Floats, Integers
from tanbark.machine import run_threads
from tanbark.structure.ascent import Move
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.moves import ADD, KINDS, REVERSE
from tanbark.structure.rules import Rules

MANY_COLUMNS = 40  # from so many on a step takes milliseconds, and is run so that it can be interrupted


class GainCache:
    """The toggle gains of the families that were looked up, in one growing array."""

    def __init__(self, gains: Gains, n: int) -> None:
        self._gains, self._rows = gains, np.empty((4 * n, n))
        self._place: dict[tuple[int, bytes], int] = {}

    def look_up(self, child: Integers, parents: Bools) -> Floats:
        """Return a row of gains for every family; new ones are counted and scored."""
        places, fresh = [], []
        keys = parents.view(f"V{parents.shape[1]}").ravel().tolist()
        for number, key in enumerate(zip(child.tolist(), keys, strict=True)):
            at = self._place.get(key)
            if at is None:
                at = self._place[key] = len(self._place)
                fresh.append((at, (key[0], tuple(np.flatnonzero(parents[number]).tolist()))))
            places.append(at)
        if fresh:
            while len(self._place) > len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            found = self._gains.toggles([family for _, family in fresh])
            for (at, _), row in zip(fresh, found, strict=True):
                self._rows[at] = row
        return self._rows[places]


class ClassClimb:
    """A state of :func:`tanbark.structure.ascent.ascend` over equivalence classes: a DAG, its CPDAG and its score.

    A move is the best addition, deletion or reversal from any DAG of the equivalence class, so that it does not matter
    which member a search happens to hold. It needs a score that is the same for all members. Required arcs stay, and no
    graph with a forbidden arc is entered.

    Notes
    -----
    Chickering (2002), Optimal structure identification with greedy search, with deletions and reversals among the
    moves of every step.
    """

    def __init__(self, gains: Gains, rules: Rules, start: Bools, score: float) -> None:
        from tanbark.structure.greedy.kernels import cpdag_kernels as kernels

        self._gains_of, self._rules = GainCache(gains, len(start)), rules
        self._limits = kernels.Limits(
            np.array(gains.states, np.int64), min(rules.max_parents, len(start)), float(gains.max_cells)
        )
        self.score, self.tried = score, 0
        self._enter(start)

    def _enter(self, arcs: Bools) -> None:
        from tanbark.structure.greedy.kernels import cpdag_kernels as kernels

        self._arcs, rules = arcs, self._rules
        self._cpdag = kernels.find_cpdag(arcs, rules.fixed | ~rules.allowed.T)

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the best move from any member; the change is the graph after it."""
        from tanbark.structure.greedy.kernels import cpdag_kernels as kernels

        rules = self._rules
        long = len(self._cpdag) >= MANY_COLUMNS
        ((child, parents),) = run_threads(kernels.find_families, [(self._cpdag, self._limits)], 1, long=long)
        gains = self._gains_of.look_up(child, parents)
        self.tried = int((gains > -np.inf).sum())
        families = kernels.ClassFamilies(child, parents, gains)
        call = (self._cpdag, families, rules.allowed, rules.fixed, self._limits)
        ((gain, kind, x, y, member),) = run_threads(kernels.best_class_move, [call], 1, long=long)
        if kind < 0:
            return None
        arcs = member.copy()
        arcs[x, y], arcs[y, x] = kind == ADD, kind == REVERSE
        return Move(gain, f"{KINDS[kind]} {rules.names[x]} -> {rules.names[y]}", arcs)

    def apply(self, move: Move) -> None:
        """Enter the equivalence class of the graph after a move."""
        self.score += move.gain
        self._enter(move.change)

    def key(self) -> bytes:
        """Identify the equivalence class by its CPDAG."""
        return bytes(self._cpdag.tobytes())

    def solution(self) -> Bools:
        """Return the current member; moves replace it and never change it."""
        return self._arcs
