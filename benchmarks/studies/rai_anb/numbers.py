"""From cells to the numbers of the page: means over the folds, beside what the paper printed."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from statistics import stdev

import numpy as np
import scipy
import sklearn

import tanbark
from benchmarks.studies.rai_anb import cells, data
from benchmarks.studies.rai_anb.statistics import against, mean, standard_error
from tanbark.counts import CountEngine

CONTROL = "RAI-ANB"
SMOOTHED = ("accuracy", "accuracy_half", "accuracy_one")
AUGMENTED = ("Naive Bayes", "TAN", "TAN-aCLL", "RAI-ANB")


def collect(folder: Path, path: Path, seed: int) -> dict:
    """Gather everything that the page shows, and where it comes from."""
    tables, done = data.paper_tables(folder), cells.load(path)
    small = [one_set(folder, row, done) for row in tables["table_1"]["rows"]]
    large = [one_set(folder, row, done) for row in tables["table_3"]["rows"] if row["file"]]
    return {
        "command": "python -m benchmarks.studies.rai_anb run, then page", "seed": seed, "commit": commit(),
        "versions": {
            "python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__, "tanbark": tanbark.__version__,
        },
        "machine": platform.machine(), "small": small, "large": large,
        "paper": {name: tables[name] for name in ("table_1", "table_2", "table_3", "table_4", "table_5")},
        "summary": {"small": summary(small, tables["table_1"]), "large": summary(large, tables["table_3"])},
        "whole": {f"{name} {method}": found for (name, method, fold), found in done.items() if fold == cells.WHOLE},
        "optimal": optimal(folder, done, seed),
    }  # fmt: skip


def commit() -> str:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def one_set(folder: Path, row: dict, done: dict) -> dict:
    """Average the folds of every method on a data set."""
    table = data.read(folder, row["file"])
    size = {"rows": table.n_rows, "variables": len(table.schema.names), "classes": table.schema.cardinalities[-1]}
    found = {}
    for method in row["accuracy"]:
        folds = [done.get((row["file"], method, fold), {}) for fold in range(10)]
        if all("correct" in fold for fold in folds):
            found[method] = averages(folds)
    return {
        "set": row["file"], "paper_name": row["dataset"], **size, "hash": data.file_hash(folder, row["file"]),
        "matches": all(row[key] == value for key, value in size.items()), "methods": found,
    }  # fmt: skip


def averages(folds: list[dict]) -> dict:
    shares = [fold["correct"] / fold["test"] for fold in folds]
    found = {"accuracy": mean(shares), "fold_sd": stdev(shares)}
    for key in ("half", "one", "family"):
        if all(f"correct_{key}" in fold for fold in folds):
            found[f"accuracy_{key}"] = mean([fold[f"correct_{key}"] / fold["test"] for fold in folds])
    names = ("seconds", "cpu", "max_parents", "blanket_edges", "edges", "class_parents", "splits")
    found |= {name: mean([fold[name] for fold in folds]) for name in names if name in folds[0]}
    return {name: round(value, 6) for name, value in found.items()}


def summary(sets: list[dict], printed: dict) -> dict:
    """Average the columns over all sets and over those with the paper's counts; compare with RAI-ANB; time."""
    paper = {row["file"]: row["accuracy"] for row in printed["rows"]}
    methods = list(printed["rows"][0]["accuracy"])
    whole = [one for one in sets if all(method in one["methods"] for method in methods)]
    alike = [one for one in whole if one["matches"] and one["set"] != "mfeat-fac"]
    smoothed = [one for one in alike if all("accuracy_one" in one["methods"][m] for m in methods)]
    return {
        "complete": len(whole), "alike": [one["set"] for one in alike], "smoothed": [one["set"] for one in smoothed],
        "methods": {method: column(method, whole, alike, paper) for method in methods},
        "smoothings": {
            method: {key: mean(accuracies(smoothed, method, key)) for key in SMOOTHED}
            | {"paper": mean([paper[one["set"]][method] for one in smoothed])}
            for method in methods
        },
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
        found[name] = {
            "accuracy": mean(accuracies(sets, method)),
            "paper": mean([paper[o["set"]][method] for o in sets]),
        }
    seconds = accuracies(whole, method, "seconds")
    cpu = mean(accuracies(whole, method, "cpu"))
    return {**found, "seconds": mean(seconds), "seconds_error": standard_error(seconds), "cpu": cpu}


def optimal(folder: Path, done: dict, seed: int) -> dict:
    """Compare the BDeu of every graph on the small sets with that of the exact searches on the same rows."""
    found = {kind: {"graphs": 0, "reached": 0, "exceeded": 0} for kind in ("exact-ANB", "exact-GBN")}
    names = sorted({name for name, method, fold in done if method == "exact-GBN" and fold >= 0})
    for name in names:
        table = data.read(folder, name)
        for fold in range(10):
            counts = data.rows_of(table, data.fold(table, fold, seed)[0], 1)
            compare(name, fold, counts, done, found)
    return found


def compare(name: str, fold: int, counts: CountEngine, done: dict, found: dict) -> None:
    for method in cells.METHODS:
        cell = done.get((name, method, fold), {})
        if "parents" not in cell:
            continue
        families = [(*parents, node) for node, parents in enumerate(cell["parents"])]
        score = float(counts.family_scores(families, ess=1.0).sum())
        for kind in found:
            best = done.get((name, kind, fold), {}).get("score")
            if best is None or method == kind or (kind == "exact-ANB" and method not in AUGMENTED):
                continue
            found[kind]["graphs"] += 1
            found[kind]["reached"] += abs(score - best) <= 1e-6
            found[kind]["exceeded"] += score > best + 1e-6
