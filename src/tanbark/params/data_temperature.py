r"""CPTs at a temperature that falls with the rows: counts become energies, and the free energy is least.

The energy of state k in a parent configuration j is :math:`-\ln(N_{jk} + \alpha)`. The distribution with the least
free energy, expected energy less entropy over :math:`\beta`, is :math:`\theta_{jk} \propto (N_{jk} + \alpha)^{\beta}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats

COLDEST, HOTTEST = 1e-3, 1e6  # the least and the largest gamma above 0 that are tried, in rows
STEPS = 28  # of the grid of gammas, equal ratios apart
REFINED = 14  # halvings, roughly, of the interval around the best of the grid
GOLDEN = (5**0.5 - 1) / 2


def tempered_mass(counts: NDArray[Any], axis: int, *, gamma: float | None, alpha: float, stacked: bool) -> Floats:
    """Return a Dirichlet prior whose posterior mean is the distribution of least free energy, given the counts.

    Of all such priors it is the one with the least mass: none for one of the states.

    Parameters
    ----------
    counts : array
        One axis per column of the family; with ``stacked`` the first runs over families.
    axis : int
        The axis of the node, among those of the family.
    gamma : float, optional
        Rows at which the inverse temperature is a half; None for that of the shortest leave-one-out code.
    alpha : float
        Pseudo-counts per cell in the energies.
    """
    moved = np.moveaxis(np.asarray(counts if stacked else counts[None], np.float64), axis + 1, -1)
    found = np.empty(moved.shape)
    for family, out in zip(moved, found, strict=True):
        rows = family.reshape(-1, family.shape[-1])
        own = best_gamma(rows, alpha) if gamma is None else gamma
        out[:] = _mass(rows, own, alpha).reshape(family.shape)
    back = np.moveaxis(found, -1, axis + 1)
    return np.ascontiguousarray(back if stacked else back[0])


def inverse_temperature(rows: Floats, gamma: float) -> Floats:
    r"""Return :math:`\beta = N / (N + \gamma)`, 0 without rows.

    >>> inverse_temperature(np.array([0.0, 5.0, 1e9]), 5.0).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.where(rows > 0, rows / np.maximum(rows + gamma, 1e-300), 0.0))


def best_gamma(counts: Floats, alpha: float) -> float:
    r"""Find the gamma with the highest leave-one-out log-likelihood of (configurations, states) counts.

    .. math:: \sum_{jk} N_{jk} \ln \theta_{jk}(N_j - e_k; \gamma)

    0 and infinity are tried, a grid between them, and the neighbourhood of the best of the grid. Ties go to the smaller
    gamma. A cell of less than one row is left out whole.
    """
    seen = counts[counts.sum(axis=1) > 0]
    if not len(seen):
        return 0.0
    grid = np.geomspace(COLDEST, HOTTEST, STEPS)
    tried = [0.0, *grid.tolist(), np.inf]
    scores = [_left_out(seen, gamma, alpha) for gamma in tried]
    best = int(np.argmax(np.array(scores) > max(scores) - 1e-9))
    if best in (0, len(tried) - 1):
        return float(tried[best])
    low, high = np.log(max(tried[best - 1], COLDEST / 10)), np.log(min(tried[best + 1], HOTTEST * 10))
    for _ in range(REFINED):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if _left_out(seen, np.exp(first), alpha) >= _left_out(seen, np.exp(second), alpha):
            high = second
        else:
            low = first
    return float(np.exp((low + high) / 2))


def _left_out(counts: Floats, gamma: float, alpha: float) -> float:
    """Return the log-likelihood of counts, each row under the distribution without it."""
    gone = np.minimum(counts, 1.0)
    rest = counts.sum(axis=1, keepdims=True) - gone
    beta = np.zeros_like(rest) if gamma == np.inf else inverse_temperature(rest, gamma)
    with np.errstate(divide="ignore"):
        logs, own = np.log(counts + alpha), np.log(counts - gone + alpha)
    total = np.exp(beta * own)
    for state in range(counts.shape[1]):  # the other states, each at the temperature of the cell that lost a row
        others = np.exp(beta * logs[:, state : state + 1])
        others[:, state] = 0.0
        total += others
    return float((counts * (beta * own - np.log(total)))[counts > 0].sum())


def _mass(counts: Floats, gamma: float, alpha: float) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    beta = np.zeros_like(total) if gamma == np.inf else inverse_temperature(total, gamma)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(beta > 0, beta * np.log(counts + alpha), 0.0)
    theta = np.exp(logs - logs.max(axis=1, keepdims=True))
    theta /= theta.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.where(counts > 0, counts / theta, 0.0).max(axis=1, keepdims=True)
    whole = np.where(whole > 0, whole, 1.0)
    return np.asarray(np.maximum(whole * theta - counts, 0.0))
