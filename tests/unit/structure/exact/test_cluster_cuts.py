"""Clusters that a fractional choice of parent sets violates."""

import numpy as np
import pytest
from pytest import approx

from tanbark.structure.exact.cluster_cuts import _most_violated, violated_clusters


def violation(cluster, child, member, fraction):
    """How far the sets of the cluster's members that do not meet it are from one in all."""
    alone = cluster[child] & ~(member & cluster).any(axis=1)
    return 1 - fraction[alone].sum()


@pytest.mark.parametrize("seed", range(10))
def test_clusters_are_violated_and_none_is_overlooked(seed):
    rng = np.random.default_rng(seed)
    n = 5
    child = np.repeat(np.arange(n), 3)
    member = rng.random((len(child), n)) < 0.35
    member[np.arange(len(child)), child] = False
    fraction = rng.dirichlet(np.ones(3), n).ravel()
    subsets = [np.array([m >> k & 1 for k in range(n)], bool) for m in range(1 << n)]
    most = max(violation(c, child, member, fraction) for c in subsets if c.sum() > 1)
    found = violated_clusters(child, member, fraction, exactly=True)
    assert all(violation(c, child, member, fraction) > 0 for c in found)
    assert (len(found) > 0) == (most > 1e-6)
    if most > 1e-6:
        worst = _most_violated(child, member, fraction)[0]
        assert violation(worst, child, member, fraction) == approx(most, abs=1e-6)


def test_cycles_of_a_whole_choice_are_clusters():
    child, member = np.arange(4), np.zeros((4, 4), bool)
    member[0, 1] = member[1, 2] = member[2, 0] = True  # a cycle of three; the fourth column stands alone
    found = violated_clusters(child, member, np.ones(4), exactly=False)
    assert found.tolist() == [[True, True, True, False]]
