import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

import naive
from tanbark.scores import bdeu, conditional_mutual_information, k2, log_likelihood, log_marginal, mutual_information

families = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda s: arrays(np.int64, s, elements=st.integers(0, 9))
)
triples = st.tuples(*[st.integers(1, 4)] * 3).flatmap(lambda s: arrays(np.int64, s, elements=st.integers(0, 9)))
alphas = st.floats(0.01, 10)


@given(families, alphas)
def test_log_marginal_is_the_product_of_predictive_probabilities(counts, alpha):
    assert log_marginal(counts, alpha=alpha) == approx(naive.log_marginal(counts, alpha), abs=1e-9)


@given(families, alphas)
def test_an_unobserved_configuration_adds_nothing(counts, alpha):
    padded = np.vstack([counts, np.zeros_like(counts[:1])])
    assert log_marginal(padded, alpha=alpha) == approx(log_marginal(counts, alpha=alpha), abs=1e-9)


@given(triples.filter(lambda n: n.sum() > 0))
def test_conditional_mutual_information_is_its_definition_and_symmetric(counts):
    value = conditional_mutual_information(counts)
    assert value == approx(naive.cmi(counts), abs=1e-12)
    assert value == approx(conditional_mutual_information(counts.transpose(1, 0, 2)), abs=1e-12)
    assert value >= 0


@given(triples)
def test_an_arc_gains_its_conditional_mutual_information(counts):
    x, y, z = counts.shape
    alone = log_likelihood(counts.sum(axis=1).T)
    helped = log_likelihood(counts.transpose(1, 2, 0).reshape(y * z, x))
    assert helped - alone == approx(counts.sum() * conditional_mutual_information(counts), abs=1e-9)


@given(families, st.floats(0.1, 20))
def test_bdeu_does_not_care_which_way_an_arc_points(counts, ess):
    forth = bdeu(counts.sum(axis=1)[None], ess=ess) + bdeu(counts, ess=ess)
    back = bdeu(counts.sum(axis=0)[None], ess=ess) + bdeu(counts.T, ess=ess)
    assert forth == approx(back, abs=1e-8)


def test_small_values():
    assert mutual_information([[5, 0], [0, 5]]) == approx(np.log(2))
    assert k2([[2, 0], [0, 1]]) == approx(log_marginal([[2, 0], [0, 1]], alpha=1.0))
    assert conditional_mutual_information(np.zeros((2, 2, 2))) == 0.0
