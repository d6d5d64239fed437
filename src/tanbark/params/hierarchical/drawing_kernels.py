"""Compiled draws from the posterior of context trees, only for the entries that rows read.

Every row begins its random numbers anew from a seed, so that what is drawn for it depends on no other row.
"""

from __future__ import annotations

from math import cos, exp, log, log1p, pi, sqrt

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.params.hierarchical.context_kernels import ROOT
from tanbark.params.hierarchical.context_tree import ContextTree

STEP = np.uint64(0x9E3779B97F4A7C15)  # of the generator SplitMix64, with its two multipliers
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


@kernel
def uniform(state: Array) -> float:
    """Draw a number above 0 and below 1; ``state`` is an array of one uint64 (SplitMix64, Steele et al. 2014)."""
    state[0] += STEP
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z ^= z >> np.uint64(31)
    return (float(z >> np.uint64(11)) + 0.5) * UNIT


@kernel
def log_gamma(state: Array, shape: float) -> float:
    """Draw the logarithm of a gamma variate, which may be far below that of the least float.

    Marsaglia and Tsang (2000), A simple method for generating gamma variables, with the power of a uniform variate for
    shapes below one (section 6).
    """
    boost = 0.0
    if shape < 1.0:
        boost = log(uniform(state)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = sqrt(-2.0 * log(uniform(state))) * cos(2.0 * pi * uniform(state))
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if log(uniform(state)) < 0.5 * x * x + d - d * v + d * log(v):
                return log(d * v) + boost


@kernel
def moments(tree: ContextTree, parents: Array, codes: Array, row: int, label: int, state: int) -> tuple[float, float]:
    """Return mean and variance of P(state | parents) of a row for one class, under the posterior of the tree.

    The distribution of a context is Dirichlet around that of the context above, which is uncertain as well: the law of
    total variance, level by level. A context that is not stored counts no rows; a missing parent ends the context.
    """
    children, starts, states, levels, counts, totals, _, concentrations = tree
    total = totals[ROOT] + concentrations[ROOT]
    mean = (counts[ROOT, state] + 0.5) / total
    variance = mean * (1.0 - mean) / (total + 1.0)
    v, s = np.int64(ROOT), np.int64(label)
    for level in range(len(parents)):
        if level > 0:
            s = np.int64(codes[parents[level], row])
            if s >= states[level]:
                break
        if v >= 0:
            v = np.int64(children[starts[level] + (v - levels[level]) * states[level] + s])
        concentration = concentrations[level + 1]
        rows, total = 0.0, concentration
        if v >= 0:
            rows, total = counts[v, state], total + totals[v]
        above = variance * (concentration / total) ** 2
        mean = (rows + concentration * mean) / total
        variance = above + (mean * (1.0 - mean) - above) / (total + 1.0)
    return mean, variance


@kernel
def add_drawn(
    values: Array, codes: Array, parents: Array, tree: ContextTree, seed: int, top: int, bottom: int, out: Array
) -> None:
    """Add the log of P(x | parents) as drawn, less the log of its mean, to ``out[row, draw, class]``.

    What is drawn is the beta variate with the mean and the variance of the entry; a missing x adds nothing.
    """
    # Cost: O(rows x classes x (levels + draws)).
    n_states = tree.counts.shape[1]
    generator = np.empty(1, np.uint64)
    for row in range(top, bottom):
        state = np.int64(values[row])
        if state >= n_states:
            continue
        generator[0] = np.uint64(seed)
        for label in range(out.shape[2]):
            mean, variance = moments(tree, parents, codes, row, label, state)
            if variance <= 0.0:
                continue
            rows = mean * (1.0 - mean) / variance - 1.0
            for draw in range(out.shape[1]):
                less = log_gamma(generator, (1.0 - mean) * rows) - log_gamma(generator, mean * rows)
                out[row, draw, label] -= max(less, 0.0) + log1p(exp(-abs(less))) + log(mean)
