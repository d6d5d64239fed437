"""The small data sets whose numbers were worked out by hand or by independent scripts."""

from __future__ import annotations

import numpy as np

# Ten records of a lecture on Bayesian networks as classifiers: columns C, A1, A2, A3, A4.
L10 = np.array(
    [
        [0, 1, 1, 0, 1], [1, 1, 0, 1, 1], [1, 1, 0, 1, 1], [1, 0, 1, 1, 1], [0, 1, 1, 1, 0],
        [1, 1, 0, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 0, 1, 1, 1], [0, 1, 1, 1, 0],
    ]
)  # fmt: skip


def _uniforms(state=12345):
    while True:
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        yield state / 2147483648.0


def f500(n=500):
    """Rows (C, A, B, W, V, U) drawn from C -> all, A -> W <- B, W -> V by a fixed linear congruential generator."""
    u, rows = _uniforms(), []
    for _ in range(n):
        c = int(next(u) < 0.4)
        a = int(next(u) < (0.8 if c else 0.3))
        b = int(next(u) < (0.6 if c else 0.2))
        k, t = a + b, next(u)
        p0 = ((0.85, 0.2, 0.05), (0.6, 0.1, 0.02))[c][k]
        p1 = ((0.1, 0.6, 0.15), (0.3, 0.5, 0.18))[c][k]
        w = 0 if t < p0 else (1 if t < p0 + p1 else 2)
        v = int(next(u) < (0.1, 0.5, 0.9)[w])
        z = int(next(u) < (0.7 if c else 0.4))
        rows.append((c, a, b, w, v, z))
    return np.array(rows)


TRUE_ARCS = [*(("class", x) for x in "ABWVU"), ("A", "W"), ("B", "W"), ("W", "V")]
