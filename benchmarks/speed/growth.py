"""How processor time grows with rows, features, states and classes.

    python -m benchmarks.speed.growth run [--quick] [--axis rows] [--seconds 60]
    python -m benchmarks.speed.growth page

``run`` measures one point after another and writes each to docs/numbers/growth.json, so that it can be stopped and run
again; a work is not taken further along an axis once a point took more than ``--seconds``. The rows of the axis "file"
are in a Parquet file of few columns, which is made in ``--folder`` and removed after each size. ``page`` writes
docs/growth.md and its picture. Points are the least of a few repeats of processor seconds on one thread, after one that
is not counted. The exponent is the slope of the logarithm of time over the upper half of the points, its spread the
lowest and the highest slope between neighbours there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from benchmarks.speed.data import sample, tree_model, tree_table, with_gaps
from tanbark.files import atomic_path

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = ROOT / "docs" / "numbers" / "growth.json"
PAGE, PICTURE = ROOT / "docs" / "growth.md", ROOT / "docs" / "figures" / "growth.svg"
BASE = {"rows": 10_000, "features": 20, "states": 4, "classes": 2}
AXES = {
    "rows": [10**k for k in range(3, 8)],
    "features": [10, 30, 100, 300, 1_000, 3_000, 10_000],
    "states": [2, 5, 10, 20, 50, 100, 200],
    "classes": [2, 5, 10, 20, 50, 100],
    "file": [10**k for k in range(4, 9)],
}
OTHERS = {"features": {"rows": 1_000}, "file": {"features": 5}}  # what is not as in BASE along an axis
QUICK = {axis: points[:3] for axis, points in AXES.items()}
EXPLAINED = 100  # rows that are explained at most
REPEATS, ENOUGH = 3, 5.0  # seconds after which a point is not repeated
TITLES = {"file": "By rows of a file"}
WORKS = ("naive Bayes fit", "TAN fit", "predict", "predict, 10 % missing", "explain", "page")
FILE_WORKS = ("naive Bayes fit", "TAN fit", "predict")  # of the axis of files
CHUNK = 1_000_000  # rows that are made at once


def works(size: dict[str, int]) -> dict[str, Callable[[], Any]]:
    """The works at one size; those of a fitted model share one TAN, which is fitted by the first that needs it."""
    import tanbark as tb

    table = tree_table(size["rows"], size["features"], size["states"], size["classes"])
    dtype = np.uint8 if size["states"] <= 256 else np.int64
    X, y = table.X.astype(dtype), table.y
    options = {"n_jobs": 1, "categorical_features": list(range(size["features"]))}
    fitted: list[Any] = []

    def model() -> Any:
        if not fitted:
            fitted.append(tb.TAN(criterion="loglik", **options).fit(X, y))
        return fitted[0]

    holed: list[np.ndarray] = []

    def gaps() -> np.ndarray:
        if not holed:
            holed.append(with_gaps(X, 0.1))
        return holed[0]

    return {
        "naive Bayes fit": lambda: tb.NaiveBayes(**options).fit(X, y),
        "TAN fit": lambda: tb.TAN(criterion="loglik", **options).fit(X, y),
        "predict": lambda: model().predict_proba(X),
        "predict, 10 % missing": lambda: model().predict_proba(gaps()),
        "explain": lambda: model().explain(X[:EXPLAINED]),
        "page": lambda: model().explore().html,
    }


def works_of(axis: str) -> tuple[str, ...]:
    """The works along an axis."""
    return FILE_WORKS if axis == "file" else WORKS


def write_rows(path: Path, n_rows: int, size: dict[str, int]) -> None:
    """Write a sample of a tree-augmented network as a Parquet file, one byte per value."""
    import pyarrow as pa
    from pyarrow import parquet

    model = tree_model(size["features"], size["states"], size["classes"], 0)
    names = [*(f"f{k}" for k in range(size["features"])), "class"]
    with parquet.ParquetWriter(path, pa.schema([(name, pa.uint8()) for name in names])) as out:
        for first in range(0, n_rows, CHUNK):
            part = sample(model, min(CHUNK, n_rows - first), 1 + first)
            columns = np.column_stack([part.X, part.y]).astype(np.uint8).T
            out.write_table(pa.table([pa.array(column) for column in columns], names=names))


def file_works(size: dict[str, int], path: Path) -> dict[str, Callable[[], Any]]:
    """The works on rows in a file; predictions, by a TAN, go to a file too."""
    import tanbark as tb

    def fit(kind: Any) -> Any:
        return kind(n_jobs=1).fit(tb.scan(path, target="class"))

    write_rows(path, size["file"], size)
    model = fit(tb.TAN)
    out = path.with_name("predicted.parquet")
    return {
        "naive Bayes fit": lambda: fit(tb.NaiveBayes),
        "TAN fit": lambda: fit(tb.TAN),
        "predict": lambda: model.predict_file(path, out),
    }


def measure(call: Callable[[], Any]) -> float:
    """The least processor seconds of a few calls, after one that compiles and fits what is needed."""
    call()
    taken: list[float] = []
    while len(taken) < REPEATS and sum(taken) < ENOUGH:
        start = process_time()
        call()
        taken.append(process_time() - start)
    return min(taken)


def run(points: dict[str, list[int]], seconds: float, folder: Path | None) -> None:
    """Measure what is not in the file of numbers yet."""
    found: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {"points": {}}
    found |= {"machine": f"{platform.machine()}, Python {platform.python_version()}", "base": BASE, "others": OTHERS}
    found.setdefault("loads", []).append(round(os.getloadavg()[0], 1))  # one per run that added points
    for axis, sizes in points.items():
        for n in sizes:
            size = BASE | OTHERS.get(axis, {}) | {axis: n}
            wanted = [work for work in works_of(axis) if _key(axis, work, n) not in found["points"]]
            wanted = [work for work in wanted if _goes_on(found["points"], axis, work, sizes, n, seconds)]
            with TemporaryDirectory(dir=folder) as place:
                calls: dict[str, Callable[[], Any]] = {}
                if wanted:
                    calls = file_works(size, Path(place) / "rows.parquet") if axis == "file" else works(size)
                for work in wanted:
                    found["points"][_key(axis, work, n)] = measure(calls[work])
                    with atomic_path(NUMBERS) as partial:
                        partial.write_text(json.dumps(found, indent=1) + "\n")
                    print(f"{axis} {n:,} {work}: {found['points'][_key(axis, work, n)]:.4f} s", flush=True)


def _key(axis: str, work: str, n: int) -> str:
    return f"{axis}|{work}|{n}"


def _goes_on(points: dict[str, float], axis: str, work: str, sizes: list[int], n: int, seconds: float) -> bool:
    """Whether the points before n are all there and none took too long."""
    before = [points.get(_key(axis, work, smaller)) for smaller in sizes if smaller < n]
    return all(taken is not None and taken <= seconds for taken in before)


def curves(points: dict[str, float]) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Sizes and seconds by axis and work."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for key, seconds in points.items():
        axis, work, n = key.split("|")
        found.setdefault((axis, work), {})[int(n)] = seconds
    return {key: (np.array(sorted(curve)), np.array([curve[n] for n in sorted(curve)])) for key, curve in found.items()}


def exponent(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float, float]:
    """The slope over the upper half of the points, and the lowest and highest slope of its steps.

    >>> exponent(np.array([1, 2, 4, 8]), np.array([1.0, 1.0, 2.0, 4.0]))
    (1.0, 1.0, 1.0)
    """
    upper = slice(min(len(sizes) // 2 - (len(sizes) % 2 == 0), len(sizes) - 2), None)
    x, y = np.log2(sizes[upper]), np.log2(seconds[upper])
    steps = np.diff(y) / np.diff(x)
    return round(float(np.polyfit(x, y, 1)[0]), 6), float(steps.min()), float(steps.max())


def page() -> None:
    """Write the page and its picture from the numbers."""
    found = json.loads(NUMBERS.read_text())
    lines = curves(found["points"])
    draw(lines)
    text = [
        "# Growth", "",
        "Processor seconds on one thread, by the number of rows, features, states and classes; the other three are "
        f"{BASE['rows']:,} rows (1,000 along the axis of features), {BASE['features']} features, {BASE['states']} "
        f"states and {BASE['classes']} classes. Data are samples of a tree-augmented network, one byte per value; "
        f"predictions and explanations are of a TAN, `explain` takes {EXPLAINED} rows, `page` makes the explorer page. "
        f"Rows of a file are read from Parquet, with {OTHERS['file']['features']} features; predictions go to a file. "
        "The exponent is the slope over the upper half of the points on logarithmic scales, in brackets the lowest and "
        "the highest slope between neighbours there. Sizes without a figure were not run. Load of the machine at "
        f"the start of each run: {found.get('loads', 'not recorded')}.{found.get('remark', '')}", "",
        "`python -m benchmarks.speed.growth run` and then `page` do it again; the points are in "
        "`docs/numbers/growth.json`.",
        "", "![Processor seconds by rows, features, states and classes](figures/growth.svg)", "",
    ]  # fmt: skip
    for axis, sizes in AXES.items():
        text += [
            f"## {TITLES.get(axis, f'By {axis}')}",
            "",
            f"| work | {' | '.join(f'{n:,}' for n in sizes)} | exponent |",
        ]
        text.append("|---|" + "--:|" * (len(sizes) + 1))
        for work in works_of(axis):
            cells = [found["points"].get(_key(axis, work, n)) for n in sizes]
            shown = " | ".join("" if taken is None else _seconds(taken) for taken in cells)
            slope = ""
            if (axis, work) in lines and len(lines[axis, work][0]) > 2:
                middle, low, high = exponent(*lines[axis, work])
                slope = f"{middle:.2f} [{low:.2f}, {high:.2f}]"
            text.append(f"| {work} | {shown} | {slope} |")
        text.append("")
    with atomic_path(PAGE) as partial:
        partial.write_text("\n".join(text))


def _seconds(taken: float) -> str:
    return f"{1000 * taken:.2g} ms" if taken < 0.1 else f"{taken:.2f} s" if taken < 10 else f"{taken:.0f} s"


def draw(lines: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]) -> None:
    """Draw a panel for every axis, a curve for every work."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 2, figsize=(9, 10), layout="constrained")
    panels.ravel()[-1].set_axis_off()
    for panel, axis in zip(panels.ravel()[:-1], AXES, strict=True):
        for work, mark in zip(WORKS, "osv^Dx", strict=True):
            if (axis, work) in lines:
                panel.loglog(*lines[axis, work], marker=mark, markersize=4, linewidth=1.2, label=work)
        panel.set_xlabel("rows of a file" if axis == "file" else axis)
        panel.set_ylabel("processor seconds")
        panel.grid(alpha=0.3)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.growth", description=__doc__)
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes of every axis")
    parser.add_argument("--seconds", type=float, default=60.0, help="a work that took longer is not taken further")
    parser.add_argument("--axis", action="append", choices=tuple(AXES), help="one of the axes only; may be repeated")
    parser.add_argument("--folder", type=Path, help="where the files of rows are made, some 200 MB for the largest")
    given = parser.parse_args()
    if given.what == "run":
        chosen = QUICK if given.quick else AXES
        run({axis: chosen[axis] for axis in given.axis or chosen}, given.seconds, given.folder)
    else:
        page()


if __name__ == "__main__":
    main()
