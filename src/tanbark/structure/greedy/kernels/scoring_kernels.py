"""Compiled terms of the scores: what a cell, a configuration and a parameter add, and the terms that are remembered."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.structure.greedy.kernels import layout as field
from tanbark.structure.greedy.kernels.gain_kernels import TOO_LARGE, log_gamma

REMEMBERED, SLOT_BITS = 512, 10  # counts below have their terms of a Dirichlet score remembered, for 2^10 sizes
N_LOG_N, BDEU, K2 = range(3)  # what a cell adds to a score
KINDS = {"bdeu": BDEU, "k2": K2}  # of the criteria; N_LOG_N of the others


class Scoring(NamedTuple):
    """How a table is scored: the terms of its cells, the penalty, the terms that are known.

    ``log_rows`` is half the logarithm of the rows, which is BIC's cost of a parameter. ``memo[slot]`` holds the terms
    of small counts for the prior mass whose table has ``sizes[slot]`` cells, NaN where a term is not known yet, and
    ``bases[slot]`` is ln Gamma of that mass. Where terms are n ln n, there is one slot, and all of its terms are known.
    """

    kind: int
    penalty: int
    ess: float
    log_rows: float
    sizes: Array
    bases: Array
    memo: Array


@kernel
def make_scoring(kind: int, penalty: int, ess: float, total: float, n_log_n: Array) -> Scoring:
    """Prepare the terms of a score, from rows that weigh ``total``; ``n_log_n`` lists the first n ln n."""
    log_rows = 0.5 * math.log(max(total, 1.0))
    memo = n_log_n.reshape((1, len(n_log_n))) if kind == N_LOG_N else np.empty((1 << SLOT_BITS, REMEMBERED))
    slots = len(memo)
    return Scoring(kind, penalty, ess, log_rows, np.zeros(slots, np.int64), np.zeros(slots), memo)


@kernel
def mass_of(scoring: Scoring, size: float, states: int, by_state: bool) -> float:
    """Return the prior mass of each of ``size`` cells or configurations; 0 where the term is n ln n."""
    if scoring.kind == BDEU:
        return scoring.ess / size
    if scoring.kind == K2:
        return 1.0 if by_state else float(states)
    return 0.0


@kernel
def slot_of(scoring: Scoring, size: int, mass: float) -> int:
    """Return where the terms of a mass are remembered, or -1; another size that was there is forgotten."""
    if scoring.kind == N_LOG_N:
        return 0
    if size >= TOO_LARGE:
        return -1
    key = size if scoring.kind == BDEU else -int(mass)
    slot = (key * 40503 >> 9) % (1 << SLOT_BITS)  # multiplicative hashing (Knuth 1973, section 6.4), no overflow
    if scoring.sizes[slot] != key:
        scoring.sizes[slot] = key
        scoring.memo[slot] = np.nan
        scoring.bases[slot] = base_of(mass)
    return slot


@kernel
def term_of(n: float, mass: float, base: float) -> float:
    """Return n ln n where the mass is 0, else ln Gamma(mass + n) - ln Gamma(mass), the latter being ``base``."""
    if n == 0:
        return 0.0
    if mass > 0.0:
        return float(log_gamma(mass + n) - base)
    return n * math.log(n)


@kernel
def base_of(mass: float) -> float:
    """Return ln Gamma of a mass above 0."""
    return float(log_gamma(mass)) if mass > 0.0 else 0.0


@kernel
def penalty_of(scoring: Scoring, parameters: float) -> float:
    """Return the penalty of some free parameters."""
    if scoring.penalty == field.AIC:
        return parameters
    return scoring.log_rows * parameters if scoring.penalty == field.BIC else 0.0
