"""Where the results of an elimination lie: a result is needed until the one step that uses it, then its place is free.

A plan gives every result a place of its own, so that a row of evidence can use the results of the row before, and so
that draws can look back. Where that takes much memory, results are put into the first gap that is large enough.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.factors.plan_kernels import (
    AXES,
    AXIS_BOUNDS,
    BASE,
    INPUT_BOUNDS,
    INPUTS,
    MEMORY_SIZE,
    N_GIVEN,
    REUSED,
    TOTALS,
    section,
)
from tanbark.kernel import kernel


@kernel
def reuse_places(program: Array, sizes: Array) -> Array:
    """Return the same program with its results in places of results that are no longer needed; first fit."""
    # Gaps are kept in order of their starts, [starts[k], ends[k]); the last one has no end. Cost: steps times gaps.
    found = program.copy()
    base, totals = section(found, BASE), section(found, TOTALS)
    inputs, input_bounds = section(found, INPUTS), section(found, INPUT_BOUNDS)
    lengths, n_given = result_lengths(program, sizes), totals[N_GIVEN]
    starts, ends = np.empty(len(lengths) + 1, np.int64), np.empty(len(lengths) + 1, np.int64)
    starts[0], ends[0], n_gaps = base[n_given], 1 << 62, 1
    top = base[n_given]
    for step in range(len(lengths)):
        gap = 0
        while ends[gap] - starts[gap] < lengths[step]:
            gap += 1
        base[n_given + step] = starts[gap]
        starts[gap] += lengths[step]
        top = max(top, starts[gap])
        for k in range(input_bounds[step], input_bounds[step + 1]):
            if inputs[k] >= n_given:
                n_gaps = _release(starts, ends, n_gaps, base[inputs[k]], lengths[inputs[k] - n_given])
    totals[MEMORY_SIZE], totals[REUSED] = top, 1
    return found


@kernel
def result_lengths(program: Array, sizes: Array) -> Array:
    """Return the number of entries of every step's result."""
    axes, bounds = section(program, AXES), section(program, AXIS_BOUNDS)
    lengths = np.ones(len(bounds) - 1, np.int64)
    for step in range(len(lengths)):
        for k in range(bounds[step], bounds[step + 1]):
            lengths[step] *= sizes[axes[k]]
    return lengths


@kernel
def _release(starts: Array, ends: Array, n_gaps: int, start: int, length: int) -> int:
    """Add a gap in its place, and join it with its neighbours; return the number of gaps."""
    at = 0
    while starts[at] < start:
        at += 1
    for k in range(n_gaps, at, -1):
        starts[k], ends[k] = starts[k - 1], ends[k - 1]
    starts[at], ends[at] = start, start + length
    n_gaps += 1
    for left in (at, at - 1):
        if left >= 0 and left + 1 < n_gaps and ends[left] == starts[left + 1]:
            ends[left] = ends[left + 1]
            n_gaps -= 1
            for k in range(left + 1, n_gaps):
                starts[k], ends[k] = starts[k + 1], ends[k + 1]
    return n_gaps
