"""Mutual information against its definition."""

import numpy as np
import pytest
from pytest import approx

import naive
from tanbark.scores import conditional_mutual_information, mutual_information


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_definition_and_symmetric(seed):
    counts = np.random.default_rng(seed).integers(0, 5, (3, 4, 2))
    found = conditional_mutual_information(counts)
    assert found == approx(naive.cmi(counts), abs=1e-12)
    assert found == approx(conditional_mutual_information(counts.swapaxes(0, 1)), abs=1e-12)
    assert mutual_information(counts[:, :, 0]) == approx(naive.cmi(counts[:, :, :1]), abs=1e-12)


def test_limits():
    assert mutual_information([[4, 0], [0, 4]]) == approx(np.log(2))
    assert mutual_information(np.outer([1, 2], [3, 4])) == 0.0
    assert mutual_information(np.zeros((2, 3))) == 0.0
    assert mutual_information([[10, 1], [100, 10]]) >= 0.0
