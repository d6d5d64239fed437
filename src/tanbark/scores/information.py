"""Mutual information of two variables, alone or given others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tanbark.errors import InputError, find

UNITS = {"nats": 1.0, "bits": math.log(2.0)}  # nats of one unit


def conditional_mutual_information(counts: ArrayLike) -> float:
    r"""Mutual information I(X; Y | Z) in nats, from the counts of X, Y and Z.

    .. math:: \sum_{xyz} \frac{N_{xyz}}{N} \ln \frac{N_{xyz} N_z}{N_{xz} N_{yz}}

    Parameters
    ----------
    counts : (n_x, n_y, n_z) array

    Notes
    -----
    Multiply by N to get the gain in log-likelihood of an arc between X and Y. Tiny negatives are set to 0.
    Cover and Thomas (2006), section 2.5.

    >>> round(conditional_mutual_information([[[2], [0]], [[0], [2]]]), 4)
    0.6931
    """
    n = np.asarray(counts, dtype=float)
    total = n.sum()
    if total == 0:
        return 0.0
    product = n.sum(axis=1, keepdims=True) * n.sum(axis=0, keepdims=True)
    seen = n > 0
    ratio = np.broadcast_to(n.sum(axis=(0, 1), keepdims=True), n.shape)[seen] * n[seen] / product[seen]
    return max(0.0, float((n[seen] * np.log(ratio)).sum() / total))


def mutual_information(counts: ArrayLike) -> float:
    """Mutual information I(X; Y) in nats, from the counts of X and Y.

    Parameters
    ----------
    counts : (n_x, n_y) array

    >>> mutual_information([[1, 1], [1, 1]])
    0.0
    """
    return conditional_mutual_information(np.asarray(counts)[:, :, None])


def kl_divergence(p: ArrayLike, q: ArrayLike, *, unit: str = "nats") -> float:
    r"""Return the Kullback-Leibler divergence of a distribution p from another, q; infinite where only q is 0.

    .. math:: \sum_k p_k \ln \frac{p_k}{q_k}

    Parameters
    ----------
    p, q : arrays of one shape
        Probabilities or counts; each is divided by its sum.
    unit : {"nats", "bits"}

    >>> round(kl_divergence([3, 1], [1, 1], unit="bits"), 4)
    0.1887
    """
    left, right = np.asarray(p, float), np.asarray(q, float)
    sums = float(left.sum()), float(right.sum())
    if (
        left.shape != right.shape
        or (left < 0).any()
        or (right < 0).any()
        or not (min(sums) > 0 and max(sums) < math.inf)
    ):
        msg = "A divergence is between two distributions of one shape, neither negative nor all zero."
        raise InputError(msg)
    seen = left > 0
    if (right[seen] == 0).any():
        return math.inf
    ratio = (left[seen] / sums[0]) / (right[seen] / sums[1])
    return max(0.0, float((left[seen] * np.log(ratio)).sum()) / sums[0]) / find("unit", unit, UNITS)
