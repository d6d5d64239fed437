"""The class given features as a logistic model: the sound form of a conditional message for naive Bayes.

The likelihood of the class given the features depends on the tables of naive Bayes through log-odds alone. In the
coordinates of the tables the Fisher information is therefore singular, and a message length that needs its determinant
does not exist; in the coordinates of the log-odds it does. Contrasts are orthonormal, so that no coding of the states
is preferred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import polygamma

from tanbark.errors import InputError, OptionError
from tanbark.scores.mml.lengths import MessageLength, lattice

Floats = NDArray[np.float64]

CLOSE = 1e-13  # squared Newton decrement at which the next step is the last
SLOW = 0.05  # a step that leaves more than this of the squared decrement asks for a new Hessian


def nb_logit(
    configs: ArrayLike, counts: ArrayLike, states: Sequence[int], *, alpha: float = 1.0, class_alpha: float | None = None
) -> MessageLength:
    r"""Length of the class given features under naive Bayes, by MML87 in the coordinates that the data can tell.

    .. math:: -\ln f(y|x,\hat A) + \tfrac12\sum\frac{\hat A^2}{V} + \tfrac12\sum\ln 2\pi V
              + \tfrac12\ln\det(F + V^{-1}) + c_d

    Parameters
    ----------
    configs : (n_configs, n_features) array
        Different rows of the features' states; ``states[j]`` or more is a gap, which gives no evidence.
    counts : (n_configs, n_classes) array
        How often each class came with each of them.
    states : sequence
        Number of states of every feature, seen or not.
    alpha, class_alpha : float
        Symmetric Dirichlet priors of the features' tables and of the class (by default the same); the normal prior of
        the log-odds has their moments.

    Notes
    -----
    d = (n_classes - 1)(1 + sum of (states - 1)). Finite for separable classes, unseen states and no rows at all.
    Wallace and Freeman (1987) for the message; the prior's moments are those of logs of gamma variables.

    >>> round(nb_logit(np.zeros((1, 0)), [[9, 7]], []).total, 6)
    12.469309
    """
    _check_positive("alpha", alpha)
    given = alpha if class_alpha is None else class_alpha
    _check_positive("class_alpha", given)
    design, cells = _design(configs, counts, states)
    return message(design, cells, nb_variances(states, alpha, given))[0]


def logit(
    configs: ArrayLike, counts: ArrayLike, states: Sequence[int], *, sigma: float = 3.0, curved_prior: bool = True
) -> MessageLength:
    """Length of the class given features under a logistic model whose coefficients have a normal prior.

    Parameters
    ----------
    configs, counts, states
        As in :func:`nb_logit`.
    sigma : float
        Standard deviation of every coefficient, in orthonormal contrasts.
    curved_prior : bool
        Add the curvature of the prior to the Fisher information, which keeps the length finite; without it the length
        is the published one, and not valid where the information is singular.

    Notes
    -----
    Neil, Wallace and Korb (1999), Learning Bayesian networks with restricted causal interactions; in orthonormal
    contrasts their Jacobian terms vanish.

    >>> round(logit(np.zeros((1, 0)), [[9, 7]], []).total, 6)
    13.280921
    """
    _check_positive("sigma", sigma)
    design, cells = _design(configs, counts, states)
    length, found = message(design, cells, np.full(design.shape[1], sigma**2))
    return length if curved_prior else _without_curvature(length, _Problem(design, cells, np.full(len(found), np.inf)), found)


def _without_curvature(length: MessageLength, problem: _Problem, at: Floats) -> MessageLength:
    """Measure the precision by the likelihood alone."""
    try:
        logdet = problem.hessian(at)[1]
    except np.linalg.LinAlgError:
        return replace(length, half_logdet=math.nan, valid=False)
    return replace(length, half_logdet=0.5 * logdet)


def _check_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        msg = f"{name} must be a positive number; got {value!r}."
        raise OptionError(msg)


def nb_variances(states: Sequence[int], alpha: float, class_alpha: float) -> Floats:
    """Give the prior variance of every row of coefficients: the intercept, then the contrasts of every feature."""
    spread = float(polygamma(1, alpha))
    intercept = float(polygamma(1, class_alpha))
    intercept += sum(spread / r - float(polygamma(1, r * alpha)) for r in states)
    return np.array([intercept, *[spread] * sum(r - 1 for r in states)])


@lru_cache(maxsize=256)
def contrasts(r: int) -> Floats:
    """Give orthonormal contrasts of ``r`` states, (r, r - 1), whose columns sum to zero (Helmert).

    >>> contrasts(2).round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    out = np.zeros((r, max(r - 1, 0)))
    for k in range(1, r):
        out[:k, k - 1] = 1 / math.sqrt(k * (k + 1))
        out[k, k - 1] = -k / math.sqrt(k * (k + 1))
    out.setflags(write=False)
    return out


def feature_contrasts(codes: ArrayLike, r: int) -> Floats:
    """Give the contrasts of every row's state, (n_rows, r - 1); a gap has zeros."""
    padded = np.vstack([contrasts(r), np.zeros((1, max(r - 1, 0)))])
    return padded[np.minimum(np.asarray(codes, np.int64), r)]


def _design(configs: ArrayLike, counts: ArrayLike, states: Sequence[int]) -> tuple[Floats, Floats]:
    cells = np.asarray(counts, dtype=float)
    rows = np.asarray(configs).reshape(len(cells), -1) if len(cells) else np.zeros((0, len(states)))
    if rows.shape[1] != len(states) or cells.ndim != 2:
        msg = f"configs must have a column for each of the {len(states)} features; got shape {np.shape(configs)}."
        raise InputError(msg)
    parts = [feature_contrasts(rows[:, j], r) for j, r in enumerate(states)]
    return np.hstack([np.ones((len(cells), 1)), *parts]), cells


def message(
    design: Floats, cells: Floats, variances: Floats, start: Floats | None = None
) -> tuple[MessageLength, Floats]:
    """Find the coefficients of shortest message and give its length with them.

    Parameters
    ----------
    design : (n_configs, p) array
        A one, and the contrasts of every feature.
    cells : (n_configs, n_classes) array
    variances : (p,) array
        Prior variances of the rows of coefficients.
    start : (p, n_classes - 1) array, optional
        Where to start the search.
    """
    problem = _Problem(design, cells, variances)
    found = problem.solve(np.zeros((design.shape[1], problem.free)) if start is None else start)
    d = found.size
    value, nll, _ = problem.objective(found)
    _, logdet = problem.hessian(found)
    prior = value - nll + 0.5 * problem.free * float(np.log(2 * math.pi * variances).sum())
    return MessageLength(nll, prior, 0.5 * logdet, lattice(d), d), found


@dataclass(frozen=True, eq=False)
class _Problem:
    """The penalised likelihood: strictly convex, so that its minimum is one."""

    design: Floats
    cells: Floats
    variances: Floats

    @property
    def free(self) -> int:
        return int(self.cells.shape[1]) - 1

    @property
    def rows(self) -> Floats:
        return np.asarray(self.cells.sum(axis=1))

    def objective(self, at: Floats) -> tuple[float, float, Floats]:
        """Give the penalised and the plain minus log-likelihood, and the class probabilities."""
        logits = (self.design @ at) @ contrasts(self.cells.shape[1]).T
        logits -= logits.max(axis=1, keepdims=True)
        chance = np.exp(logits)
        mass = chance.sum(axis=1)
        chance /= mass[:, None]
        nll = float(self.rows @ np.log(mass) - np.vdot(self.cells, logits))
        return nll + 0.5 * float((at**2 / self.variances[:, None]).sum()), nll, chance

    def gradient(self, at: Floats, chance: Floats) -> Floats:
        excess = chance * self.rows[:, None] - self.cells
        slope = self.design.T @ (excess @ contrasts(self.cells.shape[1]))
        return np.asarray(slope + at / self.variances[:, None])

    def hessian(self, at: Floats) -> tuple[Floats, float]:
        """Give the lower Cholesky factor of the curvature, coefficients by class contrast, and its log determinant."""
        basis = contrasts(self.cells.shape[1])
        chance, rows, p = self.objective(at)[2], self.rows, len(at)
        mean = chance @ basis
        out = np.zeros((at.size, at.size))
        for a in range(self.free):
            for b in range(a + 1):
                weight = rows * (chance @ (basis[:, a] * basis[:, b]) - mean[:, a] * mean[:, b])
                block = _weighted_square(self.design, weight, positive=a == b)
                out[a * p : (a + 1) * p, b * p : (b + 1) * p] = block
        diagonal = np.arange(at.size)
        out[diagonal, diagonal] += np.tile(1 / self.variances, self.free)
        factor = cho_factor(out, lower=True, overwrite_a=True, check_finite=False)[0]
        return factor, 2 * float(np.log(factor[diagonal, diagonal]).sum())

    def solve(self, at: Floats) -> Floats:
        """Walk by Newton's method with halved steps; a Hessian is kept as long as it serves."""
        if at.size == 0:
            return at
        value, _, chance = self.objective(at)
        factor, before = self.hessian(at)[0], math.inf
        for _ in range(500):
            slope = self.gradient(at, chance)
            step = cho_solve((factor, True), slope.T.ravel(), check_finite=False).reshape(self.free, -1).T
            decrement = float(np.vdot(step, slope))
            if decrement > SLOW * before:
                factor, before = self.hessian(at)[0], math.inf
                continue
            before = decrement
            at, value, chance, whole = self._halved(at, step, value, decrement)
            if decrement < CLOSE:
                break
            if not whole:
                factor, before = self.hessian(at)[0], math.inf
        return at

    def _halved(
        self, at: Floats, step: Floats, value: float, decrement: float
    ) -> tuple[Floats, float, Floats, bool]:
        """Take the step, or the half, quarter, … of it that makes the objective fall."""
        size, slack = 1.0, 1e-12 * (1 + abs(value))
        while True:
            there = at - size * step
            lower, _, chance = self.objective(there)
            if lower <= value - 1e-4 * size * decrement + slack or size < 1e-9:
                return there, lower, chance, size == 1.0
            size /= 2


def _weighted_square(design: Floats, weight: Floats, *, positive: bool) -> Floats:
    """Give design' diag(weight) design; with weights that are not negative at half the price."""
    if positive:
        scaled = design * np.sqrt(np.maximum(weight, 0.0))[:, None]
        return np.asarray(scaled.T @ scaled)
    return np.asarray(design.T @ (design * weight[:, None]))
