"""What the tables say at their foot: averages, p-values, standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import wilcoxon


def hommel(p: Sequence[float]) -> list[float]:
    """Adjust p-values for their number by Hommel's procedure (1988), in the form of Wright (1992).

    >>> [round(value, 3) for value in hommel([0.01, 0.02, 0.04])]
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, float)
    n = len(values)
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    adjusted = np.full(n, (n * ranked / np.arange(1, n + 1)).min(initial=1.0))
    for m in range(n - 1, 1, -1):
        low, high = ranked[: n - m + 1], ranked[n - m + 1 :]
        least = (m * high / np.arange(2, m + 1)).min()
        found = np.concatenate([np.minimum(m * low, least), np.full(m - 1, min(m * low[-1], least))])
        adjusted = np.maximum(adjusted, found)
    out = np.empty(n)
    out[order] = np.minimum(np.maximum(adjusted, ranked), 1.0)
    return out.tolist()


def against(control: Sequence[float], others: dict[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Compare methods with one of them over the data sets: Wilcoxon's signed ranks, plain and adjusted by Hommel."""
    plain = [float(wilcoxon(column, control).pvalue) for column in others.values()]
    return {
        name: {"wilcoxon": raw, "hommel": adjusted}
        for name, raw, adjusted in zip(others, plain, hommel(plain), strict=True)
    }


def mean(values: Sequence[float]) -> float:
    """Give the mean of numbers that are there, or nan."""
    return float(np.mean(values)) if len(values) else math.nan


def standard_error(values: Sequence[float]) -> float:
    """Give the standard error of a mean over data sets."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
