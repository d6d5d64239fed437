"""The PC algorithm, stable: tests of rising order on neighbours that stay fixed within an order, then directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE
from tanbark.checks import check_count, check_ess
from tanbark.counts import CountEngine
from tanbark.counts.column_sets import ColumnSet
from tanbark.counts.engine import Test
from tanbark.graph import Dag
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint.rai import finish
from tanbark.structure.constraint.streamed_tests import StreamedTests
from tanbark.structure.constraint.values import GTest, as_test
from tanbark.structure.result import Learnt

FIRST_TESTS = 4  # tests of an edge that are asked for at first; twice as many each further time


@dataclass
class PCReport:
    """Statistics of a run of the PC algorithm.

    Parameters
    ----------
    tests : dict
        Tests of independence by order (the number of features in the conditioning set).
    edges : dict
        Edges that remained after the tests of up to each order.
    separators : dict
        The names of the columns that separated the two ends of every edge that was deleted.
    n_violations : int
        Number of directed edges that were reversed, or new v-structures, in extending the graph to a DAG.
    """

    tests: Counter[int] = field(default_factory=Counter)
    edges: dict[int, int] = field(default_factory=dict)
    separators: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    n_violations: int = 0


def learn_augmented(counts: CountEngine, *, test: Any = None, max_order: int | None = None, ess: float = 1.0) -> Learnt:
    """Learn an augmented naive Bayes by the PC algorithm over the features, the class in every conditioning set.

    Parameters
    ----------
    counts : CountEngine
    test : IndependenceTest, optional
        By default ``GTest(0.05)``.
    max_order : int, optional
        The most features in a conditioning set; None goes on until no edge has enough neighbours.
    ess : float
        Equivalent sample size of the BDeu score of the graph, which decides nothing.

    Notes
    -----
    The neighbours that conditioning sets are taken from are those at the beginning of an order, so the skeleton does
    not depend on the order of the columns. Of all sets that separate two columns at the lowest order, that with most
    support counts, so the v-structures do not depend on it either. Spirtes, Glymour and Scheines (2000), section 5.4.2;
    Colombo and Maathuis (2014), section 4; Ramsey (2016) for the choice of the set.
    """
    schema = counts.schema
    graph, report = _learn(counts, test, max_order, ess, given_class=True)
    parents, report.n_violations = graph.extension()
    return finish(counts, Dag.augmented(schema.names, parents[: schema.target]), ess, report)


def learn_general(counts: CountEngine, *, test: Any = None, max_order: int | None = None, ess: float = 1.0) -> Learnt:
    """Learn a general network over the features and the class by the PC algorithm; see ``learn_augmented``."""
    graph, report = _learn(counts, test, max_order, ess, given_class=False)
    parents, report.n_violations = graph.extension()
    return finish(counts, Dag(counts.schema.names, parents), ess, report)


def _learn(
    counts: CountEngine, test: Any, max_order: int | None, ess: float, *, given_class: bool
) -> tuple[PartialGraph, PCReport]:
    check_ess(ess)
    if max_order is not None:
        check_count("max_order", max_order)
    schema = counts.schema
    n = len(schema.names)
    varied = [i for i, states in enumerate(schema.cardinalities) if states > 1 and not (given_class and i == n - 1)]
    graph, report = PartialGraph(n, varied), PCReport()
    tests = StreamedTests(counts, given_class=given_class, test=as_test(test, GTest()))
    order = 0
    while (max_order is None or order <= max_order) and graph.adjacent.sum(axis=0).max(initial=0) > order:
        found = separate(tests, graph.adjacent, order, report.tests)
        graph.delete([[x, y, *chosen] for x, y, chosen in found])
        for x, y, chosen in found:
            report.separators[schema.names[x], schema.names[y]] = tuple(schema.names[z] for z in chosen)
        report.edges[order] = int(graph.adjacent.sum()) // 2
        order += 1
    graph.orient_colliders(np.array(varied, np.int64))
    graph.orient_by_rules(np.array(varied, np.int64))
    return graph, report


def separate(tests: StreamedTests, adjacent: NDArray[np.bool_], order: int, n_tests: Counter[int]) -> list[Test]:
    """Find the edges of a skeleton that ``order`` neighbours of one end separate, and the set that does so best.

    All edges are tested side by side, a few sets of each at a time, so that rows elsewhere are read few times. Of sets
    with the same support, the first counts.
    """
    edges = [(int(x), int(y)) for x, y in np.argwhere(np.triu(adjacent))]
    waiting = {edge: _sets(adjacent, *edge, order) for edge in edges}
    best: dict[tuple[int, int], tuple[float, ColumnSet]] = {}
    some = FIRST_TESTS
    while waiting:
        asked = {edge: list(islice(sets, some)) for edge, sets in waiting.items()}
        supports = iter(tests.supports([(*edge, chosen) for edge, sets in asked.items() for chosen in sets]).tolist())
        for edge, sets in asked.items():
            n_tests[order] += len(sets)
            for chosen, support in zip(sets, islice(supports, len(sets)), strict=True):
                if support > TIE and (edge not in best or support > best[edge][0] + TIE):
                    best[edge] = support, chosen
            if len(sets) < some:
                del waiting[edge]
        some *= 2
    return [(*edge, best[edge][1]) for edge in sorted(best)]


def _sets(adjacent: NDArray[np.bool_], x: int, y: int, order: int) -> Iterator[ColumnSet]:
    """List the sets of neighbours of x, and then those of y that are not all neighbours of x."""
    of_x = [z for z in np.flatnonzero(adjacent[x]).tolist() if z != y]
    of_y = [z for z in np.flatnonzero(adjacent[y]).tolist() if z != x]
    common = set(of_x)
    further = (chosen for chosen in combinations(of_y, order) if not common.issuperset(chosen))
    return chain(combinations(of_x, order), further)
