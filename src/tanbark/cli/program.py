"""The program: its commands, and what happens to errors.

Exit codes: 0 all is well, 1 a bug of ours, 2 a mistake in what was asked or given, 130 interrupted.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from tanbark import __version__
from tanbark.cli import data_commands, fit_commands, inspect_commands, question_commands, warm_up
from tanbark.errors import SuspiciousColumnWarning, TanbarkError, TanbarkWarning, nearest

MISTAKE, BUG, INTERRUPTED, PIPE_CLOSED = 2, 1, 130, 141


class Program(click.Group):
    """A group of commands that reports mistakes of its user in one line, and bugs with their traceback."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or offer the nearest."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.commands:
            msg = f"There is no command {name!r}.{nearest(name, self.commands)} `tanbark --help` lists them."
            raise click.UsageError(msg)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run, and exit with 0, or with the code of the kind of failure."""
        extra.pop("standalone_mode", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", TanbarkWarning)
            warnings.showwarning = _Warnings()
            try:
                code = super().main(args, prog_name, standalone_mode=False, **extra)
                sys.stdout.flush()
            except Exception as error:
                code = _report(error)
            except KeyboardInterrupt:
                code = _say("interrupted", INTERRUPTED)
            except SystemExit as end:  # click and rich end so when a reader goes away, completion when it is done
                code = PIPE_CLOSED if end.code else 0
        sys.exit(code if isinstance(code, int) else 0)


def _report(error: Exception) -> int:
    """Tell an error in one line; only a bug shows where in the program it happened."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        return _say("interrupted", INTERRUPTED)
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    if isinstance(error, click.ClickException):
        return _say(f"error: {_usage(error)}", MISTAKE)
    if isinstance(error, (TanbarkError, MemoryError)):
        return _say(f"error: {error or 'There is not enough memory for this.'}", MISTAKE)
    if isinstance(error, OSError):
        return _say(f"error: {_file_trouble(error)}", MISTAKE)
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    return _say(
        f"this is a bug in Tanbark {__version__}, not a mistake of yours ({type(error).__name__}: {error}). "
        "Please report it with the lines above.",
        BUG,
    )


def _say(message: str, code: int) -> int:
    click.echo(f"tanbark: {' '.join(message.split())}", err=True)
    return code


def _usage(error: click.ClickException) -> str:
    """Word a wrong option with the nearest right one."""
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None and error.ctx.info_name:
        return f"{message} See `{error.ctx.command_path} --help`."
    return message


def _file_trouble(error: OSError) -> str:
    from pathlib import Path

    if error.filename is None:
        return str(error)
    path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else Path(str(error.filename))
    if isinstance(error, FileNotFoundError):
        folder = path.parent
        near = nearest(path.name, [each.name for each in folder.iterdir()]) if folder.is_dir() else ""
        return f"There is no file {str(path)!r}.{near}"
    return f"{error.strerror}: {str(path)!r}."


class _Warnings:
    """Print warnings, one line each; those that differ in numbers only, such as from fold to fold, are printed once."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        line = " ".join(str(message).split())
        if isinstance(message, SuspiciousColumnWarning):  # its advice is for Python
            line = line.partition(" data_report_ lists")[0]
            line = line.replace(
                "Replace texts among numbers by missing values", "Use --na TEXT for texts among numbers"
            )
            line += " `tanbark describe` lists all columns; -o suspicious=keep keeps them all, --drop leaves one out."
        key = re.sub(r"\d[\d,.]*", "#", line)
        if key not in self._known:
            self._known.add(key)
            click.echo(f"tanbark: warning: {line}", err=True)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tanbark")
def app() -> None:
    """Bayesian network classifiers: learn, predict, compare, explain.

    Tables are CSV, TSV, Parquet, Arrow or ARFF files (text also as .gz), by their suffix; - is standard input or
    output. Empty cells, NA, NaN, null and ? are missing values.

    \b
    tanbark fit train.csv --class spam --out model.json
    tanbark predict model.json new.csv --proba --out answers.csv
    tanbark compare train.csv --class spam -l classifier -l naive -l tan
    tanbark explain model.json new.csv --row 17

    Exit codes: 0 all is well, 1 a bug in Tanbark, 2 a mistake in what was asked or given, 130 interrupted.

    Completion of commands and options, also for zsh and fish: eval "$(_TANBARK_COMPLETE=bash_source tanbark)"
    """


_MODULES = (fit_commands, inspect_commands, question_commands, data_commands, warm_up)
for _command in (command for module in _MODULES for command in module.COMMANDS):
    app.add_command(_command)

__all__ = ["app"]
