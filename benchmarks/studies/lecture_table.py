"""A lecture's table of four classifiers on eight data sets, run again in the manner of the RAI-ANB study.

    python -m benchmarks.studies.lecture_table --data ../shared/data    # goes on where a killed run stopped

Writes docs/numbers/lecture_table.json and docs/lecture_table.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean, stdev

from benchmarks.studies.rai_anb import cells, data
from benchmarks.studies.rai_anb.numbers import commit
from benchmarks.studies.rai_anb.page import markdown

ROOT = Path(__file__).resolve().parents[2]
CELLS = ROOT / "build" / "studies" / "lecture_table.jsonl"
TEMPLATE = Path(__file__).with_suffix(".md")
SEED = 2022
METHODS: dict[str, tuple[str, dict]] = {
    "GBN": ("hill-climb", {"score": "bdeu"}),
    "BAN": ("ban", {"score": "bdeu"}),
    "TAN": ("tan", {}),
    "NBC": ("naive", {}),
}


def collect(folder: Path, path: Path) -> dict:
    """Average the folds of every method on every set."""
    done, sets = cells.load(path), []
    for row in data.paper_tables(folder)["lecture"]["rows"]:
        table = data.read(folder, row["file"])
        found = {}
        for method in METHODS:
            folds = [done[row["file"], method, fold] for fold in range(10)]
            shares = [fold["correct"] / fold["test"] for fold in folds]
            found[method] = {
                "accuracy": round(mean(shares), 6), "error": round(stdev(shares) / 10**0.5, 6),
                "blanket": round(mean(fold["blanket"] for fold in folds), 2),
                "seconds": round(mean(fold["seconds"] for fold in folds), 6),
            }  # fmt: skip
        sets.append({
            "set": row["file"], "lecture_name": row["dataset"], "rows": table.n_rows,
            "features": table.schema.target, "classes": table.schema.cardinalities[-1], "methods": found,
            "lecture": row["accuracy_percent"], "lecture_selected": row["GBN_selected_attributes"],
            "hash": data.file_hash(folder, row["file"]),
        })  # fmt: skip
    return {
        "command": "python -m benchmarks.studies.lecture_table", "seed": SEED, "commit": commit(), "sets": sets
    }  # fmt: skip


def render(found: dict) -> str:
    """Put the table into the prose."""
    rows = []
    for one in found["sets"]:
        line = [f"{one['lecture_name']} ({one['rows']:,} x {one['features']})"]
        for method in METHODS:
            ours, told = one["methods"][method], one["lecture"][method]
            spread = "" if told["plus_minus"] is None else f" ± {told['plus_minus']:.2f}"
            line.append(f"{100 * ours['accuracy']:.2f} ± {100 * ours['error']:.2f} ({told['mean']:.2f}{spread})")
        line.append(f"{one['methods']['GBN']['blanket']:.1f}/{one['features']} ({one['lecture_selected']})")
        rows.append(line)
    averages = []
    for method in METHODS:
        ours = mean(100 * one["methods"][method]["accuracy"] for one in found["sets"])
        averages.append(f"{ours:.2f} ({mean(one['lecture'][method]['mean'] for one in found['sets']):.2f})")
    table = markdown(["data set", *METHODS, "GBN: features used"], [*rows, ["average", *averages, ""]])
    return TEMPLATE.read_text().replace("{{table}}", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    names = [row["file"] for row in data.paper_tables(options.data)["lecture"]["rows"]]
    todo = [cells.Cell(name, method, fold) for method in reversed(METHODS) for name in names for fold in range(10)]
    cells.run_all(todo, options.cells, options.data, SEED, METHODS, workers=options.workers, seconds=float("inf"))
    found = collect(options.data, options.cells)
    (ROOT / "docs" / "numbers" / "lecture_table.json").write_text(json.dumps(found, indent=1) + "\n")
    (ROOT / "docs" / "lecture_table.md").write_text(render(found))


if __name__ == "__main__":
    main()
