"""Commands that look into models: explain, explore, show, convert, learners, query."""

from __future__ import annotations

from typing import Any

import click

from tanbark.cli import options
from tanbark.cli.output import print_json, print_table, save_figure, say, write


@click.command(short_help="Say why a row was predicted as it was.")
@options.model_argument
@options.table_argument
@options.reading
@click.option("--row", "rows", multiple=True, type=click.IntRange(0), help="Counted from 0; may be repeated.")
@click.option("--label", metavar="CLASS", help="The class to explain; by default each row's predicted one.")
@click.option("--plot", metavar="FILE", help="Draw the evidence of one row: PNG, SVG or PDF.")
@options.json_option
def explain(
    model: str, table: str, format: str | None, missing: tuple[str, ...], rows: tuple[int, ...], label: str | None,
    plot: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Return how much each value of a row speaks for its class, in log-odds that add up to the posterior.

    \b
    tanbark explain model.json new.csv --row 17
    tanbark explain model.json new.csv --row 17 --label spam --plot why.svg
    """
    from dataclasses import replace

    from tanbark.cli.models import load_classifier, read_rows
    from tanbark.errors import InputError
    from tanbark.estimators.reports.explain import Explanation

    classifier = load_classifier(model)
    features, _ = read_rows(classifier, table, format=format, missing=missing)
    chosen = list(rows or (0,))
    if max(chosen) >= features.num_rows:
        msg = f"--row {max(chosen)} is beyond the table, whose {features.num_rows:,} rows are counted from 0."
        raise InputError(msg)
    given = None if label is None else _label(classifier, label)
    found = classifier.explain(features.take(chosen), label=given)
    explanations = Explanation(tuple(replace(each, row=row) for each, row in zip(found, chosen, strict=True)))
    if plot is not None:
        from tanbark.plot import plot_explanation

        save_figure(plot_explanation(explanations[0]), plot)
    if as_json:
        print_json([_explained(each) for each in explanations])
    else:
        click.echo(str(explanations))


def _label(classifier: Any, text: str) -> Any:
    from tanbark.errors import find

    return find("--label", text, {str(label): label for label in classifier.classes_.tolist()})


def _explained(row: Any) -> dict[str, Any]:
    return {
        "row": row.row, "class": row.label, "probability": row.probability, "log_odds": row.log_odds,
        "parts": [
            {"evidence": part.name, "value": part.value, "given": part.given, "nats": part.nats} for part in row.parts
        ],
        "not_observed": list(row.missing), "impossible": row.impossible,
    }  # fmt: skip


@click.command(short_help="Write a page to click through the network.")
@options.model_argument
@click.option("--out", required=True, metavar="FILE", help="Where the page is written; - for standard output.")
@options.quiet_option
def explore(model: str, out: str, quiet: bool) -> None:
    """Write one HTML file to click through the network: set evidence, watch the class. It opens anywhere.

    \b
    tanbark explore model.json --out page.html
    """
    from tanbark.cli.models import load_model
    from tanbark.explorer import make_page

    write(make_page(load_model(model)).html, out)
    say(f"-> {out}", quiet=quiet or out == "-")


@click.command(short_help="Print the network and its tables.")
@options.model_argument
@click.option(
    "--cpt", "tables", multiple=True, metavar="NAME", help="Print a column's table, or `all`; may be repeated."
)
@options.json_option
def show(model: str, tables: tuple[str, ...], as_json: bool) -> None:
    """Print a model's network as text, its families, and tables of probabilities.

    MODEL is a model file, or a BIF, XMLBIF, NET or UAI file.

    \b
    tanbark show model.json
    tanbark show model.json --cpt age --cpt income
    """
    from tanbark.cli.models import load_model, network_of

    loaded = load_model(model)
    network = network_of(loaded, model)
    names = list(network.dag.names)
    wanted = names if "all" in tables and "all" not in names else [names[network.dag.index(each)] for each in tables]
    if as_json:
        print_json(_shown(loaded, network))
        return
    if loaded is not network:
        click.echo(" ".join(repr(loaded).split()))
    click.echo(f"{network!r}\n\n{network}\n")
    rows = [
        [name, ", ".join(parents) or "-", f"{network.schema.columns[node].n_states}", f"{network.tables[node].size:,}"]
        for node, (name, parents) in enumerate(network.families().items())
    ]
    print_table(["column", "parents", "states", "cells"], rows, right=(2, 3))
    for name in wanted:
        _print_cpt(network, name)


def _print_cpt(network: Any, name: str) -> None:
    from itertools import product

    node = network.dag.index(name)
    axes, columns = network.axes(node), network.schema.columns
    parents = [axis for axis in axes if axis != node]
    table = network.tables[node]
    labels = {axis: columns[axis].labels() for axis in axes}
    rows = []
    for states in product(*(range(columns[p].n_states) for p in parents)):
        place = dict(zip(parents, states, strict=True))
        numbers = table[tuple(place.get(axis, slice(None)) for axis in axes)]
        rows.append([*(labels[p][k] for p, k in place.items()), *(f"{p:.4g}" for p in numbers.tolist())])
    known = ", ".join(columns[p].name for p in parents)
    click.echo(f"\nP({name}{' | ' + known if known else ''})")
    heads = [*(columns[p].name for p in parents), *labels[node]]
    print_table(heads, rows, right=range(len(parents), len(heads)))


def _shown(loaded: Any, network: Any) -> dict[str, Any]:
    columns = network.schema.columns
    return {
        "model": " ".join(repr(loaded).split()),
        "class": network.dag.names[network.target] if network.schema.has_class else None,
        "free_parameters": network.n_parameters,
        "arcs": network.dag.arcs(),
        "columns": [
            {
                "name": column.name, "states": list(column.states()), "parents": network.families()[column.name],
                "axes": [columns[axis].name for axis in network.axes(node)], "table": network.tables[node],
            }
            for node, column in enumerate(columns)
        ],
    }  # fmt: skip


@click.command(short_help="Write a model for another program.")
@options.model_argument
@click.option("--to", "form", required=True, metavar="FORMAT", help="bif, xmlbif, net, uai, dot, svg, sql or python.")
@click.option("--out", default="-", metavar="FILE", help="By default standard output.")
@click.option("--table", "relation", default="rows", show_default=True, help="For sql: the table to score.")
@click.option("--keep", multiple=True, metavar="NAME", help="For sql: copy a column to the answer, such as an id.")
@click.option("--max-size", type=int, default=50_000_000, show_default=True, help="For sql: the most characters.")
def convert(model: str, form: str, out: str, relation: str, keep: tuple[str, ...], max_size: int) -> None:
    """Write a model for another program: as a network file, a picture, a SELECT, or a Python module without imports.

    MODEL is a model file, or a BIF, XMLBIF, NET or UAI file.

    \b
    tanbark convert model.json --to bif --out model.bif
    tanbark convert model.json --to sql --table customers --keep id > score.sql
    tanbark convert model.json --to python --out scorer.py
    """
    from tanbark.cli.models import load_model, network_of
    from tanbark.errors import find
    from tanbark.export import FORMATS, to_python, to_sql

    loaded = load_model(model)
    writers: dict[str, Any] = {name: each.dumps for name, each in FORMATS.items()}
    scorers = {"sql": lambda found: to_sql(found, table=relation, keep=keep, max_size=max_size), "python": to_python}
    writer = find("--to", form, {**writers, **scorers})
    write(writer(loaded if form in scorers else network_of(loaded, model)), out)


@click.command(short_help="List the learners with their references.")
@click.argument("name", required=False)
@options.json_option
def learners(name: str | None, as_json: bool) -> None:
    """List the learners with their references, or describe one.

    \b
    tanbark learners
    tanbark learners kdb
    """
    from dataclasses import asdict

    from tanbark.errors import find
    from tanbark.estimators.catalogue import catalogue

    entries = catalogue()
    if name is not None:
        entries = {name: find("learner", name, entries)}
    if as_json:
        print_json([asdict(entry) for entry in entries.values()])
    elif name is None:
        rows = [[entry.name, entry.estimator, entry.title, entry.reference] for entry in entries.values()]
        print_table(["name", "in Python", "what", "reference"], rows)
    else:
        entry = entries[name]
        click.echo(f"{entry.name}: {entry.title}\n{entry.summary}\n")
        click.echo(f"options    {', '.join(entry.options) or 'only those that all share'}")
        click.echo(f"in Python  tanbark.{entry.estimator}\nreference  {entry.reference}")


@click.command(short_help="Give probabilities of any columns given others.")
@options.model_argument
@click.option("-t", "--target", "targets", multiple=True, metavar="NAME", help="What to ask for; by default the class.")
@click.option("-e", "--evidence", multiple=True, metavar="NAME=STATE", help="What is known; may be repeated.")
@options.json_option
def query(model: str, targets: tuple[str, ...], evidence: tuple[str, ...], as_json: bool) -> None:
    """Return the probabilities of any columns, given any others.

    MODEL is a model file, or a BIF, XMLBIF, NET or UAI file. A number falls into its interval.

    \b
    tanbark query model.json --evidence smoker=yes --target lungs
    tanbark query alarm.bif -e HR=HIGH -e BP=LOW -t CO
    """
    from tanbark.cli.models import load_model, network_of
    from tanbark.errors import InputError

    network = network_of(load_model(model), model)
    if not targets and not network.schema.has_class:
        msg = "This network has no class; say what to ask for with --target NAME."
        raise InputError(msg)
    known = dict(_observed(network, each) for each in evidence)
    posterior = network.query(list(targets) or network.dag.names[network.target], known)
    if as_json:
        print_json({
            "variables": posterior.variables, "states": posterior.states, "probabilities": posterior.values,
            "evidence": known,
        })  # fmt: skip
    else:
        click.echo(str(posterior))


def _observed(network: Any, text: str) -> tuple[str, Any]:
    """Read NAME=STATE; names may hold an equals sign."""
    from tanbark.errors import InputError, OptionError, nearest

    names = sorted(network.dag.names, key=len, reverse=True)
    name = next((each for each in names if text.startswith(f"{each}=")), None)
    if name is None:
        name, equals, _ = text.partition("=")
        if not equals:
            msg = f"Evidence is written name=state; got {text!r}."
            raise OptionError(msg)
        msg = f"There is no variable {name!r}.{nearest(name, names)}"
        raise InputError(msg)
    value = text[len(name) + 1 :]
    column = network.schema.columns[network.dag.index(name)]
    states = {str(state): state for state in column.states()}
    if value in states:
        return name, states[value]
    try:
        return name, float(value) if column.values == "number" else value
    except ValueError:
        return name, value


COMMANDS = (explain, explore, show, convert, learners, query)
