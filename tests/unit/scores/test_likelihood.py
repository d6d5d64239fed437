"""The log-likelihood of a family, its parameters and its penalty."""

import math

import numpy as np
import pytest
from pytest import approx

from tanbark.errors import OptionError
from tanbark.scores import free_parameters, log_likelihood, penalty


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_the_rows(seed):
    counts = np.random.default_rng(seed).integers(0, 4, (3, 4))
    rows = [(j, k) for (j, k), n in np.ndenumerate(counts) for _ in range(n)]
    expected = sum(math.log(counts[j, k] / counts[j].sum()) for j, k in rows)
    assert log_likelihood(counts) == approx(expected, abs=1e-12)
    assert log_likelihood(counts / 2) == approx(expected / 2, abs=1e-12)  # weighted rows


def test_parameters_and_penalties():
    assert free_parameters(np.zeros((6, 3))) == 12
    assert free_parameters(np.zeros((1, 1))) == 0
    assert [penalty(name, 100) for name in ("loglik", "aic", "bic")] == approx([0.0, 1.0, 0.5 * math.log(100)])
    assert penalty("bic", 0) == 0.0
    with pytest.raises(OptionError, match="criterion must be one of"):
        penalty("bdeu", 10)
