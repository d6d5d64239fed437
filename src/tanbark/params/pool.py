"""Weights of a logarithmic opinion pool, and the temperature of a posterior, from leave-one-out or held-out rows."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array, Floats

COLDEST, WARMEST = -4.0, 1.5  # bounds of the logarithm of a temperature
PULL = 1e-3  # of the logarithm of a temperature to zero, per row of average weight
PENALTY = 1.0  # of weights that leave the mean, in rows
STEPS = 60


def log_loss(logits: Floats, labels: Array, weights: Floats | None = None) -> float:
    """Return the mean of -log P(label) under the softmax of logits."""
    return float(np.average(row_losses(logits, labels), weights=weights))


def row_losses(logits: Floats, labels: Array) -> Floats:
    """Return -log P(label) of every row under the softmax of its logits."""
    largest = logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(logits - largest).sum(axis=1)) + largest[:, 0]
    return np.asarray(total - logits[np.arange(len(labels)), labels])


def fit_temperature(evidence: Floats, log_prior: Floats, labels: Array, weights: Floats | None = None) -> float:
    """Find tau so that P(c) exp(evidence_c)^tau has the least log-loss; a weak penalty pulls it to one.

    Parameters
    ----------
    evidence : (n_rows, n_classes) array
        log P(observed | class), up to a constant per row, with the row itself left out.
    log_prior : (n_rows, n_classes) or (n_classes,) array
    """

    def objective(log_tau: float) -> float:
        return log_loss(log_prior + np.exp(log_tau) * evidence, labels, weights) + PULL * log_tau**2

    from scipy.optimize import minimize_scalar

    found = minimize_scalar(objective, bounds=(COLDEST, WARMEST), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))


def pool_weights(evidence: Floats, log_prior: Floats, labels: Array, weights: Floats | None = None) -> Floats:
    """Find weights w >= 0 so that P(c) prod_m exp(evidence_mc)^w_m has the least log-loss.

    They begin at one temperature for the mean of all members and are pulled back to it by an L2 penalty.

    Parameters
    ----------
    evidence : (n_members, n_rows, n_classes) array
        log P(observed | class) of every member, with the row itself left out.
    log_prior : (n_rows, n_classes) or (n_classes,) array
    """
    n_members, n_rows, _ = evidence.shape
    start = np.full(n_members, fit_temperature(evidence.mean(axis=0), log_prior, labels, weights) / n_members)
    if n_members == 1:
        return start
    shares = np.full(n_rows, 1.0 / n_rows) if weights is None else weights / weights.sum()
    pull = PENALTY * n_members / (n_rows if weights is None else weights.sum())

    def objective(found: Floats) -> tuple[float, Floats]:
        logits = log_prior + np.tensordot(found, evidence, 1)
        logits -= logits.max(axis=1, keepdims=True)
        posterior = np.exp(logits)
        total = posterior.sum(axis=1, keepdims=True)
        losses = np.log(total[:, 0]) - logits[np.arange(n_rows), labels]
        posterior /= total
        posterior[np.arange(n_rows), labels] -= 1.0
        posterior *= shares[:, None]
        gradient = np.tensordot(evidence, posterior, ([1, 2], [0, 1])) + 2.0 * pull * (found - start)
        return float(losses @ shares + pull * ((found - start) ** 2).sum()), gradient

    bounds = [(0.0, None)] * n_members
    from scipy.optimize import minimize

    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    return np.asarray(found.x)
