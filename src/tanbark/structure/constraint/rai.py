"""Recursive autonomy identification: tests of rising order on ever smaller parts of the graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Integers
from tanbark.checks import check_count, check_ess, check_flag
from tanbark.counts import CountEngine, PartedCounts
from tanbark.graph import Dag
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint.independence import IndependenceTests, family_scores
from tanbark.structure.constraint.streamed_tests import LevelTests
from tanbark.structure.result import Learnt


class Tests(Protocol):
    """Whoever can delete the edges of a graph that sets of a given size separate."""

    def thin(
        self, adjacent: NDArray[np.bool_], children: Integers, parents: Integers, order: int, *, both_ends: bool
    ) -> tuple[Integers, int]:
        """Delete edges from ``parents`` into ``children``; give (x, y, separating set) rows and the number of tests."""


@dataclass
class Report:
    """What a run of recursive autonomy identification did.

    Parameters
    ----------
    tests : dict
        Tests of independence by order (the number of features in the condition).
    edges : dict
        Edges between the variables that the tests of up to each order left.
    n_splits : int
        How many structures were decomposed into descendants and their ancestors.
    n_substructures : int
        How many parts these splits gave.
    n_calls : int
        How many structures were looked at, whole ones and parts.
    n_violations : int
        How often a directed edge had to be turned, or an unshielded collider made, to get a graph without cycles.
    """

    tests: Counter[int] = field(default_factory=Counter)
    edges: dict[int, int] = field(default_factory=dict)
    n_splits: int = 0
    n_substructures: int = 0
    n_calls: int = 0
    n_violations: int = 0


def learn_augmented(
    counts: CountEngine, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False
) -> Learnt:
    """Learn an augmented naive Bayes: the graph over the features, with the class in every condition (RAI-ANB).

    Parameters
    ----------
    counts : CountEngine
    ess : float
        Equivalent sample size of the BDeu prior that the Bayes factor rests on.
    max_order : int, optional
        The most features in a condition; None goes on until no edge has enough neighbours.
    start_order : int
        Features in the condition of the first tests: 0 begins with the class alone.
    strict : bool
        Direct edges that colliders want to point both ways only by triples that separated their ends.

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
    tests = _make_tests(counts, given_class=True, ess=ess)
    report = identify(graph, tests, np.array(varied, np.int64), start_order, max_order, strict=strict)
    parents, report.n_violations = graph.extension()
    return _finish(counts, Dag.augmented(schema.names, parents), ess, report)


def learn_general(
    counts: CountEngine, *, ess: float = 1.0, max_order: int | None = None, start_order: int = 0, strict: bool = False
) -> Learnt:
    """Learn a general network over the features and the class (RAI-GBN); options as in ``learn_augmented``.

    Only the class's Markov blanket takes part in predictions; without one they are the class distribution.
    """
    check_options(ess, max_order, start_order, strict)
    schema = counts.schema
    varied = [i for i, states in enumerate(schema.cardinalities) if states > 1]
    graph = PartialGraph(len(schema.names), varied)
    tests = _make_tests(counts, given_class=False, ess=ess)
    report = identify(graph, tests, np.array(varied, np.int64), start_order, max_order, strict=strict)
    parents, report.n_violations = graph.extension()
    return _finish(counts, Dag(schema.names, parents), ess, report)


def _make_tests(counts: CountEngine, *, given_class: bool, ess: float) -> Tests:
    """Test by the rows where they are in memory, and by tables of a whole level where they are not."""
    make = LevelTests if isinstance(counts, PartedCounts) else IndependenceTests
    return make(counts, given_class=given_class, ess=ess)  # type: ignore[arg-type]  # the engine was asked for above


def _finish(counts: CountEngine, dag: Dag, ess: float, report: Report) -> Learnt:
    families = [(*parents, node) for node, parents in enumerate(dag.parents)]
    return Learnt(dag, float(family_scores(counts, families, ess).sum()), report=report)


def identify(
    graph: PartialGraph, tests: Tests, nodes: Integers, start_order: int = 0, max_order: int | None = None, *,
    strict: bool = False,
) -> Report:  # fmt: skip
    """Thin and direct a graph in place, from tests of low order to high and from the whole to its parts."""
    report = Report()
    deleted: Counter[int] = Counter()
    edges = int((graph.adjacent | graph.adjacent.T).sum()) // 2
    nothing = np.zeros(0, np.int64)
    guard = "ambiguous" if strict else "none"

    def look_at(order: int, inner: Integers, outer: Integers) -> None:
        report.n_calls += 1
        adjacent = graph.adjacent
        if not len(inner) or adjacent[:, inner].sum(axis=0).max() <= order:
            return
        if max_order is not None and order > max_order:
            return
        for parents in (outer, inner):
            if parents is inner:
                graph.orient_by_rules(inner, "all")
            found, asked = tests.thin(adjacent, inner, parents, order, both_ends=parents is inner)
            graph.delete(found)
            deleted[order] += len(found)
            report.tests[order] += asked
        graph.orient_colliders(inner)
        graph.orient_by_rules(inner, guard)
        low = graph.lowest(inner)
        ancestors, descendants = inner[~low], inner[low]
        groups = graph.components(ancestors)
        report.n_splits += bool(groups)
        report.n_substructures += len(groups) + 1 if groups else 0
        for group in groups:
            look_at(order + 1, group, outer)
        look_at(order + 1, descendants, np.union1d(outer, ancestors))

    look_at(start_order, nodes, nothing)
    graph.orient_by_rules(nodes, guard)
    for order in sorted(deleted):
        edges -= deleted[order]
        report.edges[order] = edges
    return report


def check_options(ess: object, max_order: object, start_order: object, strict: object) -> None:
    """Refuse options that recursive autonomy identification cannot have."""
    check_ess(ess)
    if max_order is not None:
        check_count("max_order", max_order)
    check_count("start_order", start_order)
    check_flag("strict", strict)
