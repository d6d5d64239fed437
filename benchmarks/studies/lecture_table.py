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
    "mushroom": "all rows, a missing value being a category",
    "congressional": "all rows, a missing value being a category",
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
    """Give the same learners with the cutting and the missing values left to them."""
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


def rows_in_file(folder: Path, name: str) -> int:
    """Count the rows of a file, with those that have missing values."""
    return len(pd.read_csv(folder / f"{name}.csv.gz", usecols=["class"]))


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
            "hash": data.file_hash(folder, row["file"]), "rows_in_file": rows_in_file(folder, row["file"]),
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
        "searches": searches_table(found), "implied": implied_table(found), "made": made(found),
        **{name.replace(",", "").replace(" ", "_"): f"{value:.1f}" for name, value in distances(found).items()},
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


def distances(found: dict) -> dict[str, float]:
    """Sum, over the sets, the distances from the lecture's accuracies and from its numbers of features."""
    away = {}
    for method in ("GBN", "GBN by tests", "BAN", "BAN by tests"):
        pairs = [(one["methods"][method]["accuracy"], one["lecture"][COLUMNS[method]]["mean"]) for one in found["sets"]]
        away[method] = sum(abs(100 * ours - told) for ours, told in pairs)
    for method in ("GBN", "GBN by tests"):
        used = [(one["methods"][method]["blanket"], features(one["lecture_selected"])) for one in found["sets"]]
        away[f"{method}, features"] = sum(abs(ours - told) for ours, told in used)
    return away


def features(told: str) -> float:
    """Read how many features the lecture's GBN uses: the middle of "10-11/16"."""
    return mean(float(end) for end in told.split("/")[0].split("-"))


def searches_table(found: dict) -> str:
    """Set graphs by hill climbing and by tests of independence beside the lecture's, with the summed distance."""
    rows, away = [], distances(found)
    for one in found["sets"]:
        line = [one["lecture_name"]]
        for column in ("GBN", "BAN"):
            line += [f"{100 * one['methods'][m]['accuracy']:.2f}" for m in (column, f"{column} by tests")]
            line.append(f"{one['lecture'][column]['mean']:.2f}")
        used = " / ".join(f"{one['methods'][m]['blanket']:.1f}" for m in ("GBN", "GBN by tests"))
        rows.append([*line, f"{used} ({one['lecture_selected']})"])
    total = [f"**{away[m]:.1f}**" for m in ("GBN", "GBN by tests", "BAN", "BAN by tests")]
    used = " / ".join(f"**{away[f'{m}, features']:.1f}**" for m in ("GBN", "GBN by tests"))
    rows.append(["summed distance from the lecture", *total[:2], "", *total[2:], "", used])
    head = [f"{c} {how}" for c in ("GBN", "BAN") for how in ("climbing", "by tests", "lecture")]
    return markdown(["data set", *head, "GBN: features used"], rows)


def implied_table(found: dict) -> str:
    """Give the number of tested rows of which each ± would be the standard error: p (1 - p) / error²."""
    rows = []
    for one in found["sets"]:
        implied = []
        for told in one["lecture"].values():
            if told["plus_minus"]:
                share, error = told["mean"] / 100, told["plus_minus"] / 100
                implied.append(share * (1 - share) / error**2)
        third = one["rows_in_file"] / 3
        between = f"{min(implied):,.0f} to {max(implied):,.0f}"
        rows.append([one["lecture_name"], between, f"{one['rows_in_file']:,}", f"{third:,.0f}"])
    return markdown(["data set", "tested rows that the ± imply", "rows of the file", "a third of them"], rows)


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
