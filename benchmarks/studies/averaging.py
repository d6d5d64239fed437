"""Do averages over the K best graphs, and CPTs at a data temperature, beat RAI-ANB on the data sets of its paper?

    python -m benchmarks.studies.averaging run [--data FOLDER] [--seeds 5] [--seconds 10000] [--sets a,b] [--workers 1]
    python -m benchmarks.studies.averaging page

Ten folds of every set of Table 1, prepared as in the study of the paper. A cell is a fold of a set for a seed: every
method learns from the same rows and predicts the same rows. Cells are kept line by line in
build/studies/averaging.jsonl, so that a run that was stopped goes on where it was. The page writes
docs/numbers/averaging.json and docs/averaging.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tanbark as tb
from benchmarks.studies.lines import append, read
from benchmarks.studies.rai_anb import cells, data, plan
from benchmarks.studies.rai_anb.numbers import origin
from benchmarks.studies.rai_anb.tables import markdown
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.inference import normalize
from tanbark.params import BDeu, DataTemperature, Hierarchical, Smoothing
from tanbark.structure import LEARNERS
from tanbark.structure.ranked import k_best
from tanbark.table import Schema

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "studies" / "averaging.jsonl"
TEMPLATE = Path(__file__).with_suffix(".md")
DATA = ROOT.parent / "shared" / "data"
K, SUBSETS, FRACTION = 10, 10, 0.9
MOST_EXACT = 16  # features up to which the K best graphs are exact
MOST_IN_SUBSETS = 13  # and in each of the subsets, ten times as often
SMOOTHINGS: dict[str, Smoothing] = {"": BDeu(1.0), ", T": DataTemperature(), ", H": Hierarchical()}
CONTROL = "RAI-ANB"
METHODS = (
    CONTROL, "RAI-ANB, T", "RAI-ANB, H", "best ANB", "best ANB, T", "best ANB, H", "K best", "K best, T", "K best, H",
    "subsets of RAI-ANB", "subsets of K best",
)  # fmt: skip
MEASURES = {"accuracy": "accuracy", "log_loss": "log-loss"}


class Weighted(NamedTuple):
    """Graphs, the rows that their CPTs are counted from, and their weights."""

    dags: tuple[Dag, ...]
    weights: np.ndarray
    counts: MemoryCounts


def ranked(counts: MemoryCounts, most: int) -> tuple[Weighted, str]:
    """Find the K best graphs, exactly up to a number of features."""
    method = "dp" if counts.schema.target <= most else "local"
    found = k_best.learn_augmented(counts, k=K, method=method, max_cells=cells.DENSE_CELLS)
    return Weighted(found.dags, k_best.posterior_weights(found), counts), found.method


def alone(dag: Dag, counts: MemoryCounts) -> Weighted:
    return Weighted((dag,), np.ones(1), counts)


def is_large(dag: Dag, schema: Schema) -> bool:
    """Return whether a CPT has too many cells to be laid out; then BDeu's entries are counted row by row."""
    sizes = [math.prod(schema.cardinalities[c] for c in (*parents, node)) for node, parents in enumerate(dag.parents)]
    return max(sizes) > cells.DENSE_CELLS


def posterior(parts: Iterable[Weighted], codes: np.ndarray, smoothing: Smoothing) -> np.ndarray:
    """Average the class probabilities of graphs by their weights, and over parts."""
    total, n = 0.0, 0
    for dags, weights, counts in parts:
        for dag, weight in zip(dags, weights.tolist(), strict=True):
            used = BDeu(1.0) if is_large(dag, counts.schema) else smoothing
            total = total + weight * normalize(cells.predict(dag, counts, codes, used), logs=False)[0]
        n += 1
    return np.asarray(total / n)


def measure(proba: np.ndarray, labels: np.ndarray) -> dict:
    """Count what is right, and add up the log-loss in nats."""
    chosen = proba[np.arange(len(labels)), labels]
    loss = -np.log(np.maximum(chosen, 1e-300)).sum()
    return {"correct": int((proba.argmax(axis=1) == labels).sum()), "loss": round(float(loss), 6)}


def run_cell(name: str, fold: int, seed: int, folder: Path) -> dict:
    """Learn every method from a fold's training rows and measure it on the others."""
    table = data.read(folder, name)
    train, test = data.fold(table, fold, seed)
    counts, codes = data.rows_of(table, train, 1), table.codes[:, test]
    labels = codes[-1].astype(np.int64)
    learn_rai = LEARNERS["rai-anb"].learn
    begun = time.process_time()
    rai = alone(learn_rai(counts).dag, counts)
    seconds = {CONTROL: time.process_time() - begun}
    begun = time.process_time()
    best, method = ranked(counts, MOST_EXACT)
    seconds["K best"] = time.process_time() - begun
    found = {}
    for mark, smoothing in SMOOTHINGS.items():
        for title, one in ((CONTROL, rai), ("best ANB", alone(best.dags[0], counts)), ("K best", best)):
            found[title + mark] = measure(posterior([one], codes, smoothing), labels)
    rng = np.random.default_rng([seed, fold])
    draws = [np.sort(rng.choice(train, int(FRACTION * len(train)), replace=False)) for _ in range(SUBSETS)]
    subsets = [data.rows_of(table, rows, 1) for rows in draws]
    begun = time.process_time()
    trees = [alone(learn_rai(part).dag, part) for part in subsets]
    seconds["subsets of RAI-ANB"] = time.process_time() - begun
    begun = time.process_time()
    many = [ranked(part, MOST_IN_SUBSETS) for part in subsets]
    seconds["subsets of K best"] = time.process_time() - begun
    found["subsets of RAI-ANB"] = measure(posterior(trees, codes, BDeu(1.0)), labels)
    found["subsets of K best"] = measure(posterior([one for one, _ in many], codes, BDeu(1.0)), labels)
    return {
        "set": name, "fold": fold, "seed": seed, "test": len(test), "features": table.schema.target,
        "large": sum(is_large(dag, table.schema) for dag in (*rai.dags, *best.dags)), "search": method,
        "search_in_subsets": many[0][1], "largest_weight": round(float(best.weights.max()), 6),
        "seconds": {title: round(value, 4) for title, value in seconds.items()}, "methods": found,
    }  # fmt: skip


def attempt(cell: tuple[str, int, int], folder: Path) -> dict:
    """Run a cell, or say why it failed."""
    try:
        return run_cell(*cell, folder)
    except (tb.errors.TanbarkError, ArithmeticError, MemoryError, AttributeError) as error:
        return {"set": cell[0], "fold": cell[1], "seed": cell[2], "error": f"{type(error).__name__}: {error}"}


def run(options: argparse.Namespace) -> None:
    """Run the cells that are not done, the sets of fewest features and rows first, one seed after another."""
    sizes = {row["file"]: (row["variables"], row["rows"]) for row in data.paper_tables(options.data)["table_1"]["rows"]}
    names = options.sets.split(",") if options.sets else sorted(sizes, key=lambda name: sizes[name])
    done = {(cell["set"], cell["fold"], cell["seed"]) for cell in read(options.cells) if "error" not in cell}
    seeds = plan.SEEDS[: options.seeds]
    todo = [(name, fold, seed) for seed in seeds for name in names for fold in range(10)]
    todo = [cell for cell in todo if cell not in done]
    print(f"seeds {seeds}, commit {origin()['commit'][:12]}, {len(todo)} cells to run", flush=True)
    end = time.monotonic() + options.seconds
    with ProcessPoolExecutor(options.workers) as pool:
        waiting = iter(todo)
        for _ in range(0, len(todo), options.workers):
            if time.monotonic() > end:
                print("out of time; the same command goes on", flush=True)
                return
            some = list(islice(waiting, options.workers))
            for found in pool.map(partial(attempt, folder=options.data), some):
                append(options.cells, found)
                told = found.get("error") or found["seconds"]
                print(found["set"], found["fold"], found["seed"], told, flush=True)


def collect(path: Path) -> dict:
    """Average the folds and seeds of the sets that are complete for at least one seed."""
    kept = [cell for cell in read(path) if "error" not in cell]
    sets = []
    for name in dict.fromkeys(cell["set"] for cell in kept):
        mine = [cell for cell in kept if cell["set"] == name]
        whole = [seed for seed in plan.SEEDS if sum(cell["seed"] == seed for cell in mine) == 10]
        mine = [cell for cell in mine if cell["seed"] in whole]
        if whole:
            sets.append({
                "set": name, "features": mine[0]["features"], "rows": sum(c["test"] for c in mine) // len(whole),
                "shuffles": len(whole), "search": mine[0]["search"], "subsets": mine[0]["search_in_subsets"],
                "largest_weight": round(float(np.mean([c["largest_weight"] for c in mine])), 4),
                "large": sum(cell.get("large", 0) for cell in mine),
                "methods": {title: _summary(mine, title) for title in METHODS},
                "seconds": {k: round(float(np.mean([c["seconds"][k] for c in mine])), 4) for k in mine[0]["seconds"]},
            })  # fmt: skip
    sets.sort(key=lambda one: (one["features"], one["set"]))
    tests = {measure: _tests(sets, measure) for measure in MEASURES}
    command = "python -m benchmarks.studies.averaging run, then page"
    return {
        "command": command, **origin(), "seeds": list(plan.SEEDS), "k": K, "subsets": SUBSETS, "fraction": FRACTION,
        "sets": sets, "tests": tests,
        "missing": sorted(set(_all_sets()) - {one["set"] for one in sets}),
    }  # fmt: skip


def _all_sets() -> list[str]:
    numbers = json.loads((ROOT / "docs" / "numbers" / "rai_anb.json").read_text())
    return [one["set"] for one in numbers["small"]]


def _summary(mine: list[dict], title: str) -> dict:
    rows = sum(cell["test"] for cell in mine)
    correct = sum(cell["methods"][title]["correct"] for cell in mine)
    loss = sum(cell["methods"][title]["loss"] for cell in mine)
    return {"accuracy": round(correct / rows, 5), "log_loss": round(loss / rows, 5)}


def _tests(sets: list[dict], measure: str) -> dict:
    """Compare all methods with RAI-ANB over the sets: Wilcoxon's test, p-values adjusted by Hommel's method."""
    if len(sets) < 2:
        return {}
    scores = {title: [one["methods"][title][measure] for one in sets] for title in METHODS}
    higher = measure == "accuracy"
    compared = tb.compare_scores(scores, control=CONTROL, higher_is_better=higher, metric=MEASURES[measure])
    found = {}
    for title in METHODS:
        place = compared.names.index(title)
        ours, theirs = np.array(scores[title]), np.array(scores[CONTROL])
        better = (ours > theirs) if higher else (ours < theirs)
        found[title] = {
            "mean": round(float(ours.mean()), 5), "rank": round(float(compared.ranks[place]), 3),
            "p": round(float(compared.p_values[place]), 5), "better": int(better.sum()),
            "worse": int(((ours != theirs) & ~better).sum()),
        }  # fmt: skip
    return found


# ---------------------------------------------------------------------- the page


def summary_table(found: dict, measure: str) -> str:
    """Write a line per method: mean, mean rank, sets on which it is better and worse, p-value."""
    digits = 4
    lines = [
        [title, f"{cell['mean']:.{digits}f}", f"{cell['rank']:.2f}", str(cell["better"]), str(cell["worse"]),
         "" if title == CONTROL else f"{cell['p']:.4f}"]
        for title, cell in found["tests"][measure].items()
    ]  # fmt: skip
    return markdown(["method", f"mean {MEASURES[measure]}", "mean rank", "better", "worse", "p"], lines)


def set_table(found: dict, measure: str) -> str:
    """Write a line per set: what it is, how the graphs were searched, and every method."""
    lines = []
    for one in found["sets"]:
        values = [f"{one['methods'][title][measure]:.4f}" for title in METHODS]
        shown = [one["set"], str(one["features"]), f"{one['rows']:,}", str(one["shuffles"]), one["search"]]
        lines.append([*shown, one["subsets"], f"{one['largest_weight']:.2f}", *values])
    head = ["set", "features", "rows", "shuffles", "search", "in subsets", "largest weight", *METHODS]
    return markdown(head, lines)


def verdict(found: dict, measure: str) -> str:
    """Say which methods differ from RAI-ANB by more than chance."""
    own = {title: cell for title, cell in found["tests"][measure].items() if title != CONTROL}
    base = found["tests"][measure][CONTROL]["mean"]
    sign = 1 if measure == "accuracy" else -1
    better = [t for t, cell in own.items() if cell["p"] < 0.05 and sign * (cell["mean"] - base) > 0]
    worse = [t for t, cell in own.items() if cell["p"] < 0.05 and sign * (cell["mean"] - base) < 0]
    told = [f"better than RAI-ANB at p < 0.05: {', '.join(better) if better else 'none'}"]
    told.append(f"worse: {', '.join(worse) if worse else 'none'}")
    return "; ".join(told)


def render(found: dict) -> str:
    """Put tables and figures into the prose."""
    seconds = {k: np.mean([one["seconds"][k] for one in found["sets"]]) for k in found["sets"][0]["seconds"]}
    exact = [one for one in found["sets"] if one["search"] == "dp"]
    concentrated = [one for one in exact if one["largest_weight"] > 0.9]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    parts = {
        "made": f"commit {found['commit'][:12]}, first seed {found['seeds'][0]}, {found['machine']}, {versions}"
        + found.get("remark", ""),
        "n_sets": str(len(found["sets"])), "n_exact": str(len(exact)), "n_concentrated": str(len(concentrated)),
        "missing": ", ".join(found["missing"]) or "none",
        "large": ", ".join(f"{one['set']} ({one['large']})" for one in found["sets"] if one["large"]) or "none",
        "shuffles": ", ".join(f"{one['set']} {one['shuffles']}" for one in found["sets"]),
        "seconds": ", ".join(f"{k} {v:.2f} s" for k, v in seconds.items()), "k": str(found["k"]),
        **{f"{name}_{measure}": table(found, measure) for measure in MEASURES
           for name, table in (("summary", summary_table), ("sets", set_table), ("verdict", verdict))},
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], TEMPLATE.read_text())


def write_page(path: Path) -> None:
    """Write the numbers and the page."""
    found = collect(path)
    (ROOT / "docs" / "numbers" / "averaging.json").write_text(json.dumps(found, indent=1) + "\n")
    (ROOT / "docs" / "averaging.md").write_text(render(found))
    for measure in MEASURES:
        print(f"{MEASURES[measure]}: {verdict(found, measure)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("run", "page"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cells", type=Path, default=KEPT)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10_000)
    parser.add_argument("--sets")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    run(options) if options.command == "run" else write_page(options.cells)


if __name__ == "__main__":
    main()
