"""Exact model averaging over all naive Bayes models, in which each arc from the class is present or absent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.params.dirichlet import estimate
from tanbark.params.smoothing import Laplace
from tanbark.scores import log_marginal


def arc_posterior(counts: NDArray[Any], alpha: float, prior: float) -> float:
    r"""Probability that the class has an arc to a feature, given their counts.

    With marginal likelihoods of the feature given the class and alone,

    .. math:: p = \frac{\pi P(D | arc)}{\pi P(D | arc) + (1 - \pi) P(D | none)}

    where :math:`P(D|arc) = \prod_c \frac{\Gamma(r a)}{\Gamma(N_c + r a)} \prod_k \frac{\Gamma(N_{kc} + a)}{\Gamma(a)}`
    and P(D | none) is the same for the counts summed over the classes.

    Parameters
    ----------
    counts : (n_states, n_classes) array
    alpha : float
        Prior mass per cell, above 0.
    prior : float
        Probability of the arc before the data.

    Notes
    -----
    Dash and Cooper (2002), equation 8; Wei, Visweswaran and Cooper (2011), online appendix.

    >>> round(arc_posterior(np.array([[8, 3], [2, 7]]), 1.0, 0.5), 6)
    0.843705
    """
    if prior in (0.0, 1.0):
        return float(prior)
    table = np.asarray(counts, dtype=float).T
    gain = log_marginal(table, alpha=alpha) - log_marginal(table.sum(axis=0)[None], alpha=alpha)
    from scipy.special import expit

    return float(expit(gain + np.log(prior) - np.log1p(-prior)))


def averaged_table(counts: NDArray[Any], alpha: float, probability: float) -> Floats:
    """Mix the CPT of a feature given the class with its marginal distribution: exact averaging for naive Bayes."""
    smoothing = Laplace(alpha)
    given = estimate(counts, 0, smoothing)
    alone = estimate(np.asarray(counts).sum(axis=1), 0, smoothing)
    return probability * given + (1.0 - probability) * alone[:, None]
