"""A page: the prose of a template with tables, sentences and figures in it, all from the numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.studies.accuracy import claims as testing
from benchmarks.studies.accuracy import figures, numbers
from benchmarks.studies.accuracy.measures import MEASURES
from benchmarks.studies.accuracy.methods import NARROW
from tanbark.estimators import Comparison

HERE = Path(__file__).parent
QUALITY = ("accuracy", "log_loss", "auc", "brier", "calibration_error")
TESTED = (("complete", "log_loss"), ("complete", "accuracy"), ("30 % at random", "log_loss"))
PLOTTED = ("", "simulated")  # variants in the figure of missing values


def write(results: Path, docs: Path, page: str = numbers.PAGES[0], earlier: Path | None = None) -> None:
    """Gather the numbers, and write them, the page and its figures; ``earlier`` has the numbers of an earlier page."""
    found = numbers.collect(results, page, json.loads(earlier.read_text(encoding="utf-8")) if earlier else None)
    figures.write(found, docs / "figures", comparisons(found), missing_series(found))
    for place, text in (
        (docs / "numbers" / f"{page}.json", numbers.text(found)), (docs / f"{page}.md", render(found)),
    ):  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(place)


def render(found: dict) -> str:
    """Put tables and sentences into the prose."""
    narrow, wide = (testing.group(found, narrow=kind) for kind in (True, False))
    parts = {
        "n_sets": str(len(found["sets"])), "made": made(found), "level": f"{testing.LEVEL:g}",
        "splits": splits_used(found),
        "means_narrow": mean_section(found, narrow, f"at most {NARROW} columns"),
        "means_wide": mean_section(found, wide, f"more than {NARROW} columns"),
        "ranks": rank_section(found), "claims": claim_section(found, narrow),
        "missing": missing_section(found, narrow), "curves": curve_section(found),
        "sets": set_section(found), "failures": failure_section(found),
    }  # fmt: skip
    text = re.sub(
        r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], (HERE / f"{found['page']}.md").read_text(encoding="utf-8")
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def splits_used(found: dict) -> str:
    """Say how many splits the means are over: those that every method has run."""
    counts = found["splits"].values()
    least, most = min(counts, default=0), max(counts, default=0)
    return "one in every set" if least == most == 1 else f"{least} to {most} a set"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def shown(measure: str, value: float) -> str:
    """Write a measure, seconds with three digits.

    >>> shown("log_loss", 0.27149), shown("fit_seconds", 5.8601), shown("fit_seconds", 0.01234)
    ('.271', '5.86', '.0123')
    """
    if measure.endswith("seconds"):
        text = f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 1e-4 else "0"
    else:
        text = f"{value:.3f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def joined(words: list[str]) -> str:
    """Join words by commas and an "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def named(found: dict, method: str) -> str:
    """Write a method's name, ours in bold."""
    return f"**{method}**" if found["methods"][method]["group"] == "ours" else method


# ---------------------------------------------------------------------- means


def mean_section(found: dict, sets: list[str], words: str) -> str:
    """Show the means of every measure over a group of sets, nothing missing, and who leads."""
    order = testing.listed(found, "complete", sets)
    if not order:
        return ""
    counts = {method: len(testing.scores(found, "complete", "log_loss", method, sets)) for method in order}
    most, rows = max(counts.values()), []
    for method in order:
        star = "" if counts[method] == most else "\\*"
        means = {key: testing.mean(testing.scores(found, "complete", key, method, sets)) for key in MEASURES}
        rows.append([named(found, method) + star, str(counts[method]), *(shown(k, v) for k, v in means.items())])
    table = markdown(["method", "sets", *(head for head, _ in MEASURES.values())], rows)
    note = (
        "A star marks means over fewer sets, which cannot be set beside the others."
        if min(counts.values()) < most
        else ""
    )
    title = f"### {most} {'sets' if most > 1 else 'set'} of {words}"
    return f"{title}\n\n{table}\n\n{note}\n\n{leaders(found, [m for m in order if counts[m] == most], sets)}"


def leaders(found: dict, methods: list[str], sets: list[str]) -> str:
    """State, for each measure of quality, the best method and the best of ours with its place."""
    lines = []
    for measure in QUALITY:
        head, higher = MEASURES[measure]
        means = {m: testing.mean(testing.scores(found, "complete", measure, m, sets)) for m in methods}
        order = sorted(means, key=lambda m: -means[m] if higher else means[m])
        ours = [m for m in order if found["methods"][m]["group"] == "ours"]
        best = f"best mean {named(found, order[0])} ({shown(measure, means[order[0]])})"
        place = (
            f"; best of ours {ours[0]} ({shown(measure, means[ours[0]])}), place {order.index(ours[0]) + 1}"
            if ours
            else ""
        )
        lines.append(f"- {head}: {best}{place} of {len(order)}." if ours else f"- {head}: {best}.")
    return "\n".join(lines)


# ---------------------------------------------------------------------- ranks


def comparisons(found: dict) -> dict[str, Comparison]:
    """Compare ranks over the narrow sets: plain peers, peers with temperature, and with 30 % of the values missing."""
    narrow = testing.group(found, narrow=True)

    def of(*variants: str) -> list[str]:
        return [
            name for name, about in found["methods"].items() if about["group"] == "ours" or about["variant"] in variants
        ]

    wanted = {
        "ranks_log_loss": ("complete", "log_loss", of("")), "ranks_accuracy": ("complete", "accuracy", of("")),
        "ranks_tempered": ("complete", "log_loss", of("tempered")),
        "ranks_missing": ("30 % at random", "log_loss", of("", "simulated")),
    }  # fmt: skip
    compared = {name: testing.ranks(found, *what, narrow) for name, what in wanted.items()}
    return {name: comparison for name, comparison in compared.items() if comparison is not None}


RANKED = {
    "ranks_log_loss": "Log-loss, nothing missing",
    "ranks_accuracy": "Accuracy, nothing missing",
    "ranks_tempered": "Log-loss, nothing missing, every peer with cross-fitted temperature",
    "ranks_missing": "Log-loss, 30 % of the test values missing at random",
}


def rank_section(found: dict) -> str:
    """Show the figures of ranks, each with what its tests say."""
    parts = []
    for name, comparison in comparisons(found).items():
        best = min(range(len(comparison.names)), key=lambda k: comparison.ranks[k])
        alike = [other for k, other in enumerate(comparison.names) if k != best
                 and comparison.pairwise[best, k] > comparison.significance]  # fmt: skip
        told = (
            f"{comparison.n} sets, {len(comparison.names)} methods. Lowest mean rank: {comparison.names[best]} "
            f"({comparison.ranks[best]:.2f}). No difference from it is shown for {joined(alike)}. "
            f"Friedman's test: p = {probability(comparison.friedman)}."
        )
        parts.append(f"### {RANKED[name]}\n\n![Mean ranks](figures/{found['page']}_{name}.svg)\n\n{told}")
    told = (
        "A bar joins methods of which no pair differs, all pairs tested together; CD is Nemenyi's critical difference."
    )
    return "\n\n".join([told, *parts]) if parts else "Too few results."


def probability(p: float) -> str:
    """Write a p-value.

    >>> probability(0.0321), probability(1e-9), probability(1.0)
    ('.032', '<.001', '1')
    """
    return "<.001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")


# ---------------------------------------------------------------------- claims


def claim_section(found: dict, sets: list[str]) -> str:
    """Show the tests of each of ours against each peer."""
    parts = []
    for condition, measure in TESTED:
        tested = testing.claims(found, condition, measure, sets)
        if tested:
            state = "nothing missing" if condition == "complete" else f"{condition} missing"
            title = f"### {MEASURES[measure][0].capitalize()}, {state}".replace(
                "30 % at random missing", "30 % missing at random"
            )
            parts.append(f"{title}\n\n{claim_table(tested)}\n\n{claim_sentences(tested)}")
    told = "Mean difference, ours minus the peer's, and the adjusted p-value in brackets; bold where a test decides."
    return "\n\n".join([told, *parts]) if parts else "Too few results."


def claim_table(tested: list[testing.Claim]) -> str:
    columns = list(dict.fromkeys(claim.ours for claim in tested))
    by = {(claim.ours, claim.peer): claim for claim in tested}
    rows = []
    for peer in dict.fromkeys(claim.peer for claim in tested):
        cells = []
        for ours in columns:
            claim = by.get((ours, peer))
            text = f"{claim.difference:+.3f} ({probability(claim.adjusted)})" if claim else "—"
            cells.append(f"**{text}**" if claim and claim.verdict != "undecided" else text)
        rows.append([peer, *cells])
    return markdown(["peer", *columns], rows)


def claim_sentences(tested: list[testing.Claim]) -> str:
    """State for each of ours what the tests show."""
    lines = []
    for ours in dict.fromkeys(claim.ours for claim in tested):
        by = {
            verdict: [claim.peer for claim in tested if claim.ours == ours and claim.verdict == verdict]
            for verdict in ("better", "worse", "undecided")
        }
        told = [f"{verdict} than {joined(by[verdict])}" for verdict in ("better", "worse") if by[verdict]]
        if by["undecided"]:
            told.append(f"no difference shown from {joined(by['undecided'])}")
        lines.append(f"- **{ours}**: {'; '.join(told)}.")
    return "\n".join(lines)


# ---------------------------------------------------------------------- missing values


def complete_methods(found: dict, sets: list[str]) -> list[str]:
    """List the methods that have all sets under every condition that any method has them under, the best first."""
    kept = []
    order = testing.listed(found, "complete", sets)
    for method in order:
        counts = [
            (len(testing.scores(found, condition, "log_loss", method, sets)),
             sum(name in found["means"][condition] for name in sets))
            for condition in found["means"]
        ]  # fmt: skip
        if all(own == every for own, every in counts):
            kept.append(method)
    return kept


def missing_series(found: dict) -> dict[str, dict[str, float]]:
    """Return the mean log-loss of methods under every condition, for the figure."""
    sets = testing.group(found, narrow=True)
    methods = [m for m in complete_methods(found, sets) if found["methods"][m]["variant"] in PLOTTED]
    return {
        method: {
            condition: testing.mean(values) for condition in found["means"]
            if (values := testing.scores(found, condition, "log_loss", method, sets))
        }
        for method in methods
    }  # fmt: skip


def missing_section(found: dict, sets: list[str]) -> str:
    """Show every measure of quality under every condition."""
    methods = complete_methods(found, sets)
    if not methods:
        return "Too few results."
    n = max(len(testing.scores(found, "complete", "log_loss", method, sets)) for method in methods)
    parts = [f"Means over {n} sets of at most {NARROW} columns, of the methods that have a result on all of them."]
    parts.append(f"![Log-loss by percentage of missing values](figures/{found['page']}_missing.svg)")
    for measure in QUALITY:
        rows = []
        for method in methods:
            columns = [testing.scores(found, condition, measure, method, sets) for condition in found["means"]]
            cells = [shown(measure, testing.mean(column)) if column else "—" for column in columns]
            rows.append([named(found, method), *cells])
        parts.append(f"### {MEASURES[measure][0]}\n\n" + markdown(["method", *found["means"]], rows))
    return "\n\n".join(parts)


# ---------------------------------------------------------------------- curves, sets, failures


def curve_section(found: dict) -> str:
    """Show the log-loss by training rows."""
    if not found["curves"]:
        return "Too few results."
    parts = [
        f"![Log-loss by number of training rows](figures/{found['page']}_curves.svg)",
        "Log-loss; the last column is all training rows.",
    ]
    for name, methods in found["curves"].items():
        heads = sorted({rows for points in methods.values() for rows, *_ in points})
        lines = []
        for method, points in methods.items():
            by = {rows: loss for rows, loss, _ in points}
            lines.append([named(found, method), *(shown("log_loss", by[k]) if k in by else "—" for k in heads)])
        parts.append(f"### {name}\n\n" + markdown(["method", *(f"{rows:,} rows" for rows in heads)], lines))
    return "\n\n".join(parts)


def set_section(found: dict) -> str:
    """Show log-loss and accuracy of the plain methods on every set."""
    methods = [name for name, about in found["methods"].items() if not about["variant"]]
    parts = []
    for measure in ("log_loss", "accuracy"):
        rows = []
        for name, about in found["sets"].items():
            values = [testing.scores(found, "complete", measure, method, [name]).get(name) for method in methods]
            cells = ["—" if value is None else shown(measure, value) for value in values]
            rows.append([name, f"{about['rows']:,}", str(about["columns"]), *cells])
        head = ["data set", "rows", "columns", *(named(found, method) for method in methods)]
        parts.append(f"### {MEASURES[measure][0].capitalize()}\n\n" + markdown(head, rows))
    return "\n\n".join(parts)


def failure_section(found: dict) -> str:
    """List what failed or was stopped."""
    lines = []
    for method, reasons in found["failures"].items():
        for reason, places in reasons.items():
            lines.append(f"- {method}: `{reason.replace('`', '')}` on {joined(places)}.")
    return "\n".join(lines) if lines else "No method failed on any set that it was run on."


def made(found: dict) -> str:
    """State what the numbers were made with, and what is of an earlier run."""
    versions = ", ".join(f"{name} {' and '.join(each)}" for name, each in sorted(found["versions"].items()))
    told = f"commit {joined(found['commits'])}; {found['machine']}; {versions}"
    if "earlier" not in found:
        return told
    again = joined([f"{method} on {n} sets" for method, n in found["earlier"]["again"].items()])
    return (
        f"{told}. **This commit ran {again}.** Everything else, all peers among it, is of an earlier run on the same "
        f"splits, commit {joined(found['earlier']['commits'])}: seconds of the two runs are not to be set side by side"
    )
