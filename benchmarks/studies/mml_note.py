"""Two scores of a note of June 2017 that are not message lengths, kept to reproduce the numbers it printed.

``docs/mml.md`` explains what is wrong with them; :mod:`benchmarks.studies.mml_blanket` shows how often the first one
finds a Markov blanket. Neither is an option of the library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats, Integers
from tanbark.checks import check_positive
from tanbark.errors import InputError
from tanbark.scores.mml import MessageLength
from tanbark.scores.mml.conditional import PenalisedLikelihood
from tanbark.structure.blanket.scores import Rows

_KAPPA = (0.083333, 0.080188, 0.077875, 0.07609, 0.07465, 0.07347, 0.07248, 0.07163)
DEFINITE = 1e-9  # least ratio of the smallest to the largest eigenvalue of a matrix that is positive definite


@dataclass(frozen=True)
class NoteLength(MessageLength):
    """The parts of a score of 2017, with what is wrong with its matrix.

    Parameters
    ----------
    determinant_sign : {-1, 0, 1}
        Sign of the determinant as floating point sees it.
    eigenvalues : tuple of float
        Those of its matrix, rising.
    strict : bool
        Give the number wherever the determinant came out positive, as the note did.
    """

    determinant_sign: int = 1
    eigenvalues: tuple[float, ...] = ()
    strict: bool = False

    @property
    def total(self) -> float:
        """The number; NaN where its matrix is no information matrix."""
        given = self.valid or (self.strict and self.determinant_sign > 0)
        return self.nll + self.first_part if given else math.nan


def note_nb(
    configs: ArrayLike, counts: ArrayLike, *, smoothing: float = 1.0, legacy_strict: bool = False
) -> NoteLength:
    """Score the class given features as a note of June 2017 did; binary class and features only.

    Parameters
    ----------
    configs : (n_configs, n_features) array of 0 and 1
    counts : (n_configs, 2) array
    smoothing : float
        What is added to every cell; 1 in the note.
    legacy_strict : bool
        Give the number even though it is no message length.

    Notes
    -----
    Its matrix drops the sign of the derivative for the second state and uses the cross term of different classes for
    equal ones, so that it is singular for one feature and indefinite for more; ``valid`` is then False and the total
    NaN. Its prior is not the uniform one it means to be. Use :func:`tanbark.scores.mml.nb_logit`.

    >>> note_nb([[0], [1]], [[3, 1], [1, 3]]).valid
    False
    """
    x, cells = _binary("note_nb", configs, counts)
    n, m = cells.sum(axis=1), x.shape[1]
    classes = cells.sum(axis=0)
    q = (classes + smoothing) / (classes.sum() + 2 * smoothing)
    ones = x.T @ cells
    tables = (np.stack([classes - ones, ones], axis=2) + smoothing) / (classes[:, None] + 2 * smoothing)
    chosen = tables[np.arange(m), :, x] if m else np.ones((len(cells), 0, 2))
    chances = chosen.prod(axis=1)
    evidence = chances @ q
    nll = -float((cells * np.log(q * chances / evidence[:, None])).sum())
    log_prior = float(np.log(q).sum() + np.log(tables).sum())
    matrix = _matrix(chosen.reshape(len(cells), 2 * m), chances, evidence, q, n)
    sign, logdet = np.linalg.slogdet(matrix)
    values = np.linalg.eigvalsh(matrix)
    d = len(matrix)
    return NoteLength(
        nll, -log_prior, 0.5 * float(logdet), _constant(d), d, valid=bool(values[0] > DEFINITE * values[-1]),
        determinant_sign=int(sign), eigenvalues=tuple(values.tolist()), strict=legacy_strict,
    )  # fmt: skip


def note_logit(
    configs: ArrayLike, counts: ArrayLike, *, sigma: float = 3.0, mended: bool = False, legacy_strict: bool = False
) -> NoteLength:
    """Score the class given features by a logistic model as the note of June 2017 did; binary class and features only.

    Parameters
    ----------
    configs : (n_configs, n_features) array of 0 and 1
    counts : (n_configs, 2) array
    sigma : float
        Standard deviation of every coefficient; 3 in the note.
    mended : bool
        Without the note's two slips: half of the log determinant was lost, and all coefficients of the prior but the
        first. What is left still depends on which state is called the first.
    legacy_strict : bool
        Give the number even though it is no message length.

    Notes
    -----
    Coefficients of greatest likelihood, with the first states as reference, stand in a prior of coefficients that sum
    to zero. NaN where the likelihood has no maximum. Use :func:`tanbark.scores.mml.logit`.

    >>> told = note_logit([[0], [1]], [[3, 1], [1, 3]], legacy_strict=True)
    >>> round(told.nll, 4), told.valid
    (4.4987, False)
    """
    x, cells = _binary("note_logit", configs, counts)
    check_positive("sigma", sigma)
    design = np.hstack([np.ones((len(x), 1)), x])
    beta, nll, matrix = maximum(design, cells[:, ::-1])
    values, d = np.linalg.eigvalsh(matrix), len(matrix)
    clear = bool(values[0] > DEFINITE * max(float(cells.sum()), 1.0))
    logdet = float(np.linalg.slogdet(matrix)[1]) if clear else math.nan
    squares = float((beta**2).sum() if mended else beta[0] ** 2)
    scale = 0.5 * d * math.log(2 * math.pi * sigma**2) - 0.5 * (2 * d - 1) * math.log(2)
    return NoteLength(
        nll, 0.5 * squares / sigma**2 + scale, logdet * (0.5 if mended else 0.25), _constant(d), d, valid=False,
        determinant_sign=int(clear), eigenvalues=tuple(values.tolist()), strict=legacy_strict,
    )  # fmt: skip


def maximum(design: Floats, cells: Floats) -> tuple[Floats, float, Floats]:
    """Return the maximum-likelihood coefficients of the log-odds, minus the log-likelihood, and the information.

    The odds are those of the first of two classes. Without a maximum the information is nearly singular.
    """
    problem = PenalisedLikelihood(design, cells.T, np.full(design.shape[1], np.inf))
    here = problem.state(np.zeros((design.shape[1], 1)))
    with suppress(np.linalg.LinAlgError):
        here = problem.solve(here)
    return math.sqrt(2) * here.at[:, 0], here.nll, 0.5 * problem.information(here)[0, 0]


class NoteScorer:
    """``note_nb`` as a scorer of feature sets, for a class and features of two states."""

    def __init__(self, rows: Rows, *, strict: bool = True) -> None:
        self.rows, self.strict = rows, strict

    def length(self, chosen: tuple[int, ...]) -> NoteLength:
        """Return the score with the chosen features, in the order of their columns."""
        members = sorted(chosen)
        keys, first = self.rows.keys(tuple(members))
        table = self.rows.class_table(keys, len(first))
        return note_nb(self.rows.codes[members][:, first].T, table, legacy_strict=self.strict)

    def extended(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> list[float]:
        """Return the score with the chosen features and each candidate in turn."""
        return [self.length((*chosen, feature)).total for feature in candidates]


def _binary(score: str, configs: ArrayLike, counts: ArrayLike) -> tuple[Integers, Floats]:
    """Take configurations and counts, all of two states."""
    cells = np.asarray(counts, dtype=float)
    x = np.asarray(configs, np.int64)
    x = x.reshape(len(cells), -1) if x.ndim != 2 else x
    if cells.ndim != 2 or cells.shape[1] != 2 or (x > 1).any() or (x < 0).any():
        msg = f"{score} takes a class of two states and features of two states, without missing values. Use nb_logit."
        raise InputError(msg)
    return x, cells


def _constant(d: int) -> float:
    """Return the note's lattice constant."""
    return 0.5 * d * (1 + math.log(_KAPPA[d - 1] if d <= len(_KAPPA) else min(_KAPPA)))


def _matrix(chosen: Floats, chances: Floats, evidence: Floats, q: Floats, n: Floats) -> Floats:
    """Fill the note's matrix: P(class), then P(observed state | class 1), P(observed state | class 2) by feature."""
    common = n * chances[:, 0] * chances[:, 1] / evidence**2
    inverse = 1 / chosen
    out = np.empty((1 + chosen.shape[1],) * 2)
    out[1:, 1:] = -q[0] * q[1] * (inverse.T * common) @ inverse
    diagonal = np.arange(1, len(out))
    out[diagonal, diagonal] *= -1
    signs = np.where(np.arange(chosen.shape[1]) % 2 == 0, -1.0, 1.0)
    out[0, 1:] = out[1:, 0] = signs * (common @ inverse)
    first, second = chances.T
    expected = (first / q[0] + second / q[1]) / evidence - ((first - second) / evidence) ** 2
    out[0, 0] = (n * expected).sum()
    return out
