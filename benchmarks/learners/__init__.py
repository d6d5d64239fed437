"""Benchmarks of hill climbing and of EM."""
