"""Experiments behind the numbers of the documentation; each writes ``docs/numbers/<name>.json``."""
