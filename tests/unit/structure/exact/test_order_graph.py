"""The search over orders from small lists of parent sets, against all choices, and what it leaves out."""

import itertools
import time
from unittest import mock

import numpy as np
import pytest

from naive import best_choice, is_acyclic, parents_of
from strategies import make_candidates
from tanbark.structure.exact import order_graph, order_kernels
from tanbark.structure.exact.parent_sets import Candidates
from tanbark.structure.exact.relaxation import relax


def solve(found, known=None, deadline=np.inf, max_memory=1e9):
    known = known or relax(found, time_limit=0.0, report=lambda line: None)
    return order_graph.solve(found, known, deadline=deadline, max_memory=max_memory, report=lambda line: None)


@pytest.mark.parametrize("group", [2, 3, 18], ids=["pairs", "threes", "one-group"])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_acyclic_choice_is_found_and_proved(seed, group):
    found = make_candidates(np.random.default_rng(seed), 5)
    with mock.patch.object(order_graph, "GROUP", group):
        solved = solve(found)
    assert solved.score == pytest.approx(best_choice(found))
    assert solved.bound == pytest.approx(solved.score, abs=1e-6)
    assert found.score[solved.chosen].sum() == pytest.approx(solved.score)
    assert is_acyclic(parents_of(found, solved.chosen))


@pytest.mark.parametrize("seed", range(6))
def test_a_poor_network_to_begin_with_is_replaced(seed):
    found = make_candidates(np.random.default_rng(seed), 6)
    known = relax(found, time_limit=0.0, report=lambda line: None)
    empty = np.flatnonzero(~found.member.any(axis=1))[:6]
    poor = type(known)(empty, found.score[empty].sum(), np.inf, np.arange(6), known.clusters, known.multipliers)
    solved = solve(found, poor)
    assert solved.score == pytest.approx(best_choice(found))
    assert is_acyclic(parents_of(found, solved.chosen))


def test_without_time_or_memory_there_is_a_choice_and_a_bound():
    for seed in range(8):
        found = make_candidates(np.random.default_rng(seed), 6)
        best = solve(found).score
        for limits in ({"deadline": time.perf_counter()}, {"max_memory": 1000.0}):
            cut = solve(found, **limits)
            assert cut.bound >= best - 1e-9
            assert cut.score <= best + 1e-9
            assert is_acyclic(parents_of(found, cut.chosen))


def test_components_are_searched_apart():
    first, second = (make_candidates(np.random.default_rng(seed), 5) for seed in (3, 4))
    none = np.zeros((20, 5), bool)
    both = Candidates(
        np.concatenate([first.child, second.child + 5]), np.concatenate([first.score, second.score]),
        np.block([[first.member, none], [none, second.member]]),
    )  # fmt: skip
    assert solve(both).score == pytest.approx(best_choice(first) + best_choice(second))


@pytest.mark.parametrize("seed", range(6))
def test_no_order_scores_above_the_bound_of_its_first_nodes(seed):
    n = 6
    found = make_candidates(np.random.default_rng(seed), n)
    orders = order_graph._Orders(found, relax(found, time_limit=0.0, report=print), np.inf, 1e9, print, print)
    lists, _ = orders._lists(np.arange(n))
    weights = np.triu(np.random.default_rng(seed).random((n, n)), 1)
    with mock.patch.object(order_graph, "GROUP", 3):
        partitions = order_graph._partitions(weights + weights.T)
    assert all(sorted(np.concatenate(groups)) == list(range(n)) for groups in partitions)
    patterns = order_graph._value_all(partitions, lists)
    for order in itertools.permutations(range(n)):
        left, total = (1 << n) - 1, 0.0
        scores = []
        for node in order:
            scores.append(found.score[order_kernels.best_without(node, np.uint64(left), lists)])
            left &= ~(1 << node)
        for size in range(n):
            rest = sum(1 << node for node in order[size:])
            total = sum(scores[size:])
            assert total <= order_kernels.bound_of(np.uint64(rest), patterns) + 1e-9
