"""The array types that all layers share, the tolerance within which scores tie, and the bound of weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of any type: what kernels take
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.unsignedinteger]  # coded values, (n_columns, n_rows); the top code is a missing value
Counts = NDArray[Any]  # int64, or float64 where rows have weights

TIE = 1e-9  # scores that differ by no more are equal, and the earlier candidate wins
ROUNDING = 1e-14  # of a score, which is a sum: differences of large ones are known to this only
MOST_WEIGHT = 1e12  # sum of the weights of rows: beyond it a double cannot hold scores to the last nat
LEAST_WEIGHT = 1e-30  # the same from below: products of a few counts must not vanish


def smallest_gain(score: float, least: float = TIE) -> float:
    """Return the gain in score that counts: ``least``, or what rounding of the score may be if that is more.

    A ``least`` below 0 lets equal scores count, and stays as it is.

    >>> smallest_gain(-5000.0), smallest_gain(1e12)
    (1e-09, 0.01)
    """
    return max(least, ROUNDING * abs(score)) if least > 0 and math.isfinite(score) else least


def smallest_factor(total: float) -> float:
    """Return the log Bayes factor that counts, of rows that weigh ``total``: its sums grow as total times ln(total).

    >>> smallest_factor(1000.0), round(smallest_factor(1e12), 2)
    (1e-09, 0.28)
    """
    return smallest_gain(total * math.log(max(total, 2.0)))
