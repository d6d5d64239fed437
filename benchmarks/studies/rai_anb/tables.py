"""The tables of the paper, ours beside its figures, and what stands at their foot."""

from __future__ import annotations

import math

from benchmarks.studies.rai_anb.numbers import POOLED

HUNDREDTH = 0.01
FAR = 0.03  # a difference in accuracy that is listed
MANY_DEVIATIONS = 3  # of a shuffle


def markdown(head: list[str], rows: list[list[str]], *, words: bool = False) -> str:
    """Write a table of numbers, or of words, which stand on the left."""
    lines = [head, ["---", *["---" if words else "--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float) -> str:
    """Write a number with about three digits."""
    return f"{value:.{max(0, min(4, 2 - math.floor(math.log10(value))))}f}" if value > 0 else "0"


def paper_rows(found: dict, table: str) -> dict:
    """Give the rows of a table of the paper by data set."""
    return {row["file"]: row for row in found["paper"][table]["rows"] if row["file"]}


def shuffled(found: dict) -> str:
    """Say how often each set was shuffled."""
    groups: dict[str, list[str]] = {}
    for one in found["small"] + found["large"]:
        times = {m: told["shuffles"] for m, told in one["methods"].items()}
        exact = [times[m] for m in ("exact-GBN", "exact-ANB") if m in times]
        others = [t for m, t in times.items() if not m.startswith("exact")]
        key = f"{min(others)}" + (f", exact {min(exact)}" if exact else "")
        groups.setdefault(key, []).append(one["set"])
    rows = [[key, ", ".join(names)] for key, names in sorted(groups.items(), key=str)]
    return markdown(["shuffles", "sets"], rows, words=True)


def near(found: dict, size: str) -> str:
    """Name the columns whose average is within a hundredth of the paper's, and those that are not."""
    gaps = {
        m: told["alike"]["accuracy"] - told["alike"]["paper"] for m, told in found["summary"][size]["methods"].items()
    }
    inside = [method for method, gap in gaps.items() if abs(gap) <= HUNDREDTH]
    outside = [f"{method} ({gap:+.3f})" for method, gap in gaps.items() if abs(gap) > HUNDREDTH]
    return f"Within a hundredth: {', '.join(inside)}. Not so: {', '.join(outside) or 'none'}."


def columns(found: dict, size: str) -> str:
    """Column averages over the sets with the paper's counts, and the typical distance of a cell."""
    rows = []
    for method, told in found["summary"][size]["methods"].items():
        one = told["alike"]
        gap = one["accuracy"] - one["paper"]
        error = f"{one['error']:.4f}" if one["error"] else "—"
        line = [f"{one['accuracy']:.4f}", error, f"{one['paper']:.4f}", f"{gap:+.4f}"]
        rows.append([method, *line, f"{one['median']:.4f}", f"{one['rms']:.4f}"])
    head = ["method", "ours", "sd of a shuffle", "paper", "difference", "median cell", "root mean square"]
    return markdown(head, rows)


def sizes_agree(found: dict) -> str:
    """Give the mean absolute difference of NMP and NMB by method."""
    rows, paper = [], {**paper_rows(found, "table_2"), **paper_rows(found, "table_4")}
    for method in ("exact-GBN", "exact-ANB", "RAI-GBN", "RAI-ANB"):
        line = [method]
        for measure, ours in (("NMP", "max_parents"), ("NMB", "blanket_edges")):
            pairs = [
                (one["methods"][method][ours], paper[one["set"]][measure][method])
                for one in found["small"] + found["large"]
                if method in one["methods"] and measure in paper[one["set"]] and method in paper[one["set"]][measure]
            ]
            gaps = sorted(abs(a - b) for a, b in pairs)
            relative = sorted(abs(a - b) / max(b, 1.0) for a, b in pairs)
            line += [f"{len(pairs)}", f"{gaps[len(gaps) // 2]:.2f}", f"{100 * relative[len(relative) // 2]:.0f} %"]
        rows.append(line)
    head = ["method"] + [f"{m}: {what}" for m in ("NMP", "NMB") for what in ("sets", "median difference", "relative")]
    return markdown(head, rows)


def p_values(found: dict, size: str, table: str) -> str:
    """Wilcoxon's test against RAI-ANB on the means, on the paper's columns, and what the paper prints."""
    told, printed = found["summary"][size], found["paper"][table]["summary"]
    methods = list(told["p"])

    def line(values: dict, key: str) -> list[str]:
        return [f"{values[m][key]:.4f}" if values[m][key] >= 0.0001 else "< 0.0001" for m in methods]

    rows = [
        ["ours: Wilcoxon", *line(told["p"], "wilcoxon")],
        ["ours: adjusted by Hommel", *line(told["p"], "hommel")],
        ["the paper's columns: Wilcoxon", *line(told["p_of_the_papers_columns"], "wilcoxon")],
        ["the paper's columns: adjusted by Hommel", *line(told["p_of_the_papers_columns"], "hommel")],
        ["printed in the paper", *(str(printed["p_value_hommel_vs_RAI-ANB"][m] or "—") for m in methods)],
    ]
    return markdown([f"RAI-ANB against ({told['complete']} sets)", *methods], rows)


def seconds(found: dict, size: str, table: str) -> str:
    """Average time to learn a structure."""
    told, printed = found["summary"][size]["methods"], found["paper"][table]["summary"]
    rows = [
        ["processor seconds, mean over the sets", *(number(one["cpu"]) for one in told.values())],
        ["the paper's seconds", *(f"{printed['time_average_s'][m]:,}" for m in told)],
    ]
    return markdown(["", *told], rows)


def accuracies(found: dict, size: str, table: str) -> str:
    """Set by set: ours ± standard deviation over shuffles, the paper's in brackets."""
    methods, paper = list(found["summary"][size]["methods"]), paper_rows(found, table)
    rows = []
    for one in found[size]:
        line = [one["set"] + ("" if one["matches"] else "\\*")]
        for method in methods:
            told = one["methods"].get(method)
            printed = f"({paper[one['set']]['accuracy'][method]:.4f})"
            if told is None:
                line.append(f"— {printed}")
                continue
            spread = f" ± {told['sd']:.3f}" if told["shuffles"] > 1 else ""
            line.append(f"{told['accuracy']:.4f}{spread} {printed}")
        rows.append(line)
    return markdown(["data set", *(m + ("†" if m in POOLED else "") for m in methods)], rows)


def far(found: dict, size: str, table: str) -> str:
    """List the cells that are far from the paper's, by accuracy and by standard deviations of a shuffle."""
    paper, rows = paper_rows(found, table), []
    for one in found[size]:
        for method, told in one["methods"].items():
            printed = paper[one["set"]]["accuracy"][method]
            gap = told["accuracy"] - printed
            spread = told.get("sd", 0.0)
            if abs(gap) < FAR or (spread and abs(gap) < MANY_DEVIATIONS * spread):
                continue
            rows.append([
                f"{one['set']}, {method}", f"{told['accuracy']:.4f}", f"{spread:.4f}" if spread else "—",
                f"{printed:.4f}", f"{gap:+.4f}", f"{abs(gap) / spread:.0f}" if spread else "—", str(told["shuffles"]),
            ])  # fmt: skip
    return markdown(["", "ours", "sd of a shuffle", "paper", "difference", "in sd", "shuffles"], rows)


def sizes(found: dict, size: str, table: str) -> str:
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


def family(found: dict) -> str:
    """RAI-GBN with the class's whole blanket, and with its parents alone, where the two differ most."""
    rows = []
    for size, table, edges in (("small", "table_1", "table_2"), ("large", "table_3", "table_4")):
        accuracy, printed = paper_rows(found, table), paper_rows(found, edges)
        for one in found[size]:
            told = one["methods"].get("RAI-GBN", {})
            if "accuracy_family" in told and abs(told["accuracy"] - told["accuracy_family"]) > 0.1:
                name = one["set"]
                line = [f"{told[key]:.4f}" for key in ("accuracy", "accuracy_family")]
                line += [f"{accuracy[name]['accuracy']['RAI-GBN']:.4f}", f"{told['blanket_edges']:.1f}"]
                rows.append([name, *line, f"{told['class_parents']:.1f}", f"{printed[name]['NMB']['RAI-GBN']:g}"])
    head = ["whole blanket", "parents alone", "paper", "edges, blanket", "edges, parents", "paper's NMB"]
    return markdown(["data set", *head], rows)


def whole(found: dict) -> str:
    """Table 5: one run on all rows."""
    rows = []
    for name, row in paper_rows(found, "table_5").items():
        line = [name]
        for key, printed in (("edges", "NE"), ("splits", "NDS")):
            line += [f"{found['whole'][f'{name} {m}'][key]} ({row[printed][m]})" for m in ("RAI-GBN", "RAI-ANB")]
        for method in ("RAI-GBN", "RAI-ANB"):
            ours, told = found["whole"][f"{name} {method}"], row["runtime_s"][method]
            line += [f"{number(ours['cpu'])} ({told:,})"]
        rows.append(line)
    head = ["NE RAI-GBN", "NE RAI-ANB", "NDS RAI-GBN", "NDS RAI-ANB"]
    return markdown(["data set", *head, "RAI-GBN processor s", "RAI-ANB processor s"], rows)


def optimal(found: dict) -> str:
    """Compare other graphs with the optima."""
    rows = [
        [kind, *(f"{told[key]:,}" for key in ("graphs", "reached", "exceeded"))]
        for kind, told in found["optimal"].items()
    ]
    return markdown(["", "graphs of other methods", "with the same BDeu", "with a higher one"], rows)
