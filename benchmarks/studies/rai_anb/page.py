"""The page: the prose of template.md with the tables in it, all from the numbers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from benchmarks.studies.rai_anb import numbers as gathered

HERE = Path(__file__).parent
LIMITS = {
    "Naive Bayes": 0.01, "exact-ANB": 0.01, "exact-GBN": 0.01, "RAI-ANB": 0.01,
    "RAI-GBN": 0.02, "BNC2P": 0.02, "GBN-CMDL": 0.02, "TAN-aCLL": 0.02,
}  # fmt: skip
FAR = 0.03  # a difference in accuracy that is listed


def write(folder: Path, path: Path, docs: Path, seed: int) -> None:
    """Gather the numbers, and write them and the page."""
    found = gathered.collect(folder, path, seed)
    for place, text in (
        (docs / "numbers" / "rai_anb.json", json.dumps(found, indent=1) + "\n"), (docs / "rai_anb.md", render(found)),
    ):  # fmt: skip
        partial = place.with_suffix(".partial")
        partial.write_text(text)
        partial.replace(place)


def render(found: dict) -> str:
    """Put the tables into the prose."""
    parts = {
        "table_1": accuracy_table(found, "small", "table_1"), "foot_1": foot(found, "small", "table_1"),
        "criterion_1": criterion(found, "small"), "criterion_3": criterion(found, "large"),
        "smoothing": smoothing_table(found), "far_1": far(found, "small", "table_1"),
        "table_2": size_table(found, "small", "table_2"),
        "table_3": accuracy_table(found, "large", "table_3"), "foot_3": foot(found, "large", "table_3"),
        "far_3": far(found, "large", "table_3"), "table_4": size_table(found, "large", "table_4"),
        "family": family_table(found), "table_5": whole_table(found), "optimal": optimal_table(found),
        "made": made(found),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], (HERE / "template.md").read_text())


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def paper_rows(found: dict, table: str) -> dict:
    return {row["file"]: row for row in found["paper"][table]["rows"] if row["file"]}


def accuracy_table(found: dict, size: str, table: str) -> str:
    """Set by set: ours, and the paper's in brackets; a star marks counts that differ from the paper's."""
    methods, paper = list(found["summary"][size]["methods"]), paper_rows(found, table)
    rows = []
    for one in found[size]:
        printed = paper[one["set"]]["accuracy"]
        cells = [
            f"{one['methods'][m]['accuracy']:.4f} ({printed[m]:.4f})" if m in one["methods"] else "—" for m in methods
        ]
        rows.append([one["set"] + ("" if one["matches"] else "\\*"), *cells])
    return markdown(["data set", *methods], rows)


def foot(found: dict, size: str, table: str) -> str:
    """Averages, p-values and seconds, each beside the paper's."""
    told, printed = found["summary"][size], found["paper"][table]["summary"]
    methods = list(told["methods"])
    everyone = [m for m in methods if m in told["p"]]

    def p(values: dict, key: str) -> list[str]:
        return [f"{values[m][key]:.4f}" if m in everyone else "—" for m in methods]

    times, paper_times = told["methods"], printed["time_average_s"]
    rows = [
        [f"average of {told['complete']} sets", *(f"{told['methods'][m]['all']['accuracy']:.4f}" for m in methods)],
        ["the paper's, same sets", *(f"{told['methods'][m]['all']['paper']:.4f}" for m in methods)],
        ["Wilcoxon p against RAI-ANB", *p(told["p"], "wilcoxon")],
        ["Hommel-adjusted", *p(told["p"], "hommel")],
        ["the paper's columns: Wilcoxon", *p(told["p_of_the_papers_columns"], "wilcoxon")],
        ["the paper's columns: Hommel-adjusted", *p(told["p_of_the_papers_columns"], "hommel")],
        ["printed in the paper", *(str(printed["p_value_hommel_vs_RAI-ANB"][m] or "—") for m in methods)],
        ["seconds to learn, mean", *(number(times[m]["seconds"]) for m in methods)],
        ["standard error", *(number(times[m]["seconds_error"]) for m in methods)],
        ["processor seconds, mean", *(number(times[m]["cpu"]) for m in methods)],
        ["the paper's seconds", *(f"{paper_times[m]:,}" for m in methods)],
    ]
    return markdown(["", *methods], rows)


def number(value: float) -> str:
    """Write a number with about three digits."""
    return f"{value:.{max(0, min(4, 2 - math.floor(math.log10(value))))}f}" if value > 0 else "0"


def criterion(found: dict, size: str) -> str:
    """Column averages over the sets with the paper's counts, and whether they are as near as was hoped."""
    rows = []
    for method, told in found["summary"][size]["methods"].items():
        if method in LIMITS:
            ours, paper = told["alike"]["accuracy"], told["alike"]["paper"]
            kept = "yes" if abs(ours - paper) <= LIMITS[method] else "**no**"
            rows.append([method, f"{ours:.4f}", f"{paper:.4f}", f"{ours - paper:+.4f}", f"{LIMITS[method]}", kept])
    return markdown(["method", "ours", "paper", "difference", "hoped for", "kept"], rows)


def smoothing_table(found: dict) -> str:
    """The same graphs with other pseudo-counts, over the sets with the paper's counts and where it matters most."""
    by_name = {one["set"]: one for one in found["small"]}
    paper, rows = paper_rows(found, "table_1"), []
    keys = ("accuracy", "accuracy_half", "accuracy_one")
    for method in ("exact-GBN", "exact-ANB"):
        for name in ("hepatitis", "lymphography", "climate-model"):
            told = by_name[name]["methods"].get(method)
            if told and "accuracy_one" in told:
                printed = f"{paper[name]['accuracy'][method]:.4f}"
                rows.append([f"{method}, {name}", *(f"{told[k]:.4f}" for k in keys), printed])
    sets = len(found["summary"]["small"]["smoothed"])
    for method, told in found["summary"]["small"]["smoothings"].items():
        rows.append([f"{method}, average of {sets} sets", *(f"{told[k]:.4f}" for k in (*keys, "paper"))])
    return markdown(["", "BDeu, 1 in all", "½ per cell", "1 per cell", "paper"], rows)


def far(found: dict, size: str, table: str) -> str:
    """List the cells that are far from the paper's."""
    paper, rows = paper_rows(found, table), []
    for one in found[size]:
        for method, told in one["methods"].items():
            printed = paper[one["set"]]["accuracy"][method]
            if abs(told["accuracy"] - printed) >= FAR:
                error = math.sqrt(printed * (1 - printed) / one["rows"])
                line = [
                    f"{told['accuracy']:.4f}",
                    f"{printed:.4f}",
                    f"{told['accuracy'] - printed:+.4f}",
                    f"{error:.3f}",
                ]
                rows.append([f"{one['set']}, {method}", *line])
    return markdown(["", "ours", "paper", "difference", "standard error of a share"], rows)


def size_table(found: dict, size: str, table: str) -> str:
    """Maximum parents and edges in the blanket (only the latter for the large sets), the paper's in brackets."""
    paper, rows = paper_rows(found, table), []
    measures = [m for m in (("NMP", "max_parents"), ("NMB", "blanket_edges")) if m[0] in next(iter(paper.values()))]
    methods = list(next(iter(paper.values()))["NMB"])
    for one in found[size]:
        line = [one["set"]]
        for method in methods:
            for printed, ours in measures:
                value = one["methods"].get(method, {}).get(ours)
                told = paper[one["set"]][printed][method]
                line.append("—" if value is None else f"{value:.1f} ({told:g})")
        rows.append(line)
    names = [f"{m} {printed}" for m in methods for printed, _ in measures]
    return markdown(["data set", *names], rows)


def family_table(found: dict) -> str:
    """RAI-GBN with the class's whole blanket, and with its parents alone, where the two differ most."""
    rows = []
    for size, table, sizes in (("small", "table_1", "table_2"), ("large", "table_3", "table_4")):
        accuracies, edges = paper_rows(found, table), paper_rows(found, sizes)
        for one in found[size]:
            told = one["methods"].get("RAI-GBN", {})
            if "accuracy_family" in told and abs(told["accuracy"] - told["accuracy_family"]) > 0.1:
                name = one["set"]
                line = [f"{told[key]:.4f}" for key in ("accuracy", "accuracy_family")]
                line += [f"{accuracies[name]['accuracy']['RAI-GBN']:.4f}", f"{told['blanket_edges']:.1f}"]
                rows.append([name, *line, f"{told['class_parents']:.1f}", f"{edges[name]['NMB']['RAI-GBN']:g}"])
    head = ["whole blanket", "parents alone", "paper", "edges, blanket", "edges, parents", "paper's NMB"]
    return markdown(["data set", *head], rows)


def whole_table(found: dict) -> str:
    """Table 5: one run on all rows."""
    rows = []
    for name, row in paper_rows(found, "table_5").items():
        line = [name]
        for key, printed in (("edges", "NE"), ("splits", "NDS")):
            line += [f"{found['whole'][f'{name} {m}'][key]} ({row[printed][m]})" for m in ("RAI-GBN", "RAI-ANB")]
        for method in ("RAI-GBN", "RAI-ANB"):
            ours, told = found["whole"][f"{name} {method}"], row["runtime_s"][method]
            line += [f"{number(ours['seconds'])} ({told:,})", number(ours["cpu"]), f"{told / ours['seconds']:,.0f}"]
        rows.append(line)
    head = ["NE RAI-GBN", "NE RAI-ANB", "NDS RAI-GBN", "NDS RAI-ANB"]
    timed = [f"{m} {what}" for m in ("RAI-GBN", "RAI-ANB") for what in ("s", "processor s", "times")]
    return markdown(["data set", *head, *timed], rows)


def optimal_table(found: dict) -> str:
    rows = [
        [kind, *(f"{told[key]:,}" for key in ("graphs", "reached", "exceeded"))]
        for kind, told in found["optimal"].items()
    ]
    return markdown(["", "graphs of other methods", "with the same BDeu", "with a higher one"], rows)


def made(found: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"commit {found['commit'][:12]}, seed {found['seed']}, {found['machine']}, {versions}"
