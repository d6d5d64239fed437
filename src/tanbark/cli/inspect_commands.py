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
@options.plot_option(help="Draw the evidence of one row: PNG, SVG or PDF.")
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
@options.out_option(required=True, help="Where the page is written; - for standard output.")
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option(
    "--about", metavar="FILE", help="JSON or YAML with about, labels, units, descriptions, order, groups, threshold."
)
@click.option(
    "--rows", "table", metavar="TABLE", help="Rows with the class, to cross-validate the model in five folds."
)
@options.reading
@click.option("--open", "opened", is_flag=True, help="Show the page in the browser.")
@options.quiet_option
def explore(
    model: str, out: str, title: str | None, about: str | None, table: str | None, format: str | None,
    missing: tuple[str, ...], opened: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write one HTML file to click through the network: set evidence, watch the class. It opens anywhere.

    \b
    tanbark explore model.json --out page.html
    tanbark explore model.json --out page.html --title "Spam or not" --open
    tanbark explore model.json --out page.html --title "Ward 3" --about page.yaml --rows train.csv
    """
    from pathlib import Path

    from tanbark.cli.models import load_model
    from tanbark.errors import OptionError
    from tanbark.explorer import make_page
    from tanbark.explorer.wording_file import read_wording

    if opened and out == "-":
        msg = "--open shows a file; name one with --out."
        raise OptionError(msg)
    loaded = load_model(model)
    words = {} if about is None else read_wording(about)
    if title is not None:
        words["title"] = title
    if table is not None:
        words |= _validation_rows(loaded, model, table, format=format, missing=missing)
    write(make_page(loaded, **words).html, out)
    say(f"-> {out}", quiet=quiet or out == "-")
    if opened:
        import webbrowser

        webbrowser.open(Path(out).absolute().as_uri())


def _validation_rows(
    loaded: Any, model: str, table: str, *, format: str | None, missing: tuple[str, ...]
) -> dict[str, Any]:  # fmt: skip
    from tanbark.cli.models import read_rows
    from tanbark.errors import InputError, nearest

    if not hasattr(loaded, "schema_"):
        msg = f"--rows cross-validates a classifier of tables; {model!r} holds a {type(loaded).__name__}."
        raise InputError(msg)
    features, whole = read_rows(loaded, table, format=format, missing=missing)
    name = loaded.schema_.names[-1]
    if name not in whole.column_names:
        msg = f"--rows {table} has no column {name!r}, the class, to compare predictions with."
        raise InputError(f"{msg}{nearest(name, list(whole.column_names))}")
    labels = whole.column(name)
    known = labels.is_valid()  # rows without a class cannot be measured
    return {"X": features.filter(known), "y": labels.filter(known).to_numpy(zero_copy_only=False)}


@click.command(short_help="Print the network and its tables.")
@options.model_argument
@click.option(
    "--cpt", "tables", multiple=True, metavar="NAME", help="Print a column's table, or `all`; may be repeated."
)
@options.json_option
def show(model: str, tables: tuple[str, ...], as_json: bool) -> None:
    """Print a model's network as text, its families, and tables of probabilities.

    MODEL is a model file, or a BIF, XMLBIF, NET, XDSL or UAI file.

    \b
    tanbark show model.json
    tanbark show model.json --cpt age --cpt income
    """
    from tanbark.cli.models import load_network

    text, network = load_network(model)
    names = list(network.dag.names)
    wanted = names if "all" in tables and "all" not in names else [names[network.dag.index(each)] for each in tables]
    if as_json:
        print_json(_shown(text or " ".join(repr(network).split()), network))
        return
    if text:
        click.echo(text)
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


def _shown(text: str, network: Any) -> dict[str, Any]:
    columns = network.schema.columns
    return {
        "model": text,
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
@click.option(
    "--to", "form", required=True, metavar="FORMAT", help="bif, xmlbif, net, xdsl, uai, dot, svg, sql, python or onnx."
)
@options.out_option(default="-", help="By default standard output.")
@click.option("--table", "relation", default="rows", show_default=True, help="For sql: the table to score.")
@click.option("--keep", multiple=True, metavar="NAME", help="For sql: copy a column to the answer, such as an id.")
@click.option("--max-size", type=int, default=50_000_000, show_default=True, help="For sql: the most characters.")
def convert(model: str, form: str, out: str, relation: str, keep: tuple[str, ...], max_size: int) -> None:
    """Write a model for another program: a network file, a picture, a SELECT, a Python module, an ONNX graph.

    MODEL is a model file, or a BIF, XMLBIF, NET, XDSL or UAI file.

    \b
    tanbark convert model.json --to bif --out model.bif
    tanbark convert model.json --to sql --table customers --keep id > score.sql
    tanbark convert model.json --to python --out scorer.py
    tanbark convert model.json --to onnx --out model.onnx
    """
    from tanbark.cli.models import load_model, load_network
    from tanbark.errors import find
    from tanbark.export import FORMATS

    content: str | bytes
    find("--to", form, {**FORMATS, "sql": None, "python": None, "onnx": None})
    if form == "sql":
        from tanbark.export import to_sql

        content = to_sql(load_model(model), table=relation, keep=keep, max_size=max_size)
    elif form == "python":
        from tanbark.export import to_python

        content = to_python(load_model(model))
    elif form == "onnx":
        from tanbark.export import to_onnx

        content = to_onnx(load_model(model)).SerializeToString()
    else:
        content = FORMATS[form].dumps(load_network(model)[1])
    write(content, out)


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
@click.option(
    "--soft",
    multiple=True,
    metavar="NAME=STATE:LIKELIHOOD,…",
    help="Uncertain evidence: how probable it is under each state; states left out are ruled out. May be repeated.",
)
@click.option("--mpe", is_flag=True, help="Return the jointly most probable states; of all columns without --target.")
@options.json_option
def query(
    model: str, targets: tuple[str, ...], evidence: tuple[str, ...], soft: tuple[str, ...], mpe: bool, as_json: bool
) -> None:
    """Return the probabilities of any columns, given any others.

    MODEL is a model file, or a BIF, XMLBIF, NET, XDSL or UAI file. A number falls into its interval.

    \b
    tanbark query model.json --evidence smoker=yes --target lungs
    tanbark query alarm.bif -e HR=HIGH -e BP=LOW -t CO
    tanbark query model.json --mpe -e smoker=yes --soft xray=dark:0.9,clear:0.2
    """
    from tanbark.cli.models import load_network, read_observed
    from tanbark.errors import InputError

    _, network = load_network(model)
    if not targets and not network.schema.has_class and not mpe:
        msg = "This network has no class; say what to ask for with --target NAME."
        raise InputError(msg)
    known = dict(read_observed(network.schema.columns, each) for each in evidence)
    softly = dict(_soft(network, each) for each in soft)
    if mpe:
        _explain_best(network, list(targets), known, softly, as_json=as_json)
        return
    posterior = network.query(list(targets) or network.dag.names[network.target], known, soft=softly)
    if as_json:
        print_json({
            "variables": posterior.variables, "states": posterior.states, "probabilities": posterior.values,
            "evidence": known, **({"soft": softly} if softly else {}),
        })  # fmt: skip
    else:
        click.echo(str(posterior))


def _explain_best(network: Any, targets: list[str], known: dict[str, Any], softly: Any, *, as_json: bool) -> None:
    """Print the most probable states of some columns, or of all that are not observed."""
    found = network.map(targets, known, soft=softly) if targets else network.mpe(known, soft=softly)
    if as_json:
        print_json({
            "states": dict(found), "posterior": found.posterior, "log_joint": found.log_joint, "evidence": known,
            **({"soft": softly} if softly else {}),
        })  # fmt: skip
        return
    print_table(["column", "state"], [[name, str(state)] for name, state in found.items()])
    click.echo(f"posterior {found.posterior:.6g}")


def _soft(network: Any, text: str) -> tuple[str, dict[Any, float]]:
    """Read NAME=STATE:LIKELIHOOD,STATE:LIKELIHOOD,…; names may hold an equals sign, states a colon."""
    from tanbark.cli.models import read_state
    from tanbark.errors import InputError, OptionError, nearest

    columns = {column.name: column for column in network.schema.columns}
    name = next((each for each in sorted(columns, key=len, reverse=True) if text.startswith(f"{each}=")), None)
    if name is None:
        wrong = text.partition("=")[0]
        msg = f"--soft: there is no variable {wrong!r}.{nearest(wrong, list(columns))}"
        raise InputError(msg)
    found = {}
    for each in text[len(name) + 1 :].split(","):
        state, _, number = each.rpartition(":")
        try:
            found[read_state(columns[name], state)] = float(number)
        except ValueError:
            msg = f"Soft evidence is written name=state:likelihood,state:likelihood,…; got {each!r} in {text!r}."
            raise OptionError(msg) from None
    return name, found


COMMANDS = (explain, explore, show, convert, learners, query)
