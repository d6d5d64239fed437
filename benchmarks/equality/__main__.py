"""Record what the library learns and predicts, and check another version against the record.

    python -m benchmarks.equality record FOLDER [--data ../shared/data]
    python -m benchmarks.equality check FOLDER [--data ../shared/data] [--only NAME]

``record`` fits every learner on every data set and keeps the model files and the predictions. ``check`` does the same
and demands: the same graph, counts and cut points byte for byte (all of the model file but the options), probabilities
within 1e-12 with and without missing values, the same file from one thread and from a Parquet file read in batches,
and that the recorded model files still load and predict the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tanbark as tb
from benchmarks.equality.cases import CASES, Case, Data, data_sets

TOLERANCE = 1e-12
STREAMED = ("ties", "weighted", "blocks", "congressional", "german", "adult")
ONE_THREAD = ("ties", "blocks", "german", "vehicle")


def learnt_content(path: Path) -> str:
    """Digest what a model file says of columns, graph and counts; the options may have other names."""
    document = json.loads(path.read_text())
    for member in (document, *document.get("members", ())):
        for name in ("options", "estimator", "version"):
            member.pop(name, None)
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def blanked(frame: pd.DataFrame) -> pd.DataFrame:
    """Take 30 % of the values away."""
    return frame.astype(object).mask(np.random.default_rng(11).random(frame.shape) < 0.3)


def predictions(model: Any, data: Data) -> tuple[np.ndarray, np.ndarray]:
    new = data.new[:200]
    return model.predict_proba(new), model.predict_proba(blanked(new)[:60])


def fit(case: Case, data: Data, **options: Any) -> Any:
    return case.make().set_params(**options).fit(data.X, data.y, sample_weight=data.weights)


def fit_stream(case: Case, data: Data, folder: Path) -> Any:
    """Learn from a Parquet file that is read in batches."""
    path = folder / f"{data.name}.parquet"
    frame = data.X.assign(**{"class": data.y.to_numpy()})
    if data.weights is not None:
        frame["weight of the row"] = data.weights
    if not path.exists():
        frame.to_parquet(path, row_group_size=100)
    weight = None if data.weights is None else "weight of the row"
    return case.make().fit(tb.scan(path, target="class", weight=weight, batch_rows=150))


def measure(name: str, data: Data, folder: Path, scratch: Path) -> dict[str, Any]:
    """Fit one case on one data set; give its digests, and write its model file and predictions to the folder."""
    case = CASES[name]
    model = fit(case, data)
    path = folder / f"{data.name}~{name}.json"
    found = {"memory": _digest(model, path)}
    whole, missing = predictions(model, data)
    np.savez(folder / f"{data.name}~{name}.npz", whole=whole, missing=missing)
    if data.name in ONE_THREAD:
        found["one thread"] = _digest(fit(case, data, n_jobs=1), scratch / "model.json")
    if data.name in STREAMED and case.streams:
        found["stream"] = _digest(fit_stream(case, data, scratch), scratch / "model.json")
    return found


def _digest(model: Any, path: Path) -> str:
    model.save(path)
    return learnt_content(path)


def fits(case: Case, data: Data) -> bool:
    if case.complete and data.X.isna().to_numpy().any():
        return False
    return not case.most_columns or data.X.shape[1] <= case.most_columns


def run(folder: Path, data_folder: Path, only: str) -> dict[str, Any]:
    """Measure all cases; an error counts as a result, by its type."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in data_sets(data_folder):
            start = time.perf_counter()
            for name, case in CASES.items():
                if only in f"{data.name}~{name}" and fits(case, data):
                    try:
                        found[f"{data.name}~{name}"] = measure(name, data, folder, Path(scratch))
                    except tb.errors.TanbarkError as error:
                        found[f"{data.name}~{name}"] = {"error": type(error).__name__}
            print(f"{data.name:15} {time.perf_counter() - start:6.1f} s", file=sys.stderr, flush=True)
    return found


def differences(recorded: dict[str, Any], found: dict[str, Any], old: Path, new: Path) -> list[str]:
    """Compare digests and predictions of all cases that both have."""
    faults = []
    for name in sorted(recorded.keys() & found.keys()):
        faults += [f"{name}: {way} differs" for way in recorded[name] if recorded[name][way] != found[name].get(way)]
        if "error" not in recorded[name] and (new / f"{name}.npz").exists():
            faults += [f"{name}: {told}" for told in _moved(old / f"{name}.npz", new / f"{name}.npz")]
    return faults


def _moved(old: Path, new: Path) -> list[str]:
    before, now = np.load(old), np.load(new)
    far = {key: float(np.abs(before[key] - now[key]).max()) for key in before.files}
    return [f"probabilities ({key}) moved by {far[key]:.2g}" for key in far if not far[key] <= TOLERANCE]


def loading(recorded: dict[str, Any], folder: Path, data_folder: Path, only: str) -> list[str]:
    """Load the recorded model files and predict again."""
    faults = []
    sets = {data.name: data for data in data_sets(data_folder)}
    for name in recorded:
        if only not in name or "error" in recorded[name]:
            continue
        before = np.load(folder / f"{name}.npz")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                whole, missing = predictions(tb.load(folder / f"{name}.json"), sets[name.partition("~")[0]])
            except tb.errors.TanbarkError as error:
                faults.append(f"{name}: the recorded file does not load: {error}")
                continue
        far = max(np.abs(whole - before["whole"]).max(), np.abs(missing - before["missing"]).max())
        if not far <= TOLERANCE:
            faults.append(f"{name}: the recorded file predicts otherwise, by {far:.2g}")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["record", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="", help="run only those whose DATA~LEARNER holds this text")
    told = parser.parse_args()
    index = told.folder / "digests.json"
    if told.command == "record":
        found = run(told.folder, told.data, told.only)
        index.write_text(json.dumps(found, indent=1))
        print(f"recorded {len(found)} models in {told.folder}")
        return
    recorded = json.loads(index.read_text())
    with tempfile.TemporaryDirectory() as fresh:
        found = run(Path(fresh), told.data, told.only)
        faults = differences(recorded, found, told.folder, Path(fresh))
    missing = [name for name in recorded if told.only in name and name not in found]
    faults += [f"{name}: not run" for name in missing] + loading(recorded, told.folder, told.data, told.only)
    print("\n".join(faults))
    print(f"{len(found)} models compared, {len(faults)} differences")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
