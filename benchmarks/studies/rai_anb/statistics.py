"""What the tables say at their foot: averages, p-values, standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import wilcoxon

from tanbark.estimators import hommel


def against(control: Sequence[float], others: dict[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Compare methods with one of them over the data sets: Wilcoxon's signed ranks, plain and adjusted by Hommel."""
    plain = [float(wilcoxon(column, control).pvalue) for column in others.values()]
    return {
        name: {"wilcoxon": raw, "hommel": adjusted}
        for name, raw, adjusted in zip(others, plain, hommel(plain).tolist(), strict=True)
    }


def mean(values: Sequence[float]) -> float:
    """Give the mean of numbers that are there, or nan."""
    return float(np.mean(values)) if len(values) else math.nan


def standard_error(values: Sequence[float]) -> float:
    """Give the standard error of a mean over data sets."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
