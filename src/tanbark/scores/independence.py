"""Statistics of conditional independence: functions of the counts of (Z, X, Y), each configuration of Z a table.

A configuration without rows may be left out of the counts. The degrees of freedom of a configuration are those of its
states that occur, so that one without rows, or with one state only, has none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats

LEAST_PROBABILITY = 1e-290  # below it the tail is taken from a continued fraction, which does not vanish


class Statistic(NamedTuple):
    """A statistic that grows with dependence, and its degrees of freedom under independence."""

    value: float
    degrees: float


def _parts(counts: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    n = np.asarray(counts, dtype=float)
    over_y, over_x = n.sum(axis=2, keepdims=True), n.sum(axis=1, keepdims=True)
    return n, over_y, over_x, over_y.sum(axis=1, keepdims=True)


def observed_degrees(counts: ArrayLike) -> float:
    """Return the degrees of freedom: the sum over configurations of (rows that occur - 1)(columns that occur - 1).

    >>> observed_degrees([[[3, 1, 0], [1, 3, 0]], [[2, 2, 1], [0, 0, 0]]])
    1.0
    """
    n = np.asarray(counts, dtype=float)
    rows, columns = (n.sum(axis=2) > 0).sum(axis=1), (n.sum(axis=1) > 0).sum(axis=1)
    return float((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())


def g_statistic(counts: ArrayLike) -> Statistic:
    r"""Return the likelihood-ratio statistic, twice the rows times the mutual information I(X; Y | Z).

    .. math:: G^2 = 2 \sum_{zxy} N_{zxy} \ln \frac{N_{zxy} N_z}{N_{zx} N_{zy}}

    Parameters
    ----------
    counts : (n_configs, n_x, n_y) array

    Notes
    -----
    Sokal and Rohlf (1981), chapter 17; Spirtes, Glymour and Scheines (2000), section 5.5, for the degrees of freedom.

    >>> round(g_statistic([[[30, 10], [10, 30]]]).value, 4)
    20.9299
    """
    n, over_y, over_x, total = _parts(counts)
    seen = n > 0
    ratio = (n * total)[seen] / (over_y * over_x)[seen]
    return Statistic(max(0.0, 2.0 * float((n[seen] * np.log(ratio)).sum())), observed_degrees(counts))


def chi_square_statistic(counts: ArrayLike) -> Statistic:
    r"""Return Pearson's statistic, summed over the configurations of Z.

    .. math:: X^2 = \sum_{zxy} \frac{(N_{zxy} - E_{zxy})^2}{E_{zxy}}, \quad E_{zxy} = \frac{N_{zx} N_{zy}}{N_z}

    Parameters
    ----------
    counts : (n_configs, n_x, n_y) array

    >>> chi_square_statistic([[[30, 10], [10, 30]]])
    Statistic(value=20.0, degrees=1.0)
    """
    n, over_y, over_x, total = _parts(counts)
    expected = over_y * over_x / np.where(total > 0, total, 1.0)
    seen = expected > 0
    return Statistic(float(((n[seen] - expected[seen]) ** 2 / expected[seen]).sum()), observed_degrees(counts))


def shrunken_statistic(counts: ArrayLike, n_configs: float | None = None) -> Statistic:
    r"""Return twice the rows times the mutual information of the shrunken joint distribution.

    .. math:: \tilde p = \lambda \frac{1}{m} + (1 - \lambda) \frac{N_{zxy}}{N}, \quad
              \lambda = \min\Big(1, \frac{1 - \sum (N_{zxy} / N)^2}{(N - 1) \sum (1/m - N_{zxy} / N)^2}\Big)

    Parameters
    ----------
    counts : (n_configs, n_x, n_y) array
    n_configs : float, optional
        The configurations of Z, observed or not; m is the number of cells of all of them.

    Notes
    -----
    Shrinkage to the uniform distribution lowers the information of sparse tables, and with it the false alarms.
    Hausser and Strimmer (2009), Entropy inference and the James-Stein estimator, equations 4, 6 and 7. Its degrees of
    freedom are those of all cells.

    >>> round(shrunken_statistic([[[30, 10], [10, 30]]]).value, 4)
    15.3133
    """
    n = np.asarray(counts, dtype=float)
    q = float(n.shape[0] if n_configs is None else n_configs)
    m, total = q * n.shape[1] * n.shape[2], float(n.sum())
    degrees = q * (n.shape[1] - 1) * (n.shape[2] - 1)
    if total <= 0:
        return Statistic(0.0, degrees)
    p = n / total
    away = float(((1.0 / m - p) ** 2).sum()) + (m - n.size) / m**2  # cells that were left out have p = 0
    spread = 1.0 - float((p**2).sum())
    shrink = 1.0 if total <= 1 or away <= 0 else min(1.0, spread / ((total - 1.0) * away))
    shrunken = shrink / m + (1.0 - shrink) * p
    return Statistic(total * g_statistic(shrunken).value, degrees)


def log_tail(statistic: Statistic) -> float:
    """Return the logarithm of the probability that chi-square with these degrees of freedom is as large or larger.

    Without degrees of freedom it is 0: nothing speaks against independence.

    >>> round(log_tail(Statistic(3.841458820694124, 1)), 6)  # ln 0.05
    -2.995732
    >>> round(log_tail(Statistic(2000.0, 1)), 2)
    -1004.03
    """
    from scipy.special import gammaincc  # late: reading a saved network needs no scipy

    if statistic.degrees <= 0:
        return 0.0
    a, x = statistic.degrees / 2.0, statistic.value / 2.0
    tail = float(gammaincc(a, x))
    if tail > LEAST_PROBABILITY:
        return math.log(tail)
    return a * math.log(x) - x - math.lgamma(a) - math.log(_fraction(a, x))


def _fraction(a: float, x: float) -> float:
    """Evaluate x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)), where x is well above a."""
    value = x + 2.0 * 200 + 1.0 - a
    for k in range(200, 0, -1):
        value = x + 2.0 * k - 1.0 - a - k * (k - a) / value
    return value
