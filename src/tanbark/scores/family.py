"""Scores of families by name: pure functions of stacked counts, for searches that score many families at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tanbark.arrays import Floats
from tanbark.scores.mml import family_score

FamilyScore = Callable[[Floats, int, float], Floats]


def _log_likelihood(counts: Floats, n_configs: int, ess: float) -> Floats:
    rows = counts.sum(axis=2)
    from scipy.special import xlogy  # late: reading a saved network needs no scipy

    return np.asarray(xlogy(counts, counts).sum(axis=(1, 2)) - xlogy(rows, rows).sum(axis=1))


def _penalised(counts: Floats, n_configs: int, penalty: float | Floats) -> Floats:
    return np.asarray(_log_likelihood(counts, n_configs, 0.0) - penalty * (n_configs * (counts.shape[2] - 1)))


def _aic(counts: Floats, n_configs: int, ess: float) -> Floats:
    return _penalised(counts, n_configs, 1.0)


def _bic(counts: Floats, n_configs: int, ess: float) -> Floats:
    return _penalised(counts, n_configs, 0.5 * np.log(np.maximum(counts.sum(axis=(1, 2)), 1.0)))


def _log_marginal(counts: Floats, alpha: float) -> Floats:
    # log_marginal for a stack; another order of the sums would change the last bit of scores in saved model files
    whole = alpha * counts.shape[2]
    from scipy.special import gammaln

    cells = gammaln(counts + alpha).sum(axis=(1, 2)) - counts[0].size * gammaln(alpha)
    return np.asarray(cells + counts.shape[1] * gammaln(whole) - gammaln(counts.sum(axis=2) + whole).sum(axis=1))


def _bdeu(counts: Floats, n_configs: int, ess: float) -> Floats:
    return _log_marginal(counts, ess / (n_configs * counts.shape[2]))


def _k2(counts: Floats, n_configs: int, ess: float) -> Floats:
    return _log_marginal(counts, 1.0)


def _mml(counts: Floats, n_configs: int, ess: float) -> Floats:
    return np.array([family_score(table) for table in counts])


FAMILY_SCORES: dict[str, FamilyScore] = {
    "loglik": _log_likelihood,  # maximum likelihood, no penalty
    "aic": _aic,  # Akaike (1974): 1 nat for every free parameter
    "bic": _bic,  # Schwarz (1978): half the log of the rows for every free parameter
    "bdeu": _bdeu,  # Heckerman, Geiger and Chickering (1995), section 7
    "mml": _mml,  # minus the message length in nits; with nothing stated, the adaptive code of K2's prior
    "k2": _k2,  # Cooper and Herskovits (1992), Theorem 1
}
"""Functions of (families, configs, states) counts, the number of parent configurations, and the equivalent sample size.

A parent configuration without rows may be left out of the counts; it adds nothing but its part of the penalty or of
the prior, for which the number of configurations is passed. Nats, one per family, higher is better.

>>> FAMILY_SCORES["k2"](np.array([[[2.0, 0.0], [0.0, 1.0]]]), 2, 1.0).round(4).tolist()
[-1.7918]
"""
