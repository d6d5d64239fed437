"""Max-min hill climbing: tests name the neighbours that each column may have, a score chooses among them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.structure.constraint.mmpc import find_candidates
from tanbark.structure.constraint.streamed_tests import StreamedTests
from tanbark.structure.constraint.values import GTest, as_test
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.hill_climb import Walk, search
from tanbark.structure.result import Learnt
from tanbark.structure.rules import MAX_CELLS, Draws, make_rules


@dataclass(frozen=True)
class MMHCReport:
    """Statistics of a run of max-min hill climbing.

    Parameters
    ----------
    tests : dict
        Tests of independence by order (the number of features in the conditioning set).
    candidates : dict
        The names of the possible neighbours of every column.
    """

    tests: Counter[int]
    candidates: dict[str, tuple[str, ...]]


def learn_augmented(
    counts: CountEngine, *, test: Any = None, max_order: int | None = 3, criterion: str = "bdeu", ess: float = 1.0,
    max_parents: int | None = None, space: str = "dags", tabu: int = 10, tabu_length: int = 10, verbose: bool = False,
    max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Learn an augmented naive Bayes by max-min hill climbing, the class in every test and every family.

    Parameters
    ----------
    counts : CountEngine
    test : IndependenceTest, optional
        By default ``GTest(0.05)``.
    max_order : int, optional
        The most features in a conditioning set; None takes all candidates.
    criterion, ess, max_parents, space, tabu, tabu_length, verbose
        Those of hill climbing; ``max_parents`` counts feature parents.
    max_cells : int
        Families with larger tables are left out of the search.

    Notes
    -----
    Tsamardinos, Brown and Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.
    """
    most = None if max_parents is None else check_count("max_parents", max_parents) + 1
    walk = Walk(tabu=tabu, tabu_length=tabu_length, space=space, verbose=verbose)
    return _learn(counts, test, max_order, (criterion, ess, most, max_cells), walk, given_class=True)


def learn_general(
    counts: CountEngine, *, test: Any = None, max_order: int | None = 3, criterion: str = "bdeu", ess: float = 1.0,
    max_parents: int | None = None, space: str = "dags", tabu: int = 10, tabu_length: int = 10, verbose: bool = False,
    max_cells: int = MAX_CELLS,
) -> Learnt:  # fmt: skip
    """Learn a general network over the features and the class by max-min hill climbing; see ``learn_augmented``."""
    walk = Walk(tabu=tabu, tabu_length=tabu_length, space=space, verbose=verbose)
    return _learn(counts, test, max_order, (criterion, ess, max_parents, max_cells), walk, given_class=False)


def _learn(
    counts: CountEngine, test: Any, max_order: int | None, scored: tuple[str, float, int | None, int], walk: Walk, *,
    given_class: bool,
) -> Learnt:  # fmt: skip
    """Find candidates by tests, then climb over the graphs whose arcs are between candidates."""
    criterion, ess, max_parents, max_cells = scored
    if max_order is not None:
        check_count("max_order", max_order)
    schema = counts.schema
    n, target = len(schema.names), schema.target
    nodes = [i for i, states in enumerate(schema.cardinalities) if states > 1 and not (given_class and i == target)]
    tests = StreamedTests(counts, given_class=given_class, test=as_test(test, GTest()))
    n_tests: Counter[int] = Counter()
    candidates = find_candidates(tests, nodes, n, max_order, n_tests)
    rules, begin = make_rules(counts, max_parents=max_parents, required=(), forbidden=(), start=None)
    allowed, fixed = np.zeros_like(rules.allowed), rules.fixed.copy()
    for node, others in enumerate(candidates):
        allowed[others, node] = rules.allowed[others, node]
    if given_class:
        begin[target, :target] = fixed[target, :target] = True
    rules = replace(rules, allowed=allowed, fixed=fixed)
    gains = Gains(counts, criterion, ess=ess, allowed=allowed, max_cells=max_cells)
    found = search(gains, rules, begin, walk, Draws(None))
    dag = found.dag
    if given_class:
        inner = [tuple(p for p in parents if p != target) for parents in dag.parents[:target]]
        dag = Dag.augmented(schema.names, inner)
    named = {schema.names[i]: tuple(schema.names[x] for x in others) for i, others in enumerate(candidates)}
    return Learnt(dag, found.score, found.history, MMHCReport(n_tests, named))
