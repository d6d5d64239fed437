"""What was learnt, in a few lines: printed after fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from tanbark.cli.output import say

MOST_NAMED = 5


def cross_validated(model: Any, X: Any, y: Any, folds: int) -> dict[str, float]:
    """Cross-validate a learner as `tanbark evaluate` does by default; return the mean accuracy and its deviation."""
    import warnings

    from tanbark.errors import SuspiciousColumnWarning
    from tanbark.estimators.reports.validation import cross_validate_network

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspiciousColumnWarning)  # fit has warned of all rows
        scores = cross_validate_network({"model": model}, X, y, cv=folds, random_state=0).scores["model"]["accuracy"]
    return {"mean": float(scores.mean()), "sd": float(scores.std(ddof=1)), "folds": folds}


def columns_document(model: Any) -> dict[str, list[str]]:
    """Name the columns that a model uses, does not use and has left out; a classifier of texts has no such report."""
    report = getattr(model, "data_report_", None)
    if report is None:
        return {}
    return {"used": report.used, "unused": report.unused, "left_out": report.left_out}


def print_learnt(model: Any, summary: Mapping[str, Any], table: str) -> None:
    """Print what was learnt, on standard error: rows, columns, structure, accuracy, and the next command to try."""
    out, accuracy = summary["out"], summary.get("accuracy")
    say(
        f"{summary['model']}: {summary['rows']:,} rows, {summary['features']:,} features, "
        f"{len(summary['classes'])} classes, {summary['seconds']:.2f} s -> {out}"
    )
    if "used" in summary:
        others = _named("unused", summary["unused"]) + _named("left out", summary["left_out"])
        say(f"features    {len(summary['used'])} used{others}")
        say(f"structure   {_structure(model)}")
    if accuracy is not None:
        say(f"accuracy    {accuracy['mean']:.4f} ± {accuracy['sd']:.4f} over {accuracy['folds']} folds")
    if out != "-":
        rows = "ROWS.csv" if table == "-" else quote(table)
        say(f"next        tanbark explain {quote(out)} {rows} --row 0")


def _named(what: str, names: Sequence[str]) -> str:
    """Count columns, and name them where they are few."""
    if not names:
        return ""
    more = ", …" if len(names) > MOST_NAMED else ""
    return f"; {len(names)} {what} ({', '.join(names[:MOST_NAMED])}{more})"


def _structure(model: Any) -> str:
    """Describe the graph, or what there is instead of one."""
    if hasattr(model, "dag_"):
        arcs, target = model.dag_.arcs(), model.schema_.names[-1]
        between = sum(target not in arc for arc in arcs)
        return f"{_plural(len(arcs), 'arc')}, {between:,} between features; {model.n_parameters_:,} free parameters"
    if hasattr(model, "model_"):
        trees = model.model_.trees
        pooled = _plural(len(model.model_.members), "network") + " pooled"
        return pooled if trees is None else f"{pooled}, corrected by {_plural(len(trees.roots), 'boosted tree')}"
    if hasattr(model, "estimators_"):
        return f"{_plural(len(model.estimators_), 'model')} averaged"
    return (
        f"{_plural(len(model.super_parents_), 'super-parent model')} averaged; {model.n_parameters_:,} free parameters"
    )


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
