"""Anytime search for the best graph: hill climbing, then rounds over orders by a growing list of scored parent sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from tanbark.arrays import Bools, Floats
from tanbark.machine import run_here, run_threads
from tanbark.structure.greedy.moves import KINDS, reachable
from tanbark.structure.greedy.parent_sets import ParentSets, ancestral_order, pack_parents, unpack_parents
from tanbark.structure.rules import Draws, Rules
from tanbark.structure.trace import Trace

STEPS_AT_ONCE = 1024  # that are made before they are reported
WHILE = 1 << 25  # codes that a kernel looks at before a pause; less than a tenth of a second


class OrderSearch:
    """Hill climbing, then rounds of search for the best graph among all combinations of the parent sets scored so far.

    An order of the columns allows each its best parent set among the columns before it, so that the best graph is a
    matter of the order alone. The order is improved by moving one column at a time to the place where the score
    gains most. Whenever a column takes a parent set for the first time, the sets that differ from it by one parent are
    counted too, and the search goes on until it chooses nothing new. Then rounds begin from perturbed orders. Orders
    that score as much as the best are entered too: they lead through the graphs of its equivalence class, which have
    other neighbours. A round in vain also counts, for every column, the neighbours of the best parent set that the
    order does not allow. After some rounds in vain the search goes on from another graph, which ``elsewhere`` returns
    given the best one; it returns to the best order after some more.

    All of it is one kernel, which returns to report its steps, and where lists are full or it needs what it cannot
    count: without rows in memory it begins after the climb, and asks for the neighbours of parent sets.

    Notes
    -----
    Teyssier and Koller (2005), Ordering-based search; Lee and van Beek (2017), Metaheuristics for score-and-search
    Bayesian network structure learning, sections 3 and 4, for the moves and the perturbation. There the parent sets are
    listed beforehand; here they grow along the search.
    """

    def __init__(
        self, sets: ParentSets, rules: Rules, start: Bools, elsewhere: Callable[[Bools], Bools],
        draws: Draws,
    ) -> None:  # fmt: skip
        from tanbark.structure.greedy.kernels import climb_kernels, search_kernels

        n = len(start)
        self._sets, self._names, self._elsewhere = sets, rules.names, elsewhere
        graph = climb_kernels.Climb(
            start.copy(), start.copy(), np.empty((n, n)), _filled(n, np.nan), np.empty_like(sets.lists.bits[:, 0]),
            np.empty(n, bool), np.empty((n, n)),
        )  # fmt: skip
        if start.any() and sets.counter is not None:
            graph.reach[:] = reachable(start)
            other = np.flatnonzero((start != rules.fixed).any(axis=0))
            graph.score[other] = sets.family_scores(start, other)
        order, best, chosen, wanted = np.empty((4, n), np.int64)
        random = np.array([draws.word() | 1], np.uint64)  # never 0, where xorshift would stay
        state, score = np.zeros(5, np.int64), _filled(2, -np.inf)
        state[search_kernels.IDLE] = -1
        final = _filled(n if sets.scores_graphs else 0, np.nan)
        self._task = search_kernels.Search(graph, order, best, chosen, wanted, state, score, random, final)
        self._log = climb_kernels.Log(np.empty((STEPS_AT_ONCE, 4), np.int64), np.empty(STEPS_AT_ONCE))

    @property
    def arcs(self) -> Bools:
        """The best graph so far."""
        return unpack_parents(self._task.graph.mask)

    def run(self, patience: float, deadline: float, trace: Trace) -> None:
        """Search until ``patience`` rounds in a row find nothing better, or a deadline; ``arcs`` is the best graph."""
        from tanbark.structure.greedy.kernels.climb_kernels import DONE, FULL
        from tanbark.structure.greedy.kernels.search_kernels import ASKED, LOST, search, search_listed

        sets, begun = self._sets, perf_counter()
        while True:
            most = WHILE if begun <= deadline else 0
            rest = (sets.lists, self._task, self._log, patience, most)
            kernel, call = (search_listed, rest) if sets.counter is None else (search, (sets.counter, *rest))
            if sets.is_long:
                ((why, steps),) = run_threads(kernel, [call], 1, long=True)
            else:
                why, steps = run_here(kernel, *call)
            now = perf_counter()
            self._report(steps, (now - begun) / max(steps, 1), trace)
            if why == DONE or now > deadline:
                return
            if why == FULL:
                sets.widen()
            elif why == ASKED:
                sets.expand_rows(self._task.wanted)
            elif why == LOST:
                self._enter(self._elsewhere(self.arcs))
            begun = now

    def _report(self, steps: int, seconds: float, trace: Trace) -> None:
        """Report the steps of a kernel."""
        from tanbark.structure.greedy.kernels.search_kernels import NEW_PARENTS, START

        log, names = self._log, self._names
        for (kind, x, y, tried), score in zip(log.steps[:steps].tolist(), log.scores[:steps].tolist(), strict=True):
            if kind == START:
                move = "start"
            elif kind == NEW_PARENTS:
                move = f"new parents of {x} columns"
            else:
                move = f"{KINDS[kind]} {names[x]} -> {names[y]}"
            trace.add(score, move, tried, seconds)

    def begin_after(self, arcs: Bools) -> None:
        """Begin with the rounds, after a climb to a graph by tables that were asked for."""
        self._task.graph.mask[:] = pack_parents(arcs)
        self.begin_again(arcs)

    def begin_again(self, arcs: Bools) -> None:
        """Begin another search from the order of a graph, with what was counted on the way to it."""
        from tanbark.structure.greedy.kernels import search_kernels as kernels

        state = self._task.state
        state[kernels.STAGE], state[kernels.IDLE], state[kernels.PERTURBATIONS] = kernels.GROW, -1, 0
        self._task.final[:] = np.nan
        self._enter(arcs)

    def _enter(self, arcs: Bools) -> None:
        self._sets.absorb()
        self._task.order[:] = ancestral_order(arcs)

    def score(self) -> float:
        """Score the best graph anew, to the same last digit by all engines; few rows are counted by the kernel."""
        found: list[float] = self._task.final.tolist()
        if not found or math.isnan(found[0]):
            found = self._sets.family_scores(self.arcs)
        return float(sum(found))


def _filled(n: int, value: float) -> Floats:
    """Return an array of one value, sooner than by ``np.full``."""
    made = np.empty(n)
    made.fill(value)
    return made
