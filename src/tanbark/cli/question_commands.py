"""Commands that ask a classifier: what to ask next, what to decide."""

from __future__ import annotations

from typing import Any

import click

from tanbark.cli import options
from tanbark.cli.output import print_json, print_table, say

cost_option = click.option(
    "--cost", "costs", multiple=True, metavar="CLASS:DECISION=COST",
    help="What a decision costs where CLASS is true; may be repeated. A right one that is left out costs nothing.",
)  # fmt: skip


@click.command(short_help="Rank what to ask next about a row.")
@options.model_argument
@click.argument("table", metavar="[TABLE]", required=False)
@options.reading
@click.option("--row", type=click.IntRange(0), default=0, show_default=True, help="The row of TABLE, counted from 0.")
@click.option("-e", "--evidence", multiple=True, metavar="NAME=VALUE", help="What is known; may be repeated.")
@cost_option
@options.json_option
def ask(
    model: str, table: str | None, format: str | None, missing: tuple[str, ...], row: int, evidence: tuple[str, ...],
    costs: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Rank the features without a value by how many bits they are expected to tell about the class.

    What is known is a row of TABLE, whose missing values may be asked for, and what --evidence adds or replaces. With
    costs, every feature also has the amount by which asking for it is expected to lower the cost.

    \b
    tanbark ask model.json
    tanbark ask model.json -e word=win -e caps=0.7
    tanbark ask model.json new.csv --row 17 --cost yes:no=1 --cost no:yes=10
    """
    from tanbark.cli.models import load_classifier, read_observed, read_one

    classifier = load_classifier(model)
    known: dict[str, Any] = {}
    if table is not None:
        known = read_one(classifier, table, row, format=format, missing=missing)
    known |= dict(read_observed(classifier.schema_.features, each) for each in evidence)
    found = classifier.ask_next(known, costs=read_costs(classifier, costs) if costs else None)
    if as_json:
        print_json(_asked(found))
        return
    click.echo(str(found).partition("\n")[0])
    if not len(found):
        say("Every feature has a value: there is nothing left to ask for.")
        return
    heads = ["ask for", "bits", *(["value"] if costs else [])]
    rows = [[q.feature, f"{q.bits:.4f}", *([f"{q.value:.4g}"] if costs else [])] for q in found]
    print_table(heads, rows, right=range(1, len(heads)))


def _asked(found: Any) -> dict[str, Any]:
    questions = [
        {
            "feature": each.feature, "bits": each.bits, **({} if each.value is None else {"value": each.value}),
            "outcomes": [
                {"state": state, "probability": p, "posterior": dict(zip(found.classes, line, strict=True))}
                for state, p, line in zip(each.states, each.probabilities, each.posteriors, strict=True)
            ],
        }
        for each in found
    ]  # fmt: skip
    now = dict(zip(found.classes, found.probabilities, strict=True))
    cost = {} if found.expected_cost is None else {"expected_cost": found.expected_cost}
    return {"probabilities": now, "entropy": found.entropy, **cost, "questions": questions}


@click.command(short_help="Make the decision of least expected cost for every row.")
@options.model_argument
@options.table_argument
@options.reading
@cost_option
@click.option("--all", "every", is_flag=True, help="Add the expected cost of every decision.")
@click.option("--keep", multiple=True, metavar="NAME", help="Copy a column of TABLE to the answer, such as an id.")
@click.option("--out", default="-", metavar="FILE", help="CSV, TSV, Parquet or Arrow; - is CSV to standard output.")
@options.json_option
@options.quiet_option
def decide(
    model: str, table: str, format: str | None, missing: tuple[str, ...], costs: tuple[str, ...], every: bool,
    keep: tuple[str, ...], out: str, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Make the decision of least expected cost for every row of TABLE.

    Decisions are classes and whatever else has costs, such as referring a row to a person. Where two classes decide,
    the probability from which the second is decided for is reported on standard error.

    \b
    tanbark decide model.json new.csv --cost yes:no=1 --cost no:yes=10
    tanbark decide model.json new.csv --cost yes:no=1 --cost no:yes=10 --cost yes:refer=0.5 --cost no:refer=0.5
    """
    from tanbark.cli.models import load_classifier, read_rows
    from tanbark.cli.tables import choose, write_columns
    from tanbark.errors import OptionError

    classifier = load_classifier(model)
    if not costs:
        msg = "Say what decisions cost, such as --cost yes:no=1 --cost no:yes=10."
        raise OptionError(msg)
    read = read_costs(classifier, costs)
    rows, whole = read_rows(classifier, table, format=format, missing=missing)
    found = classifier.decide(rows, costs=read)
    columns: dict[str, Any] = {each: choose(whole, each, "--keep") for each in keep}
    columns["decision"] = found.decisions.tolist() if as_json else [str(each) for each in found.decisions]
    columns["expected cost"] = found.expected_costs.min(axis=1)
    if every:
        for place, decision in enumerate(found.costs.decisions):
            columns[f"cost of {decision}"] = found.expected_costs[:, place]
    write_columns(columns, out, as_json=as_json)
    if found.threshold is not None:
        say(f"{found.costs.classes[1]} is decided for from a probability of {found.threshold:.4g}", quiet=quiet)


def read_costs(classifier: Any, texts: tuple[str, ...]) -> dict[Any, dict[Any, float]]:
    """Read costs written CLASS:DECISION=COST; a decision that is named as a class is that class."""
    from tanbark.errors import OptionError, nearest

    labels = {str(label): label for label in classifier.classes_.tolist()}
    found: dict[Any, dict[Any, float]] = {label: {} for label in labels.values()}
    for text in texts:
        name = next((each for each in sorted(labels, key=len, reverse=True) if text.startswith(f"{each}:")), None)
        if name is None:
            wrong = text.partition(":")[0]
            msg = (
                f"A cost is written CLASS:DECISION=COST, with one of the classes {list(labels)[:10]}; got {text!r}."
                f"{nearest(wrong, list(labels))}"
            )
            raise OptionError(msg)
        decision, equals, number = text[len(name) + 1 :].rpartition("=")
        try:
            cost = float(number)
        except ValueError:
            equals = ""
        if not equals or not decision:
            msg = f"A cost is written CLASS:DECISION=COST, such as {name}:refer=2.5; got {text!r}."
            raise OptionError(msg)
        found[labels[name]][labels.get(decision, decision)] = cost
    return found


COMMANDS = (ask, decide)
