"""Weights of a logarithmic pool, and the temperature."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tanbark.params.pool import PENALTY, fit_temperature, log_loss, pool_weights, row_losses


def sampled(seed=0, n=40_000, members=3):
    """Evidence of several members, and labels that are sampled from the first."""
    rng = np.random.default_rng(seed)
    log_prior = np.log([0.5, 0.3, 0.2])
    evidence = rng.normal(0, 1.5, (members, n, 3))
    logits = log_prior + evidence[0]
    posterior = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    labels = (posterior.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return evidence, log_prior, labels


def slow_objective(found, start, evidence, log_prior, labels, weights):
    logits = log_prior + sum(w * part for w, part in zip(found, evidence, strict=True))
    losses = [np.log(np.exp(row).sum()) - row[label] for row, label in zip(logits, labels, strict=True)]
    total = len(labels) if weights is None else weights.sum()
    pull = PENALTY * len(found) / total * ((found - start) ** 2).sum()
    return np.average(losses, weights=weights) + pull


def test_losses_are_those_of_the_softmax():
    logits, labels = np.array([[0.0, 1.0], [800.0, -800.0]]), np.array([0, 1])
    assert row_losses(logits, labels) == pytest.approx([np.log(1 + np.e), 1600.0])
    assert log_loss(logits, labels, np.array([3.0, 1.0])) == pytest.approx((3 * np.log(1 + np.e) + 1600) / 4)


def test_labels_sampled_from_the_model_have_the_temperature_one():
    evidence, log_prior, labels = sampled()
    assert fit_temperature(evidence[0], log_prior, labels) == pytest.approx(1.0, abs=0.02)
    for tau in (0.3, 2.5):
        assert fit_temperature(evidence[0] / tau, log_prior, labels) == pytest.approx(tau, rel=0.03)
    assert pool_weights(evidence, log_prior, labels) == pytest.approx([1.0, 0.0, 0.0], abs=0.03)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_weights_are_the_optimum_of_a_slow_twin(weighted):
    evidence, log_prior, labels = sampled(1, 120)
    evidence[1:] += 0.5 * evidence[0]
    weights = np.random.default_rng(2).uniform(0.5, 3.0, 120) if weighted else None
    start = np.full(3, fit_temperature(evidence.mean(axis=0), log_prior, labels, weights) / 3)
    slow = minimize(
        slow_objective, start, (start, evidence, log_prior, labels, weights), method="L-BFGS-B", bounds=[(0, None)] * 3
    )  # numerical gradients
    found = pool_weights(evidence, log_prior, labels, weights)
    assert found == pytest.approx(slow.x, abs=1e-3)
    assert slow_objective(found, start, evidence, log_prior, labels, weights) <= slow.fun + 1e-7
    assert (found >= 0).all()


def test_one_member_has_a_temperature():
    evidence, log_prior, labels = sampled(3, 500)
    assert pool_weights(evidence[:1], log_prior, labels) == fit_temperature(evidence[0], log_prior, labels)


def test_weights_are_repeats():
    evidence, log_prior, labels = sampled(4, 200)
    times = np.random.default_rng(5).integers(1, 4, 200)
    repeated = pool_weights(np.repeat(evidence, times, axis=1), log_prior, np.repeat(labels, times))
    assert pool_weights(evidence, log_prior, labels, times.astype(float)) == pytest.approx(repeated, abs=1e-6)


def test_evidence_without_any_information():
    found = pool_weights(np.zeros((2, 50, 2)), np.log([0.5, 0.5]), np.arange(50) % 2)
    assert np.isfinite(found).all()
    found = fit_temperature(np.array([[50.0, 0.0], [0.0, 50.0]] * 20), np.log([0.5, 0.5]), np.array([0, 1] * 20))
    assert np.isfinite(found)
