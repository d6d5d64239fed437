"""Anytime search over orders of the columns, by a growing list of scored parent sets."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from tanbark.arrays import TIE, Bools, Integers
from tanbark.machine import run_threads
from tanbark.structure.greedy.parent_sets import ParentSets, ancestral_order
from tanbark.structure.trace import Trace

PERTURBATIONS = 10  # of the best order, in a round
STRENGTH = 4  # most columns that a perturbation moves; rounds in vain add to it
STAY, STRAY = 4, 4  # rounds in vain near the best order before one from another graph, and from there before returning


class OrderSearch:
    """Rounds of search for the best graph among all combinations of the parent sets scored so far.

    An order of the columns allows each its best parent set among the columns before it, so that the best graph is a
    matter of the order alone. The order is improved by moving one column at a time to the place where the score
    gains most. Whenever a column takes a parent set for the first time, the sets that differ from it by one parent are
    counted too, and the search goes on until it chooses nothing new. Then rounds begin from perturbed orders. Orders
    that score as much as the best are entered too: they lead through the graphs of its equivalence class, which have
    other neighbours. A round in vain also counts, for every column, the neighbours of the best parent set that the
    order does not allow. After some rounds in vain the search goes on from another graph, which ``elsewhere`` returns
    given the best one; it returns to the best order after some more.

    Notes
    -----
    Teyssier and Koller (2005), Ordering-based search; Lee and van Beek (2017), Metaheuristics for score-and-search
    Bayesian network structure learning, sections 3 and 4, for the moves and the perturbation. There the parent sets are
    listed beforehand; here they grow along the search.
    """

    def __init__(
        self, sets: ParentSets, arcs: Bools, order: Integers, elsewhere: Callable[[Bools], Bools],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._sets, self._order, self._elsewhere = sets, order, elsewhere
        self._state = np.array([rng.bit_generator.random_raw() | 1], np.uint64)  # never 0, where xorshift would stay
        self._least = TIE * max(1.0, abs(sets.floor()))
        self.score, self.arcs, self._best = -np.inf, arcs, self._order

    def run(self, patience: float, deadline: float, trace: Trace) -> None:
        """Search until ``patience`` rounds in a row find nothing better, or a deadline; ``arcs`` is the best graph."""
        self._grow(0, STRENGTH, deadline, trace)
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
                self._expand_promising(chosen)

    def enter(self, arcs: Bools) -> None:
        """Go on from the order of a graph, with what was counted on the way to it."""
        self._sets.absorb()
        self._order = ancestral_order(arcs)

    def _expand_promising(self, chosen: Integers) -> None:
        """Count the neighbours of the best parent set of each column that its order does not allow."""
        from tanbark.structure.greedy.kernels import climb_kernels as kernels
        from tanbark.structure.greedy.kernels.set_kernels import list_promising

        sets = self._sets
        if sets.counter is None:
            sets.expand_rows(list_promising(sets.lists, chosen))
            return
        while True:
            call = (sets.counter, sets.lists, chosen)
            (fitted,) = run_threads(kernels.expand_promising, [call], 1, long=sets.is_long)
            if fitted:
                return
            sets.widen()

    def _grow(self, perturbations: int, strength: int, deadline: float, trace: Trace) -> Integers:
        """Search the orders, count the neighbours of newly chosen parent sets, and repeat until none is new."""
        sets = self._sets
        while True:
            begun = perf_counter()
            total, chosen, done = self._search(perturbations, strength)
            if total > self.score + self._least:
                after = sets.arcs(chosen)
                changed = int((after != self.arcs).any(axis=0).sum())
                self.score = float(sets.lists.score[np.arange(len(chosen)), chosen].sum())
                self.arcs, self._best = after, self._order
                scored = int(sets.lists.size.sum())
                trace.add(self.score, f"new parents of {changed} columns", scored, perf_counter() - begun)
            if done or perf_counter() > deadline:
                return chosen
            if sets.counter is None:
                known = sets.lists.counted[np.arange(len(chosen)), chosen]
                sets.expand_rows(np.where(known, -1, chosen))
            perturbations = 0

    def _search(self, perturbations: int, strength: int) -> tuple[float, Integers, bool]:
        """Search the orders; return the score and the sets of the best one, and whether none of these is new.

        Sets are counted on the way where a kernel can.
        """
        from tanbark.structure.greedy.kernels import climb_kernels, order_kernels

        sets = self._sets
        call = (sets.lists, self._order, perturbations, strength, self._least, self._state)
        if sets.counter is None:
            ((total, self._order, chosen),) = run_threads(order_kernels.search_orders, [call], 1, long=True)
            done = bool(sets.lists.counted[np.arange(len(chosen)), chosen].all())
            return float(total), np.asarray(chosen), done
        more = (sets.counter, *call)
        ((why, total, self._order, chosen),) = run_threads(climb_kernels.grow, [more], 1, long=sets.is_long)
        found = float(total), np.asarray(chosen), why == climb_kernels.DONE
        if why == climb_kernels.FULL:
            sets.widen()
        return found
