"""Pruning by tests on rows in memory: the same for every way of counting and any number of threads."""

import numpy as np
import pytest

import naive
from strategies import make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.scores.dirichlet import log_bayes_factor
from tanbark.structure.constraint import independence, rai
from tanbark.structure.constraint.independence import IndependenceTests
from tanbark.table import CodedTable


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


def test_rounding_of_large_weights_decides_nothing():
    """Near 0 a factor of rows that weigh 2^39 is known to about 0.005 nats: what is smaller separates nothing."""
    codes, schema, quarter = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0] * 4], np.uint8), make_schema((2, 2, 1)), 2.0**37

    def weights(shift):
        return quarter + shift * np.array([1.0, -1.0, -1.0, 1.0])

    def separated(shift):
        counts = MemoryCounts(CodedTable(schema, codes, weights(shift)))
        adjacent = np.array([[False, True, False], [True, False, False], [False] * 3])
        tests = IndependenceTests(counts, given_class=False, ess=1.0)
        return len(tests.prune_edges(adjacent, np.array([1]), np.array([0]), 0, both_ends=False)[0]) == 1

    low, high = 0.0, quarter / 1000
    assert separated(low)
    assert not separated(high)
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if separated(middle) else (low, middle)
    assert log_bayes_factor(codes[:2].T, weights(low), [2, 2], 1.0) > 0.1
