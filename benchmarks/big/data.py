"""Generated rows, written chunk by chunk: a class, and features with 2 to 5 states that hang together in a tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 1 << 20


def chunk(rows: int, features: int, seed: int, number: int) -> dict[str, np.ndarray]:
    """Make one chunk; the same seed and number always give the same rows."""
    rng = np.random.default_rng([seed, number])
    shape = np.random.default_rng(seed)
    label = rng.integers(0, 2, rows, dtype=np.uint8)
    columns: dict[str, np.ndarray] = {}
    made: list[np.ndarray] = []
    for place in range(features):
        states = int(shape.integers(2, 6))
        parent = int(shape.integers(0, place)) if place else -1
        kept, told = 0.3 + 0.4 * shape.random(), 0.2 * shape.random()
        noise = rng.integers(0, states, rows, dtype=np.uint8)
        pick = rng.random(rows, dtype=np.float32)
        base = noise if parent < 0 else made[parent] % np.uint8(states)
        column = np.where(pick < kept, base, noise)
        column = np.where(pick > 1 - told, label % np.uint8(states), column).astype(np.uint8)
        made.append(column)
        columns[f"f{place:03d}"] = column
    columns["class"] = label
    return columns


def write(path: Path, rows: int, features: int, *, seed: int = 1) -> None:
    """Write rows to a Parquet file, one row group per chunk."""
    writer = None
    for number, low in enumerate(range(0, rows, CHUNK)):
        table = pa.table(chunk(min(CHUNK, rows - low), features, seed, number))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    if writer is not None:
        writer.close()
