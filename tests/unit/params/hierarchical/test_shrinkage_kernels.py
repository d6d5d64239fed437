"""Differences of the digamma function by vector instructions, and the shrinkage that they are for."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from tanbark.kernel import interpreted
from tanbark.params.hierarchical import context_kernels
from tanbark.params.hierarchical import shrinkage_kernels as kernels


def differences(a, n):
    out, room = np.empty(len(a)), np.empty(len(a))
    kernels.fill_differences(np.asarray(a, float), np.asarray(n, float), out, room, len(a))
    return out


@given(st.lists(st.tuples(st.floats(1e-9, 1e4), st.floats(1e-3, 1e9)), min_size=1, max_size=20))
@settings(deadline=None)
@example([(0.99609375, 0.00390625)])
def test_differences_are_those_of_the_digamma_function(pairs):
    a, n = np.array(pairs).T
    one_by_one = [context_kernels.digamma_difference(*pair) for pair in pairs]
    np.testing.assert_allclose(differences(a, n), one_by_one, rtol=1e-7, atol=1e-12)  # these have a shorter series
    np.testing.assert_allclose(differences(a, n), digamma(a + n) - digamma(a), rtol=1e-9, atol=1e-11)


def test_whole_numbers_are_sums_of_reciprocals():
    a = np.array([0.001, 0.3, 1.0, 7.5, 900.0])
    for n in (1, 2, 6, 40):
        expected = (1.0 / (a[:, None] + np.arange(n))).sum(axis=1)
        np.testing.assert_allclose(differences(a, np.full(5, n)), expected, rtol=1e-10)


def test_weights_may_be_huge():
    a, n = np.array([0.5, 3.0]), np.array([1e60, 1e200])
    np.testing.assert_allclose(differences(a, n), np.log(n) - digamma(a), rtol=1e-10)


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1400])
def test_sums_go_over_all_blocks(size):
    rng = np.random.default_rng(size)
    totals = np.where(rng.random(size) < 0.5, rng.integers(0, 90, size), rng.gamma(2.0, 30.0, size))
    found = kernels.sum_differences(2.5, totals, np.empty((4, kernels.BLOCK)))
    assert found == pytest.approx((digamma(2.5 + totals) - digamma(2.5)).sum(), rel=1e-10)


def test_python_and_compiled_code_return_the_same_bits():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (3, 150)).astype(np.uint8)
    none = np.zeros(0)
    _, _, levels, above, contexts = context_kernels.grow(codes, np.array([1, 2]), np.array([4, 4]), none, 1.0)
    for weights in (none, rng.random(150)):
        rows = context_kernels.count(codes[0], 4, weights, contexts, len(above))
        compiled, python = (work(rows, above, levels) for work in (kernels.shrink, interpreted(kernels.shrink)))
        for left, right in zip(compiled, python, strict=True):
            np.testing.assert_array_equal(left, right)
