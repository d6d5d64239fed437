"""Fit SelectiveKDB and boosted trees to the same file: ``python -m benchmarks.large_file --folder rows``.

The files, one of each kind of data, are generated in ``--folder`` where they are not there. Every method runs in a
process of its own with the same number of threads; a package that is missing is reported. ``--keep`` writes the results
to ``docs/numbers/large_file.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.large_file import data
from benchmarks.large_file.one import METHODS

OUT = Path(__file__).parents[2] / "docs" / "numbers" / "large_file.json"
PACKAGES = ("tanbark", "numpy", "numba", "pyarrow", "lightgbm", "xgboost", "scikit-learn")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_file", description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--test-rows", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-memory", type=int, default=1 << 29, help="bytes for Tanbark's rows and counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=["rules", "network"], choices=["rules", "network"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--keep", action="store_true", help="write the results to docs/numbers")
    options = parser.parse_args()
    folder = Path(options.folder)
    files = {"train": (options.rows, 0), "test": (options.test_rows, data.TEST), "warm": (20_000, data.TEST // 2)}
    runs, sizes = [], {}
    for kind in options.kinds:
        paths = {name: folder / f"{kind}-{name}-{size}-{options.seed}.parquet" for name, (size, _) in files.items()}
        for name, (size, first) in files.items():
            data.write(paths[name], size, kind=kind, seed=options.seed, first=first)
        sizes[kind] = round(paths["train"].stat().st_size / 2**20)
        for method in options.methods:
            runs.append({"kind": kind, **one(method, paths, options.threads, options.max_memory)})
            print(json.dumps(runs[-1]), flush=True)
    found = {
        "command": f"python -m benchmarks.large_file --folder <folder> --rows {options.rows}",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}", "threads": options.threads,
        "max_memory": options.max_memory, "seed": options.seed, "test_rows": options.test_rows, "file_mib": sizes,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "runs": runs,
    }  # fmt: skip
    if options.keep:
        OUT.write_text(json.dumps(found, indent=1) + "\n")


def one(method: str, paths: dict[str, Path], threads: int, max_memory: int) -> dict[str, Any]:
    """Fit a method in a process of its own."""
    files = [str(paths[name]) for name in ("train", "test", "warm")]
    command = [sys.executable, "-m", "benchmarks.large_file.one", method, *files, str(threads), str(max_memory)]
    load = os.getloadavg()[0]
    settings = {**os.environ, "OMP_NUM_THREADS": str(threads), "TANBARK_QUIET": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
    if done.returncode:
        raise SystemExit(f"{method} failed:\n{done.stderr[-3000:]}")
    return {**json.loads(done.stdout.strip().splitlines()[-1]), "load_before": round(load, 1)}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing" if name != "tanbark" else "source"


if __name__ == "__main__":
    main()
