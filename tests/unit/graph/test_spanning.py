"""Spanning trees and branchings: the best of all, and where ties go."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import seeds
from tanbark.graph import spanning
from tanbark.graph.spanning import (
    falling_order,
    maximum_arborescence,
    maximum_branching,
    maximum_spanning_forest,
    pair_indices,
)


def has_cycle(parents):
    for start in range(len(parents)):
        node, steps = start, 0
        while parents[node] is not None:
            node, steps = parents[node], steps + 1
            if steps > len(parents):
                return True
    return False


def best_by_trying_all(gains, root=None):
    n, best = len(gains), 0.0
    for parents in itertools.product([None, *range(n)], repeat=n):
        if any(p == child for child, p in enumerate(parents)) or has_cycle(parents):
            continue
        if root is None or parents[root] is None:
            best = max(best, sum(gains[p, child] for child, p in enumerate(parents) if p is not None))
    return best


def found(gains, **options):
    parents = [tuple_[0] if tuple_ else None for tuple_ in maximum_branching(gains, **options)]
    assert not has_cycle(parents)
    return parents, sum(gains[p, child] for child, p in enumerate(parents) if p is not None)


@settings(max_examples=60)
@given(seeds, st.integers(1, 5), st.booleans(), st.booleans())
def test_it_is_the_best_of_all(seed, n, ties, rooted):
    rng = np.random.default_rng(seed)
    gains = rng.integers(-1, 3, (n, n)).astype(float) if ties else rng.normal(0.3, 1.0, (n, n))
    root = int(rng.integers(n)) if rooted else None
    parents, total = found(gains, root=root)
    assert total == pytest.approx(best_by_trying_all(gains, root))
    assert root is None or parents[root] is None


@settings(deadline=None, max_examples=100)
@given(seeds, st.integers(20, 40), st.sampled_from(["different", "ties", "nearly ties", "parts"]))
def test_sorting_the_heaviest_pairs_first_changes_nothing(seed, n, kind):
    rng = np.random.default_rng(seed)
    first, second = pair_indices(n)
    weights = rng.random(len(first))
    if kind != "different":
        weights = rng.integers(0, 30, len(first)) / 10.0
    if kind == "nearly ties":
        weights += rng.integers(0, 4, len(first)) * 4e-10
    if kind == "parts":  # the heavy pairs join no more than half of the nodes, and some nodes are never joined
        weights += np.where(second < n // 2, 5.0, 0.0)
        weights[second == n - 1] = -np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spanning, "HEAVY_PAIRS", 2)
        some = maximum_spanning_forest(weights, n)
        patch.setattr(spanning, "HEAVY_PAIRS", n)
        assert some == maximum_spanning_forest(weights, n)
    joined = np.arange(n)
    there = np.flatnonzero(weights >= 0)
    for pair in there[falling_order(weights[there])]:
        i, j = int(first[pair]), int(second[pair])
        if joined[i] != joined[j]:
            assert (i, j) in some
            joined[joined == joined[i]] = joined[j]


def test_cycles_within_cycles():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gains = rng.random((60, 60)) + np.where(np.abs(np.subtract.outer(range(60), range(60))) < 3, 5.0, 0.0)
        parents, total = found(gains)
        assert sum(parent is None for parent in parents) == 1
        symmetric = np.minimum(gains, gains.T)
        assert total >= sum(symmetric[i, i + 1] for i in range(59))


def test_arcs_that_lose_are_left_out():
    assert maximum_branching(np.array([[0.0, -1.0], [-np.inf, 0.0]])) == [(), ()]
    assert maximum_branching(np.zeros((0, 0))) == []


def test_ties_of_the_two_searches():
    """Symmetric weights: the root, and with it every direction, rests on the order of contraction."""
    weights = np.array([[0, 2, 1, 1, 2], [2, 0, 2, 1, 1], [1, 2, 0, 2, 1], [1, 1, 2, 0, 2], [2, 1, 1, 2, 0]], float)
    assert maximum_arborescence(weights) == [4, 0, -1, 2, 3]
    assert maximum_branching(weights) == [(), (0,), (1,), (2,), (0,)]
    assert maximum_branching(weights, root=2) == [(1,), (2,), (), (2,), (0,)]
    assert maximum_arborescence(np.ones((4, 4))) == [-1, 0, 0, 2]


def test_pairs_and_their_order():
    first, second = pair_indices(4)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == list(itertools.combinations(range(4), 2))
    assert falling_order(np.array([0.0, 1e-12, -1e-12])).tolist() == [0, 1, 2]
