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
question_cost_option = click.option(
    "--question-cost", "prices", multiple=True, metavar="[NAME=]COST",
    help="What it costs to ask for a feature: for all, or for NAME; may be repeated.",
)  # fmt: skip


@click.command(short_help="Rank what to ask next about a row.")
@options.model_argument
@click.argument("table", metavar="[TABLE]", required=False)
@options.reading
@click.option("--row", type=click.IntRange(0), default=0, show_default=True, help="The row of TABLE, counted from 0.")
@click.option("-e", "--evidence", multiple=True, metavar="NAME=VALUE", help="What is known; may be repeated.")
@cost_option
@question_cost_option
@options.json_option
def ask(
    model: str, table: str | None, format: str | None, missing: tuple[str, ...], row: int, evidence: tuple[str, ...],
    costs: tuple[str, ...], prices: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Rank the features without a value by how many bits they are expected to tell about the class.

    What is known is a row of TABLE, whose missing values may be asked for, and what --evidence adds or replaces. With
    costs, every feature also has the amount by which asking for it is expected to lower the cost; what the question
    itself costs is taken off for the order.

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
    given = read_costs(classifier, costs) if costs else None
    found = classifier.ask_next(known, costs=given, question_costs=read_prices(classifier, prices))
    if as_json:
        print_json(_asked(found))
        return
    click.echo(str(found).partition("\n")[0])
    if not len(found):
        say("Every feature has a value: there is nothing left to ask for.")
        return
    heads, lines = found.cells()
    print_table(heads, lines, right=range(1, len(heads)))
    if found.region is not None:
        say(_region(found))


def _region(found: Any) -> str:
    """Say at which probabilities asking is worth more than deciding."""
    if not found.region:
        return "No question is worth its cost at any probability of the classes, all else being held: decide."
    parts = " or ".join(f"from {low:.4g} to {high:.4g}" for low, high in found.region)
    label = found.classes[1]
    return f"Asking is worth more than deciding where P({label}) is {parts}; it is {found.probabilities[1]:.4g}."


def _asked(found: Any) -> dict[str, Any]:
    questions = [
        {
            "feature": each.feature, "bits": each.bits,
            **({} if each.value is None else {"value": each.value, "cost": each.cost}),
            "outcomes": [
                {"state": state, "probability": p, "posterior": dict(zip(found.classes, line, strict=True))}
                for state, p, line in zip(each.states, each.probabilities, each.posteriors, strict=True)
            ],
        }
        for each in found
    ]  # fmt: skip
    now = dict(zip(found.classes, found.probabilities, strict=True))
    cost: dict[str, Any] = {}
    if found.expected_cost is not None:
        cost = {"expected_cost": found.expected_cost, "worth_asking": found.worth_asking, "region": found.region}
    return {"probabilities": now, "entropy": found.entropy, **cost, "questions": questions}


@click.command(short_help="Make the decision of least expected cost for every row.")
@options.model_argument
@options.table_argument
@options.reading
@cost_option
@question_cost_option
@click.option("--all", "every", is_flag=True, help="Add the expected cost of every decision.")
@click.option(
    "--ask",
    "asking",
    is_flag=True,
    help="Add the best question of rows with missing values, and the expected cost after it; so does --question-cost.",
)
@click.option("--keep", multiple=True, metavar="NAME", help="Copy a column of TABLE to the answer, such as an id.")
@click.option("--out", default="-", metavar="FILE", help="CSV, TSV, Parquet or Arrow; - is CSV to standard output.")
@options.json_option
@options.quiet_option
def decide(
    model: str, table: str, format: str | None, missing: tuple[str, ...], costs: tuple[str, ...],
    prices: tuple[str, ...], every: bool, asking: bool, keep: tuple[str, ...], out: str, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Make the decision of least expected cost for every row of TABLE.

    Decisions are classes and whatever else has costs, such as referring a row to a person. Where two classes decide,
    the probability from which the second is decided for is reported on standard error.

    With --ask, the columns "ask", "cost after asking" and "worth asking" name for a row with missing values the feature
    that is best to ask for before deciding, the expected cost after that with the question's own, and whether it is
    less than that of deciding now. Every possible answer is tried, so that large files take longer.

    \b
    tanbark decide model.json new.csv --cost yes:no=1 --cost no:yes=10 --ask
    tanbark decide model.json new.csv --cost yes:no=1 --cost no:yes=10 --cost yes:refer=0.5 --cost no:refer=0.5
    """
    from tanbark.cli.models import load_classifier, read_rows
    from tanbark.cli.tables import choose, write_columns
    from tanbark.errors import OptionError

    classifier = load_classifier(model)
    if not costs:
        msg = "Say what decisions cost, such as --cost yes:no=1 --cost no:yes=10."
        raise OptionError(msg)
    read, asking = read_costs(classifier, costs), asking or bool(prices)
    rows, whole = read_rows(classifier, table, format=format, missing=missing)
    found = classifier.decide(rows, costs=read, question_costs=read_prices(classifier, prices))
    columns: dict[str, Any] = {each: choose(whole, each, "--keep") for each in keep}
    columns["decision"] = found.decisions.tolist() if as_json else [str(each) for each in found.decisions]
    columns["expected cost"] = found.expected_costs.min(axis=1)
    if every:
        for place, decision in enumerate(found.costs.decisions):
            columns[f"cost of {decision}"] = found.expected_costs[:, place]
    if asking:
        columns["ask"] = found.asking.features
        columns["cost after asking"] = found.asking.costs_after
        columns["worth asking"] = found.asking.worth_asking.tolist()
    write_columns(columns, out, as_json=as_json)
    if asking and found.asking.worth_asking.any():
        n = int(found.asking.worth_asking.sum())
        say(f"in {n:,} of {len(found):,} rows asking is worth more than deciding", quiet=quiet)
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


def read_prices(classifier: Any, texts: tuple[str, ...]) -> dict[str, str]:
    """Read what questions cost, written COST for all features or NAME=COST for one; the later one counts."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, cost = text.rpartition("=")
        found |= {name: cost} if equals else dict.fromkeys(classifier.schema_.names[: classifier.schema_.target], cost)
    return found


COMMANDS = (ask, decide)
