"""Greedy search by cross-validated score: wrappers."""
