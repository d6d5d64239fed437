"""A process that runs tasks: one JSON line in for each, a JSON line out for each condition and one at the end.

It is started by ``run.py`` with the interpreter that has the method's package, and ended when a task takes too long.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.accuracy import data, fitting
from benchmarks.studies.accuracy.measures import measure, processor_seconds
from benchmarks.studies.accuracy.methods import METHODS, Method

SHORT = 1.0  # seconds
PACKAGES = "numpy pandas scipy scikit-learn numba xgboost lightgbm catboost interpret-core khiops".split()


def run(folder: Path, task: dict, method: Method) -> Iterator[dict]:
    """Fit a method once and yield its measures under each condition."""
    table = data.load(folder, task["set"])
    train, test = data.splits(task["set"], table.y)[task["split"]]
    known = fitting.rows_of(table, data.subset(task["set"], task["split"], train, task["rows"]))
    asked = fitting.rows_of(table, test)
    predict, fitted = timed(lambda: fitting.fit(method, known, seed=task["split"]))
    for condition in map(tuple, task["conditions"]):
        removed = data.mask(task["set"], task["split"], condition, table.X.iloc[train], asked.X)
        X = data.blank(asked.X, removed)
        P, predicted = timed(partial(predict, X))
        if not np.isfinite(P).all():
            msg = "probabilities are not finite"
            raise ArithmeticError(msg)
        found = {**measure(P, asked.y), "fit_seconds": fitted, "predict_seconds": predicted}
        rounded = {name: round(value, 6) for name, value in found.items()}
        yield {"mechanism": condition[0], "percent": condition[1], "tested": len(test), **rounded}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and its processor seconds; work of less than a second is done twice, the lower time counts."""
    begun, clock = processor_seconds(), time.perf_counter()
    found = work()
    seconds = processor_seconds() - begun
    if time.perf_counter() - clock < SHORT:
        begun = processor_seconds()
        work()
        seconds = min(seconds, processor_seconds() - begun)
    return found, seconds


def warm(method: Method) -> None:
    """Import packages and compile kernels before a clock runs."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        y = rng.integers(0, n_classes, 120)
        numbers = {f"x{j}": np.where(rng.random(120) < 0.1, np.nan, rng.normal(y)) for j in range(3)}
        words = {f"w{j}": pd.Series(rng.choice(list("abc"), 120), dtype=object) for j in range(3)}
        X = pd.DataFrame({**numbers, **words})
        predict = fitting.fit_plain(method, data.Table(X, y, np.arange(6) < 3, n_classes))
        predict(data.blank(X, rng.random(X.shape) < 0.3))
        predict(X)


def versions() -> dict[str, str]:
    found = {"tanbark": import_module("tanbark").__version__} if find_spec("tanbark") else {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Serve tasks from the standard input; whatever a package prints goes to the error stream."""
    warnings.filterwarnings("ignore")
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    folder, warmed = Path(sys.argv[1]), set()
    print(json.dumps({"versions": versions()}), file=out)
    for line in sys.stdin:
        task = json.loads(line)
        method = METHODS[task["method"]]
        try:
            if method.base not in warmed:
                warm(method)
                warmed.add(method.base)
            for found in run(folder, task, method):
                print(json.dumps(found), file=out)
            print(json.dumps({"end": True}), file=out)
        except Exception as error:
            print(json.dumps({"end": True, "error": f"{type(error).__name__}: {error}"[:300]}), file=out)


if __name__ == "__main__":
    main()
