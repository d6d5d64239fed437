"""Scores: pure functions of one array of counts. Natural logarithms, totals, higher is better."""

from tanbark.scores.dirichlet import bdeu, k2, log_marginal
from tanbark.scores.family import FAMILY_SCORES
from tanbark.scores.information import conditional_mutual_information, kl_divergence, mutual_information
from tanbark.scores.likelihood import free_parameters, log_likelihood, penalty

__all__ = [
    "FAMILY_SCORES",
    "bdeu",
    "conditional_mutual_information",
    "free_parameters",
    "k2",
    "kl_divergence",
    "log_likelihood",
    "log_marginal",
    "mutual_information",
    "penalty",
]
