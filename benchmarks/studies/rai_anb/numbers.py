"""From cells to the numbers of the page: means over folds and shuffles, beside what the paper printed."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from statistics import stdev

import numpy as np
import scipy
import sklearn

import tanbark
from benchmarks.studies.rai_anb import cells, data, plan, readings
from benchmarks.studies.rai_anb.methods import METHODS
from benchmarks.studies.rai_anb.statistics import against, mean, standard_error
from tanbark.counts import CountEngine

CONTROL = "RAI-ANB"
POOLED = ("GBN-CMDL", "BNC2P", "TAN-aCLL")  # the paper prints k / N for these, and means over folds for the others
AUGMENTED = ("Naive Bayes", "TAN", "TAN-aCLL", "RAI-ANB")
SIZES = ("seconds", "cpu", "max_parents", "blanket_edges", "edges", "class_parents", "splits", "tests")


def collect(folder: Path, path: Path) -> dict:
    """Gather everything that the page shows, and where it comes from."""
    tables, done = data.paper_tables(folder), cells.load(path)
    small = [one_set(folder, row, done) for row in tables["table_1"]["rows"]]
    large = [one_set(folder, row, done) for row in tables["table_3"]["rows"] if row["file"]]
    others = {name: averages_of(done, name) for name in data.OTHERWISE}
    whole = {f"{name} {method}": found for (name, method, fold, _), found in done.items() if fold == cells.WHOLE}
    return {
        "command": "python -m benchmarks.studies.rai_anb run, then page", "seeds": list(plan.SEEDS), **origin(),
        "small": small, "large": large, "otherwise": {name: found for name, found in others.items() if found},
        "paper": {name: tables[name] for name in ("table_1", "table_2", "table_3", "table_4", "table_5")},
        "summary": {"small": summary(small, tables["table_1"]), "large": summary(large, tables["table_3"])},
        "whole": whole,
        "optimal": optimal(folder, done), "pooled": readings.pooled(tables, small),
        "exact": readings.exact(done, tables), "orders": readings.orders(done, tables),
        "starts": readings.starts(done, tables, small), "labels": readings.labels(done, tables),
        "tan": readings.tan(done, tables, small, large),
    }  # fmt: skip


def origin() -> dict:
    """Say which commit, versions and machine numbers come from."""
    versions = {
        "python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__, "tanbark": tanbark.__version__,
    }  # fmt: skip
    return {"commit": commit(), "versions": versions, "machine": platform.machine()}


def commit() -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def one_set(folder: Path, row: dict, done: dict) -> dict:
    """Average folds and shuffles of every method on a data set."""
    table, name = data.read(folder, row["file"]), row["file"]
    size = {"rows": table.n_rows, "variables": len(table.schema.names), "classes": table.schema.cardinalities[-1]}
    found = averages_of(done, name)
    return {
        "set": name, "paper_name": row["dataset"], **size, "hash": data.file_hash(folder, name),
        "matches": all(row[key] == value for key, value in size.items()),
        "methods": {method: found[method] for method in row["accuracy"] if method in found},
    }  # fmt: skip


def averages_of(done: dict, name: str) -> dict:
    """Average every method of the paper on a set."""
    return {method: told for method in METHODS if (told := averages(done, name, method))}


def averages(done: dict, name: str, method: str) -> dict:
    """Average the accuracies of a method over folds, then over shuffles; nothing if no shuffle is complete."""
    runs = readings.shuffles(done, name, method)
    if not runs:
        return {}
    key = readings.pooled_share if method in POOLED else readings.fold_mean
    shares = [key(folds) for folds in runs.values()]
    found = {
        "accuracy": mean(shares), "sd": stdev(shares) if len(shares) > 1 else 0.0, "shuffles": len(shares),
        "lowest": min(shares), "highest": max(shares),
    }  # fmt: skip
    every = [fold for folds in runs.values() for fold in folds]
    for smoothing in ("half", "one", "family"):
        if all(f"correct_{smoothing}" in fold for fold in every):
            found[f"accuracy_{smoothing}"] = mean([fold[f"correct_{smoothing}"] / fold["test"] for fold in every])
    found |= {name: mean([fold[name] for fold in every]) for name in SIZES if name in every[0]}
    return {name: round(value, 6) for name, value in found.items()}


def summary(sets: list[dict], printed: dict) -> dict:
    """Average the columns over all sets and over those with the paper's counts; compare with RAI-ANB; time."""
    paper = {row["file"]: row["accuracy"] for row in printed["rows"]}
    methods = list(printed["rows"][0]["accuracy"])
    whole = [one for one in sets if all(method in one["methods"] for method in methods)]
    alike = [one for one in whole if one["matches"] and one["set"] != "mfeat-fac"]
    return {
        "complete": len(whole), "alike": [one["set"] for one in alike],
        "methods": {method: column(method, whole, alike, paper) for method in methods},
        "p": against(accuracies(whole, CONTROL), {m: accuracies(whole, m) for m in methods if m != CONTROL}),
        "p_of_the_papers_columns": against(
            [row["accuracy"][CONTROL] for row in printed["rows"]],
            {m: [row["accuracy"][m] for row in printed["rows"]] for m in methods if m != CONTROL},
        ),
    }  # fmt: skip


def accuracies(sets: list[dict], method: str, key: str = "accuracy") -> list[float]:
    return [one["methods"][method][key] for one in sets]


def column(method: str, whole: list[dict], alike: list[dict], paper: dict) -> dict:
    found = {}
    for name, sets in {"all": whole, "alike": alike}.items():
        gaps = [one["methods"][method]["accuracy"] - paper[one["set"]][method] for one in sets]
        found[name] = {
            "accuracy": mean(accuracies(sets, method)), "paper": mean([paper[o["set"]][method] for o in sets]),
            "rms": mean([gap**2 for gap in gaps]) ** 0.5, "median": float(np.median(np.abs(gaps))),
            "error": sum(one["methods"][method].get("sd", 0.0) ** 2 for one in sets) ** 0.5 / len(sets),
        }  # fmt: skip
    seconds = accuracies(whole, method, "seconds")
    cpu = mean(accuracies(whole, method, "cpu"))
    return {**found, "seconds": mean(seconds), "seconds_error": standard_error(seconds), "cpu": cpu}


def optimal(folder: Path, done: dict) -> dict:
    """Compare the BDeu of every graph on the small sets with that of the exact searches on the same rows."""
    found = {kind: {"graphs": 0, "reached": 0, "exceeded": 0} for kind in ("exact-ANB", "exact-GBN")}
    names = sorted({n for n, method, _, s in done if method == "exact-GBN" and s == plan.SEED and "," not in n})
    for name in names:
        table = data.read(folder, name)
        for fold in range(10):
            counts = data.rows_of(table, data.fold(table, fold, plan.SEED)[0], 1)
            compare(name, fold, counts, done, found)
    return found


def compare(name: str, fold: int, counts: CountEngine, done: dict, found: dict) -> None:
    for method in METHODS:
        cell = done.get((name, method, fold, plan.SEED), {})
        if "parents" not in cell:
            continue
        families = [(*parents, node) for node, parents in enumerate(cell["parents"])]
        score = float(counts.family_scores(families, ess=1.0).sum())
        for kind in found:
            best = done.get((name, kind, fold, plan.SEED), {}).get("score")
            if best is None or method == kind or (kind == "exact-ANB" and method not in AUGMENTED):
                continue
            found[kind]["graphs"] += 1
            found[kind]["reached"] += abs(score - best) <= 1e-6
            found[kind]["exceeded"] += score > best + 1e-6
