"""Tests of independence by tables of counts, those of many tests counted at once: any test, on rows anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE, Counts, Floats, Integers, smallest_factor
from tanbark.counts.column_sets import ColumnSet
from tanbark.counts.engine import CountEngine, Test
from tanbark.scores.dirichlet import log_bayes_factor, make_term_cache
from tanbark.structure.constraint.values import BayesFactor, IndependenceTest

MAX_DENSE_TEST = 1 << 20  # cells; larger tables are tested by their observed cells
SPARSE_CELLS = 1 << 16  # cells that a table of observed cells is assumed to need
MIN_PREFETCH = 64.0  # nanoseconds per row that prefetched tables may cost where a pass costs nothing
FIRST_TESTS = 4  # tests of each edge that are prefetched first
MEMORY_TESTS = 64  # tests that are prefetched where rows are in memory
MAX_CACHED_COUNT = 1 << 20


class StreamedTests:
    """Delete edges by any test, as ``IndependenceTests`` does by the Bayes factor, from tables that a pass counts.

    A test that needs a new table prefetches those of tests that may follow: the rest of its own edge, then a few of
    each later edge, then more of each, and so on, first those of its own call and then those of the whole graph at the
    same order. Edges are only ever deleted, so later tests are among them. How many are prefetched is limited by memory
    and by cost: the first time at an order as many as cost what the passes themselves cost, and twice as much each
    further time, so that neither passes nor tables that are never used can take most of the time.

    Parameters
    ----------
    counts : CountEngine
    given_class : bool
        Whether the class is part of every conditioning set, and then no variable itself.
    test : IndependenceTest, optional
        By default the Bayes factor.
    """

    def __init__(self, counts: CountEngine, *, given_class: bool, test: IndependenceTest | None = None) -> None:
        self._counts, self._test = counts, BayesFactor() if test is None else test
        by_factor = isinstance(self._test, BayesFactor)
        self._ess = float(self._test.ess) if isinstance(self._test, BayesFactor) else 1.0
        self._least = smallest_factor(counts.total) if by_factor else TIE
        target = counts.schema.target
        self._given = (target,) if given_class else ()
        self._states = np.array(counts.schema.cardinalities, np.int64)
        self._base = int(self._states[target]) if given_class else 1
        self._cache = make_term_cache(MAX_CACHED_COUNT)
        self._budget, self._order = 0.0, -1
        self._tables: dict[ColumnSet, Counts] = {}
        self._cells: dict[ColumnSet, tuple[Integers, Counts]] = {}

    def prune_edges(
        self, adjacent: NDArray[np.bool_], children: Integers, parents: Integers, order: int, *, both_ends: bool
    ) -> tuple[Integers, int]:
        """Delete every edge from ``parents`` into ``children`` that some potential parents of the child separate."""
        found: list[list[int]] = []
        n_tests = 0
        for place, y in enumerate(children.tolist()):
            for number, x in enumerate(parents.tolist()):
                if not adjacent[x, y] or x == y:
                    continue
                again = both_ends and x < y and bool(adjacent[y, x])
                candidates = _others(adjacent, x, y) if order else []
                if order == 0 and again:
                    n_tests += 1
                    continue
                for chosen in combinations(candidates, order):
                    n_tests += 1
                    if order and again and all(adjacent[z, x] for z in chosen):
                        continue  # tested before, from the other end
                    test = (x, y, chosen)
                    if not self._counted(test):
                        rest = _upcoming(adjacent, children[place:], parents, number, order)
                        self._fetch(rest, test)
                    if self._support(test) > self._least:
                        adjacent[x, y] = adjacent[y, x] = False
                        found.append([x, y, *chosen])
                        break
        return np.array(found, np.int64).reshape(len(found), 2 + order), n_tests

    def supports(self, tests: Sequence[Test]) -> Floats:
        """Return the support for independence of each test (x, y, given), positive where it decides for it."""
        found = np.empty(len(tests))
        for place, test in enumerate(tests):
            if not self._counted(test):
                self._fetch(iter(tests[place + 1 :]), test)
            found[place] = self._support(test)
        return found

    def _counted(self, test: Test) -> bool:
        key = self._key(test)
        return key in self._tables or key in self._cells

    def _key(self, test: Test) -> ColumnSet:
        x, y, given = test
        return tuple(sorted((x, y, *given, *self._given)))

    def _fetch(self, upcoming: Iterator[Test], first: Test) -> None:
        """Count what a test needs, and what tests after it need as far as memory and cost allow."""
        again, self._order = len(first[2]) == self._order, len(first[2])
        self._budget = 2 * self._budget if again else 2 * self._counts.pass_cost + MIN_PREFETCH
        cells, cost = self._counts.most_cells // 2, 0.0  # tables are held here and in the engine
        dense: dict[ColumnSet, None] = {}
        sparse: dict[ColumnSet, None] = {}
        most = None if self._counts.counts_in_passes else MEMORY_TESTS
        for test in chain([first], islice(upcoming, most)):
            key = self._key(test)
            if key in dense or key in sparse:
                continue
            size = math.prod(int(self._states[c]) for c in key)
            large = size > min(MAX_DENSE_TEST, self._counts.most_cells)
            cells -= SPARSE_CELLS if large else size
            cost += self._counts.table_cost(key)
            if (cells < 0 or cost > self._budget) and (dense or sparse):
                break
            (sparse if large else dense)[key] = None
        self._tables = dict(zip(dense, self._counts.tables(list(dense)), strict=True))
        self._cells = dict(zip(sparse, self._counts.cells(list(sparse)), strict=True))

    def _support(self, test: Test) -> float:
        """Return how much a test favours independence, from its table or its observed cells."""
        x, y, given = test
        key = self._key(test)
        if isinstance(self._test, BayesFactor):
            return self._factor_of_cells(test) if key in self._cells else self._factor_of_table(test)
        columns = [*given, *self._given, x, y]
        n_configs = math.prod(map(float, self._states[columns[:-2]]))
        places = [key.index(c) for c in columns]
        if key in self._cells:
            cells, counts = self._cells[key]
            configs = np.unique(cells[:, places[:-2]], axis=0, return_inverse=True)[1].ravel()
            table = np.zeros((int(configs.max(initial=-1)) + 1, *self._states[[x, y]]))
            np.add.at(table, (configs, cells[:, places[-2]], cells[:, places[-1]]), counts)
        else:
            table = self._tables[key].transpose(places).reshape(-1, *self._states[[x, y]])
        return self._test.measure(table, n_configs).support

    def _factor_of_cells(self, test: Test) -> float:
        x, y, given = test
        key = self._key(test)
        cells, counts = self._cells[key]
        columns = [*given, *self._given, x, y]
        places = [key.index(c) for c in columns]
        return log_bayes_factor(cells[:, places], counts, self._states[columns].tolist(), self._ess)

    def _factor_of_table(self, test: Test) -> float:
        from tanbark.scores import dirichlet_kernels as kernels

        x, y, given = test
        key = self._key(test)
        axes = [key.index(c) for c in (*reversed(given), x, y, *self._given)]
        table = np.ascontiguousarray(self._tables[key].transpose(axes)).ravel()
        n_x, n_y = int(self._states[x]), int(self._states[y])
        n_z = math.prod(int(self._states[c]) for c in given)
        whole = table.dtype == np.int64
        found: float = kernels.factor_of_table(
            table, n_z, n_x, n_y, self._base, float(n_z * self._base), self._ess, whole, self._cache
        )
        return found


def _others(adjacent: NDArray[np.bool_], x: int, y: int) -> list[int]:
    return [z for z in np.flatnonzero(adjacent[:, y]).tolist() if z != x]


def _upcoming(
    adjacent: NDArray[np.bool_], children: Integers, parents: Integers, number: int, order: int
) -> Iterator[Test]:
    """List the tests that may follow from one edge on: all of this edge, then a few of each edge, then more of each."""
    everyone = np.arange(len(adjacent))
    edges: dict[tuple[int, int], Iterator[tuple[int, ...]]] = {}
    for ends, starts, skipped in ((children, parents, number), (everyone, everyone, 0)):
        for place, y in enumerate(ends.tolist()):
            for x in starts[skipped if place == 0 else 0 :].tolist():
                if x != y and adjacent[x, y] and (x, y) not in edges:
                    edges[x, y] = combinations(_others(adjacent, x, y), order)
    first = (int(parents[number]), int(children[0]))
    yield from ((*first, chosen) for chosen in edges.pop(first))
    some = FIRST_TESTS
    while edges:
        for (x, y), sets in list(edges.items()):
            found = list(islice(sets, some))
            yield from ((x, y, chosen) for chosen in found)
            if len(found) < some:
                del edges[x, y]
        some *= 2
