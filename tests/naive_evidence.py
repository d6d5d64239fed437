"""What the message of the class given features would cost if nothing were approximated: integrals over all tables.

P(classes | features) is averaged over the tables of naive Bayes, uniform a priori, by three unlike ways: points spread
evenly over the prior, a swarm that walks from the prior to the posterior, and points around the best log-odds.
"""

from __future__ import annotations

import inspect
import math

import numpy as np
from scipy.special import expit, log_expit, logit, logsumexp
from scipy.stats import multivariate_normal, norm, qmc


def _sobol(dimensions, seed):
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"  # "seed" before SciPy 1.15
    return qmc.Sobol(dimensions, **{name: seed})


def _log_likelihood(simplexes, configs, counts, states, n_classes):
    """Log P(classes | features) of many draws: the class's table, then one for each class of each feature."""
    prior, *tables = simplexes
    logs = np.log(prior)[:, :, None] + np.zeros(len(configs))
    for j in range(len(states)):
        own = np.stack(tables[j * n_classes : (j + 1) * n_classes], axis=1)
        logs = logs + np.log(own)[:, :, configs[:, j]]
    posterior = logs - logsumexp(logs, axis=1)[:, None]
    return np.einsum("dyu,uy->d", posterior, counts)


def _sizes(states, n_classes):
    return [n_classes, *(r for r in states for _ in range(n_classes))]


def _split(gammas, sizes):
    parts = np.split(gammas, np.cumsum(sizes)[:-1], axis=1)
    return [part / part.sum(axis=1, keepdims=True) for part in parts]


def sobol(configs, counts, states, n_classes, *, power=16, seed=0):
    """Spread Sobol points over the prior: exponential variables, scaled to sum to one, are uniform tables."""
    sizes = _sizes(states, n_classes)
    points = _sobol(sum(sizes), seed).random_base2(power)
    told = _log_likelihood(_split(-np.log1p(-points), sizes), configs, counts, states, n_classes)
    return math.log(len(told)) - logsumexp(told)


def swarm(configs, counts, states, n_classes, *, particles=2000, seed=0):
    """Sequential Monte Carlo: the likelihood is raised from power 0 to 1, and every draw walks after each rise."""
    rng = np.random.default_rng(seed)
    sizes = _sizes(states, n_classes)

    def measure(logs):
        return _log_likelihood(_split(np.exp(logs), sizes), configs, counts, states, n_classes)

    logs = np.log(rng.exponential(size=(particles, sum(sizes))))
    told, power, evidence = measure(logs), 0.0, 0.0
    while power < 1:
        rise = _rise(told, 1 - power)
        weights = rise * told
        evidence += logsumexp(weights) - math.log(particles)
        power += rise
        chance = np.exp(weights - logsumexp(weights))
        kept = np.searchsorted(np.cumsum(chance), (rng.random() + np.arange(particles)) / particles)
        kept = np.minimum(kept, particles - 1)
        logs, told = logs[kept], told[kept]
        root = np.linalg.cholesky(np.cov(logs.T) + 1e-9 * np.eye(sum(sizes)))
        for scale in np.tile([0.2, 0.5, 1.0], 8) * 1.7 / math.sqrt(sum(sizes)):
            there = logs + scale * rng.normal(size=logs.shape) @ root.T
            new = measure(there)
            gain = power * (new - told) + _log_prior(there) - _log_prior(logs)
            moved = np.log(rng.random(particles)) < gain
            logs[moved], told[moved] = there[moved], new[moved]
    return -evidence


def _log_prior(logs):
    """Log density of logs of exponential variables."""
    return (logs - np.exp(logs)).sum(axis=1)


def _rise(told, most):
    """Find the rise of the power that leaves nine tenths of the swarm in effect."""

    def in_effect(rise):
        weights = np.exp(rise * (told - told.max()))
        return weights.sum() ** 2 / (weights**2).sum() / len(told)

    if in_effect(most) > 0.9:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if in_effect(middle) > 0.9 else (low, middle)
    return low


def around_the_best(configs, counts, *, power=14, seed=0):
    """Take points around the best log-odds of a binary class, each with tables that it may come from.

    The intercept is logit q and, for every feature, log (1 - t1)/(1 - t2); the slope is s = logit t1 - logit t2. With
    w half way between logit t2 and logit t1, the prior density is f(w - s/2) f(w + s/2), f the logistic one, and a
    logistic w is drawn for it.
    """
    m = configs.shape[1]
    design, n = np.column_stack([np.ones(len(configs)), configs]), counts.sum(axis=1)
    best = np.zeros(m + 1)
    for _ in range(30):
        p = expit(design @ best)
        bend = (design.T * (n * p * (1 - p))) @ design + 0.1 * np.eye(m + 1)
        best = best + np.linalg.solve(bend, design.T @ (counts[:, 1] - n * p) - 0.1 * best)
    points = np.clip(_sobol(2 * m + 1, seed).random_base2(power), 1e-12, 1 - 1e-12)
    spread = 1.5 * np.linalg.inv(bend)
    at = best + norm.ppf(points[:, : m + 1]) @ np.linalg.cholesky(spread).T
    logits = at @ design.T
    weight = log_expit(logits) @ counts[:, 1] + log_expit(-logits) @ counts[:, 0]
    weight -= multivariate_normal.logpdf(at, best, spread)
    rest = at[:, 0].copy()
    for slope, w in zip(at[:, 1:].T, logit(points[:, m + 1 :]).T, strict=True):
        weight += log_logistic(w - slope / 2) + log_logistic(w + slope / 2) - log_logistic(w)
        rest -= log_expit(-w - slope / 2) - log_expit(-w + slope / 2)
    weight += log_logistic(rest)
    return math.log(len(weight)) - logsumexp(weight)


def log_logistic(value):
    """Log density of the logistic distribution, which a logit of a uniform chance has."""
    return log_expit(value) + log_expit(-value)
