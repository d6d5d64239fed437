"""Exact inference with factors: variable elimination, its orders and plans, and junction trees."""
