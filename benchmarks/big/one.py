"""Fit one learner to one file in a process of its own, and tell what it took: ``python -m benchmarks.big.one``."""

from __future__ import annotations

import json
import resource
import sys
import time

import tanbark as tb

LEARNERS = {name: getattr(tb, name) for name in ("NaiveBayes", "TAN", "AODE", "KDB", "RAIANB", "GBN")}


def main() -> None:
    how, learner, path, warm = sys.argv[1:5]
    from pyarrow import parquet

    LEARNERS[learner]().fit(warm, target="class")  # kernels are loaded before the clock starts
    if how == "memory":
        LEARNERS[learner]().fit(*_read(parquet, warm))
    begun, used = time.perf_counter(), time.process_time()
    read = 0.0
    if how == "memory":
        table = _read(parquet, path)
        read = time.process_time() - used
        model = LEARNERS[learner]().fit(*table)
    else:
        model = LEARNERS[learner]().fit(path, target="class")
    told = {
        "engine": how, "learner": learner, "rows": parquet.read_metadata(path).num_rows,
        "wall_seconds": round(time.perf_counter() - begun, 2), "cpu_seconds": round(time.process_time() - used, 2),
        "read_cpu_seconds": round(read, 2),
        "resident_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "passes": getattr(model, "passes_", None),
        "tests": getattr(getattr(model, "report_", None), "tests", None),
    }  # fmt: skip
    print(json.dumps(told))


def _read(parquet, path):
    frame = parquet.read_table(path).to_pandas()
    return frame.drop(columns="class"), frame["class"]


if __name__ == "__main__":
    main()
