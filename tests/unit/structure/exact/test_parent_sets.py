"""Candidate parent sets: their scores, and limits."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.exact.parent_sets import candidate_families
from tanbark.structure.exact.subset_scores import CompleteRows


def listed(table, **limits):
    options = {"max_parents": None, "max_memory": 1e9, "max_work": 1e12, **limits}
    lines = []
    rows = CompleteRows.of(MemoryCounts(table))
    found = candidate_families(rows, (0, 1, 2, 3, 4), given=5, ess=1.0, n_jobs=1, report=lines.append, **options)
    return found, lines


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_families(weighted):
    table = make_table(np.random.default_rng(9), (2, 3, 2, 2, 3, 2), 120, weighted=weighted)
    found, _ = listed(table)
    families = [(*np.flatnonzero(member), 5, child) for child, member in zip(found.child, found.member, strict=True)]
    expected = MemoryCounts(table).family_scores(families, ess=1.0)
    np.testing.assert_allclose(found.score, expected, atol=1e-8)
    assert (np.diff(found.child) >= 0).all()
    assert found.n_columns == 5
    assert (np.bincount(found.child[~found.member.any(axis=1)]) == 1).all()  # every child may have no parents


def test_limits_leave_large_sets_out_and_bound_them():
    table = make_table(np.random.default_rng(9), (2, 3, 2, 2, 3, 2), 120)
    whole, _ = listed(table)
    few, _ = listed(table, max_parents=1)
    assert (few.largest, few.member.sum(axis=1).max()) == (1, 1)
    assert (few.beyond == -np.inf).all()
    cut, lines = listed(table, max_memory=600)
    assert cut.largest == 1
    assert "left out" in lines[-1]
    larger = whole.member.sum(axis=1) > 1
    assert (whole.score[larger] <= cut.beyond[whole.child[larger]] + 1e-9).all()
