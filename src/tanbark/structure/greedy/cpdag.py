"""Climbing over equivalence classes: every step is the best move from any graph equivalent to the one at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Floats
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.moves import KINDS
from tanbark.structure.trace import Step

Tell = Callable[[Step], None]


class Families:
    """The gains of the families that have been asked for, in one growing array."""

    def __init__(self, gains: Gains, n: int) -> None:
        self._gains, self._rows = gains, np.empty((4 * n, n))
        self._place: dict[tuple[int, bytes], int] = {}

    def look_up(self, owner: NDArray[np.int64], masks: Bools) -> Floats:
        """Return a row of gains for every family, measuring those that are new."""
        places, fresh = [], []
        keys = masks.view(f"V{masks.shape[1]}").ravel().tolist()
        for number, key in enumerate(zip(owner.tolist(), keys, strict=True)):
            at = self._place.get(key)
            if at is None:
                at = self._place[key] = len(self._place)
                fresh.append((at, (key[0], tuple(np.flatnonzero(masks[number]).tolist()))))
            places.append(at)
        if fresh:
            while len(self._place) > len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            found = self._gains.toggles([family for _, family in fresh])
            for (at, _), row in zip(fresh, found, strict=True):
                self._rows[at] = row
        return self._rows[places]


def climb_classes(
    gains: Gains, allowed: Bools, fixed: Bools, max_parents: int, start: Bools, score: float, names: Sequence[str],
    tell: Tell,
) -> tuple[Bools, float]:  # fmt: skip
    """Climb from a graph with its score until no equivalent graph has a move that gains; give the last and its score.

    Graphs are equivalent if they stand for the same independences, so that a score that treats them alike cannot
    choose between them; which of them a search happens to hold then no longer decides where it can go. Required arcs
    stay, and no graph with a forbidden arc is entered.

    Notes
    -----
    Chickering (2002), Optimal structure identification with greedy search, with deletions and reversals among the
    moves of every step.
    """
    from tanbark.structure.greedy import cpdag_kernels as kernels

    families = Families(gains, len(start))
    limits = np.array(gains.states, np.int64), min(max_parents, len(start)), float(gains.max_cells)
    arcs, passed = start.copy(), set()
    while True:
        begun = perf_counter()
        pattern = kernels.find_pattern(arcs, fixed | ~allowed.T)
        if pattern.tobytes() in passed:  # with gaps, gains rest on different rows and may lead in a circle
            return arcs, score
        passed.add(pattern.tobytes())
        owner, masks = kernels.find_families(pattern, *limits)
        known = families.look_up(owner, masks)
        gain, kind, x, y, graph = kernels.best_class_move(pattern, owner, masks, known, allowed, fixed, *limits)
        if kind < 0:
            return arcs, score
        arcs = graph.copy()
        arcs[x, y], arcs[y, x] = kind == 0, kind == 2
        score += gain
        tried = int((known > -np.inf).sum())
        tell(Step(score, f"{KINDS[kind]} {names[x]} -> {names[y]}", tried, perf_counter() - begun))
