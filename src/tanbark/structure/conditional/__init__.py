"""Greedy search by the conditional log-likelihood of the class."""
