"""Pruning by tests on rows in memory: the same for every way of counting and any number of threads."""

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import independence, rai
from tanbark.structure.constraint.independence import IndependenceTests


def test_threads_and_ways_of_counting_change_nothing(monkeypatch):
    table = make_table(np.random.default_rng(3), (*[2, 3] * 6, 2), 500)
    plain = rai.learn_augmented(MemoryCounts(table, n_jobs=1))
    monkeypatch.setattr(independence, "MIN_SHARED_WORK", 1)
    many = rai.learn_augmented(MemoryCounts(table, n_jobs=3))
    assert (many.dag, many.report, many.score) == (plain.dag, plain.report, plain.score)
    monkeypatch.setattr(independence, "MAX_BIT_STATES", 0)
    rows = rai.learn_augmented(MemoryCounts(table, n_jobs=1))
    assert (rows.dag, rows.report) == (plain.dag, plain.report)


@pytest.mark.parametrize("given_class", [False, True])
def test_an_edge_goes_with_the_first_set_that_separates(given_class):
    table = make_table(np.random.default_rng(12), (2, 3, 2, 2, 3), 120)
    tests = IndependenceTests(MemoryCounts(table), given_class=given_class, ess=1.0)
    adjacent = np.ones((5, 5), bool) ^ np.eye(5, dtype=bool)
    y, extra, others = 1, ((4,) if given_class else ()), [2, 3] if given_class else [2, 3, 4]
    factors = {z: naive.log_bayes_factor(table, 0, y, (z, *extra), 1.0) for z in others}
    separating = [z for z in others if factors[z] > 1e-9]
    if given_class:
        adjacent[4] = adjacent[:, 4] = False
    found, n_tests = tests.prune_edges(adjacent, np.array([y]), np.array([0]), 1, both_ends=False)
    if separating:
        assert found.tolist() == [[0, y, separating[0]]]
        assert n_tests == others.index(separating[0]) + 1
        assert not adjacent[0, y]
        assert not adjacent[y, 0]
    else:
        assert (len(found), n_tests) == (0, len(others))
