"""Clusters that a fractional choice of parent sets violates."""

import numpy as np
import pytest
from pytest import approx

from tanbark.structure.exact.cluster_cuts import ORDERS, Clusters, _most_violated, violated_clusters


def violation(cluster, order, child, member, fraction):
    """How far the sets of the cluster's members with fewer parents in it than the order are from the order in all."""
    few = cluster[child] & ((member & cluster).sum(axis=1) < order)
    return order - fraction[few].sum()


@pytest.mark.parametrize("seed", range(10))
def test_clusters_are_violated_and_none_is_overlooked(seed):
    rng = np.random.default_rng(seed)
    n = 5
    child = np.repeat(np.arange(n), 3)
    member = rng.random((len(child), n)) < 0.35
    member[np.arange(len(child)), child] = False
    fraction = rng.dirichlet(np.ones(3), n).ravel()
    subsets = [np.array([m >> k & 1 for k in range(n)], bool) for m in range(1 << n)]
    most = {k: max(violation(c, k, child, member, fraction) for c in subsets if c.sum() > k) for k in ORDERS}
    found = violated_clusters(child, member, fraction, exactly=True)
    of = list(zip(found.members, found.orders, strict=True))
    assert all(violation(c, k, child, member, fraction) > 0 for c, k in of)
    assert (len(found) > 0) == (max(most.values()) > 1e-6)
    for order, worst in most.items():
        exact = _most_violated(child, member, fraction, order)
        assert len(exact) == (worst > 1e-6)
        if len(exact):
            assert violation(exact.members[0], order, child, member, fraction) == approx(worst, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_no_graph_without_cycles_violates_a_cluster(seed):
    rng = np.random.default_rng(seed)
    n = 6
    member = np.tril(rng.random((n, n)) < 0.6, -1)  # row v: the parents of v, all of them before it
    order = rng.permutation(n)
    member = member[np.ix_(order, order)]
    masks = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    sizes = masks.sum(axis=1)
    every = [Clusters(masks[sizes > k].astype(bool), np.full((sizes > k).sum(), k)) for k in (1, 2, 3)]
    for clusters in every:
        assert (clusters.counted(np.arange(n), member).sum(axis=1) <= clusters.most).all()


def test_three_columns_that_take_the_other_two_by_halves():
    child = np.repeat(np.arange(3), 2)
    member = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 0]], bool)
    found = violated_clusters(child, member, np.full(6, 0.5), exactly=True)
    assert found.members.tolist() == [[True, True, True]]
    assert found.orders.tolist() == [2]


def test_cycles_of_a_whole_choice_are_clusters():
    child, member = np.arange(4), np.zeros((4, 4), bool)
    member[0, 1] = member[1, 2] = member[2, 0] = True  # a cycle of three; the fourth column stands alone
    found = violated_clusters(child, member, np.ones(4), exactly=False)
    assert found.members.tolist() == [[True, True, True, False]]
    assert found.orders.tolist() == [1]
