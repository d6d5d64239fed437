"""The objective of weighted naive Bayes and its gradient, against a slow twin and finite differences."""

import numpy as np
import pytest
from pytest import approx

import naive
from strategies import make_network
from tanbark.params.wanbia import Objective


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    network = make_network(rng, n_features=3, max_parents=0, max_states=3, augmented=True)
    states = network.schema.cardinalities
    codes = np.stack([rng.integers(0, r, 40) for r in states]).astype(np.uint8)
    codes[:-1][rng.random((3, 40)) < 0.2] = 255
    return network, codes, rng.random(40) + 0.5


@pytest.mark.parametrize("squared", [False, True])
def test_the_objective_is_that_of_the_slow_twin(case, squared):
    network, codes, weights = case
    exponents = np.array([0.3, 1.2, 2.0])
    found = Objective(network, codes, weights, squared=squared, n_jobs=1)(exponents)[0]
    slow = naive.weighted_objective(network, codes, codes[-1], exponents, squared=squared, weights=weights)
    assert found == approx(slow if np.isscalar(slow) else slow[0])


@pytest.mark.parametrize("squared", [False, True])
def test_the_gradient_is_the_slope_of_the_objective(case, squared):
    objective = Objective(*case, squared=squared, n_jobs=1)
    exponents = np.array([0.3, 1.2, 2.0])
    _, gradient = objective(exponents)
    for feature, step in enumerate(np.eye(3) * 1e-5):
        slope = (objective(exponents + step)[0] - objective(exponents - step)[0]) / 2e-5
        assert gradient[feature] == approx(slope, abs=1e-6)
