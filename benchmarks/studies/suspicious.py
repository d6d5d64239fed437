"""What ``fit`` finds suspicious in the columns of every data set, with what a person needs to judge it.

``python -m benchmarks.studies.suspicious --data ../shared/data`` prints a line for every finding: the data set, the
column, the finding, the number of rows and of different values, and the first values. A wrong finding is a defect of
the rules (``tanbark.table.findings``), so that every line is to be looked at.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from tanbark.estimators import describe

CLASS = "class"


def sources(folder: Path) -> dict[str, tuple[Path, str]]:
    """Return the file and the class column of every data set of a folder: the manifest's, or the last column."""
    manifest: dict[str, Any] = {}
    if (folder / "manifest.json").exists():
        manifest = json.loads((folder / "manifest.json").read_text())
    found = {}
    for path in sorted(folder.glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        entry = manifest.get(name, {}) if isinstance(manifest, dict) else {}
        names = pd.read_csv(path, nrows=0).columns
        target = entry.get("target") or (CLASS if CLASS in names else names[-1])
        found[name] = path, str(target)
    return found


def findings(path: Path, target: str) -> tuple[int, int, list[tuple[str, str, int, list[Any]]]]:
    """Return the rows and features of a data set, and name, finding, different values and first values of columns."""
    frame = pd.read_csv(path, low_memory=False)
    frame = frame[frame[target].notna()]
    X = frame.drop(columns=target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = describe(X, frame[target])
    odd = [
        (column.name, column.finding, int(X[column.name].nunique()), X[column.name].head(4).tolist())
        for column in report.columns
        if column.finding
    ]
    return len(X), X.shape[1], odd


def main() -> None:
    """Print the findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    n_columns = n_odd = 0
    for name, (path, target) in sources(folder).items():
        rows, columns, odd = findings(path, target)
        n_columns, n_odd = n_columns + columns, n_odd + len(odd)
        print(f"{name}: {rows:,} rows, {columns:,} features, {len(odd)} findings", flush=True)
        for column, finding, different, first in odd:
            print(f"    {column}: {finding}; {different:,} different values, such as {first}")
    print(f"{n_odd} of {n_columns:,} columns have a finding")


if __name__ == "__main__":
    main()
