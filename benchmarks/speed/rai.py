"""Seconds of RAI-ANB and of exact search, beside those that the RAI-ANB paper prints for its own program.

    python -m benchmarks.speed.rai --data ../shared/data [--sets kr-vs-kp musk1] [--exact 16 20]

The paper's seconds are its Table 5's, on its own machine; they are quoted, not measured here. Only the structure is
timed: rows are dropped, columns binarised and coded beforehand, as the paper does it.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

import numpy as np

import tanbark as tb
from benchmarks.studies.rai_anb import data
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import rai
from tanbark.structure.exact import learn as exact
from tanbark.table import CodedTable, Column, Schema

PAPER_SECONDS = {
    "kr-vs-kp": 19.5,
    "musk1": 109.0,
    "epileptic-seizure": 398.0,
    "connect-4": 399.0,
    "micro-mass": 3463.0,
    "musk2": 14624.0,
}


def read(folder: Path, name: str, n_jobs: int | None) -> MemoryCounts:
    """Read a data set as the study of the paper does."""
    return MemoryCounts(data.read(folder, name), n_jobs=n_jobs)


def count(codes: np.ndarray, n_jobs: int | None) -> MemoryCounts:
    names = [*(f"x{i}" for i in range(len(codes) - 1)), "class"]
    columns = [
        Column(name, "category", "number", tuple(range(int(values.max()) + 1)))
        for name, values in zip(names, codes, strict=True)
    ]
    return MemoryCounts(CodedTable(Schema(tuple(columns)), np.ascontiguousarray(codes.astype(np.uint8))), n_jobs=n_jobs)


def chain(n_features: int, n_rows: int, seed: int = 0) -> np.ndarray:
    """Draw binary columns, each a noisy copy of one of the two before it, and a class that tilts them all."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n_rows)
    codes = [np.where(rng.random(n_rows) < 0.7, label, rng.integers(0, 2, n_rows))]
    for i in range(1, n_features):
        source = codes[int(rng.integers(max(0, i - 2), i))]
        codes.append(np.where(rng.random(n_rows) < 0.6, source, rng.integers(0, 2, n_rows)))
    return np.array([*codes, label])


def run_rai(folder: Path, names: list[str], n_jobs: int | None) -> None:
    print(
        f"{'RAI-ANB on':<20}{'rows':>8}{'features':>9}{'seconds':>10}{'paper s':>10}{'times':>8}"
        f"{'arcs':>7}{'tests':>11}"
    )
    for name in names:
        counts = read(folder, name, n_jobs)
        begun = time.perf_counter()
        learnt = rai.learn_augmented(counts)
        seconds = time.perf_counter() - begun
        paper = PAPER_SECONDS[name]
        size = f"{counts.n_rows:>8}{counts.schema.target:>9}"
        found = f"{learnt.dag.n_arcs:>7}{sum(learnt.report.tests.values()):>11,}"
        print(f"{name:<20}{size}{seconds:>10.3f}{paper:>10,.1f}{paper / seconds:>8,.0f}{found}", flush=True)


def run_exact(sizes: list[int], n_rows: int, n_jobs: int | None) -> None:
    print(f"{'exact-ANB on':<20}{'rows':>8}{'features':>9}{'seconds':>10}{'GiB':>10}")
    for n in sizes:
        counts = count(chain(n, n_rows), n_jobs)
        begun = time.perf_counter()
        learnt = exact.learn_augmented(counts)
        seconds = time.perf_counter() - begun
        print(
            f"{'binary columns':<20}{n_rows:>8}{n:>9}{seconds:>10.2f}{learnt.report.n_bytes / 2**30:>10.2f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="*", choices=PAPER_SECONDS, default=list(PAPER_SECONDS))
    parser.add_argument("--exact", nargs="*", type=int, default=[12, 16, 20])
    parser.add_argument("--rows", type=int, default=5000, help="rows for the exact search")
    parser.add_argument("--n-jobs", type=int, default=None)
    options = parser.parse_args()
    print(f"tanbark {tb.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}, {platform.machine()}")
    small = count(chain(8, 200), options.n_jobs)
    rai.learn_augmented(small), exact.learn_augmented(small)  # kernels are compiled once, before the clock runs
    run_rai(options.data, options.sets, options.n_jobs)
    run_exact(options.exact, options.rows, options.n_jobs)


if __name__ == "__main__":
    main()
