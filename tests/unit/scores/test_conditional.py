"""The approximate conditional log-likelihood of a family."""

import itertools
import math

import numpy as np
import pytest
from pytest import approx

from tanbark.scores import log_likelihood
from tanbark.scores.conditional import acll_slope, approximate_cll


def test_the_slope_of_two_classes_is_known():
    assert acll_slope(1) == 0.0
    assert acll_slope(2) == approx((math.pi**2 - 18) / 24, abs=1e-9)
    slopes = [acll_slope(k) for k in range(2, 8)]
    assert all(-1 < a < b < 0 for a, b in itertools.pairwise(slopes))


@pytest.mark.parametrize("seed", range(4))
def test_without_a_slope_it_is_the_log_likelihood(seed):
    counts = np.random.default_rng(seed).integers(1, 6, (3, 2, 4))  # configurations, states, classes
    family = counts.transpose(0, 2, 1).reshape(-1, 2)
    assert approximate_cll(counts, beta=0.0) == approx(log_likelihood(family))


def test_it_is_the_sum_of_the_definition():
    rng = np.random.default_rng(9)
    counts, beta, least = rng.integers(0, 6, (2, 3, 2)), -0.3, 0.5
    total = 0.0
    for j in range(2):
        signed = counts[j] + beta * counts[j].sum(axis=1, keepdims=True)
        positive = np.maximum(signed, least)
        for c in range(2):
            total += sum(signed[k, c] * math.log(positive[k, c] / positive[:, c].sum()) for k in range(3))
    assert approximate_cll(counts, beta=beta, min_count=least) == approx(total)
    both = approximate_cll(np.stack([counts, counts[::-1]]), beta=beta, min_count=least)
    assert both == approx([total, total])
