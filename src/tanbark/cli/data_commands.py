"""Commands that look at tables: describe."""

from __future__ import annotations

import click

from tanbark.cli import options
from tanbark.cli.output import print_json, print_table


@click.command(short_help="Report what fit would see in a table.")
@options.table_argument
@options.training
@options.json_option
def describe(
    table: str, target: str, drop: tuple[str, ...], format: str | None, missing: tuple[str, ...], as_json: bool
) -> None:
    """Report what `tanbark fit` would see in TABLE: rows, classes, and every column.

    Kinds, states, missing values, cut points; columns that are not used; and suspicious ones: identifiers, numbers of
    rows, free text, and columns that determine the class.

    \b
    tanbark describe train.csv --class spam
    tanbark describe train.csv --class spam --json
    """
    from tanbark.cli.models import read_training
    from tanbark.estimators.reports.data_report import HEADINGS
    from tanbark.estimators.reports.data_report import describe as look

    X, y, _ = read_training(table, target, format=format, missing=missing, drop=drop)
    report = look(X, y)
    if as_json:
        print_json(report.to_dict())
        return
    click.echo(f"{report.summary()}\n{report.balance()}\n")
    print_table(list(HEADINGS), report.lines(), right=(2, 3))


COMMANDS = (describe,)
