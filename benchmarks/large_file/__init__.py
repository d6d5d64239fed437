"""SelectiveKDB beside boosted trees on a file of millions of rows: ``python -m benchmarks.large_file``."""
