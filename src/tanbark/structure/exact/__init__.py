"""Exact search: the network of highest score."""
