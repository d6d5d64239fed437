"""Candidate parent sets: their scores, and those of few parents."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.exact.parent_sets import Levels, n_small_sets, pack, unpack
from tanbark.structure.exact.subset_scores import CompleteRows


def listed(table, max_parents):
    rows = CompleteRows.of(MemoryCounts(table))
    return Levels(rows, (0, 1, 2, 3, 4), given=5, ess=1.0, n_jobs=1).up_to(max_parents)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_families(weighted):
    table = make_table(np.random.default_rng(9), (2, 3, 2, 2, 3, 2), 120, weighted=weighted)
    found = listed(table, 4)
    families = [(*np.flatnonzero(member), 5, child) for child, member in zip(found.child, found.member, strict=True)]
    expected = MemoryCounts(table).family_scores(families, ess=1.0)
    np.testing.assert_allclose(found.score, expected, atol=1e-8)
    assert (np.diff(found.child) >= 0).all()
    assert found.n_columns == 5
    assert (np.bincount(found.child[~found.member.any(axis=1)]) == 1).all()  # every child may have no parents


def test_few_parents():
    table = make_table(np.random.default_rng(9), (2, 3, 2, 2, 3, 2), 120)
    few, none = listed(table, 1), listed(table, 0)
    assert few.member.sum(axis=1).max() == 1
    assert not none.member.any()
    assert n_small_sets(5, 1) == 15


def test_sets_are_packed_and_unpacked():
    member = np.random.default_rng(0).random((5, 70)) < 0.5
    assert (unpack(pack(member), 70) == member).all()
