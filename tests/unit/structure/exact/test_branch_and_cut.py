"""Branch and cut over small lists of parent sets, against all choices."""

import itertools

import numpy as np
import pytest

from tanbark.structure.exact.branch_and_cut import solve
from tanbark.structure.exact.parent_sets import Candidates


def is_acyclic(parents):
    left = set(range(len(parents)))
    while left:
        free = {v for v in left if not parents[v] & left}
        if not free:
            return False
        left -= free
    return True


def make_candidates(rng, n):
    child, score, member = [], [], []
    for v in range(n):
        sets = [set(), *({int(k) for k in np.flatnonzero(rng.random(n) < 0.5)} - {v} for _ in range(3))]
        for parents, value in zip(sets[::-1], sorted(rng.normal(size=4), reverse=True), strict=True):
            child.append(v)
            score.append(value)
            member.append([k in parents for k in range(n)])
    return Candidates(np.array(child), np.array(score), np.array(member))


@pytest.mark.parametrize("seed", range(12))
def test_the_best_acyclic_choice_is_found_and_proved(seed):
    n = 5
    found = make_candidates(np.random.default_rng(seed), n)
    best = -np.inf
    for choice in itertools.product(*(np.flatnonzero(found.child == v) for v in range(n))):
        if is_acyclic([set(np.flatnonzero(found.member[k]).tolist()) for k in choice]):
            best = max(best, found.score[list(choice)].sum())
    solved = solve(found, time_limit=None, report=lambda line: None)
    assert solved.score == pytest.approx(best)
    assert solved.bound == pytest.approx(best, abs=1e-6)
    assert sorted(found.child[solved.chosen]) == list(range(n))
    assert is_acyclic([set(np.flatnonzero(found.member[k]).tolist())
                       for k in solved.chosen[np.argsort(found.child[solved.chosen])]])  # fmt: skip


def test_without_time_there_is_a_choice_and_a_bound():
    found = make_candidates(np.random.default_rng(1), 5)
    solved = solve(found, time_limit=0.0, report=lambda line: None)
    assert solved.bound >= solve(found, time_limit=None, report=lambda line: None).score - 1e-9
    assert len(solved.chosen) == 5
