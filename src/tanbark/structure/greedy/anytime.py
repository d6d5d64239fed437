"""Anytime search over orders of the columns, by a growing list of scored parent sets."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from tanbark.arrays import TIE, Bools, Integers
from tanbark.machine import run_threads
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.parent_sets import ParentSets
from tanbark.structure.rules import Rules, make_dag
from tanbark.structure.trace import Trace

PERTURBATIONS = 10  # of the best order, in a round
STRENGTH = 4  # most columns that a perturbation moves; rounds in vain add to it
STAY, STRAY = 4, 4  # rounds in vain near the best order before one from another graph, and from there before returning


class OrderSearch:
    """Rounds of search for the best graph among all combinations of the parent sets scored so far.

    An order of the columns allows each its best parent set among the columns before it, so that the best graph is a
    matter of the order alone. The order is improved by moving one column at a time to the place where the score
    gains most. Whenever a column takes a parent set for the first time, the sets that differ from it by one parent are
    counted too, and the search goes on until it chooses nothing new. Then rounds begin from perturbed orders; a round
    in vain also counts, for every column, the neighbours of the best parent set that the order does not allow. After
    some rounds in vain, and once before the first, the search goes on from another graph, which ``elsewhere`` returns
    given the best one; it returns to the best order after some more.

    Notes
    -----
    Teyssier and Koller (2005), Ordering-based search; Lee and van Beek (2017), Metaheuristics for score-and-search
    Bayesian network structure learning, sections 3 and 4, for the moves and the perturbation. There the parent sets are
    listed beforehand; here they grow along the search.
    """

    def __init__(
        self, gains: Gains, rules: Rules, arcs: Bools, elsewhere: Callable[[Bools], Bools], rng: np.random.Generator
    ) -> None:
        self._sets, self._names, self._elsewhere = ParentSets(gains, rules), rules.names, elsewhere
        self._fixed, self._order, self._strayed = rules.fixed, np.arange(len(arcs)), False
        self.enter(arcs)
        self._state = rng.integers(1, 1 << 63, 1, np.uint64)
        self._least = TIE * max(1.0, abs(float(self._sets.score[self._sets.first[1:] - 1].sum())))
        self.score, self.arcs, self._best = -np.inf, arcs, self._order

    def run(self, patience: float, deadline: float, trace: Trace) -> None:
        """Search until ``patience`` rounds in a row find nothing better, or a deadline; ``arcs`` is the best graph."""
        self._grow(0, STRENGTH, deadline, trace)
        if patience > 0 and not self._strayed and perf_counter() < deadline:
            self._strayed = True
            self.enter(self._elsewhere(self.arcs))
            self._grow(0, STRENGTH, deadline, trace)
            self._order = self._best
        idle = 0
        while idle < patience and perf_counter() < deadline:
            before, turn = self.score, idle % (STAY + STRAY)
            if idle and turn == 0:
                self._order = self._best
            elif turn == STAY:
                self.enter(self._elsewhere(self.arcs))
            chosen = self._grow(PERTURBATIONS, STRENGTH + turn, deadline, trace)
            idle = 0 if self.score > before else idle + 1
            if idle < patience:
                more = self._sets.promising(chosen)
                self._sets.expand(self._sets.families(more), self._sets.score[more].tolist())

    def enter(self, arcs: Bools) -> None:
        """Go on from the order of a graph, with what was counted on the way to it."""
        self._sets.absorb()
        self._order = np.array(make_dag(self._names, arcs).order, np.int64)

    def _grow(self, perturbations: int, strength: int, deadline: float, trace: Trace) -> Integers:
        """Search the orders, count the neighbours of newly chosen parent sets, and repeat until none is new."""
        from tanbark.structure.greedy import order_kernels as kernels

        sets = self._sets
        while True:
            begun = perf_counter()
            listed = kernels.SetList(sets.first, sets.bits, sets.score, self._fixed)
            call = (listed, self._order, perturbations, strength, self._least, self._state)
            ((total, self._order, chosen),) = run_threads(kernels.search_orders, [call], 1, long=True)
            if total > self.score + self._least:
                after = sets.arcs(chosen)
                changed = int((after != self.arcs).any(axis=0).sum())
                self.score, self.arcs, self._best = float(total), after, self._order
                trace.add(self.score, f"new parents of {changed} columns", len(sets.score), perf_counter() - begun)
            fresh = chosen[~sets.counted[chosen]]
            if not len(fresh) or perf_counter() > deadline:
                return np.asarray(chosen)
            sets.expand(sets.families(fresh), sets.score[fresh].tolist())
            perturbations = 0
