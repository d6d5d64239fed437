"""Parameters: a graph and counts become a network with tables."""

from tanbark.params.dirichlet import PRIORS, Smoothing, estimate, family_counts, fit, prior_mass

__all__ = ["PRIORS", "Smoothing", "estimate", "family_counts", "fit", "prior_mass"]
