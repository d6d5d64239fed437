"""Parameters: a graph and counts become a network with tables."""

from tanbark.params.dirichlet import estimate, family_counts, fit
from tanbark.params.smoothing import (
    K2,
    BDeu,
    DataTemperature,
    Hierarchical,
    Laplace,
    MEstimate,
    PriorCounts,
    Smoothing,
    as_smoothing,
)

__all__ = [
    "K2", "BDeu", "DataTemperature", "Hierarchical", "Laplace", "MEstimate", "PriorCounts", "Smoothing", "as_smoothing",
    "estimate", "family_counts", "fit",
]  # fmt: skip
