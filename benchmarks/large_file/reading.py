"""What is added to pyarrow's own reading: ``python -m benchmarks.large_file.reading --folder rows --rows 5000000``.

A Parquet file of 40 columns of one byte and a class of text, and the same rows as CSV, are generated in ``--folder``
where they are not there. pyarrow's scan of the file (every batch read, nothing done with it), ``NaiveBayes``, ``TAN``
and ``AODE`` from the file and ``predict_file`` take turns; processor seconds of all threads together and seconds on the
clock, the least of ``--rounds``. ``--against OLD/src`` runs other code of Tanbark in the same turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, PART = 40, 250_000
WORKS = ("NaiveBayes", "TAN", "AODE", "predict_file")
CLASSES = ("never", "rarely", "often", "always")


def write(path: Path, n_rows: int, seed: int = 1) -> None:
    """Write rows part by part, as Parquet or CSV by the ending; nothing where the file is there."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = [*(pa.field(f"f{k}", pa.int8()) for k in range(COLUMNS)), pa.field("class", pa.string())]
    unfinished = path.with_suffix(".part")
    kind: Any = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
    with kind(unfinished, pa.schema(fields)) as out:
        for first in range(0, n_rows, PART):
            rng = np.random.default_rng((seed, first))
            size = min(PART, n_rows - first)
            rows = rng.integers(0, 5, (size, COLUMNS), dtype=np.int8)
            rows[:, 1::2] = np.where(rng.random((size, COLUMNS // 2)) < 0.5, rows[:, ::2], rows[:, 1::2])
            labels = np.array(CLASSES, object)[(rows[:, 0] + rows[:, 3] + (rng.random(size) < 0.3)) % 4]
            arrays = [*(pa.array(rows[:, k]) for k in range(COLUMNS)), pa.array(labels, pa.string())]
            out.write_batch(pa.record_batch(arrays, schema=pa.schema(fields)))
    unfinished.rename(path)


def scan(path: Path) -> None:
    """Read every batch as pyarrow does by itself, and do nothing with it."""
    if path.suffix == ".csv":
        from pyarrow import csv

        with csv.open_csv(path) as reader:
            for _ in reader:
                pass
        return
    from pyarrow import parquet

    for _ in parquet.ParquetFile(path).iter_batches(batch_size=1 << 17):
        pass


def work(name: str, path: Path, warm: Path) -> dict[str, float]:
    """Do one work in this process, after a small file of the same kind."""
    import tanbark as tb

    kinds: dict[str, Any] = {"NaiveBayes": tb.NaiveBayes, "TAN": tb.TAN, "AODE": tb.AODE}
    found = {}
    model = tb.NaiveBayes().fit(tb.scan(warm, target="class"))
    for place in (warm, path):
        cpu, wall = time.process_time(), time.perf_counter()
        if name == "pyarrow":
            scan(place)
        elif name == "predict_file":
            out = place.with_name(f"predicted-{os.getpid()}.parquet")
            model.predict_file(place, out)
            out.unlink()
        else:
            kinds[name]().fit(tb.scan(place, target="class"))
        found = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return found


def once(name: str, path: Path, warm: Path, source: str) -> dict[str, float]:
    """Do one work in a process of its own with the Tanbark of a folder."""
    command = [sys.executable, "-m", "benchmarks.large_file.reading", "--work", name, str(path), str(warm)]
    settings = {**os.environ, "PYTHONPATH": source, "TANBARK_QUIET": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", help="the src folder of other code of Tanbark")
    parser.add_argument("--kinds", nargs="+", default=["parquet", "csv"], choices=["parquet", "csv"])
    parser.add_argument("--works", nargs="+", default=list(WORKS), choices=WORKS)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(work(given.work[0], Path(given.work[1]), Path(given.work[2]))))
        return
    if given.folder is None:
        parser.error("--folder is needed: where the files are, or are to be written")
    sources = {"tanbark": os.environ.get("PYTHONPATH", "")} | ({"other": given.against} if given.against else {})
    lines = []
    for kind in given.kinds:
        path, warm = (given.folder / f"bytes-{size}.{kind}" for size in (given.rows, 20_000))
        write(path, given.rows)
        write(warm, 20_000)
        runs: dict[tuple[str, str], list[dict[str, float]]] = {}
        for _ in range(given.rounds):
            for name in ("pyarrow", *given.works):
                for label, source in sources.items():
                    if name != "pyarrow" or label == "tanbark":
                        runs.setdefault((name, label), []).append(once(name, path, warm, source))
        plain = min(run["cpu"] for run in runs["pyarrow", "tanbark"])
        for (name, label), found in runs.items():
            cpu, wall = (min(run[key] for run in found) for key in ("cpu", "wall"))
            lines.append({"file": kind, "rows": given.rows, "work": name, "code": label, "cpu": cpu, "wall": wall})
            print(
                f"{kind:<8} {name:<13} {label:<8} {cpu:7.2f} s, {wall:6.2f} on the clock, {cpu / plain:5.2f} x pyarrow"
            )
    if given.json:
        facts = {"command": f"python -m benchmarks.large_file.reading --rows {given.rows}", "cores": os.cpu_count()}
        given.json.write_text(json.dumps({**facts, "load": os.getloadavg()[0], "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
