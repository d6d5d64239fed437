"""Marginal likelihoods under a Dirichlet prior: all are sums and differences of one set function h.

With an equivalent sample size ess and the number q of configurations of a set S of variables,

    h(S) = sum over the observed cells of S of [ln Gamma(ess / q + N) - ln Gamma(ess / q)],

    log BDeu(X | P) = h(P + X) - h(P),      ln BF(X, Y | Z) = h(ZX) + h(ZY) - h(Z) - h(ZXY).

The compiled form of h, for counts, keys of rows and contingency tables, is in ``dirichlet_kernels``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

CACHED_TERMS = 1 << 22  # values in a cache of log-gamma differences (32 MiB)


def log_gamma_ratio(counts: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Return ln Gamma(alpha + n) - ln Gamma(alpha) for each count n.

    >>> log_gamma_ratio([0, 1, 2], 1.0).round(4).tolist()
    [0.0, 0.0, 0.6931]
    """
    from scipy.special import gammaln  # late: reading a saved network needs no scipy

    return np.asarray(gammaln(np.asarray(counts, dtype=float) + alpha) - gammaln(alpha))


def h(counts: ArrayLike, q: float, ess: float = 1.0) -> float:
    """Return h(S), the sum of log-gamma differences over the observed cells of a set with q configurations.

    >>> round(h([2, 0, 0, 1], 4, 4.0), 4)  # the logarithms of 1 * 2 and of 1
    0.6931
    """
    n = np.asarray(counts)
    return float(log_gamma_ratio(n[n > 0], ess / q).sum())


def log_bayes_factor(cells: NDArray[np.integer], counts: ArrayLike, n_states: Sequence[int], ess: float = 1.0) -> float:
    """Return ln BF(X, Y | Z) under BDeu from the observed cells of (Z..., X, Y); positive favours independence.

    Parameters
    ----------
    cells : (n_cells, n_columns) array
        The states of each observed cell, X and Y last.
    counts : (n_cells,) array
    n_states : sequence of int
        Number of states of each column.

    Examples
    --------
    >>> round(log_bayes_factor(np.array([[0, 0], [1, 1]]), [5, 5], (2, 2)), 4)
    -6.1093
    """
    *z, x, y = range(cells.shape[1])

    def h_of(columns: list[int]) -> float:
        _, place = np.unique(cells[:, columns], axis=0, return_inverse=True)
        q = float(np.prod([float(n_states[c]) for c in columns]))
        return h(np.bincount(place.ravel(), counts), q, ess)

    return h_of([*z, x]) + h_of([*z, y]) - h_of(z) - h_of([*z, x, y])


class TermCache(NamedTuple):
    """Log-gamma differences of whole counts, for one equivalent sample size, filled in as kernels need them.

    ``terms[row, n]`` is ln Gamma(ess / q + n) - ln Gamma(ess / q) for ``q = sizes[row]``; the first ``used[0]`` rows
    are filled in.
    """

    sizes: NDArray[np.float64]
    terms: NDArray[np.float64]
    used: NDArray[np.int64]


def make_term_cache(n_rows: int, n_sizes: int = 64) -> TermCache:
    """Make an empty cache for counts of up to ``n_rows`` and ``n_sizes`` different numbers of configurations."""
    largest = max(1, min(n_rows, CACHED_TERMS // n_sizes - 1))
    return TermCache(np.zeros(n_sizes), np.zeros((n_sizes, largest + 1)), np.zeros(1, np.int64))


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
    return float(log_gamma_ratio(n, alpha).sum() - log_gamma_ratio(n.sum(axis=1), alpha * n.shape[1]).sum())


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
