"""Random k-dependence structures."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.scores import mutual_information
from tanbark.structure.fixed import kdb
from tanbark.structure.fixed.random_kdb import random_kdb


@pytest.fixture(scope="module")
def measured():
    rows = MemoryCounts(make_table(np.random.default_rng(3), (3, 4, 2, 3, 5, 2, 3, 3), 500, gaps=0.05))
    relevance = np.array([mutual_information(table) for table in rows.tables([(i, 7) for i in range(7)])])
    return rows, relevance, kdb.pair_matrix(rows, 7)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 9])
def test_without_noise_it_is_the_structure_of_kdb(measured, k):
    rows, relevance, dependence = measured
    dag = kdb.learn(rows, max_parents=k).dag
    order, parents = random_kdb(relevance, dependence, k, None)
    assert order == kdb.feature_order(relevance)
    assert [tuple(sorted((*found, 7))) for found in parents] == [dag.parents[i] for i in range(7)]
    for feature, found in enumerate(parents):
        assert list(found) == sorted(found, key=lambda p: (-dependence[feature, p], p))  # used at once


def test_the_same_generator_draws_the_same_structure(measured):
    _, relevance, dependence = measured
    drawn = [random_kdb(relevance, dependence, 2, np.random.default_rng(seed)) for seed in (0, 0, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len({str(structure) for structure in drawn}) > 2
    for order, parents in drawn:
        assert sorted(order) == list(range(7))
        for feature, found in enumerate(parents):
            assert len(found) <= 2
            assert all(order.index(p) < order.index(feature) for p in found)
            assert list(found) == sorted(found, key=lambda p: -dependence[feature, p])  # used at once


def test_no_features_and_one_feature():
    assert random_kdb(np.zeros(0), np.zeros((0, 0)), 2, np.random.default_rng(0)) == ([], [])
    assert random_kdb(np.ones(1), np.zeros((1, 1)), 2, np.random.default_rng(0)) == ([0], [()])
