"""Measures that need a fresh process: import time, the first fit with nothing compiled, and peak memory.

``python -m benchmarks.speed.probes cold`` and ``... memory ESTIMATOR ROWS FEATURES STATES CLASSES`` print JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.speed.data import tree_table

IMPORT = "from time import perf_counter as now; start = now(); import {module}; print(now() - start)"
ROOT = Path(__file__).parents[2]
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def import_seconds(module: str) -> float:
    """The seconds that a statement importing a module takes in a fresh interpreter."""
    command = [sys.executable, "-c", IMPORT.format(module=module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def cold_fit() -> dict[str, float]:
    """The first fit and the first prediction in a process that finds no compiled kernels."""
    with tempfile.TemporaryDirectory() as folder:
        answer = _probe(["cold"], NUMBA_CACHE_DIR=folder)
        return answer | {"cached_files": sum(path.is_file() for path in Path(folder).rglob("*"))}


def memory_of_fit(rows: int, features: int, states: int, classes: int) -> dict[str, float]:
    """The peak of resident memory over a TAN fit, above what there was before it, in bytes."""
    return _probe(["memory", "TAN", *(str(n) for n in (rows, features, states, classes))])


def memory_of_average(estimator: str, rows: int, features: int, states: int, classes: int) -> dict[str, float]:
    """The same over the fit of an averaged estimator and its class probabilities for the same rows."""
    return _probe(["memory", estimator, *(str(n) for n in (rows, features, states, classes))])


def _probe(arguments: Sequence[str], **environment: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.probes", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, check=False)
    if done.returncode:
        raise RuntimeError(f"the probe {' '.join(arguments)} failed: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _cold() -> dict[str, float]:
    table = tree_table(3_196, 36, 2, 2)
    import tanbark as tb

    start = perf_counter()
    model = tb.TAN(criterion="loglik").fit(table.X, table.y)
    fitted = perf_counter()
    model.predict_proba(table.X)
    return {"fit": fitted - start, "predict": perf_counter() - fitted}


def _memory(estimator: str, rows: int, features: int, states: int, classes: int) -> dict[str, float]:
    warm = tree_table(1_000, features, states, classes)
    _run(estimator, warm.X, warm.y)
    table = tree_table(rows, features, states, classes)
    X, y = np.ascontiguousarray(table.X), table.y
    CLEAR_REFS.write_text("5")  # sets the high-water mark back to what is resident now
    before = _resident("VmHWM")
    _run(estimator, X, y)
    pairs = features * (features - 1) // 2
    return {
        "peak": _resident("VmHWM") - before,
        "table": rows * features,
        "pair_tables": 8 * pairs * states * states * classes,
    }


def _run(estimator: str, X: np.ndarray, y: np.ndarray) -> None:
    import tanbark as tb

    if estimator == "TAN":
        tb.TAN(criterion="loglik").fit(X, y)
    else:
        getattr(tb, estimator)().fit(X, y).predict_proba(X)


def _resident(field: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * float(line.split()[1])


def main(arguments: Sequence[str]) -> None:
    what, *rest = arguments
    found: dict[str, Any] = _cold() if what == "cold" else _memory(rest[0], *(int(a) for a in rest[1:]))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
