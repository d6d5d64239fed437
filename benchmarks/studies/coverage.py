"""How often do prediction sets of 90 % hold the right class? Repeated random splits of all sets of 1,000 rows or more.

    python -m benchmarks.studies.coverage run [--data FOLDER] [--error 0.0025] [--seconds 3600] [--sets a,b]
    python -m benchmarks.studies.coverage page

Each repeat takes 30 % of the rows away at random, stratified by class, fits every model on the others (at most 5,000
of them) and calibrates its sets: KDB by ten folds (``calibrate_sets``), Classifier by what ``fit`` holds out. A set may
be empty (``allow_empty=True``), so that a model that is nearly always right can have the coverage asked for. What was
measured is kept line by line in build/studies/coverage.jsonl, so that a run that was stopped goes on where it was; the
page writes docs/numbers/coverage.json and prints the table of docs/guides/calibration.md. Models that were not run
again on a set keep the figures that stand there, with the commit that they are of.

How many splits a set has is known before any is measured: as many as bring the standard error of the mean, by the
binomial variance of calibration rows and test rows, to ``--error``. The error that the page shows is the standard
deviation over the splits, divided by the root of their number. Given the rows of a set, its splits are independent
draws, so that this is the error of the mean over all random splits of these rows, although the splits share rows; what
another sample of rows would have given is no part of it.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

import tanbark as tb
from benchmarks.studies.accuracy import data
from tanbark.estimators.ensemble.selection import LARGE_FOLDS, n_folds

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "numbers" / "coverage.json"
KEPT = ROOT / "build" / "studies" / "coverage.jsonl"
LEVEL, LEAST_ROWS, MOST_TRAINED, MOST_COLUMNS, TESTED = 0.9, 1000, 5000, 62, 0.3
FIRST, LAST = 0.89, 0.92  # what the mean coverage of a set should lie between
SEED = 2026


def fit_kdb(X: Any, y: Any) -> Any:
    """Fit one network with a temperature, and calibrate its sets by ten folds."""
    return tb.KDB(discretize="mdlp+quantile", temperature="auto", n_jobs=1).fit(X, y).calibrate_sets(X, y)


def fit_classifier(X: Any, y: Any) -> Any:
    """Fit the front door, whose sets are calibrated by fit."""
    return tb.Classifier(n_jobs=1).fit(X, y)


MODELS: dict[str, Callable[[Any, Any], Any]] = {"KDB": fit_kdb, "Classifier": fit_classifier}


def measure(folder: Path, name: str, model: str, repeat: int) -> dict[str, Any]:
    """Return coverage, mean size of the sets and accuracy on the rows of one random split."""
    table = data.load(folder, name)
    splitter = StratifiedShuffleSplit(1, test_size=TESTED, random_state=SEED + repeat)
    train, test = next(splitter.split(np.zeros(len(table.y)), table.y))
    train = train[:MOST_TRAINED]
    begun = time.process_time()
    clf = MODELS[model](table.X.iloc[train], table.y[train])
    seconds = time.process_time() - begun
    X, labels = table.X.iloc[test], np.searchsorted(clf.classes_, table.y[test])
    sets = clf.predict_set(X, coverage=LEVEL, allow_empty=True)
    right = sets.members[np.arange(len(labels)), labels]
    accuracy = float((clf.predict_proba(X).argmax(axis=1) == labels).mean())
    return {
        "set": name, "model": model, "repeat": repeat, "train": len(train), "test": len(test),
        "coverage": round(float(right.mean()), 5), "size": round(float(sets.sizes.mean()), 4),
        "accuracy": round(accuracy, 5), "seconds": round(seconds, 2),
    }  # fmt: skip


def n_splits(train: int, test: int, model: str, error: float) -> int:
    """Return how many splits bring the binomial standard error of the mean coverage down to ``error``."""
    calibrated = train / LARGE_FOLDS if model == "Classifier" and n_folds(train) == LARGE_FOLDS else train
    return math.ceil(LEVEL * (1.0 - LEVEL) * (1.0 / calibrated + 1.0 / test) / error**2)


def read_lines() -> list[dict[str, Any]]:
    """Read what was measured so far."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def run(options: argparse.Namespace) -> None:
    """Measure what is not there yet, one repeat of all sets after another."""
    known = {(line["set"], line["model"], line["repeat"]) for line in read_lines()}
    names = options.sets.split(",") if options.sets else data.names(options.data)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    print(f"seed {SEED}, commit {commit()}", flush=True)
    begun = time.monotonic()
    wanted: dict[tuple[str, str], int] = {}
    for name in names:
        table = data.load(options.data, name)
        if len(table.y) >= LEAST_ROWS and table.X.shape[1] <= MOST_COLUMNS:
            test = math.ceil(TESTED * len(table.y))
            train = min(len(table.y) - test, MOST_TRAINED)
            wanted.update({(name, m): n_splits(train, test, m, options.error) for m in options.models.split(",")})
    for repeat in range(max(wanted.values())):
        for (name, model), count in wanted.items():
            if repeat >= count or (name, model, repeat) in known:
                continue
            if time.monotonic() - begun > options.seconds:
                return
            line = json.dumps(measure(options.data, name, model, repeat))
            with KEPT.open("a") as file:
                file.write(line + "\n")
            print(line, flush=True)
    print("all splits are measured", flush=True)


def summarise(lines: list[dict[str, Any]], earlier: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return a cell for every set: its sizes, and the means and standard errors of every model.

    A model that has no lines of a set keeps the figures of an ``earlier`` document for it.
    """
    cells = []
    known = {cell["set"]: cell for cell in earlier["cells"]} if earlier else {}
    for name in sorted({*known, *(line["set"] for line in lines)}):
        own = [line for line in lines if line["set"] == name]
        sizes = own[0] if own else known[name]
        cell: dict[str, Any] = {"set": name, "train": sizes["train"], "test": sizes["test"], "models": {}}
        for model, found in known.get(name, {}).get("models", {}).items():
            if earlier and all(line["model"] != model for line in own):
                cell["models"][model] = {"commit": earlier["commit"], **found}
        for model in MODELS:
            found = [line for line in own if line["model"] == model]
            if found:
                coverage = np.array([line["coverage"] for line in found])
                spread = float(coverage.std(ddof=1)) if len(found) > 1 else math.sqrt(0.09 / own[0]["test"])
                cell["models"][model] = {
                    "coverage": round(float(coverage.mean()), 4), "error": round(spread / math.sqrt(len(found)), 4),
                    "repeats": len(found), "accuracy": round(float(np.mean([line["accuracy"] for line in found])), 4),
                    "size": round(float(np.mean([line["size"] for line in found])), 3),
                }  # fmt: skip
        cells.append(cell)
    return cells


def markdown(cells: list[dict[str, Any]]) -> str:
    """Write the table of the page."""
    heads = [f"{model}: coverage | accuracy | classes in a set" for model in MODELS]
    lines = ["| set | rows | " + " | ".join(heads) + " |", "|---|--:" + "|--:|--:|--:" * len(MODELS) + "|"]
    for cell in cells:
        parts = []
        for model in MODELS:
            found = cell["models"].get(model)
            parts.append(
                "| |" if found is None else
                f"{found['coverage']:.3f} ± {found['error']:.3f} ({found['repeats']}) | {found['accuracy']:.3f} | "
                f"{found['size']:.2f}"
            )  # fmt: skip
        lines.append(f"| {cell['set']} | {cell['train']:,} | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def outside(cells: list[dict[str, Any]], model: str) -> list[str]:
    """Name the sets whose mean coverage is not between 89 and 92 %."""
    return [c["set"] for c in cells if model in c["models"] and not FIRST <= c["models"][model]["coverage"] <= LAST]


def unsure(cells: list[dict[str, Any]], model: str) -> list[str]:
    """Name the sets whose mean is between the two, but not by two standard errors on both sides."""
    found = []
    for cell in cells:
        own = cell["models"].get(model)
        if own is not None and FIRST <= own["coverage"] <= LAST:
            low, high = (own["coverage"] + sign * 2 * own["error"] for sign in (-1, 1))
            found += [cell["set"]] if low < FIRST or high > LAST else []
    return found


def commit() -> str:
    """Return the commit of the working folder."""
    told = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def page() -> None:
    """Write the numbers, print the table."""
    cells = summarise(read_lines(), json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else None)
    document = {
        "command": "python -m benchmarks.studies.coverage", "seed": SEED, "level": LEVEL, "commit": commit(),
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "tanbark": tb.__version__},
        "machine": platform.machine(), "outside": {model: outside(cells, model) for model in MODELS},
        "unsure": {model: unsure(cells, model) for model in MODELS}, "cells": cells,
    }  # fmt: skip
    TARGET.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(markdown(cells))
    print("outside", document["outside"])
    print("not by two standard errors", document["unsure"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--error", type=float, default=0.0025)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--sets", default="")
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    page() if options.what == "page" else run(options)


if __name__ == "__main__":
    main()
