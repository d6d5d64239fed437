"""Commands that learn and predict: fit, predict, evaluate, compare."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from tanbark.cli import options
from tanbark.cli.output import print_json, print_table, progress, save_figure, say, write

USUAL = (
    "classifier",
    "naive",
    "tan",
    "tan:criterion=bic",
    "kdb",
    "aode",
    "ban",
)  # what compare tries where nothing is chosen
MEASURES = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced", "log_loss": "log-loss", "brier": "Brier", "auc": "AUC",
    "seconds": "seconds",
}  # fmt: skip
CHOSEN = ("leaves", "rounds", "fade", "temperature", "log_loss", "network_log_loss")  # of the choice, in JSON


@click.command(short_help="Learn a classifier and write a model file.")
@options.table_argument
@options.training
@options.learner_option
@options.settings_option
@click.option("--weights", metavar="NAME", help="A column that says how many times each row counts.")
@click.option("--sets", is_flag=True, help="Calibrate prediction sets by ten folds, for `tanbark predict --set`.")
@click.option("--folds", type=click.IntRange(2), metavar="N", help="Also cross-validate the learner by N folds.")
@options.out_option(required=True, help="Where the model is written; - for standard output.")
@options.json_option
@options.quiet_option
def fit(
    table: str, target: str, drop: tuple[str, ...], format: str | None, missing: tuple[str, ...], learner: str,
    settings: tuple[str, ...], weights: str | None, sets: bool, folds: int | None, out: str, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Learn a classifier from TABLE and write it to a model file (JSON).

    By default a Classifier, the one to take for accuracy: pooled networks, and a correction chosen by cross-validation.
    Name a learner such as tan, kdb or naive for one network that is both read and used to predict.

    \b
    tanbark fit train.csv --class spam --out model.json
    tanbark fit train.parquet --class y -l tan -o criterion=bic -o parameters=0.5 --out model.json
    tanbark fit train.arff --class y -l naive -o parameters=wanbia --drop id --out model.json
    tanbark fit train.csv --class spam -l kdb -o temperature=auto --sets --out model.json
    """
    from tanbark.cli.learnt import columns_document, cross_validated, print_learnt
    from tanbark.cli.models import make_model, read_training, reporting

    model = make_model(learner, settings)
    with progress("learning", None, quiet=quiet):
        X, y, weighed = read_training(table, target, format=format, missing=missing, drop=drop, weights=weights)
        begun = time.perf_counter()
        with reporting(model, quiet=quiet) as shown:
            model.fit(X, y, weighed)
        seconds = time.perf_counter() - begun
        if sets:
            model.calibrate_sets(X, y)
        accuracy = None if folds is None else cross_validated(model, X, y, folds)
    _save(model, out)
    choice = getattr(model, "choice_", None)
    summary = {
        "model": " ".join(repr(model).split()), "rows": X.num_rows, "features": X.num_columns,
        "classes": model.classes_.tolist(), "free_parameters": getattr(model, "n_parameters_", None),
        "seconds": seconds, "out": out,
        **columns_document(model),
        **({} if accuracy is None else {"accuracy": accuracy}),
        **({} if choice is None else {"choice": {name: getattr(choice, name) for name in CHOSEN}}),
    }  # fmt: skip
    if as_json and out != "-":
        print_json(summary)
    elif not quiet:
        print_learnt(model, summary, table)
        if choice is not None:
            say(str(choice), quiet=shown)


def _save(model: Any, out: str) -> None:
    if out != "-":
        model.save(out)
        return
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        write((Path(folder) / "model.json").read_bytes(), "-")


@click.command(short_help="Predict the class of every row.")
@options.model_argument
@options.table_argument
@options.reading
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option(
    "--set", "coverage", type=float, metavar="COVERAGE",
    help="Add a set of classes that holds the right one with this probability, such as 0.9; needs `fit --sets`.",
)  # fmt: skip
@click.option(
    "--interval",
    type=float,
    is_flag=False,
    flag_value=0.9,
    metavar="[LEVEL]",
    help="Add credible intervals of the probabilities: how far they may be off for want of rows; by default 0.9.",
)
@click.option(
    "--abstain-below", "abstain", type=float, metavar="P", help="Leave the class empty below this probability."
)
@click.option("--support", is_flag=True, help="Add the number of training rows behind the rarest value.")
@click.option("--surprise", is_flag=True, help="Add the fraction of drawn rows that are as odd, and the oddest value.")
@click.option("--keep", multiple=True, metavar="NAME", help="Copy a column of TABLE to the answer, such as an id.")
@options.out_option(default="-", help="CSV, TSV, Parquet or Arrow; - is CSV to standard output.")
@options.json_option
def predict(
    model: str, table: str, format: str | None, missing: tuple[str, ...], proba: bool, coverage: float | None,
    interval: float | None, abstain: float | None, support: bool, surprise: bool, keep: tuple[str, ...], out: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Predict the class of every row of TABLE. Missing values are summed out; nothing is imputed.

    Columns that the model does not know are ignored.

    \b
    tanbark predict model.json new.csv
    tanbark predict model.json new.parquet --proba --keep id --out answers.parquet
    tanbark predict model.json new.csv --set 0.9
    tanbark predict model.json new.csv --abstain-below 0.8 --interval 0.95 --support --surprise
    cat new.csv | tanbark predict model.json - --proba
    """
    from tanbark.checks import check_fraction
    from tanbark.cli.models import load_classifier, read_rows
    from tanbark.cli.tables import choose, write_columns

    classifier = load_classifier(model)
    rows, whole = read_rows(classifier, table, format=format, missing=missing)
    name = classifier.schema_.names[-1]
    found = classifier.predict_proba(rows)
    columns: dict[str, Any] = {each: choose(whole, each, "--keep") for each in keep}
    columns[name] = classifier.classes_[found.argmax(axis=1)].tolist()
    if abstain is not None:
        least = check_fraction("--abstain-below", abstain)
        sure = (found.max(axis=1) >= least).tolist()
        columns[name] = [label if known else None for label, known in zip(columns[name], sure, strict=True)]
    if proba:
        for place, label in enumerate(classifier.classes_.tolist()):
            columns[f"P({name}={label})"] = found[:, place]
    if coverage is not None:
        sets = classifier.predict_set(rows, coverage=coverage).labels()
        columns[f"{name} set"] = sets if as_json else [json.dumps(labels, ensure_ascii=False) for labels in sets]
    _add_doubts(columns, classifier, rows, interval=interval, support=support, surprise=surprise)
    write_columns(columns, out, as_json=as_json)


def _add_doubts(
    columns: dict[str, Any], classifier: Any, rows: Any, *, interval: float | None, support: bool, surprise: bool
) -> None:
    """Add how far a prediction is to be trusted: intervals, training rows behind it, how odd the row is."""
    from tanbark.cli.models import able

    name = classifier.schema_.names[-1]
    if interval is not None:
        low, high = able(classifier, "predict_proba_interval", "--interval")(rows, level=interval)
        for place, label in enumerate(classifier.classes_.tolist()):
            columns[f"low P({name}={label})"], columns[f"high P({name}={label})"] = low[:, place], high[:, place]
    if support:
        columns["support"] = classifier.support(rows)
    if surprise:
        found = able(classifier, "surprise", "--surprise")(rows)
        columns["surprise"], columns["oddest"] = found.fractions, found.oddest


@click.command(short_help="Measure a learner by cross-validation.")
@options.table_argument
@options.training
@options.learner_option
@options.settings_option
@options.saved_option(help="Measure this model on TABLE as it is, instead of learning.")
@options.folds_options
@options.plot_option(help="Draw the calibration curve: PNG, SVG or PDF.")
@options.json_option
@options.quiet_option
def evaluate(
    table: str, target: str, drop: tuple[str, ...], format: str | None, missing: tuple[str, ...], learner: str,
    settings: tuple[str, ...], saved: str | None, folds: int, seed: int, plot: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Measure a learner on TABLE by stratified cross-validation, or a saved model on rows that it has not seen.

    By default the learner of `tanbark fit`.

    Accuracy, balanced accuracy, log-loss, Brier score, AUC, confusion matrix and calibration.

    \b
    tanbark evaluate train.csv --class spam --learner aode --folds 5
    tanbark evaluate test.csv --class spam --model model.json --plot calibration.svg
    """
    from tanbark.cli import measuring

    if saved is not None:
        name, result = measuring.measure_saved(saved, table, target, format=format, missing=missing)
    else:
        from tanbark.cli.models import make_model, read_training

        made = make_model(learner, settings)
        X, y, _ = read_training(table, target, format=format, missing=missing, drop=drop)
        name = " ".join(repr(made).split())
        with progress(name, folds, quiet=quiet) as advance:
            result = measuring.cross_validate(made, name, X, y, folds, seed, advance)
    document = measuring.document(name, result)
    if plot is not None:
        from tanbark.plot import plot_calibration

        save_figure(plot_calibration(result.labels, result.probabilities[name], classes=result.classes), plot)
    if as_json:
        print_json(document)
    else:
        measuring.print_report(document)


@click.command(short_help="Compare learners on the same folds, the best first.")
@options.table_argument
@options.training
@click.option(
    "-l", "--learner", "learners", multiple=True, metavar="NAME[:OPTION=VALUE,…]",
    help=f"A learner to compare; may be repeated; `all` takes every one. By default {', '.join(USUAL)}.",
)  # fmt: skip
@click.option("--by", default="accuracy", show_default=True, metavar="MEASURE", help=f"One of {', '.join(MEASURES)}.")
@options.folds_options
@options.plot_option(help="Draw ranks with their critical difference: PNG, SVG or PDF.")
@options.json_option
@options.quiet_option
def compare(
    table: str, target: str, drop: tuple[str, ...], format: str | None, missing: tuple[str, ...],
    learners: tuple[str, ...], by: str, folds: int, seed: int, plot: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Compare learners on the same folds of TABLE, the best first.

    p is the probability of a difference from the best at least this large if there were none: a t-test that allows for
    folds which share training rows (Nadeau and Bengio 2003), adjusted for the number of learners by Hommel's method.

    \b
    tanbark compare train.csv --class spam
    tanbark compare train.csv --class spam -l naive -l tan:criterion=bic -l kdb:max_parents=3 --plot ranks.svg
    """
    from tanbark.cli import measuring
    from tanbark.cli.models import make_model, read_training
    from tanbark.errors import find

    by = by.replace("-", "_").lower()
    find("--by", by, MEASURES)
    chosen = measuring.all_learners() if learners == ("all",) else dict.fromkeys(learners or USUAL)
    models = {text: make_model(text) for text in chosen}
    X, y, _ = read_training(table, target, format=format, missing=missing, drop=drop)
    with progress("comparing", folds * len(models), quiet=quiet) as advance:
        result, failed = measuring.compare_models(models, X, y, folds, seed, advance)
    ranked = result.compare(by)
    if plot is not None:
        from tanbark.plot import plot_comparison

        save_figure(plot_comparison(ranked), plot)
    if as_json:
        print_json(measuring.comparison_document(result, ranked, by, failed))
        return
    rows = [
        [
            name,
            *(f"{result.scores[name][key].mean():.3f}" for key in MEASURES),
            f"{rank:.2f}",
            "" if not k else f"{p:.3g}",
        ]
        for k, (name, rank, p) in enumerate(zip(ranked.names, ranked.ranks, ranked.p_values, strict=True))
    ]
    print_table(["learner", *MEASURES.values(), "rank", "p"], rows, right=range(1, len(MEASURES) + 3))
    best = "lowest" if by in ("log_loss", "brier", "seconds") else "highest"
    click.echo(f"ordered by {MEASURES[by]}, the {best} first; means over {folds} folds")
    for name, reason in failed.items():
        say(f"tanbark: warning: {name} could not be learnt: {reason}")


COMMANDS = (fit, predict, evaluate, compare)
