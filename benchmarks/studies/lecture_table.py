"""A lecture's table of four classifiers on eight data sets, run again in the manner of the RAI-ANB study.

    python -m benchmarks.studies.lecture_table --data ../shared/data    # goes on where a killed run stopped

Writes docs/numbers/lecture_table.json and docs/lecture_table.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean, stdev

import pandas as pd
from sklearn.model_selection import KFold

import tanbark as tb
from benchmarks.studies.rai_anb import cells, data
from benchmarks.studies.rai_anb.numbers import origin
from benchmarks.studies.rai_anb.page import markdown

ROOT = Path(__file__).resolve().parents[2]
CELLS = ROOT / "build" / "studies" / "lecture_table.jsonl"
TEMPLATE = Path(__file__).with_suffix(".md")
SEED = 2022
OTHERWISE = {  # three sets once more, prepared in another way
    "adult": "numbers cut by MDLP on the training rows",
    "mushroom": "all rows, a gap being a value",
    "congressional": "all rows, a gap being a value",
}
METHODS: dict[str, tuple[str, dict]] = {
    "GBN": ("hill-climb", {"criterion": "bdeu", "space": "dags", "tabu": 0}),
    "BAN": ("ban", {"criterion": "bdeu", "space": "dags", "tabu": 0}),
    "TAN": ("tan", {}),
    "NBC": ("naive", {}),
    "GBN by tests": ("rai-gbn", {}),
    "BAN by tests": ("rai-anb", {}),
}
COLUMNS = {name: name.removesuffix(" by tests") for name in METHODS}  # of the lecture


def estimators() -> dict:
    """Give the same four learners with the cutting and the gaps left to them."""
    given = {"parameters": "bdeu", "missing": "category", "discretize": "mdlp", "n_jobs": 1}
    return {
        "GBN": tb.GBN(criterion="bdeu", tabu=0, **given), "BAN": tb.BAN(tabu=0, **given), "TAN": tb.TAN(**given),
        "NBC": tb.NaiveBayes(**given), "GBN by tests": tb.RAIGBN(**given), "BAN by tests": tb.RAIANB(**given),
    }  # fmt: skip


def run_otherwise(folder: Path, path: Path) -> None:
    """Run the sets of ``OTHERWISE`` on ten folds, skipping what is done."""
    done = cells.load(path)
    for name in OTHERWISE:
        frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
        frame = frame.drop(columns=data.LEFT_OUT.get(name, []))
        frame = frame.dropna() if name == "adult" else frame
        X, y = frame.drop(columns="class"), frame["class"].astype(str)
        for fold, (train, test) in enumerate(KFold(10, shuffle=True, random_state=SEED).split(X)):
            for method, model in estimators().items():
                key = f"{name}, otherwise", method, fold, SEED
                if key not in done:
                    right = int((model.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test]) == y.iloc[test]).sum())
                    found = {"set": key[0], "method": method, "fold": fold, "seed": SEED, "test": len(test)}
                    cells.append(path, {**found, "correct": right, "train": len(train)})


def collect(folder: Path, path: Path) -> dict:
    """Average the folds of every method on every set."""
    done, sets = cells.load(path), []
    for row in data.paper_tables(folder)["lecture"]["rows"]:
        table = data.read(folder, row["file"])
        found = {}
        for method in METHODS:
            folds = [done[row["file"], method, fold, SEED] for fold in range(10)]
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
    otherwise = {}
    for name in OTHERWISE:
        folds = {m: [done[f"{name}, otherwise", m, fold, SEED] for fold in range(10)] for m in METHODS}
        otherwise[name] = {m: round(mean(f["correct"] / f["test"] for f in found), 6) for m, found in folds.items()}
        otherwise[name]["rows"] = folds["NBC"][0]["train"] + folds["NBC"][0]["test"]
    return {
        "command": "python -m benchmarks.studies.lecture_table", "seed": SEED, **origin(), "sets": sets,
        "otherwise": otherwise,
    }  # fmt: skip


def render(found: dict) -> str:
    """Put the tables into the prose."""
    rows = []
    for one in found["sets"]:
        line = [f"{one['lecture_name']} ({one['rows']:,} x {one['features']})"]
        for method in ("GBN", "BAN", "TAN", "NBC"):
            ours, told = one["methods"][method], one["lecture"][method]
            spread = "" if told["plus_minus"] is None else f" ± {told['plus_minus']:.2f}"
            line.append(f"{100 * ours['accuracy']:.2f} ± {100 * ours['error']:.2f} ({told['mean']:.2f}{spread})")
        line.append(f"{one['methods']['GBN']['blanket']:.1f}/{one['features']} ({one['lecture_selected']})")
        rows.append(line)
    averages = []
    for method in ("GBN", "BAN", "TAN", "NBC"):
        ours = mean(100 * one["methods"][method]["accuracy"] for one in found["sets"])
        averages.append(f"{ours:.2f} ({mean(one['lecture'][method]['mean'] for one in found['sets']):.2f})")
    head = ["data set", "GBN", "BAN", "TAN", "NBC", "GBN: features used"]
    parts = {
        "table": markdown(head, [*rows, ["average", *averages, ""]]), "otherwise": otherwise_table(found),
        "searches": searches_table(found), "made": made(found),
    }  # fmt: skip
    text = TEMPLATE.read_text()
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return text


def otherwise_table(found: dict) -> str:
    """Write the sets that were prepared in another way."""
    lecture = {one["set"]: one["lecture"] for one in found["sets"]}
    rows = []
    for name, told in found["otherwise"].items():
        shares = [f"{100 * told[m]:.2f} ({lecture[name][COLUMNS[m]]['mean']:.2f})" for m in METHODS]
        rows.append([f"{name} ({told['rows']:,} rows): {OTHERWISE[name]}", *shares])
    return markdown(["data set", *METHODS], rows)


def searches_table(found: dict) -> str:
    """Set graphs by hill climbing and by tests of independence beside the lecture's, with the summed distance."""
    rows, away = [], dict.fromkeys(("GBN", "GBN by tests", "BAN", "BAN by tests"), 0.0)
    used = {"GBN": 0.0, "GBN by tests": 0.0}
    for one in found["sets"]:
        line = [one["lecture_name"]]
        for column in ("GBN", "BAN"):
            told = one["lecture"][column]["mean"]
            for method in (column, f"{column} by tests"):
                percent = 100 * one["methods"][method]["accuracy"]
                away[method] += abs(percent - told)
                line.append(f"{percent:.2f}")
            line.append(f"{told:.2f}")
        told = one["lecture_selected"]
        ends = [float(end) for end in told.split("/")[0].split("-")]
        for method in used:
            used[method] += abs(one["methods"][method]["blanket"] - sum(ends) / len(ends))
        line.append(" / ".join(f"{one['methods'][m]['blanket']:.1f}" for m in used) + f" ({told})")
        rows.append(line)
    total = [f"**{away['GBN']:.1f}**", f"**{away['GBN by tests']:.1f}**", "", f"**{away['BAN']:.1f}**"]
    total += [f"**{away['BAN by tests']:.1f}**", "", " / ".join(f"**{value:.1f}**" for value in used.values())]
    head = ["data set"] + [f"{c} {how}" for c in ("GBN", "BAN") for how in ("climbing", "by tests", "lecture")]
    return markdown([*head, "GBN: features used"], [*rows, ["summed distance from the lecture", *total]])


def made(found: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"commit {found['commit'][:12]}, seed {found['seed']}, {found['machine']}, {versions}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    names = [row["file"] for row in data.paper_tables(options.data)["lecture"]["rows"]]
    todo = [cells.Cell(name, method, fold, SEED) for method in METHODS for name in names for fold in range(10)]
    cells.run_all(todo, options.cells, options.data, METHODS, workers=options.workers, seconds=float("inf"))
    run_otherwise(options.data, options.cells)
    found = collect(options.data, options.cells)
    (ROOT / "docs" / "numbers" / "lecture_table.json").write_text(json.dumps(found, indent=1) + "\n")
    (ROOT / "docs" / "lecture_table.md").write_text(render(found))


if __name__ == "__main__":
    main()
