"""Good graphs from a local search, where there are too many columns for dynamic programming."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from tanbark.arrays import Bools, Floats
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.structure.cost import warn_if_long
from tanbark.structure.exact.subset_scores import CompleteRows
from tanbark.structure.greedy import ban, hill_climb
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.ranked.k_best import Parents, Wanted
from tanbark.table import CodedTable, Schema

Arc = tuple[int, int]


def search(
    rows: CompleteRows, schema: Schema, searched: list[int], wanted: Wanted, *, given_class: bool, n_jobs: int | None
) -> list[tuple[Parents, float]]:
    """Return the K best different graphs of a best-first search that begins at the end of hill climbing.

    The search takes the best graph that is waiting, lists it, and lets its neighbours wait: all graphs with an arc
    more, an arc less, or an arc reversed. It ends when no waiting graph is better than the K-th of the list. A graph is
    missed if every chain of single changes from the list to it leads over one that is worse than the K-th.
    """
    weights = rows.weights if len(rows.weights) else None
    counts = MemoryCounts(CodedTable(schema, rows.codes, weights), n_jobs=n_jobs)
    warn_if_long("ban" if given_class else "hill-climb", counts)
    climb = ban if given_class else hill_climb
    start = climb.learn(
        counts, criterion="bdeu", ess=wanted.ess, max_parents=wanted.max_parents, max_cells=wanted.max_cells,
        verbose=wanted.verbose,
    ).dag  # fmt: skip
    space = _Space(counts, searched, wanted, given_class=given_class)
    return space.best_first(start)


class _Space:
    """Graphs over some columns, the class besides in every family or not, and the score of each change."""

    def __init__(self, counts: MemoryCounts, searched: list[int], wanted: Wanted, *, given_class: bool) -> None:
        n = len(counts.schema.names)
        allowed = np.zeros((n, n), bool)
        allowed[np.ix_(searched, searched)] = True
        np.fill_diagonal(allowed, False)
        self._allowed: Bools = allowed
        self._wanted, self._names, self._searched = wanted, counts.schema.names, searched
        self._given = (n - 1,) if given_class else ()
        self._most = n if wanted.max_parents is None else int(wanted.max_parents)
        self._gains = Gains(counts, "bdeu", ess=wanted.ess, allowed=allowed, max_cells=wanted.max_cells)

    def best_first(self, start: Dag) -> list[tuple[Parents, float]]:
        """Take graphs from the waiting ones, always the best, as long as one is better than the K-th so far."""
        parents = tuple(
            tuple(p for p in found if p not in self._given) if node in self._searched else ()
            for node, found in enumerate(start.parents)
        )
        families = [(node, (*parents[node], *self._given)) for node in self._searched]
        score = float(np.sum(self._gains.family_scores(families)))
        waiting: list[tuple[float, int, Parents, tuple[Arc, ...]]] = [(-score, 0, parents, ())]
        found: list[tuple[Parents, float]] = []
        known: set[object] = set()
        best: list[float] = []  # the scores of the K best, the worst of them first
        number, k = 0, int(self._wanted.k)
        while waiting and (len(best) < k or -waiting[0][0] > best[0]):
            negative, _, base, change = heapq.heappop(waiting)
            graph = _changed(base, change)
            if graph is None:
                continue
            key = self._key(graph)
            if key in known:
                continue
            known.add(key)
            found.append((graph, -negative))
            heapq.heappush(best, -negative)
            if len(best) > k:
                heapq.heappop(best)
            for gain, arcs in self._neighbours(graph):
                number += 1
                heapq.heappush(waiting, (negative - gain, number, graph, arcs))
        found.sort(key=lambda item: -item[1])
        return found[:k]

    def _neighbours(self, graph: Parents) -> Iterator[tuple[float, tuple[Arc, ...]]]:
        """List the gain of every change of a graph: the arcs that are toggled; some make a cycle."""
        families = [(node, tuple(sorted((*graph[node], *self._given)))) for node in self._searched]
        gains: dict[int, Floats] = dict(zip(self._searched, self._gains.toggles(families), strict=True))
        for child in self._searched:
            room = len(graph[child]) < self._most
            for parent in self._searched:
                gain = float(gains[child][parent])
                if not self._allowed[parent, child] or gain == -np.inf:
                    continue
                if parent in graph[child]:
                    yield gain, ((parent, child),)
                    back = float(gains[parent][child])
                    if len(graph[parent]) < self._most and back > -np.inf:
                        yield gain + back, ((parent, child), (child, parent))
                elif room and child not in graph[parent]:
                    yield gain, ((parent, child),)

    def _key(self, graph: Parents) -> object:
        """Return what identifies a graph, or its equivalence class: its edges and its v-structures."""
        if self._wanted.distinct == "dags":
            return graph
        edges = {(min(p, node), max(p, node)) for node, found in enumerate(graph) for p in found}
        colliders = {
            (a, node, b)
            for node, found in enumerate(graph)
            for a in found
            for b in found
            if a < b and (a, b) not in edges
        }
        return frozenset(edges), frozenset(colliders)


def _changed(graph: Parents, arcs: tuple[Arc, ...]) -> Parents | None:
    """Toggle arcs; None where that makes a cycle."""
    found = list(graph)
    for parent, child in arcs:
        held = set(found[child]) ^ {parent}
        found[child] = tuple(sorted(held))
    added = [(parent, child) for parent, child in arcs if parent in found[child]]
    return None if any(_reaches(found, child, parent) for parent, child in added) else tuple(found)


def _reaches(parents: list[tuple[int, ...]], start: int, goal: int) -> bool:
    """Return whether arcs lead from one node to another."""
    seen, todo = {goal}, [goal]
    while todo:
        node = todo.pop()
        if node == start:
            return True
        fresh = set(parents[node]) - seen
        seen |= fresh
        todo += fresh
    return False
