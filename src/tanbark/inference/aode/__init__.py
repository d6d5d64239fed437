"""Averages over super-parent models: AODE and A2DE."""
