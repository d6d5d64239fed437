"""The class given features as a logistic model: the valid form of a conditional message for naive Bayes.

The likelihood of the class given the features depends on the CPTs of naive Bayes through log-odds alone. In the
coordinates of the CPTs the Fisher information is therefore singular, and a message length that needs its determinant
does not exist; in the coordinates of the log-odds it does. Contrasts are orthonormal, so that no coding of the states
is preferred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats
from tanbark.checks import check_positive
from tanbark.errors import InputError
from tanbark.scores.mml.lengths import MessageLength, lattice

CLOSE = 1e-13  # squared Newton decrement at which the next step is the last
SLOW = 0.05  # a step that leaves more than this of the squared decrement needs a new Hessian


def nb_logit(
    configs: ArrayLike, counts: ArrayLike, states: Sequence[int], *, alpha: float = 1.0,
    class_alpha: float | None = None,
) -> MessageLength:  # fmt: skip
    r"""Length of the class given features under naive Bayes, by MML87 in coordinates that are identifiable.

    .. math:: -\ln f(y|x,\hat A) + \tfrac12\sum\frac{\hat A^2}{V} + \tfrac12\sum\ln 2\pi V
              + \tfrac12\ln\det(F + V^{-1}) + c_d

    Parameters
    ----------
    configs : (n_configs, n_features) array
        Distinct rows of the features' states; ``states[j]`` or more is a missing value, which adds no evidence.
    counts : (n_configs, n_classes) array
        How often each class came with each of them.
    states : sequence
        Number of states of every feature, seen or not.
    alpha, class_alpha : float
        Symmetric Dirichlet priors of the features' CPTs and of the class (by default the same); the normal prior of
        the log-odds has their moments.

    Notes
    -----
    d = (n_classes - 1)(1 + sum of (states - 1)). Finite for separable classes, unseen states and no rows at all.
    Wallace and Freeman (1987) for the message; the prior's moments are those of logs of gamma variables.

    >>> round(nb_logit(np.zeros((1, 0)), [[9, 7]], []).total, 6)
    12.469309
    """
    check_positive("alpha", alpha)
    of_class = alpha if class_alpha is None else class_alpha
    check_positive("class_alpha", of_class)
    design, cells = _design(configs, counts, states)
    return message(design, cells, nb_variances(states, alpha, of_class))[0]


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
    check_positive("sigma", sigma)
    design, cells = _design(configs, counts, states)
    length, found = message(design, cells, np.full(design.shape[1], sigma**2))
    if curved_prior:
        return length
    flat = PenalisedLikelihood(design, cells.T, np.full(len(found), np.inf))
    return _without_curvature(length, flat, found)


def _without_curvature(length: MessageLength, problem: PenalisedLikelihood, at: Floats) -> MessageLength:
    """Replace the curvature by that of the likelihood alone."""
    try:
        logdet = problem.curvature(problem.state(at))[1]
    except np.linalg.LinAlgError:
        return replace(length, half_logdet=math.nan, valid=False)
    return replace(length, half_logdet=0.5 * logdet)


def nb_variances(states: Sequence[int], alpha: float, class_alpha: float) -> Floats:
    """Return the prior variance of every row of coefficients: the intercept, then the contrasts of every feature."""
    from scipy.special import polygamma  # late: reading a saved network needs no scipy

    spread = float(polygamma(1, alpha))
    intercept = float(polygamma(1, class_alpha))
    intercept += math.fsum(spread / r - float(polygamma(1, r * alpha)) for r in states)
    return np.array([intercept, *[spread] * sum(r - 1 for r in states)])


@lru_cache(maxsize=256)
def contrasts(r: int) -> Floats:
    """Return orthonormal contrasts of ``r`` states, (r, r - 1), whose columns sum to zero (Helmert).

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
    """Return the contrasts of every row's state, (n_rows, r - 1); zeros for a missing value."""
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
    design: Floats, cells: Floats, variances: Floats, start: Floats | None = None, known: Floats | None = None
) -> tuple[MessageLength, Floats]:
    """Return the length of the shortest message, and its coefficients.

    Parameters
    ----------
    design : (n_configs, p) array
        A one, and the contrasts of every feature.
    cells : (n_configs, n_classes) array
    variances : (p,) array
        Prior variances of the rows of coefficients.
    start : (p, n_classes - 1) array, optional
        Where to start the search.
    known : array, optional
        The result of :func:`information` for the first columns, where ``start`` is 0 for the others.
    """
    problem = PenalisedLikelihood(design, cells.T, variances)
    begin = np.zeros((design.shape[1], len(problem.cells) - 1)) if start is None else start
    found = problem.solve(problem.state(begin), known)
    d = found.at.size
    prior = found.value - found.nll + 0.5 * (len(problem.cells) - 1) * float(np.log(2 * math.pi * variances).sum())
    return MessageLength(found.nll, prior, 0.5 * problem.curvature(found)[1], lattice(d), d), found.at


def information(design: Floats, cells: Floats, at: Floats) -> Floats:
    """Return the Fisher information of coefficients, (free, free, p, p) over class contrasts a >= b and columns."""
    problem = PenalisedLikelihood(design, cells.T, np.full(design.shape[1], np.inf))
    return problem.information(problem.state(at))


@dataclass(frozen=True, eq=False)
class _State:
    """A place in the search: coefficients, penalised and plain minus log-likelihood, class probabilities by row."""

    at: Floats
    value: float
    nll: float
    chance: Floats


class PenalisedLikelihood:
    """The penalised likelihood, which is strictly convex; arrays over rows have the class first, for speed."""

    def __init__(self, design: Floats, cells: Floats, variances: Floats) -> None:
        self.design, self.cells, self.variances = design, np.ascontiguousarray(cells), variances
        self.rows = self.cells.sum(axis=0)
        self.basis = contrasts(len(self.cells))

    def state(self, at: Floats) -> _State:
        """Evaluate the objective at some coefficients, (p, n_classes - 1)."""
        logits = self.basis @ (self.design @ at).T
        logits -= logits.max(axis=0)
        chance = np.exp(logits)
        mass = chance.sum(axis=0)
        chance /= mass
        nll = float(self.rows @ np.log(mass) - np.vdot(self.cells, logits))
        return _State(at, nll + 0.5 * float((at**2 / self.variances[:, None]).sum()), nll, chance)

    def gradient(self, here: _State) -> Floats:
        """Return the gradient of the objective, (p, n_classes - 1)."""
        excess = self.basis.T @ (here.chance * self.rows - self.cells)
        return np.asarray((excess @ self.design).T + here.at / self.variances[:, None])

    def information(self, here: _State, known: Floats | None = None) -> Floats:
        """Return the Fisher information, (free, free, p, p) over class contrasts and columns; a >= b is filled.

        ``known`` holds it for the first columns of the design, where these alone determine the probabilities.
        """
        p, free = here.at.shape
        mean = self.basis.T @ here.chance
        out = np.zeros((free, free, p, p))
        for a in range(free):
            for b in range(a + 1):
                weight = self.rows * ((self.basis[:, a] * self.basis[:, b]) @ here.chance - mean[a] * mean[b])
                if known is None:
                    out[a, b] = _weighted_square(self.design, weight, positive=a == b)
                    continue
                new = known.shape[2]
                part = (self.design[:, new:] * weight[:, None]).T @ self.design
                out[a, b, :new, :new], out[a, b, new:] = known[a, b], part
                out[a, b, :new, new:] = part[:, :new].T
        return out

    def curvature(self, here: _State, known: Floats | None = None) -> tuple[Floats, float]:
        """Return the lower Cholesky factor of the Hessian, coefficients by class contrast, and its log determinant."""
        from scipy.linalg import cholesky

        size = here.at.size
        out = self.information(here, known).transpose(0, 2, 1, 3).reshape(size, size)
        diagonal = np.arange(size)
        out[diagonal, diagonal] += np.tile(1 / self.variances, here.at.shape[1])
        factor = cholesky(out, lower=True, overwrite_a=True, check_finite=False) if size else out
        return factor, 2 * float(np.log(factor[diagonal, diagonal]).sum())

    def solve(self, here: _State, known: Floats | None = None) -> _State:
        """Minimise by Newton's method with halved steps; a Hessian is kept as long as steps converge fast."""
        from scipy.linalg import cho_solve

        if here.at.size == 0:
            return here
        factor, before = self.curvature(here, known)[0], math.inf
        for _ in range(500):
            slope = self.gradient(here)
            step = cho_solve((factor, True), slope.T.ravel(), check_finite=False).reshape(slope.T.shape).T
            decrement = float(np.vdot(step, slope))
            if decrement > SLOW * before:
                factor, before = self.curvature(here)[0], math.inf
                continue
            here, whole = self._halved(here, step, decrement)
            before = decrement if whole else 0.0
            if decrement < CLOSE:
                break
        return here

    def _halved(self, here: _State, step: Floats, decrement: float) -> tuple[_State, bool]:
        """Take the step, or the half, quarter, … of it that makes the objective fall."""
        size, slack = 1.0, 1e-12 * (1 + abs(here.value))
        while True:
            there = self.state(here.at - size * step)
            if there.value <= here.value - 1e-4 * size * decrement + slack or size < 1e-9:
                return there, size == 1.0
            size /= 2


def _weighted_square(design: Floats, weight: Floats, *, positive: bool) -> Floats:
    """Return design' diag(weight) design; with weights that are not negative it costs half."""
    if positive:
        scaled = design * np.sqrt(np.maximum(weight, 0.0))[:, None]
        return np.asarray(scaled.T @ scaled)
    return np.asarray(design.T @ (design * weight[:, None]))
