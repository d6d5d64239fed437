"""Arguments and options that commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from tanbark.errors import OptionError

Decorated = Callable[..., Any]


def _together(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    def decorate(command: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _existing(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Check a file to be read before anything heavy is imported; - is standard input."""
    if path is not None and path != "-":
        os.stat(path)
    return path


def _writable(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Check the folder of a file to be written before anything is learnt."""
    folder = os.path.dirname(path or "")
    if folder and not os.path.isdir(folder):
        msg = f"There is no folder {folder!r} to write {os.path.basename(str(path))!r} to. Make it first."
        raise OptionError(msg)
    return path


table_argument = click.argument("table", metavar="TABLE", callback=_existing)
model_argument = click.argument("model", metavar="MODEL", callback=_existing)
out_option = partial(click.option, "--out", metavar="FILE", callback=_writable)
plot_option = partial(click.option, "--plot", metavar="FILE", callback=_writable)
saved_option = partial(click.option, "--model", "saved", metavar="FILE", callback=_existing)
format_option = click.option("--format", metavar="NAME", help="csv, tsv, parquet, arrow or arff; else by suffix.")
missing_option = click.option(
    "--na", "missing", multiple=True, metavar="TEXT", help="A further text that means a missing value."
)
reading = _together(format_option, missing_option)
target_option = click.option("--class", "target", required=True, metavar="NAME", help="The class column.")
drop_option = click.option("--drop", multiple=True, metavar="NAME", help="Leave a column out; may be repeated.")
training = _together(target_option, drop_option, format_option, missing_option)
DEFAULT_LEARNER = "classifier"
learner_option = click.option(
    "-l", "--learner", default=DEFAULT_LEARNER, show_default=True, help="A name of `tanbark learners`."
)
settings_option = click.option(
    "-o", "--option", "settings", multiple=True, metavar="NAME=VALUE",
    help="An option of the learner, such as criterion=bic; may be repeated.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, no remarks.")
folds_options = _together(
    click.option("--folds", default=10, show_default=True, type=click.IntRange(2), help="Stratified folds."),
    click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="How rows are dealt to folds."),
)
