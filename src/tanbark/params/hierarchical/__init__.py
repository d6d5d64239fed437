"""Hierarchical CPTs: context trees, their kernels, and draws from their posterior."""
