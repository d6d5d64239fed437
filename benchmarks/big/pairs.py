"""All pairs of 100 columns with the class: our engine over the file, DuckDB and polars over the rows in memory."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np

AT_ONCE = 198  # questions that polars is asked together


def measure(path: str) -> dict[str, Any]:
    """Count by all three; give the CPU and wall seconds of each, and check that they agree."""
    import duckdb
    import polars as pl

    import tanbark as tb
    from tanbark.counts import StreamCounts

    schema = tb.NaiveBayes().fit(path, target="class").schema_
    rows = tb.scan(path, target="class", schema=schema)
    StreamCounts(rows.reader(), schema, max_memory=rows.max_memory).stored(2)
    n = schema.target
    pairs = list(combinations(range(n), 2))
    clock = _Clock()
    counts = StreamCounts(rows.reader(), schema, max_memory=rows.max_memory).stored(2)
    found = {"tanbark": clock.lap()}
    frame = pl.read_parquet(path)
    clock.lap()
    names = [(schema.names[i], schema.names[j], "class") for i, j in pairs]
    polars = []
    for low in range(0, len(names), AT_ONCE):
        polars += pl.collect_all([frame.lazy().group_by(columns).len() for columns in names[low : low + AT_ONCE]])
    found["polars"] = clock.lap()
    base = duckdb.connect()
    base.execute("create table rows as select * from read_parquet(?)", [path])
    clock.lap()
    sql = 'select "{0}", "{1}", "class", count(*) from rows group by all'
    duck = [base.execute(sql.format(*columns)).fetchnumpy() for columns in names]
    found["duckdb"] = clock.lap()
    for (i, j), mine, other in zip(pairs, polars, duck, strict=True):
        table = counts.tables([(i, j, n)])[0]
        again = np.zeros_like(table)
        again[tuple(mine[:, k].to_numpy() for k in range(3))] = mine["len"].to_numpy()
        np.testing.assert_array_equal(table, again)
        again[...] = 0
        *keys, sizes = other.values()
        again[tuple(np.asarray(key) for key in keys)] = sizes
        np.testing.assert_array_equal(table, again)
    told = {"columns": n, "pairs": len(pairs), **found}
    for peer in ("polars", "duckdb"):
        told[f"{peer}_over_tanbark_cpu"] = round(found[peer]["cpu"] / found["tanbark"]["cpu"], 1)
        told[f"{peer}_over_tanbark_wall"] = round(found[peer]["wall"] / found["tanbark"]["wall"], 1)
    return told


class _Clock:
    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def lap(self) -> dict[str, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        told = {"wall": round(wall - self.wall, 3), "cpu": round(cpu - self.cpu, 3)}
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return told
