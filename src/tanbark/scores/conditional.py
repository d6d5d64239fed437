"""The approximate conditional log-likelihood of one family."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@cache
def acll_slope(n_classes: int) -> float:
    r"""Return beta, the weight that the approximation puts on the log-joints of all classes.

    The log of a sum of K independent uniforms is fitted by least squares on their logs;

    .. math:: \beta(K) = \int_0^\infty \Big(\frac{1 - e^{-t}}{t}\Big)^{K-1} \int_0^1 u \ln u \, e^{-tu} \, du \, dt

    Two classes: (pi^2 - 18) / 24. Carvalho, Roos, Oliveira and Myllymäki (2011), section 3.

    >>> round(acll_slope(2), 6), round(acll_slope(3), 6)
    (-0.338766, -0.200173)
    """
    if n_classes < 2:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(600)
    x, w = (nodes + 1) / 2, weights / 2
    u, du = x**4, 4 * x**3 * w  # the power smooths the logarithm at 0
    s, ds = x**3, 3 * x**2 * w
    t, dt = s / (1 - s), ds / (1 - s) ** 2
    inner = (u * np.log(u) * np.exp(-np.outer(t, u)) * du).sum(axis=1)
    return float(((-np.expm1(-t) / t) ** (n_classes - 1) * inner * dt).sum())


def approximate_cll(counts: ArrayLike, *, beta: float, min_count: float = 1.0) -> Any:
    r"""Return the term of a family in the approximate conditional log-likelihood (aCLL), in nats.

    .. math:: \sum_{jck} M_{jck} \ln\frac{N^+_{jck}}{\sum_k N^+_{jck}}, \quad
              M_{jck} = N_{jck} + \beta \sum_{c'} N_{jc'k}, \quad N^+ = \max(M, N')

    Parameters
    ----------
    counts : (..., n_configs, n_states, n_classes) array
        Parent configurations without the class, states, classes; leading axes are families of their own.
    beta : float
        See :func:`acll_slope`; with 0 it is the log-likelihood.
    min_count : float
        N', the least count that a parameter rests on; above 0.

    >>> round(float(approximate_cll([[[3, 1], [1, 3]]], beta=0.0)), 4)
    -4.4987
    """
    n = np.asarray(counts, dtype=float)
    signed = n + beta * n.sum(axis=-1, keepdims=True)
    clipped = np.maximum(signed, min_count)
    logs = np.log(clipped) - np.log(clipped.sum(axis=-2, keepdims=True))
    return (signed * logs).sum(axis=(-3, -2, -1))
