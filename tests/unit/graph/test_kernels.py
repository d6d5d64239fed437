"""Union-find and connected groups, against the closure of the graph."""

import numpy as np
import pytest

from tanbark.graph import kernels


@pytest.mark.parametrize("seed", range(10))
def test_sets_are_united_under_their_lowest_member(seed):
    rng = np.random.default_rng(seed)
    root, groups = np.arange(12), [{k} for k in range(12)]
    for a, b in rng.integers(0, 12, (9, 2)):
        one, two = (next(group for group in groups if k in group) for k in (a, b))
        assert kernels.join_roots(root, a, b) == (one is not two)
        if one is not two:
            groups.remove(two)
            one |= two
    for group in groups:
        assert {kernels.find_root(root, k) for k in group} == {min(group)}


def test_pairs_that_close_a_cycle_are_left_out():
    first, second = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3])
    assert kernels.join_pairs(first, second, np.array([2, 1, 0, 3]), 4).tolist() == [2, 1, 3]


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_of_the_closure(seed):
    rng = np.random.default_rng(seed)
    adjacent = rng.random((7, 7)) < 0.2
    np.fill_diagonal(adjacent, False)
    reach = np.linalg.matrix_power((adjacent | np.eye(7, dtype=bool)).astype(int), 7) > 0
    group, leads = kernels.strong_groups(adjacent, np.arange(7))
    assert np.array_equal(group[:, None] == group[None, :], reach & reach.T)
    for v in range(7):
        assert leads[group[v]] == (reach[v] & ~reach[:, v]).any()
    both = adjacent | adjacent.T
    loose = kernels.loose_groups(adjacent, np.arange(7))
    closed = np.linalg.matrix_power((both | np.eye(7, dtype=bool)).astype(int), 7) > 0
    assert np.array_equal(loose[:, None] == loose[None, :], closed)
