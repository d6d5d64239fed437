"""Mutual information of two variables, alone or given others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


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
