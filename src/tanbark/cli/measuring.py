"""What evaluate and compare measure and print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click
import numpy as np

from tanbark.cli.output import Advance, print_table
from tanbark.errors import InputError, TanbarkError
from tanbark.estimators.reports.comparison import Comparison
from tanbark.estimators.reports.measures import calibration, confusion, measure
from tanbark.estimators.reports.validation import CrossValidation, cross_validate_network

WORDS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "log_loss": "log-loss (nats)",
    "brier": "Brier score", "auc": "AUC (one against the rest)", "seconds": "seconds per fold",
}  # fmt: skip


def cross_validate(model: Any, name: str, X: Any, y: Any, folds: int, seed: int, advance: Advance) -> CrossValidation:
    """Cross-validate one model; the same folds for the same rows and seed."""
    return cross_validate_network({name: model}, X, y, cv=folds, random_state=seed, progress=advance)


def measure_saved(
    path: str, table: str, target: str, *, format: str | None, missing: Iterable[str]
) -> tuple[str, CrossValidation]:
    """Measure a saved model on a table with labels."""
    from tanbark.cli.models import load_classifier, read_rows
    from tanbark.cli.tables import choose
    from tanbark.estimators.inputs import label_codes

    model = load_classifier(path)
    rows, whole = read_rows(model, table, format=format, missing=missing)
    column = choose(whole, target, "--class")
    known = column.is_valid().to_numpy(zero_copy_only=False)
    if not known.any():
        msg = f"The class {target!r} has no value in any row. Is it the right column?"
        raise InputError(msg)
    labels_given = np.empty(int(known.sum()), object)
    labels_given[:] = [value for value in column.to_pylist() if value is not None]
    if model.classes_.dtype.kind in "UOT":
        labels_given[:] = [str(value) for value in labels_given]
    labels = model.classes_[label_codes(labels_given, model.classes_)]
    found = model.predict_proba(rows)[known]
    scores = {key: np.array([value]) for key, value in measure(labels, found, model.classes_).items()}
    name = " ".join(repr(model).split())
    return name, CrossValidation({name: scores}, {name: found}, model.classes_, labels)


def document(name: str, result: CrossValidation) -> dict[str, Any]:
    """Gather all that is known of one model's predictions."""
    labels, classes = np.asarray(result.labels), np.asarray(result.classes)
    proba, scores = result.probabilities[name], result.scores[name]
    bins = calibration(labels, proba, classes)
    return {
        "model": name,
        "rows": len(labels),
        "folds": len(scores["accuracy"]),
        "measures": {
            key: {"mean": values.mean(), "sd": values.std(ddof=1) if len(values) > 1 else None}
            for key, values in scores.items()
        },
        "classes": classes.tolist(),
        "confusion": confusion(labels, proba, classes),
        "calibration": {
            "error": bins.error, "predicted": bins.predicted, "observed": bins.observed, "rows": bins.rows,
        },
    }  # fmt: skip


def print_report(report: Mapping[str, Any]) -> None:
    """Print measures, confusion matrix and calibration as tables."""
    folds = f"{report['folds']} folds" if report["folds"] > 1 else "as saved"
    click.echo(f"{report['model']}: {report['rows']:,} rows, {folds}\n")
    rows = [
        [WORDS[key], f"{found['mean']:.4f}", "" if found["sd"] is None else f"± {found['sd']:.4f}"]
        for key, found in report["measures"].items()
    ]
    print_table(["measure", "mean", "over folds"], rows, right=(1, 2))
    classes = [str(label) for label in report["classes"]]
    click.echo("\nconfusion: lines are the rows' own class, columns the predicted one")
    lines = [
        [label, *(f"{n:,}" for n in row)] for label, row in zip(classes, report["confusion"].tolist(), strict=True)
    ]
    print_table(["", *classes], lines, right=range(1, len(classes) + 1))
    bins = report["calibration"]
    click.echo(f"\ncalibration of the predicted class: error {bins['error']:.4f}")
    cells = zip(bins["predicted"], bins["observed"], bins["rows"], strict=True)
    print_table(
        ["said", "came true", "rows"], [[f"{p:.3f}", f"{o:.3f}", f"{n:,}"] for p, o, n in cells], right=(0, 1, 2)
    )


def all_learners() -> list[str]:
    """Name every learner that needs no further word from the user."""
    from tanbark.estimators.catalogue import catalogue

    return [name for name in catalogue() if name != "fixed"]


def compare_models(
    models: Mapping[str, Any], X: Any, y: Any, folds: int, seed: int, advance: Advance
) -> tuple[CrossValidation, dict[str, str]]:
    """Cross-validate every model on the same folds; one that cannot be learnt is left out with its reason."""
    scores: dict[str, Any] = {}
    failed: dict[str, str] = {}
    result = None
    for name, model in models.items():
        try:
            result = cross_validate(model, name, X, y, folds, seed, advance)
            scores |= result.scores
        except TanbarkError as error:
            failed[name] = " ".join(str(error).split())
    if result is None:
        raise InputError(next(iter(failed.values())))
    return CrossValidation(scores, {}, result.classes, result.labels, result.test_ratio), failed


def comparison_document(
    result: CrossValidation, ranked: Comparison, by: str, failed: Mapping[str, str]
) -> dict[str, Any]:
    """Gather a comparison for JSON, the best first."""
    lines = [
        {
            "learner": name, "rank": rank, "p": p,
            "measures": {key: values.mean() for key, values in result.scores[name].items()},
            "folds": result.scores[name],
        }
        for name, rank, p in zip(ranked.names, ranked.ranks, ranked.p_values, strict=True)
    ]  # fmt: skip
    return {
        "by": by, "folds": ranked.n, "test": "corrected resampled t-test, Hommel-adjusted, against the best",
        "friedman": ranked.friedman, "critical_difference": ranked.critical_difference,
        "significance": ranked.significance, "learners": lines, "failed": dict(failed),
    }  # fmt: skip
