"""Learn from a file that need not fit in memory, and predict from file to file.

python examples/larger_than_memory.py [rows]      # needs pyarrow: pip install "tanbark[big]"

The file is written batch by batch; the model is the same, byte for byte, as one learnt in memory.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tanbark as tb

BATCH = 10_000


def write_rows(path: Path, rows: int, seed: int = 0) -> None:
    """Write rows of eight categories that depend on a class and on each other."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(8)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.string()) for name in [*names, "class"]])) as file:
        for start in range(0, rows, BATCH):
            n = min(BATCH, rows - start)
            label = rng.integers(0, 2, n)
            columns, before = {}, label
            for name in names:
                before = np.where(rng.random(n) < 0.7, before ^ label, rng.integers(0, 3, n)) % 3
                columns[name] = np.array(["low", "medium", "high"])[before]
            columns["class"] = np.array(["no", "yes"])[label]
            file.write_batch(pa.record_batch([pa.array(each) for each in columns.values()], names=list(columns)))


def main() -> None:
    """Write, learn, predict, and read a little of what was written."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.parquet", rows)
        write_rows(folder / "new.parquet", 1000, seed=1)
        scan = tb.scan(folder / "rows.parquet", target="class", max_memory=2**24)  # 16 MB for rows and counts
        clf = tb.TAN().fit(scan)
        print(f"learnt from {rows:,} rows in {clf.passes_} passes over the file:\n{clf.network_}\n")
        clf.predict_file(folder / "new.parquet", folder / "predicted.parquet", proba=True, keep=["class"])
        print(pq.read_table(folder / "predicted.parquet").slice(0, 5).to_pylist()[0])
        whole = pq.read_table(folder / "rows.parquet").to_pandas()
        again = tb.TAN().fit(whole.drop(columns="class"), whole["class"])
        clf.save(folder / "streamed.json")
        again.save(folder / "memory.json")
        same = (folder / "streamed.json").read_bytes() == (folder / "memory.json").read_bytes()
        print(f"the same model file as from the table in memory: {same}")


if __name__ == "__main__":
    main()
