"""Tests of two models on the same data sets or folds: signed ranks, mean ranks, t, and a Bayesian test."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats
from tanbark.checks import check_at_least, check_count
from tanbark.errors import InputError
from tanbark.structure.rules import generator

DRAWS_AT_ONCE = 1 << 12


def wilcoxon(a: Floats, b: Floats) -> float:
    """Return the p-value of Wilcoxon's signed-rank test; half of the ranks of ties go to each side."""
    from scipy.stats import wilcoxon as test

    if np.array_equal(a, b):
        return 1.0
    return float(test(a, b, zero_method="zsplit", method="approx" if (a == b).any() else "auto").pvalue)


def resampled_t(a: Floats, b: Floats, ratio: float) -> float:
    """Return the p-value of the corrected resampled t-test, for folds whose training rows overlap."""
    from scipy.stats import t

    difference = a - b
    n = len(difference)
    spread = float(difference.var(ddof=1)) if n > 1 else 0.0
    if n < 2 or (spread == 0 and difference.mean() == 0):
        return 1.0
    if spread == 0:
        return 0.0
    return float(2 * t.sf(abs(difference.mean()) / math.sqrt((1 / n + ratio) * spread), n - 1))


def rank_difference(a: float, b: float, k: int, n: int, *, all_pairs: bool) -> float:
    r"""Return the p-value of a difference of the mean ranks of two of k models over n data sets.

    .. math:: z = (R_a - R_b) \Big/ \sqrt{k (k + 1) / 6n}

    compared with a normal distribution, or with ``all_pairs`` by Nemenyi's test, whose p-values hold for all pairs
    together. Demšar (2006), section 3.2.2.

    >>> round(rank_difference(3.143, 1.964, 4, 14, all_pairs=False), 3)  # his example: 0.016
    0.016
    """
    from scipy.stats import norm, studentized_range

    z = abs(a - b) / math.sqrt(k * (k + 1) / (6.0 * n))
    if all_pairs:
        return float(studentized_range.sf(z * math.sqrt(2.0), k, np.inf))
    return float(2 * norm.sf(z))


class SignedRank(NamedTuple):
    """Posterior probabilities that one model is better, that both are practically equivalent, that it is worse."""

    better: float
    equivalent: float
    worse: float


def bayesian_signed_rank(
    a: ArrayLike, b: ArrayLike, *, rope: float = 0.01, prior: float = 0.5, n_draws: int = 50_000, random_state: Any = 0
) -> SignedRank:
    r"""Return how probable it is that the first of two models is better, by the Bayesian signed-rank test.

    The mean of two differences, both drawn from the unknown distribution of differences over data sets, lies above, in
    or below the region of practical equivalence:

    .. math:: \theta_+ = \sum_{ij} w_i w_j [z_i + z_j > 2r], \quad w \sim Dir(s, 1, …, 1)

    and the same for the others; the probabilities are those that each is the largest of the three.

    Parameters
    ----------
    a, b : arrays
        Scores on the same data sets, higher is better.
    rope : float, default 0.01
        Differences of scores of at most this are no difference in practice.
    prior : float, default 0.5
        s, the weight of a difference of 0 that is added to those of the data.
    n_draws : int, default 50,000
        Draws of the weights; the probabilities have a standard error of at most :math:`1 / (2 \sqrt{n})`.
    random_state : int, Generator, RandomState or None, default 0

    References
    ----------
    Benavoli, Corani, Demšar and Zaffalon (2017), Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis, section 4.2.

    Examples
    --------
    >>> a, b = [0.9, 0.8, 0.85, 0.9, 0.95], [0.8, 0.7, 0.8, 0.85, 0.85]
    >>> bayesian_signed_rank(a, b).better > 0.99
    True
    """
    left, right = np.asarray(a, float), np.asarray(b, float)
    if left.ndim != 1 or left.shape != right.shape or not left.size or not np.isfinite(left - right).all():
        msg = f"Two models need the same number of finite scores; got arrays of shape {left.shape} and {right.shape}."
        raise InputError(msg)
    width = check_at_least("rope", rope, 0)
    mass = check_at_least("prior", prior, 0)
    check_count("n_draws", n_draws, least=1)
    z = np.concatenate([[0.0], left - right])
    sums = z[:, None] + z
    above, below = (sums > 2 * width).astype(float), (sums < -2 * width).astype(float)
    shape = np.concatenate([[max(mass, 1e-12)], np.ones(len(left))])
    rng, wins = generator(random_state), np.zeros(3)
    for low in range(0, n_draws, DRAWS_AT_ONCE):
        weights = rng.dirichlet(shape, min(DRAWS_AT_ONCE, n_draws - low))
        up, down = ((weights @ side * weights).sum(axis=1) for side in (above, below))
        regions = np.stack([up, 1.0 - up - down, down])
        largest = np.abs(regions - regions.max(axis=0)) < 1e-12
        wins += (largest / largest.sum(axis=0)).sum(axis=1)
    better, equivalent, worse = (wins / n_draws).tolist()
    return SignedRank(better, equivalent, worse)
