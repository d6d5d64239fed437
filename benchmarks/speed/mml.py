"""How long the selection of features by message length takes: ``python -m benchmarks.speed.mml``.

The class has two states, some of the binary columns depend on it, and the search goes forward by every length.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import tanbark as tb

LIMITS = {"cpt": 5.0, "nb_joint": 5.0, "nb_adaptive": None, "nb_logit": 60.0, "logit": None}


def draw(n_rows: int, n_columns: int, members: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_rows)
    lean = rng.uniform(-0.2, 0.2, n_columns) * (np.arange(n_columns) < members)
    chances = 0.5 + lean[None, :] * (2 * labels - 1)[:, None]
    return (rng.random((n_rows, n_columns)) < chances).astype(np.int64), labels


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.mml", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=100)
    options = parser.parse_args()
    print(f"{options.rows:,} rows, {options.columns} binary columns, {os.cpu_count()} cores")
    print("| columns that depend on the class | length | seconds | selected | limit |\n|---|---|---|---|---|")
    for members in (options.columns // 10, options.columns // 3, options.columns):
        rows, labels = draw(options.rows, options.columns, members)
        for score, limit in LIMITS.items():
            begun = time.perf_counter()
            selector = tb.MarkovBlanketMML(score).fit(rows, labels)
            taken = time.perf_counter() - begun
            told = "" if limit is None else f"{limit:.0f}"
            print(f"| {members} | {score} | {taken:.2f} | {int(selector.support_.sum())} | {told} |", flush=True)


if __name__ == "__main__":
    main()
