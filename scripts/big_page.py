"""Write the numbers of docs/big.md from docs/numbers/big.json: measured runs, a cost model, and plans."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- numbers begin -->", "<!-- numbers end -->"
FEATURES = 40


def cost_model(found: dict[str, Any]) -> dict[str, float]:
    """Fit CPU seconds = values read x a + (pairs x rows) x b, for TAN, by least squares on the relative error."""
    runs = [run for run in found["rows"].values() if run["learner"] == "TAN"]
    pairs = found["all_pairs"]
    lines = [
        (r["rows"] * (FEATURES + 1) * r["passes"], r["rows"] * math.comb(FEATURES, 2), r["cpu_seconds"]) for r in runs
    ]
    lines.append((1e6 * (pairs["columns"] + 1), 1e6 * pairs["pairs"], pairs["tanbark"]["cpu"]))
    read, counted, seconds = (np.array(column, float) for column in zip(*lines, strict=True))
    design = np.stack([read / seconds, counted / seconds], axis=1)
    from scipy.optimize import nnls

    (value, pair), _ = nnls(design, np.ones(len(seconds)))
    return {"value_ns": 1e9 * value, "pair_ns": 1e9 * pair}


def plan(model: dict[str, float]) -> list[str]:
    """Tell the time of one core, and the bytes of a value each that a pass reads, for rows and features."""
    lines = [
        "| rows | features | read in a pass | NaiveBayes | TAN, AODE, KDB's first pass | tables of all pairs |",
        "|---|---|---|---|---|---|",
    ]
    for rows in (1e8, 1e9, 1e10, 1e11):
        for features in (100, 1000, 10000):
            read = 2 * rows * features * model["value_ns"] * 1e-9
            pairs = rows * features * (features - 1) / 2 * model["pair_ns"] * 1e-9
            cells = _bytes(features * (features - 1) / 2 * 50 * 8)
            costs = (_bytes(rows * features), _time(read), _time(read + pairs), cells)
            lines.append("| " + " | ".join((f"{rows:.0e}", f"{features:,}", *costs)) + " |")
    return lines


def _time(seconds: float) -> str:
    for limit, size, name in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h"), (6.3e7, 86400, "days")):
        if seconds < limit:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds / 3.156e7:,.0f} years"


def _bytes(size: float) -> str:
    for limit, unit, name in ((1e6, 1e3, "kB"), (1e9, 1e6, "MB"), (1e12, 1e9, "GB"), (1e15, 1e12, "TB")):
        if size < limit:
            return f"{size / unit:.0f} {name}"
    return f"{size / 1e15:.1f} PB"


def page(found: dict[str, Any]) -> str:
    """Write the part of the page that holds numbers."""
    return "\n".join([*measured(found), "", "### Planning", "", *planned(found)])


def measured(found: dict[str, Any]) -> list[str]:
    """Tell what was measured."""
    memory, pairs = found["stream_and_memory"], found["all_pairs"]
    lines = [
        f"Measured by `{found['command']}` on {found['machine'].split(';')[0]}, which other work kept busy",
        "(the load before each run is in `docs/numbers/big.json`); CPU seconds are therefore the ones to compare.",
        "",
        "| learner | rows | passes | CPU s | resident MiB | CPU s per million rows |",
        "|---|---|---|---|---|---|",
    ]
    for run in sorted(found["rows"].values(), key=lambda run: (run["learner"], run["rows"])):
        each = f"{run['cpu_seconds'] / run['rows'] * 1e6:.2f}"
        cells = (
            run["learner"],
            f"{run['rows']:,} x {FEATURES}",
            run["passes"],
            run["cpu_seconds"],
            run["resident_mib"],
        )
        lines.append("| " + " | ".join(map(str, (*cells, each))) + " |")
    lines += [
        "",
        "- TAN from the file, 5 million rows, against reading the file whole and fitting in memory:",
        f"  {memory['stream_over_memory_cpu']} times the CPU, {memory['stream_over_memory_wall']} times the wall;",
        f"  against the fit alone, rows in memory, {memory['stream_over_memory_fit_alone_cpu']} times the CPU.",
        f"- All {pairs['pairs']:,} pairs of {pairs['columns']} columns with the class, 1 million rows: polars takes",
        f"  {pairs['polars_over_tanbark_cpu']} times and DuckDB {pairs['duckdb_over_tanbark_cpu']} times the CPU of",
        f"  our pass over the file, their rows being in memory ({pairs['pairs_asked_of_peers']} pairs were asked",
        "  of them, and their time scaled up).",
    ]
    if "dask" in found:
        dask = found["dask"]
        lines += [
            f"- Dask with two workers on the same two cores, TAN on 5 million rows: {dask['ratio']} times the stream",
            f"  engine's wall clock, after {dask['start_seconds']} s of start-up.",
        ]
    return lines


def planned(found: dict[str, Any]) -> list[str]:
    """Tell the cost model and what follows from it."""
    model = cost_model(found)
    most = max(run["rows"] for run in found["rows"].values()) // 10**6
    return [
        f"A model fitted to these runs: {model['value_ns']:.1f} ns of one core for each value that a pass reads and",
        f"codes, and {model['pair_ns']:.2f} ns for each pair of features in each row. One core, two passes, features",
        f"of about five states, two classes; divide by cores. What lies beyond the measured {most} million rows and",
        "100 features is extrapolated.",
        "",
        *plan(model),
        "",
        "Naive Bayes stays feasible wherever the rows can be read. TAN, AODE and the first pass of KDB grow with the",
        "square of the features: 1,000 features and 10^9 rows are a matter of cores, 10,000 features need a selection",
        "first. RAI, hill climbing and the wrappers cost further passes, not measured on files of this size.",
        "Exact search stays in memory.",
    ]


def main() -> None:
    """Replace the numbers of the page."""
    path = DOCS / "big.md"
    text = path.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    found = json.loads((DOCS / "numbers" / "big.json").read_text())
    path.write_text(f"{head}{BEGIN}\n\n{page(found)}\n\n{END}{tail}")


if __name__ == "__main__":
    main()
