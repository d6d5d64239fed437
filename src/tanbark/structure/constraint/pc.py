"""The PC algorithm, stable: tests of rising order on neighbours that stay fixed within an order, then directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import TIE, Bools
from tanbark.checks import check_count, check_ess
from tanbark.counts import CountEngine
from tanbark.counts.column_sets import ColumnSet
from tanbark.graph import Dag
from tanbark.scores import mutual_information
from tanbark.structure.constraint.orientation import Orientation, extend
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
    Nothing depends on the order of the columns. The neighbours that conditioning sets are taken from are those at the
    beginning of an order. Of all sets that separate two columns at the lowest order, that with most support counts;
    where several have as much, a column is a collider only if it is in none of them. Directions that are disputed or
    close a cycle are left open, and what is open at the end is settled by the columns' entropies, then by what they say
    about the class, then by their names. Spirtes, Glymour and Scheines (2000), section 5.4.2; Colombo and Maathuis
    (2014), section 4; Ramsey (2016) for the choice of the set.
    """
    schema = counts.schema
    adjacent, report = _learn(counts, test, max_order, ess, given_class=True)
    parents, report.n_violations = extend(adjacent, _canonical_order(counts))
    return finish(counts, Dag.augmented(schema.names, parents[: schema.target]), ess, report)


def learn_general(counts: CountEngine, *, test: Any = None, max_order: int | None = None, ess: float = 1.0) -> Learnt:
    """Learn a general network over the features and the class by the PC algorithm; see ``learn_augmented``."""
    adjacent, report = _learn(counts, test, max_order, ess, given_class=False)
    parents, report.n_violations = extend(adjacent, _canonical_order(counts))
    return finish(counts, Dag(counts.schema.names, parents), ess, report)


def _learn(
    counts: CountEngine, test: Any, max_order: int | None, ess: float, *, given_class: bool
) -> tuple[Bools, PCReport]:
    check_ess(ess)
    if max_order is not None:
        check_count("max_order", max_order)
    schema = counts.schema
    n = len(schema.names)
    varied = [i for i, states in enumerate(schema.cardinalities) if states > 1 and not (given_class and i == n - 1)]
    linked, report = np.zeros((n, n), bool), PCReport()
    linked[np.ix_(varied, varied)] = True
    np.fill_diagonal(linked, False)
    separators: dict[tuple[int, int], list[ColumnSet]] = {}
    tests = StreamedTests(counts, given_class=given_class, test=as_test(test, GTest()))
    order = 0
    while (max_order is None or order <= max_order) and linked.sum(axis=0).max(initial=0) > order:
        found = separate(tests, linked, order, report.tests)
        separators |= found
        for (x, y), sets in found.items():
            linked[x, y] = linked[y, x] = False
            named = [tuple(schema.names[z] for z in chosen) for chosen in sets]
            report.separators[schema.names[x], schema.names[y]] = min(named, key=sorted)
        report.edges[order] = int(linked.sum()) // 2
        order += 1
    return Orientation(linked, separators).direct(), report


def _canonical_order(counts: CountEngine) -> list[int]:
    """Order the columns by what the data say of them: entropy, then information on the class, then name."""
    schema = counts.schema
    n, target = len(schema.names), schema.target
    tables = counts.tables([(node, target) if node != target else (node,) for node in range(n)])
    from scipy.special import xlogy

    keys = []
    for node, table in enumerate(tables):
        own = table.sum(axis=1) if node != target else table
        entropy = np.log(max(float(own.sum()), 1.0)) - float(xlogy(own, own).sum()) / max(float(own.sum()), 1.0)
        information = mutual_information(table) if node != target else 0.0
        keys.append((round(entropy, 9), round(float(information), 9), schema.names[node]))
    return sorted(range(n), key=lambda node: keys[node])


def separate(
    tests: StreamedTests, adjacent: NDArray[np.bool_], order: int, n_tests: Counter[int]
) -> dict[tuple[int, int], list[ColumnSet]]:
    """Find the edges of a skeleton that ``order`` neighbours of one end separate, and the sets that do so best.

    All edges are tested side by side, a few sets of each at a time, so that rows elsewhere are read few times. There
    are several sets where their support is the same.
    """
    edges = [(int(x), int(y)) for x, y in np.argwhere(np.triu(adjacent))]
    waiting = {edge: _sets(adjacent, *edge, order) for edge in edges}
    best: dict[tuple[int, int], list[tuple[float, ColumnSet]]] = {}
    some = FIRST_TESTS
    while waiting:
        asked = {edge: list(islice(sets, some)) for edge, sets in waiting.items()}
        supports = iter(tests.supports([(*edge, chosen) for edge, sets in asked.items() for chosen in sets]).tolist())
        for edge, sets in asked.items():
            n_tests[order] += len(sets)
            for chosen, support in zip(sets, islice(supports, len(sets)), strict=True):
                if support > TIE:
                    found = [*best.get(edge, ()), (support, chosen)]
                    most = max(each for each, _ in found)
                    best[edge] = [each for each in found if each[0] >= most - TIE]
            if len(sets) < some:
                del waiting[edge]
        some *= 2
    return {edge: [chosen for _, chosen in best[edge]] for edge in sorted(best)}


def _sets(adjacent: NDArray[np.bool_], x: int, y: int, order: int) -> Iterator[ColumnSet]:
    """List the sets of neighbours of x, and then those of y that are not all neighbours of x."""
    of_x = [z for z in np.flatnonzero(adjacent[x]).tolist() if z != y]
    of_y = [z for z in np.flatnonzero(adjacent[y]).tolist() if z != x]
    common = set(of_x)
    further = (chosen for chosen in combinations(of_y, order) if not common.issuperset(chosen))
    return chain(combinations(of_x, order), further)
