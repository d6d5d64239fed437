"""The compiled gains of candidate parents, from stacked counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]


@kernel
def _log_gamma(x: float) -> float:
    """Give ln Gamma(x) for x > 0: Stirling's series past 10, and the recursion up to there."""
    shift = 1.0
    while x < 10.0:
        shift *= x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046728 + series / x - math.log(shift)


@kernel
def _term(n: float, a: float, base: float) -> float:
    """Give n ln n where a is 0, else ln Gamma(a + n) - ln Gamma(a), whose last part is ``base``."""
    if n <= 0.0:
        return 0.0
    return n * math.log(n) if a == 0.0 else _log_gamma(a + n) - base


@kernel
def flat_gains(flat: Array, layout: Array, masses: Array, price: int, out: Array) -> None:
    r"""Give the gain of candidate parents from (configurations, child, candidate) counts.

    .. math:: \sum f_0(n_{jkl}) - \sum f_1(n_{j \cdot l}) - \sum f_2(n_{jk \cdot}) + \sum f_3(n_{j \cdot \cdot})

    with :math:`f_i` of the prior mass ``masses[table, i]``, or n ln n where that is 0. ``price`` 1 takes one nat for
    every new parameter, 2 half the logarithm of the rows. ``layout[table]`` tells where a table begins in ``flat``,
    then the size and the stride of four axes: two of configurations, the child and the candidate.
    """
    bases = np.zeros(4)
    for table in range(len(layout)):
        told = layout[table]
        start, outer, step_outer, inner, step_inner = told[0], told[1], told[2], told[3], told[4]
        states, step_state, levels, step_level = told[5], told[6], told[7], told[8]
        for k in range(4):
            bases[k] = _log_gamma(masses[table, k]) if masses[table, k] > 0.0 else 0.0
        by_level = np.empty(levels)
        gain, total = 0.0, 0.0
        for config in range(outer * inner):
            by_level[:] = 0.0
            rows = 0.0
            first = start + config // inner * step_outer + config % inner * step_inner
            for state in range(states):
                by_state = 0.0
                for level in range(levels):
                    n = float(flat[first + state * step_state + level * step_level])
                    by_state += n
                    by_level[level] += n
                    gain += _term(n, masses[table, 0], bases[0])
                gain -= _term(by_state, masses[table, 2], bases[2])
                rows += by_state
            if rows > 0.0:
                for level in range(levels):
                    gain -= _term(by_level[level], masses[table, 1], bases[1])
                gain += _term(rows, masses[table, 3], bases[3])
                total += rows
        parameters = outer * inner * (levels - 1) * (states - 1)
        if price == 1:
            gain -= parameters
        elif price == 2:
            gain -= 0.5 * math.log(max(total, 1.0)) * parameters
        out[table] = gain
