"""Greedy search over graphs by a decomposable score."""
