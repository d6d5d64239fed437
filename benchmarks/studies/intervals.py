"""Do the credible intervals hold the true posterior as often as they say?

Trees over features and the class are drawn with tables from the uniform prior, rows are drawn from each, and a model
is fitted with the true arcs, with arcs that TAN finds, and with none (naive Bayes). Its 90 % intervals for fresh rows,
whole and with 40 % of the values missing, either hold the posterior of the network that made the rows or do not.

    python -m benchmarks.studies.intervals                # writes docs/numbers/intervals.json, prints Markdown
    python -m benchmarks.studies.intervals --share 0.1    # a tenth of the networks
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

import tanbark as tb
from tanbark.graph import Dag, Network
from tanbark.inference import joint_log_proba, normalize
from tanbark.table import Column, Schema

TARGET = Path(__file__).resolve().parents[2] / "docs" / "numbers" / "intervals.json"
FEATURES, STATES, CLASSES, LEVEL, QUERIES = 6, 3, 2, 0.9, 20
ROWS = {30: 40, 100: 40, 300: 40, 1000: 40}
GAPS = 0.4
MODELS = {"true arcs": None, "TAN": tb.TAN(parameters="laplace"), "naive Bayes": tb.NaiveBayes(parameters="laplace")}


def draw_truth(rng: np.random.Generator) -> Network:
    """Draw a tree of features under the class, and its tables from the uniform prior."""
    names = tuple(f"x{k}" for k in range(FEATURES))
    columns = [Column(name, "category", "number", tuple(range(STATES))) for name in names]
    schema = Schema((*columns, Column("class", "category", "number", tuple(range(CLASSES)))))
    dag = Dag.augmented(schema.names, [(), *((int(rng.integers(k)),) for k in range(1, FEATURES))])
    tables = []
    for node, parents in enumerate(dag.parents):
        given = [STATES] * (len(parents) - 1) + [CLASSES]
        table = rng.dirichlet(np.ones(STATES), given) if node < FEATURES else rng.dirichlet(np.ones(CLASSES))
        tables.append(np.moveaxis(table, -1, -2) if node < FEATURES else table)
    return Network(schema, dag, tuple(tables))


def fit(model: tb.NaiveBayes, truth: Network, rows: pd.DataFrame) -> tb.NaiveBayes:
    """Fit rows that may lack a state; six rows that weigh nothing to speak of name all states."""
    names = {name: np.arange(6) % (CLASSES if name == "class" else STATES) for name in truth.dag.names}
    table = pd.concat([pd.DataFrame(names), rows], ignore_index=True)
    weights = np.where(np.arange(len(table)) < 6, 1e-9, 1.0)
    return model.fit(table.drop(columns="class"), table["class"], sample_weight=weights)


def _true_arcs(truth: Network) -> tb.FixedStructure:
    """Return a classifier with the true arcs and the prior that the truth was drawn from."""
    return tb.FixedStructure(truth.dag.arcs(), parameters="laplace")


def measure(n: int, networks: int, seed: int) -> dict[str, dict[str, float]]:
    """Give coverage and mean width of every model, for whole rows and for rows with gaps."""
    found: dict[str, list[tuple[float, float]]] = {}
    for place in range(networks):
        rng = np.random.default_rng([seed, n, place])
        truth = draw_truth(rng)
        rows = truth.sample(n, random_state=rng, backend="pandas")
        whole = truth.sample(QUERIES, random_state=rng, backend="pandas").drop(columns="class").astype(float)
        asked = {"whole": whole, "gaps": whole.mask(rng.random(whole.shape) < GAPS)}
        for name, model in MODELS.items():
            clf = fit(_true_arcs(truth) if model is None else clone(model), truth, rows)
            for kind, queries in asked.items():
                codes = np.where(queries.isna(), 255, queries).astype(np.uint8).T
                true = normalize(joint_log_proba(truth, np.ascontiguousarray(codes)), logs=False)[0][:, 0]
                low, high = (ends[:, 0] for ends in clf.predict_proba_interval(queries, level=LEVEL, n_draws=200))
                inside = float(((low <= true) & (true <= high)).mean())
                found.setdefault(f"{name}, {kind}", []).append((inside, float((high - low).mean())))
    return {name: summary(np.array(results)) for name, results in found.items()}


def summary(results: np.ndarray) -> dict[str, float]:
    coverage, width = results.mean(axis=0)
    error = results[:, 0].std() / math.sqrt(len(results))
    return {"coverage": round(coverage, 4), "coverage_error": round(error, 4), "width": round(width, 4)}


def markdown(cells: list[dict[str, object]]) -> str:
    """Write the table of the page."""
    names = [f"{name}, {kind}" for name in MODELS for kind in ("whole", "gaps")]
    lines = ["| rows (networks) | " + " | ".join(names) + " |", "|--:" * (len(names) + 1) + "|"]
    for cell in cells:
        parts = [f"{cell['models'][name]['coverage']:.3f} ({cell['models'][name]['width']:.2f})" for name in names]
        lines.append(f"| {cell['rows']:,} ({cell['networks']}) | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def _commit() -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def read_options(description: str, target: Path) -> argparse.Namespace:
    """Read the command line of a study."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--share", type=float, default=1.0, help="share of the networks to draw")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path, default=target)
    return parser.parse_args()


def write(options: argparse.Namespace, command: str, seconds: float, cells: list[dict[str, object]]) -> None:
    """Write the numbers, with what they come from."""
    first = draw_truth(np.random.default_rng([options.seed, 30, 0]))
    document = {
        "command": command, "share": options.share, "seed": options.seed,
        "level": LEVEL, "queries": QUERIES, "gaps": GAPS, "commit": _commit(),
        "seconds": round(seconds, 1),
        "versions": {
            "python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__,
            "tanbark": tb.__version__,
        },
        "machine": platform.machine(),
        "data_hash": hashlib.sha256(b"".join(t.tobytes() for t in first.tables)).hexdigest()[:16], "cells": cells,
    }  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    options = read_options("Coverage of credible intervals: the simulation of docs/guides/uncertainty.md.", TARGET)
    begun, cells = time.perf_counter(), []
    for n, wanted in ROWS.items():
        networks = max(2, round(wanted * options.share))
        cells.append({"rows": n, "networks": networks, "models": measure(n, networks, options.seed)})
    write(options, "python -m benchmarks.studies.intervals", time.perf_counter() - begun, cells)
    print(markdown(cells))


if __name__ == "__main__":
    main()
