"""Benchmarks of Tanbark: run from the root of the repository, never part of the installed package."""
