"""Other readings of the paper's words, each beside the figures that it printed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from benchmarks.studies.rai_anb import data, leak, plan
from benchmarks.studies.rai_anb.methods import CMDL_VARIANTS, RAI_VARIANTS, TAN_VARIANTS
from benchmarks.studies.rai_anb.statistics import mean

READINGS = {  # of the exact columns: whose graphs, and which pseudo-counts
    "as printed": ("", "correct"), "½ per cell": ("", "correct_half"), "1 per cell": ("", "correct_one"),
    "graph of another shuffle": (leak.SUFFIX, "correct"),
    "the same, 1 per cell": (leak.SUFFIX, "correct_one"),
}  # fmt: skip
INFORMATIVE = 3000  # of more rows, many four-digit figures are some k / N by chance


def shuffles(done: dict, name: str, method: str, seeds: Iterable[int] | None = None) -> dict[int, list[dict]]:
    """Give the ten folds of every complete shuffle of a method on a set."""
    found = {}
    for seed in seeds or plan.SEEDS:
        folds = [done.get((name, method, fold, seed), {}) for fold in range(10)]
        if all("correct" in fold for fold in folds):
            found[seed] = folds
    return found


def fold_mean(folds: list[dict], key: str = "correct") -> float:
    """Average the proportions of the folds."""
    return mean([fold[key] / fold["test"] for fold in folds])


def pooled_share(folds: list[dict], key: str = "correct") -> float:
    """Give the proportion of all rows."""
    return sum(fold[key] for fold in folds) / sum(fold["test"] for fold in folds)


def rms(gaps: list[float]) -> float:
    """Give the root mean square."""
    return round(math.sqrt(mean([gap**2 for gap in gaps])), 6) if gaps else math.nan


def pooled(tables: dict, small: list[dict]) -> dict:
    """Count the printed accuracies that are k / N, N rows, to four digits; folds of unequal size tell means apart."""
    rows = {one["set"]: one["rows"] for one in small}
    chosen = [r for r in tables["table_1"]["rows"] if rows[r["file"]] % 10 and rows[r["file"]] < INFORMATIVE]
    found = {}
    for method in tables["table_1"]["rows"][0]["accuracy"]:
        hits = [is_share(row["accuracy"][method], rows[row["file"]]) for row in chosen]
        found[method] = {"sets": len(hits), "shares": sum(hits)}
    by_chance = sum(min(1.0, rows[row["file"]] / 10000) for row in chosen)
    return {"sets": [row["file"] for row in chosen], "by_chance": round(by_chance, 2), "columns": found}


def is_share(printed: float, rows: int) -> bool:
    """Return whether a figure of four digits is a number of rows by all rows, rounded."""
    nearest = round(printed * rows)
    return any(abs(round(k / rows, 4) - printed) < 1e-9 for k in (nearest - 1, nearest, nearest + 1))


def exact(done: dict, tables: dict) -> dict:
    """Set the readings of the exact columns beside the paper, over the sets with two shuffles or more."""
    paper = {row["file"]: row["accuracy"] for row in tables["table_1"]["rows"]}
    found: dict = {"sets": [], "rms": {}}
    for name in paper:
        one = {"set": name, "methods": {}}
        for method in leak.LEAKED:
            seeds = sorted(shuffles(done, name, method + leak.SUFFIX))
            if len(seeds) < 2:
                continue
            told = {"shuffles": len(seeds), "paper": paper[name][method]}
            for reading, (suffix, key) in READINGS.items():
                runs = shuffles(done, name, method + suffix, seeds)
                told[reading] = round(mean([fold_mean(folds, key) for folds in runs.values()]), 6)
            one["methods"][method] = told
        if "exact-ANB" in one["methods"]:
            found["sets"].append(one)
    for method in leak.LEAKED:
        mine = [one["methods"][method] for one in found["sets"] if method in one["methods"]]
        found["rms"][method] = {
            reading: rms([told[reading] - told["paper"] for told in mine]) for reading in READINGS
        } | {"sets": len(mine)}
    return found


def orders(done: dict, tables: dict) -> dict:
    """Compare RAI-ANB that begins with the class alone, and with the class and a feature, on the same shuffles."""
    printed = {
        row["file"]: (row["accuracy"]["RAI-ANB"], size["NMB"]["RAI-ANB"])
        for accuracies, sizes in (("table_1", "table_2"), ("table_3", "table_4"))
        for row, size in zip(tables[accuracies]["rows"], tables[sizes]["rows"], strict=True)
        if row["file"]
    }
    sets = []
    for name, (accuracy, edges) in printed.items():
        runs = [shuffles(done, name, method) for method in ("RAI-ANB", *RAI_VARIANTS)]
        seeds = runs[0].keys() & runs[1].keys()
        if seeds:
            one = {"set": name, "shuffles": len(seeds), "paper_accuracy": accuracy, "paper_edges": edges}
            for start, run in enumerate(runs):
                folds = [fold for seed in sorted(seeds) for fold in run[seed]]
                one[f"edges_{start}"] = round(mean([fold["blanket_edges"] for fold in folds]), 4)
                one[f"accuracy_{start}"] = round(mean([fold_mean(run[seed]) for seed in sorted(seeds)]), 6)
                one[f"cpu_{start}"] = round(mean([fold["cpu"] for fold in folds]), 6)
                one[f"tests_{start}"] = round(mean([fold["tests"] for fold in folds]), 1)
            sets.append(one)
    return {"sets": sets}


def starts(done: dict, tables: dict, small: list[dict]) -> dict:
    """Compare starts and moves of GBN-CMDL with the paper's column, as proportions of all rows, on one shuffle."""
    paper = {row["file"]: row["accuracy"]["GBN-CMDL"] for row in tables["table_1"]["rows"]}
    methods = ["GBN-CMDL", *CMDL_VARIANTS]
    found = {}
    for one in small:
        runs = {m: shuffles(done, one["set"], m, (plan.SEED,)) for m in methods}
        told = {m: round(pooled_share(run[plan.SEED]), 6) for m, run in runs.items() if run}
        if len(told) > 1:
            sizes = {m: round(mean([f["blanket_edges"] for f in runs[m][plan.SEED]]), 2) for m in told}
            found[one["set"]] = {"paper": paper[one["set"]], "accuracy": told, "edges": sizes}
    every = [name for name, told in found.items() if len(told["accuracy"]) == len(methods)]
    some = [name for name, told in found.items() if all(m in told["accuracy"] for m in ("GBN-CMDL", *plan.STARTS))]

    def distance(method: str, names: list[str]) -> dict:
        gaps = [found[n]["accuracy"][method] - paper[n] for n in names]
        return {"rms": rms(gaps), "median": round(median(map(abs, gaps)), 6) if gaps else math.nan}

    few = [one["set"] for one in small if one["rows"] <= plan.FEW_ROWS]
    many = [name for name in some if name not in few]
    return {
        "sets": found, "every": every, "some": some, "many": many,
        "rms_every": {m: distance(m, every) for m in methods},
        "rms_some": {m: distance(m, some) for m in ("GBN-CMDL", *plan.STARTS)},
        "rms_many": {m: distance(m, many) for m in ("GBN-CMDL", *plan.STARTS)},
    }  # fmt: skip


def labels(done: dict, tables: dict) -> dict:
    """Set mfeat-fac with its labels, with folds in order, and with other labels beside the paper."""
    (row,) = [row for row in tables["table_3"]["rows"] if row["file"] == "mfeat-fac"]
    (size,) = [one for one in tables["table_4"]["rows"] if one["file"] == "mfeat-fac"]
    found = {"paper": {"accuracy": row["accuracy"], "edges": size["NMB"]}}
    names = [name for name in data.OTHERWISE if name.startswith("mfeat-fac")]
    for name, seed in [("mfeat-fac", plan.SEED), ("mfeat-fac", data.IN_ORDER), *((n, plan.SEED) for n in names)]:
        told: dict = {"accuracy": {}, "edges": {}, "class_parents": {}}
        for method in row["accuracy"]:
            runs = shuffles(done, name, method, (seed,))
            if runs:
                told["accuracy"][method] = round(fold_mean(runs[seed]), 6)
                told["edges"][method] = mean([fold["blanket_edges"] for fold in runs[seed]])
                told["class_parents"][method] = mean([fold["class_parents"] for fold in runs[seed]])
        gaps = [value - row["accuracy"][method] for method, value in told["accuracy"].items()]
        found["mfeat-fac, folds in order" if seed == data.IN_ORDER else name] = {**told, "rms": rms(gaps)}
    return found


def tan(done: dict, tables: dict, small: list[dict], large: list[dict]) -> dict:
    """Compare TAN with the paper's by the number of classes, and with a tree that leaves the class aside."""
    paper = {row["file"]: row["accuracy"]["TAN"] for name in ("table_1", "table_3") for row in tables[name]["rows"]}
    groups = {
        "small sets of two classes": [one for one in small if one["classes"] == 2],
        "small sets of more classes": [one for one in small if one["classes"] > 2],
        "large sets": [one for one in large if one["set"] != "mfeat-fac"],
    }
    found: dict = {"groups": {}, "sets": []}
    for name, sets in groups.items():
        gaps = [one["methods"]["TAN"]["accuracy"] - paper[one["set"]] for one in sets]
        found["groups"][name] = {"sets": len(gaps), "mean": round(mean(gaps), 6), "rms": rms(gaps)}
    (variant,) = TAN_VARIANTS
    for one in [*small, *groups["large sets"]]:
        runs = [shuffles(done, one["set"], method, (plan.SEED,)) for method in ("TAN", variant)]
        if all(runs):
            two = [round(fold_mean(run[plan.SEED]), 6) for run in runs]
            told = {"set": one["set"], "classes": one["classes"], "paper": paper[one["set"]]}
            found["sets"].append({**told, "TAN": two[0], "aside": two[1]})
    return found | {key: rms([one[key] - one["paper"] for one in found["sets"]]) for key in ("TAN", "aside")}
