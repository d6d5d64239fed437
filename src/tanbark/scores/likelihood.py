"""Log-likelihood of one family at its maximum, and the penalties that go with it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tanbark.errors import find


def log_likelihood(counts: ArrayLike) -> float:
    r"""Log-likelihood of one family under its maximum-likelihood CPT.

    .. math:: \sum_{jk} N_{jk} \ln \frac{N_{jk}}{N_j}

    Parameters
    ----------
    counts : (n_configs, n_states) array

    >>> round(log_likelihood([[1, 1], [0, 2]]), 4)
    -1.3863
    """
    n = np.asarray(counts, dtype=float)
    rows = np.broadcast_to(n.sum(axis=1, keepdims=True), n.shape)
    seen = n > 0
    return float((n[seen] * np.log(n[seen] / rows[seen])).sum())


def free_parameters(counts: ArrayLike) -> int:
    """Count the free parameters of one family: (states - 1) x parent configurations.

    >>> free_parameters(np.zeros((6, 3)))
    12
    """
    configs, states = np.asarray(counts).shape
    return int(configs * (states - 1))


def penalty(criterion: str, n_rows: float) -> float:
    """Return the penalty of one free parameter: nothing, 1 (AIC) or half the log of the rows (BIC).

    >>> penalty("aic", 100), round(penalty("bic", 100), 4)
    (1.0, 2.3026)
    """
    penalties = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * math.log(n_rows) if n_rows > 0 else 0.0}
    return find("criterion", criterion, penalties)
