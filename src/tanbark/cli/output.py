"""What the command line writes: tables and JSON to standard output, words and progress to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

Advance = Callable[[str], None]


def say(message: str, *, quiet: bool = False) -> None:
    """Tell people something, on standard error."""
    if not quiet:
        click.echo(message, err=True)


def write(content: str | bytes, path: str) -> None:
    """Write to a file, which appears when it is whole, or to standard output."""
    if path == "-":
        click.echo(content, nl=False)
        return
    from tanbark.files import write_atomic

    write_atomic(path, content.encode() if isinstance(content, str) else content)


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that JSON does not know become null."""
    click.echo(json.dumps(_plain(document), ensure_ascii=False, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print a table; the columns in ``right`` are aligned to the right.

    On a terminal the columns of words share its width; where there is none, or only one such column, nothing is cut.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal or len(set(range(len(headings))) - set(right)) < 2:
        console = Console(file=sys.stdout, width=10_000, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        aligned = place in right
        table.add_column(Text(heading), justify="right" if aligned else "left", overflow="fold", no_wrap=aligned)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


@contextmanager
def progress(what: str, steps: int | None, *, quiet: bool) -> Iterator[Advance]:
    """Show a bar on a terminal, and nothing elsewhere; what is yielded is to be called after every step."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}")]
    if steps is not None:
        columns += [BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=steps)

        def advance(name: str) -> None:
            bar.update(task, advance=1, description=f"{what}: {name}" if name else what)

        yield advance


def save_figure(axes: Any, path: str) -> None:
    """Write the figure of some axes as PNG, SVG or PDF, by the suffix."""
    import io
    from pathlib import Path

    from tanbark.errors import find

    suffix = Path(path).suffix.lower().lstrip(".")
    find("the suffix of a picture", suffix, {"png": None, "svg": None, "pdf": None})
    picture = io.BytesIO()
    axes.figure.savefig(picture, format=suffix, bbox_inches="tight", dpi=150)
    write(picture.getvalue(), path)
