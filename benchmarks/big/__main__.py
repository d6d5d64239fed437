"""Measure the engines for rows larger than memory: ``python -m benchmarks.big --folder rows --items memory pairs``.

Files are generated in ``--folder`` where they are not there. Results go to ``docs/numbers/big.json``, item by item.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.big import cluster, data, pairs

OUT = Path(__file__).parents[2] / "docs" / "numbers" / "big.json"
FEATURES = 40
LEARNERS = ("NaiveBayes", "TAN", "AODE", "KDB", "RAIANB", "GBN")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big", description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--items", nargs="+", default=["memory", "pairs", "cluster", "rows"])
    parser.add_argument("--millions", nargs="+", type=int, default=[5, 15, 50])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    options = parser.parse_args()
    folder = Path(options.folder)
    warm = str(file(folder, "warm", 20_000, FEATURES))
    for item in options.items:
        if item == "memory":
            path = str(file(folder, "rows-5", 5_000_000, FEATURES))
            found = [one(how, "TAN", path, warm) for how in ("stream", "memory", "stream", "memory")]
            cpu = {how: min(f["cpu_seconds"] for f in found if f["engine"] == how) for how in ("stream", "memory")}
            wall = {how: min(f["wall_seconds"] for f in found if f["engine"] == how) for how in ("stream", "memory")}
            fit = min(f["cpu_seconds"] - f["read_cpu_seconds"] for f in found if f["engine"] == "memory")
            ratios = {
                "stream_over_memory_cpu": round(cpu["stream"] / cpu["memory"], 2),
                "stream_over_memory_wall": round(wall["stream"] / wall["memory"], 2),
                "stream_over_memory_fit_alone_cpu": round(cpu["stream"] / fit, 2),
            }  # fmt: skip
            keep("stream_and_memory", {"runs": found, **ratios})
        elif item == "pairs":
            keep("all_pairs", pairs.measure(str(file(folder, "pairs-1", 1_000_000, 100))))
        elif item == "cluster":
            keep("dask", cluster.measure(str(file(folder, "rows-5", 5_000_000, FEATURES)), warm))
        elif item == "rows":
            for millions in options.millions:
                path = str(file(folder, f"rows-{millions}", millions * 1_000_000, FEATURES))
                for learner in options.learners:
                    keep("rows", {f"{learner} {millions}": one("stream", learner, path, warm)}, add=True)


def file(folder: Path, name: str, rows: int, features: int) -> Path:
    """Generate a file where it is not there yet."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        data.write(folder / f".{name}.tmp", rows, features)
        (folder / f".{name}.tmp").rename(path)
    return path


def one(how: str, learner: str, path: str, warm: str) -> dict[str, Any]:
    """Fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.big.one", how, learner, path, warm]
    load = os.getloadavg()[0]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {**json.loads(done.stdout.strip().splitlines()[-1]), "load_before": round(load, 1)}


def keep(name: str, found: dict[str, Any], *, add: bool = False) -> None:
    """Put a result into the file of numbers."""
    print(name, json.dumps(found), flush=True)
    known = json.loads(OUT.read_text()) if OUT.exists() else {}
    names = ("tanbark", "numpy", "numba", "pyarrow", "polars", "duckdb", "dask")
    known["versions"] = {"python": platform.python_version(), **{n: _version(n) for n in names}}
    known["machine"] = f"{os.cpu_count()} cores, {platform.machine()}"
    known["command"] = "python -m benchmarks.big --folder <folder>"
    known[name] = {**known.get(name, {}), **found} if add else found
    OUT.write_text(json.dumps(known, indent=1) + "\n")


def _version(name: str) -> str:
    try:
        return version(name)
    except ImportError:
        return "source"


if __name__ == "__main__":
    main()
