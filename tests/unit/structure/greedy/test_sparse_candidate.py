"""The choice of candidate parents, and divergences between the data and a model."""

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.greedy import sparse_candidate
from tanbark.structure.greedy.sparse_candidate import candidates


def test_parents_are_kept_and_the_furthest_columns_added():
    distance = np.array([[0.0, 3, 2, 2], [3, 0, 1, 0], [2, 1, 0, 5], [2, 0, 5, 0]])
    arcs, allowed = np.zeros((4, 4), bool), ~np.eye(4, dtype=bool)
    arcs[3, 0], allowed[1, 0] = True, False
    chosen = candidates(distance, arcs, 2, allowed)
    assert np.flatnonzero(chosen[:, 0]).tolist() == [2, 3]  # the parent 3, and 2 since 1 is forbidden
    assert np.flatnonzero(chosen[:, 1]).tolist() == [0, 2]
    assert np.flatnonzero(chosen[:, 3]).tolist() == [0, 2]
    assert np.array_equal(candidates(distance, arcs, 1, allowed)[:, 0], arcs[:, 0])


def test_ties_go_to_the_earlier_column_and_infinite_distances_first():
    distance = np.ones((3, 3))
    distance[2, 1] = np.inf
    chosen = candidates(distance, np.zeros((3, 3), bool), 1, ~np.eye(3, dtype=bool))
    assert [np.flatnonzero(chosen[:, node]).tolist() for node in range(3)] == [[1], [2], [0]]


def test_divergences_are_those_of_the_definition():
    counts = [np.array([[3.0, 1.0], [0.0, 4.0]])]
    model = [[None, np.array([[0.25, 0.25], [0.25, 0.25]])], [None, None]]
    expected = 3 / 8 * np.log(1.5) + 1 / 8 * np.log(0.5) + 0.5 * np.log(2)
    assert sparse_candidate._divergences(counts, model) == approx([expected])
    model[0][1] = np.array([[0.5, 0.0], [0.0, 0.5]])
    assert sparse_candidate._divergences(counts, model) == [np.inf]


def test_wrong_options_raise():
    counts = MemoryCounts(make_table(np.random.default_rng(0), (2, 2, 2), 20))
    with pytest.raises(OptionError, match="n_candidates"):
        sparse_candidate.learn(counts, pair_marginals=None, n_candidates=0)
    with pytest.raises(OptionError, match="measure must be one of"):
        sparse_candidate.learn(counts, pair_marginals=None, measure="distance")
