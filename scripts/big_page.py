"""Write the numbers of docs/big.md: measured runs, a cost model and plans, and a comparison with boosted trees."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- {} begin -->", "<!-- {} end -->"
FEATURES = 40
ORDER = ("NaiveBayes", "TAN", "AODE", "KDB", "RAIANB", "GBN")
MODELLED = ORDER[:4]


def cost_model(found: dict[str, Any]) -> dict[str, float]:
    """Fit CPU seconds = values read x a + (pairs x rows) x b, by least squares on the relative error, not below 0."""
    lines = []
    for run in found["rows"].values():
        if run["learner"] in MODELLED:
            counted = 0 if run["learner"] == "NaiveBayes" else math.comb(FEATURES, 2)
            lines.append((run["rows"] * (FEATURES + 1) * run["passes"], run["rows"] * counted, run["cpu_seconds"]))
    pairs = found["all_pairs"]
    lines.append((1e6 * (pairs["columns"] + 1), 1e6 * pairs["pairs"], pairs["tanbark"]["cpu"]))
    read, counted, seconds = (np.array(column, float) for column in zip(*lines, strict=True))
    design = np.stack([read / seconds, counted / seconds], axis=1)
    from scipy.optimize import nnls

    weights, _ = nnls(design, np.ones(len(seconds)))
    off = np.abs(design @ weights - 1.0).max()
    return {"value_ns": 1e9 * weights[0], "pair_ns": 1e9 * weights[1], "runs": len(seconds), "off": 100 * float(off)}


def plan(model: dict[str, float]) -> list[str]:
    """Return the time of one core, the bytes that a pass reads, the size of the counts, and the cores for a day."""
    lines = [
        "| rows | features | read in a pass | NaiveBayes | TAN, AODE | KDB | counts | cores for TAN in a day |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rows in (1e8, 1e9, 1e10, 1e11):
        for features in (100, 1000, 10000):
            once = rows * features * model["value_ns"] * 1e-9
            pairs = rows * features * (features - 1) / 2 * model["pair_ns"] * 1e-9
            cells = _bytes(features * (features - 1) / 2 * 50 * 8)
            times = (_time(2 * once), _time(2 * once + pairs), _time(3 * once + pairs))
            cores = f"{math.ceil((2 * once + pairs) / 86400):,}"
            costs = (_bytes(rows * features), *times, cells, cores)
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
    """Return the measurements."""
    memory, pairs = found["stream_and_memory"], found["all_pairs"]
    lines = [
        f"Measured by `{found['command']}` on {found['machine']}; the rows are generated, with a class of two",
        "labels and features of two to five states in a tree.",
        "",
        "| learner | rows | passes | wall s | CPU s | resident MiB | CPU s per million rows |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in sorted(found["rows"].values(), key=lambda run: (ORDER.index(run["learner"]), run["rows"])):
        each = f"{run['cpu_seconds'] / run['rows'] * 1e6:.2f}"
        values = [run[name] for name in ("passes", "wall_seconds", "cpu_seconds", "resident_mib")]
        lines.append(
            "| " + " | ".join(map(str, (run["learner"], f"{run['rows']:,} x {FEATURES}", *values, each))) + " |"
        )
    lines += [
        "",
        "- TAN from the file, 5 million rows, against reading the file whole and fitting in memory:",
        f"  {memory['stream_over_memory_cpu']} times the CPU, {memory['stream_over_memory_wall']} times the wall;",
        f"  against the fit alone, rows in memory, {memory['stream_over_memory_fit_alone_cpu']} times the CPU.",
        f"- All {pairs['pairs']:,} pairs of {pairs['columns']} columns with the class, 1 million rows: polars takes",
        f"  {pairs['polars_over_tanbark_wall']} times and DuckDB {pairs['duckdb_over_tanbark_wall']} times the wall of",
        f"  our pass over the file ({pairs['polars_over_tanbark_cpu']} and {pairs['duckdb_over_tanbark_cpu']} times",
        "  the CPU), their rows being in memory, ours in the file.",
    ]
    if "dask" in found:
        dask = found["dask"]
        lines += [
            f"- Dask with two workers on the same two cores, TAN on 5 million rows: {dask['ratio']} times the stream",
            f"  engine's wall clock, after {dask['start_seconds']} s of start-up.",
        ]
    return lines


def planned(found: dict[str, Any]) -> list[str]:
    """Return the cost model and what follows from it."""
    model = cost_model(found)
    most = max(run["rows"] for run in found["rows"].values()) // 10**6
    return [
        f"A model fitted to {model['runs']:.0f} of these runs: {model['value_ns']:.1f} ns of one core for each value",
        f"that a pass reads and codes, and {model['pair_ns']:.2f} ns for each pair of features in each row; no run",
        f"deviates by more than {model['off']:.0f} %. Times are of one core: divide by cores. NaiveBayes, TAN and",
        "AODE take two passes, KDB three; a pass reads a byte per value if the file stores categories as codes.",
        "A worker sends only the counts of its part of the rows. Features have about five states, with two",
        f"classes. What lies beyond the measured {most} million rows and 100 features is extrapolated.",
        "",
        *plan(model),
        "",
        "Naive Bayes is feasible wherever the rows can be read. TAN, AODE and the first pass of KDB grow with the",
        "square of the features: 1,000 features and 10^9 rows are a matter of cores, 10,000 features need a selection",
        "first (by the mutual information of each feature with the class, from naive Bayes's counts). RAI and hill",
        "climbing need counts of three and more features, whose number depends on the data; here they cost",
        *_beside(found),
        "They suit some hundred features. Wrappers make a pass or two for each step; exact search, EM and WANBIA need",
        "the coded rows in memory, a byte per value.",
    ]


def _beside(found: dict[str, Any]) -> list[str]:
    """Compare the learners of many passes with TAN, on the most rows that each was measured on."""
    costs = []
    for name in ("RAIANB", "GBN"):
        runs = [run for run in found["rows"].values() if run["learner"] == name]
        if runs:
            most = max(runs, key=lambda run: run["rows"])
            tan = found["rows"][f"TAN {most['rows'] // 10**6}"]
            times = most["cpu_seconds"] / tan["cpu_seconds"]
            costs.append(f"{times:.0f} times ({name}, {most['rows'] // 10**6} million rows)")
    return [" and ".join(costs) + " what TAN costs."]


def beside_boosting(found: dict[str, Any]) -> str:
    """Write the runs of SelectiveKDB and of boosted trees on the same files."""
    rows, memory = found["runs"][0]["rows"], found["max_memory"] // 2**20
    lines = [
        f"Measured by `{found['command']}` on {found['machine']}, {found['threads']} threads for each, on a machine",
        f"that others used too; {rows:,} rows, {found['test_rows']:,} test rows. Trees have their defaults.",
        "",
        "| data | method | accuracy | log-loss | wall s | CPU s | peak MiB | prediction, CPU s per million rows |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for run in found["runs"]:
        if "missing" in run:
            lines.append(f"| {run['kind']} | {run['method']} | not installed | | | | | |")
            continue
        scores = [f"{run[name]:.4f}" for name in ("accuracy", "log_loss")]
        costs = [f"{run[name]:,.0f}" for name in ("wall_seconds", "cpu_seconds", "peak_mib")]
        each = f"{run['predict_cpu_seconds_per_million']:.1f}"
        lines.append("| " + " | ".join((run["kind"], run["method"], *scores, *costs, each)) + " |")
    ours = [run for run in found["runs"] if run.get("temperature")]
    lines += ["", f'`SelectiveKDB(5, temperature="auto")` had `max_memory` of {memory:,} MiB for rows and counts.']
    for run in ours:
        lines.append(
            f'On "{run["kind"]}" it read the file {run["passes"]} times, the pass for the schema included: '
            f"`{run['chosen']}`, temperature {run['temperature']:.2f}."
        )
    return "\n".join(lines)


def main() -> None:
    """Replace the numbers of the page."""
    path = DOCS / "big.md"
    for name, file, write in (("numbers", "big", page), ("large file", "large_file", beside_boosting)):
        begin, end = BEGIN.format(name), END.format(name)
        head, rest = path.read_text().split(begin)
        found = json.loads((DOCS / "numbers" / f"{file}.json").read_text())
        path.write_text(f"{head}{begin}\n\n{write(found)}\n\n{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    main()
