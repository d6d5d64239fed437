"""Model averaging over naive Bayes: the arc's posterior and the mixed tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pytest import approx

import naive
import tanbark as tb
from tanbark.checks import check_fraction
from tanbark.params.manb import arc_posterior, averaged_table
from tanbark.scores import log_marginal

DOORS = np.array([[326, 81, 15, 10], [300, 99, 18, 15], [292, 102, 18, 20], [292, 102, 18, 20]])
tables = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=4), elements=st.integers(0, 6)
)
alphas = st.sampled_from([0.01, 0.5, 1.0, 3.0])
priors = st.floats(0.01, 0.99)


def test_the_worked_tables():
    first = np.array([[8, 2], [3, 7]])  # rows are classes
    assert log_marginal(first) == approx(-13.389945, abs=5e-7)
    assert log_marginal(first.sum(axis=0)[None]) == approx(-15.076004, abs=5e-7)
    assert arc_posterior(first.T, 1.0, 0.5) == approx(0.843705, abs=5e-7)
    assert averaged_table(first.T, 1.0, arc_posterior(first.T, 1.0, 0.5))[0, 0] == approx(0.718031, abs=5e-7)
    second = np.array([[5, 5], [5, 5]])
    assert log_marginal(second) == approx(-15.854649, abs=5e-7)
    assert log_marginal(second.sum(axis=0)[None]) == approx(-15.171314, abs=5e-7)
    assert arc_posterior(second.T, 1.0, 0.5) == approx(0.335517, abs=5e-7)


@pytest.mark.parametrize(
    ("prior", "expected"), [(0.5, 2.629470e-5), (1e-5, 2.629566e-10), (0.03, 8.132589e-7), (0.95, 4.993630e-4)]
)
def test_the_doors_of_the_cars(prior, expected):
    assert log_marginal(DOORS.T) == approx(-2415.471613, abs=5e-7)
    assert log_marginal(DOORS.sum(axis=1)[None]) == approx(-2404.925496, abs=5e-7)
    assert arc_posterior(DOORS, 1.0, prior) == approx(expected, rel=5e-7)


def test_the_table_of_the_doors():
    mixed = averaged_table(DOORS, 1.0, arc_posterior(DOORS, 1.0, 0.5))
    assert np.abs(mixed - naive.smoothed(DOORS, 0, 1.0)).sum() == approx(0.3950593, abs=5e-8)


@given(tables, alphas, priors)
def test_the_posterior_is_bayes_rule_on_predictive_products(counts, alpha, prior):
    arc = math.exp(naive.log_marginal(counts.T, alpha))
    none = math.exp(naive.log_marginal(counts.sum(axis=1)[None], alpha))
    assert arc_posterior(counts, alpha, prior) == approx(prior * arc / (prior * arc + (1 - prior) * none), rel=1e-9)


@given(tables, alphas)
def test_the_limits_of_the_prior(counts, alpha):
    assert arc_posterior(counts, alpha, 0.0) == 0.0
    assert arc_posterior(counts, alpha, 1.0) == 1.0
    given_class = naive.smoothed(counts, 0, alpha)
    alone = naive.smoothed(counts.sum(axis=1), 0, alpha)
    assert averaged_table(counts, alpha, 1.0) == approx(given_class)
    assert averaged_table(counts, alpha, 0.0) == approx(np.repeat(alone[:, None], counts.shape[1], axis=1))


@given(tables, alphas, priors)
def test_a_mixed_table_lies_between_and_sums_to_one(counts, alpha, prior):
    mixed = averaged_table(counts, alpha, arc_posterior(counts, alpha, prior))
    ends = naive.smoothed(counts, 0, alpha), naive.smoothed(counts.sum(axis=1), 0, alpha)[:, None]
    assert (mixed >= np.minimum(*ends) - 1e-15).all()
    assert (mixed <= np.maximum(*ends) + 1e-15).all()
    assert mixed.sum(axis=0) == approx(1.0)


@given(tables, alphas, st.data())
def test_a_higher_prior_never_lowers_the_posterior(counts, alpha, data):
    low, high = sorted((data.draw(priors), data.draw(priors)))
    assert arc_posterior(counts, alpha, low) <= arc_posterior(counts, alpha, high) + 1e-15
    order = data.draw(st.permutations(range(counts.shape[1])))
    assert arc_posterior(counts[:, order], alpha, low) == approx(arc_posterior(counts, alpha, low))


def test_huge_counts_do_not_overflow():
    counts = np.array([[10**7, 10], [10, 10**7]])
    assert arc_posterior(counts, 1.0, 1e-9) == 1.0
    even = np.full((2, 2), 10**7)
    assert 0 < arc_posterior(even, 1.0, 0.999) < 1


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("prior", [0.2, 0.5])
def test_it_is_the_average_over_all_models(n, prior):
    """P(class, row) of each of the 2^n models, weighted by the posterior of the model."""
    rng = np.random.default_rng(n)
    alpha = 0.7
    y = rng.integers(0, 3, 25)
    X = np.where(rng.random((25, n)) < 0.4, y[:, None], rng.integers(0, 3, (25, n)))
    counts = [np.array([[((X[:, i] == v) & (y == c)).sum() for c in range(3)] for v in range(3)]) for i in range(n)]
    clf = tb.NaiveBayes(parameters=tb.MANB(arc_prior=prior, smoothing=alpha)).fit(X, y)
    class_prior = naive.smoothed(np.bincount(y, minlength=3), 0, alpha)
    total, joint, with_arc = 0.0, np.zeros((25, 3)), np.zeros(n)
    for arcs in itertools.product((False, True), repeat=n):
        weight, model = 1.0, np.tile(class_prior, (25, 1))
        for i, arc in enumerate(arcs):
            table = counts[i] if arc else np.repeat(counts[i].sum(axis=1)[:, None], 3, axis=1)
            weight *= prior if arc else 1 - prior
            weight *= math.exp(naive.log_marginal(counts[i].T if arc else counts[i].sum(axis=1)[None], alpha))
            model = model * naive.smoothed(table, 0, alpha)[X[:, i]]
        total += weight
        joint += weight * model
        with_arc += weight * np.array(arcs)
    assert np.exp(clf.predict_joint_log_proba(X)) == approx(joint / total, rel=1e-10)
    assert list(clf.parameters_.arc_posterior_.values()) == approx(with_arc / total)


@pytest.mark.parametrize("prior", [-0.1, 1.1, "0.5", None, True, float("nan"), [0.5]])
def test_a_bad_prior_is_refused(prior):
    with pytest.raises(tb.errors.OptionError, match="arc_prior must be a number from 0 to 1"):
        check_fraction("arc_prior", prior)


@pytest.mark.parametrize("prior", [0, 1, 0.5, np.float32(0.5), np.int64(1)])
def test_probabilities_are_accepted(prior):
    check_fraction("arc_prior", prior)
