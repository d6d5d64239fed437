"""Speed benchmarks: Tanbark against its peers, both sides in one run. Start with ``python -m benchmarks.speed``."""
