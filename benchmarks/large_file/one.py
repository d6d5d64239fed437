"""Fit one method to one file in a process of its own, and report what it took."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pyarrow import parquet

Predict = Callable[[Any], np.ndarray]
Fit = Callable[[str, int, int], tuple[Any, Predict]]
TEST_ROWS = 1 << 17


def selective_kdb(path: str, threads: int, max_memory: int) -> tuple[Any, Predict]:
    """Fit from the file, batch by batch."""
    import tanbark as tb

    model = tb.SelectiveKDB(5, temperature="auto", n_jobs=threads)
    model.fit(tb.scan(path, target="class", max_memory=max_memory))
    return model, lambda table: model.predict_proba(table.drop_columns(["class"]))


def lightgbm(path: str, threads: int, max_memory: int) -> tuple[Any, Predict]:
    from lightgbm import LGBMClassifier

    return _in_memory(LGBMClassifier(n_jobs=threads, random_state=0, verbose=-1), path)


def xgboost(path: str, threads: int, max_memory: int) -> tuple[Any, Predict]:
    from xgboost import XGBClassifier

    return _in_memory(XGBClassifier(n_jobs=threads, random_state=0), path)


def hist_boosting(path: str, threads: int, max_memory: int) -> tuple[Any, Predict]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _in_memory(HistGradientBoostingClassifier(random_state=0), path)  # threads: OMP_NUM_THREADS


METHODS: dict[str, Fit] = {
    "SelectiveKDB": selective_kdb, "LightGBM": lightgbm, "XGBoost": xgboost, "HistGradientBoosting": hist_boosting,
}  # fmt: skip


def _in_memory(model: Any, path: str) -> tuple[Any, Predict]:
    """Read the whole file as a matrix of 32-bit numbers, and fit."""
    rows, labels = _matrix(parquet.read_table(path))
    model.fit(rows, labels)
    return model, lambda table: model.predict_proba(_matrix(table)[0])


def _matrix(table: Any) -> tuple[np.ndarray, np.ndarray]:
    names = [name for name in table.column_names if name != "class"]
    rows = np.empty((table.num_rows, len(names)), np.float32)
    for place, name in enumerate(names):
        rows[:, place] = table.column(name).to_numpy()
    return rows, table.column("class").to_numpy()


def _batches(path: str) -> Iterator[Any]:
    import pyarrow as pa

    for batch in parquet.ParquetFile(path).iter_batches(batch_size=TEST_ROWS):
        yield pa.Table.from_batches([batch])


def main() -> None:
    method, train, test, warm, threads, max_memory = sys.argv[1:7]
    fit, settings = METHODS[method], (int(threads), int(max_memory))
    try:
        _, warmed = fit(warm, *settings)  # kernels and libraries are loaded before the clock starts
    except ImportError as error:
        print(json.dumps({"method": method, "missing": str(error)}))
        return
    warmed(next(_batches(warm)))
    begun, used = time.perf_counter(), time.process_time()
    model, predict = fit(train, *settings)
    found: dict[str, Any] = {
        "method": method, "rows": parquet.read_metadata(train).num_rows,
        "wall_seconds": round(time.perf_counter() - begun, 1), "cpu_seconds": round(time.process_time() - used, 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "passes": getattr(model, "passes_", None), "chosen": repr(getattr(model, "report_", "")),
        "temperature": getattr(model, "temperature_", None),
    }  # fmt: skip
    right = total = 0
    loss = seconds = 0.0
    for table in _batches(test):
        start = time.process_time()
        proba = predict(table)
        seconds += time.process_time() - start
        labels = table.column("class").to_numpy().astype(int)
        right += int((proba.argmax(axis=1) == labels).sum())
        loss -= float(np.log(np.clip(proba[np.arange(len(labels)), labels], 1e-12, 1)).sum())
        total += len(labels)
    measured = {
        "accuracy": right / total,
        "log_loss": loss / total,
        "predict_cpu_seconds_per_million": 1e6 * seconds / total,
    }
    print(json.dumps({**found, **{name: round(value, 5) for name, value in measured.items()}}))


if __name__ == "__main__":
    main()
