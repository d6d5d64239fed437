"""The linear relaxation of the choice of parent sets: its bound and its network, against all choices."""

import numpy as np
import pytest

from naive import best_choice, is_acyclic, parents_of
from strategies import make_candidates
from tanbark.structure.exact.parent_sets import Candidates
from tanbark.structure.exact.relaxation import relax


def bound_of(found, relaxed):
    """The sum of the best values, and what the multipliers add, from scratch."""
    values, clusters = found.score.copy(), relaxed.clusters
    for cluster, order, penalty in zip(clusters.members, clusters.orders, relaxed.multipliers, strict=True):
        values -= penalty * (cluster[found.child] & ((found.member & cluster).sum(axis=1) >= order))
    best = [values[found.child == v].max() for v in range(found.n_columns)]
    return sum(best) + relaxed.constant


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds_and_the_network_is_one(seed):
    found = make_candidates(np.random.default_rng(seed), 5)
    relaxed = relax(found, time_limit=None, report=lambda line: None)
    best = best_choice(found)
    assert relaxed.score <= best + 1e-9 <= relaxed.bound + 1e-6
    assert bound_of(found, relaxed) == pytest.approx(relaxed.bound)
    assert found.score[relaxed.chosen].sum() == pytest.approx(relaxed.score)
    assert is_acyclic(parents_of(found, relaxed.chosen))
    hurried = relax(found, time_limit=0.0, report=lambda line: None)
    assert hurried.bound >= relaxed.bound - 1e-9
    assert sorted(relaxed.order) == list(range(5))


def test_penalties_lower_the_bound_to_the_score_of_a_cycle_of_two():
    found = Candidates(
        np.array([0, 0, 1, 1]), np.array([3.0, 0, 2, 0]), np.array([[0, 1], [0, 0], [1, 0], [0, 0]], bool)
    )
    relaxed = relax(found, time_limit=None, report=lambda line: None)
    assert (relaxed.score, relaxed.bound) == (pytest.approx(3), pytest.approx(3))
    assert relaxed.multipliers.sum() == pytest.approx(2)
