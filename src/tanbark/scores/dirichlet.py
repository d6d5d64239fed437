"""Marginal likelihood of one family under a symmetric Dirichlet prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln


def log_marginal(counts: ArrayLike, *, alpha: float = 1.0) -> float:
    r"""Log marginal likelihood of one family under a symmetric Dirichlet prior.

    .. math:: \sum_j \ln\frac{\Gamma(r\alpha)}{\Gamma(N_j + r\alpha)}
              + \sum_{jk} \ln\frac{\Gamma(N_{jk} + \alpha)}{\Gamma(\alpha)}

    Parameters
    ----------
    counts : (n_configs, n_states) array
        Rows are parent configurations, observed or not.
    alpha : float
        Prior mass per cell; 1 is K2, ``ess / counts.size`` is BDeu.

    Notes
    -----
    Nats, summed over the data. Cooper and Herskovits (1992), Theorem 1.

    >>> round(log_marginal([[2, 0], [0, 1]]), 4)
    -1.7918
    """
    n = np.asarray(counts, dtype=float)
    prior = alpha * n.shape[1]
    cells = gammaln(n + alpha) - gammaln(alpha)
    configs = gammaln(prior) - gammaln(n.sum(axis=1) + prior)
    return float(cells.sum() + configs.sum())


def bdeu(counts: ArrayLike, *, ess: float = 1.0) -> float:
    """Log marginal likelihood with the equivalent sample size spread evenly over the cells.

    Networks that encode the same independences get the same total. Heckerman, Geiger and Chickering (1995), section 7.

    >>> round(bdeu([[1, 1]], ess=2.0), 4)
    -1.7918
    """
    return log_marginal(counts, alpha=ess / np.asarray(counts).size)


def k2(counts: ArrayLike) -> float:
    """Log marginal likelihood with one prior row per cell.

    >>> round(k2([[1, 1]]), 4)
    -1.7918
    """
    return log_marginal(counts, alpha=1.0)
