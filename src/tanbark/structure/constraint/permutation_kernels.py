"""Compiled permutations of rows within strata."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel

TOLERANCE = 1e-9  # sums of n ln n that differ by no more, relative to their size, are equal


@kernel
def _next(state: Array) -> np.uint64:
    """Draw 64 random bits (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[no-any-return]  # an unsigned integer


@kernel
def count_exceeding(
    left: Array, right: Array, ends: Array, shape: tuple[int, int], terms: Array, observed: float,
    limits: tuple[int, int], seed: np.uint64,
) -> tuple[int, int]:  # fmt: skip
    """Count the permutations whose sum of n ln n is at least the observed one, and how many were made.

    ``left`` and ``right`` are the states of the rows, stratum after stratum, which end at ``ends``; ``limits`` are the
    most permutations, and the number that exceed from which on no more are made.
    """
    # The margins of a stratum are fixed, so the mutual information grows with the sum of n ln n over its cells. Each
    # permutation shuffles the right states of a stratum in place (Fisher-Yates) and counts them beside the left ones:
    # two passes over the rows and one over the cells of each stratum.
    shuffled = right.copy()
    cells = np.zeros(shape[0] * shape[1], np.int64)
    state = np.array([seed], np.uint64)
    least = observed - TOLERANCE * max(1.0, abs(observed))
    reached = 0
    for number in range(limits[0]):
        total, low = 0.0, 0
        for high in ends:
            for row in range(high - 1, low, -1):
                other = low + np.int64(_next(state) % np.uint64(row - low + 1))
                shuffled[row], shuffled[other] = shuffled[other], shuffled[row]
            for row in range(low, high):
                cells[left[row] * shape[1] + shuffled[row]] += 1
            for row in range(low, high):
                cell = left[row] * shape[1] + shuffled[row]
                total += terms[cells[cell]]
                cells[cell] = 0
            low = high
        if total >= least:
            reached += 1
            if reached >= limits[1]:
                return reached, number + 1
    return reached, limits[0]
