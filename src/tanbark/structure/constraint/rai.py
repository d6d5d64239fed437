"""Recursive autonomy identification: tests of rising order on ever smaller parts of the graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers
from tanbark.checks import check_count, check_ess, check_flag
from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint.independence import IndependenceTests
from tanbark.structure.constraint.streamed_tests import StreamedTests
from tanbark.structure.constraint.values import BayesFactor, IndependenceTest, as_test
from tanbark.structure.result import Learnt


class Tests(Protocol):
    """A way to delete the edges of a graph that conditioning sets of a given size separate."""

    def prune_edges(
        self, adjacent: NDArray[np.bool_], children: Integers, parents: Integers, order: int, *, both_ends: bool
    ) -> tuple[Integers, int]:
        """Delete edges from ``parents`` into ``children``; return (x, y, separating set) rows and the test count."""


@dataclass
class Report:
    """Statistics of a run of recursive autonomy identification.

    Parameters
    ----------
    tests : dict
        Tests of independence by order (the number of features in the conditioning set).
    edges : dict
        Edges between the variables that remained after the tests of up to each order.
    n_splits : int
        Number of structures that were decomposed into descendants and their ancestors.
    n_substructures : int
        Number of parts of these decompositions.
    n_calls : int
        Number of structures that were examined, whole ones and parts.
    n_violations : int
        Number of directed edges that were reversed, or new v-structures, in extending the graph to a DAG.
    """

    tests: Counter[int] = field(default_factory=Counter)
    edges: dict[int, int] = field(default_factory=dict)
    n_splits: int = 0
    n_substructures: int = 0
    n_calls: int = 0
    n_violations: int = 0


def learn_augmented(
    counts: CountEngine, *, test: Any = None, ess: float = 1.0, max_order: int | None = None, start_order: int = 0,
    strict: bool = False,
) -> Learnt:  # fmt: skip
    """Learn an augmented naive Bayes: the graph over the features, with the class in every conditioning set (RAI-ANB).

    Parameters
    ----------
    counts : CountEngine
    test : IndependenceTest, optional
        The test of independence; by default the BDeu Bayes factor with ``ess``.
    ess : float
        Equivalent sample size of the BDeu prior of the Bayes factor, and of the score of the graph.
    max_order : int, optional
        The most features in a conditioning set; None goes on until no edge has enough neighbours.
    start_order : int
        Features in the conditioning sets of the first tests: 0 begins with the class alone; 1 is the letter of the
        published pseudo-code of RAI-ANB, whose printed figures 0 fits better (see the study of that paper).
    strict : bool
        Direct an edge that v-structures direct both ways only by triples whose ends were separated.

    Notes
    -----
    Yehezkel and Lerner (2009), Bayesian network structure learning by recursive autonomy identification. With complete
    data and true tests, ``strict`` recovers the equivalence class exactly.
    """
    check_options(ess, max_order, start_order, strict)
    schema = counts.schema
    n = len(schema.features)
    varied = [i for i in range(n) if schema.cardinalities[i] > 1]
    graph = PartialGraph(n, varied)
    tests = make_tests(counts, as_test(test, BayesFactor(ess)), given_class=True)
    report = identify(graph, tests, np.array(varied, np.int64), start_order, max_order, strict=strict)
    parents, report.n_violations = graph.extension()
    return finish(counts, Dag.augmented(schema.names, parents), ess, report)


def learn_general(
    counts: CountEngine, *, test: Any = None, ess: float = 1.0, max_order: int | None = None, start_order: int = 0,
    strict: bool = False,
) -> Learnt:  # fmt: skip
    """Learn a general network over the features and the class (RAI-GBN); options as in ``learn_augmented``.

    Only the class's Markov blanket takes part in predictions; without one they are the class distribution.
    """
    check_options(ess, max_order, start_order, strict)
    schema = counts.schema
    varied = [i for i, states in enumerate(schema.cardinalities) if states > 1]
    graph = PartialGraph(len(schema.names), varied)
    tests = make_tests(counts, as_test(test, BayesFactor(ess)), given_class=False)
    report = identify(graph, tests, np.array(varied, np.int64), start_order, max_order, strict=strict)
    parents, report.n_violations = graph.extension()
    return finish(counts, Dag(schema.names, parents), ess, report)


def make_tests(counts: CountEngine, test: IndependenceTest, *, given_class: bool) -> Tests:
    """Test by compiled Bayes factors on rows in memory, or by tables of many tests."""
    if isinstance(test, BayesFactor) and not counts.counts_in_passes:
        return IndependenceTests(counts, given_class=given_class, ess=test.ess)
    return StreamedTests(counts, given_class=given_class, test=test)


def finish(counts: CountEngine, dag: Dag, ess: float, report: Any) -> Learnt:
    """Return a graph with its BDeu."""
    families = [(*parents, node) for node, parents in enumerate(dag.parents)]
    return Learnt(dag, float(counts.family_scores(families, ess=ess).sum()), report=report)


def identify(
    graph: PartialGraph, tests: Tests, nodes: Integers, start_order: int = 0, max_order: int | None = None, *,
    strict: bool = False,
) -> Report:  # fmt: skip
    """Prune and direct a graph in place, from tests of low order to high and from the whole to its parts."""
    report = Report()
    deleted: Counter[int] = Counter()
    edges = int((graph.adjacent | graph.adjacent.T).sum()) // 2
    nothing = np.zeros(0, np.int64)
    guard = "ambiguous" if strict else "none"

    def examine(order: int, inner: Integers, outer: Integers) -> None:
        report.n_calls += 1
        adjacent = graph.adjacent
        if not len(inner) or adjacent[:, inner].sum(axis=0).max() <= order:
            return
        if max_order is not None and order > max_order:
            return
        for parents in (outer, inner):
            if parents is inner:
                graph.orient_by_rules(inner, "all")
            found, n_tests = tests.prune_edges(adjacent, inner, parents, order, both_ends=parents is inner)
            graph.delete(found)
            deleted[order] += len(found)
            report.tests[order] += n_tests
        graph.orient_colliders(inner)
        graph.orient_by_rules(inner, guard)
        low = graph.lowest(inner)
        ancestors, descendants = inner[~low], inner[low]
        groups = graph.components(ancestors)
        report.n_splits += bool(groups)
        report.n_substructures += len(groups) + 1 if groups else 0
        for group in groups:
            examine(order + 1, group, outer)
        examine(order + 1, descendants, np.union1d(outer, ancestors))

    examine(start_order, nodes, nothing)
    graph.orient_by_rules(nodes, guard)
    for order in sorted(deleted):
        edges -= deleted[order]
        report.edges[order] = edges
    return report


def check_options(ess: object, max_order: object, start_order: object, strict: object) -> None:
    """Validate the options of recursive autonomy identification."""
    check_ess(ess)
    if max_order is not None:
        check_count("max_order", max_order)
    check_count("start_order", start_order)
    check_flag("strict", strict)
