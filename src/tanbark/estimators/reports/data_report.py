"""The data report: what training saw in its table, column by column."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from tanbark.errors import SuspiciousColumnWarning
from tanbark.estimators.reports.suspicious import WORDS, Seen
from tanbark.table import Column, Schema
from tanbark.table.written import example

MOST_LINES, MOST_LABELS, MOST_CUTS = 60, 8, 6  # of a report as text
HEADINGS = ("column", "kind", "states", "missing", "remarks")


@dataclass(frozen=True)
class ColumnReport:
    """What training saw in one column.

    Parameters
    ----------
    name : str
    kind : {"category", "interval", "left out"}
        Whether its states are categories or intervals; or that it was left out.
    values : {"number", "text", "boolean"}
    states : int
        Number of states; 0 where it was left out. A column with one state is not used.
    missing : int
        Rows without a value.
    cuts : tuple of float
        Cut points between its intervals.
    finding : str, optional
        "identifier", "row number", "free text", "increasing", "leak" or "numbers and text".
    written : str
        How text became its numbers, such as ".$" for "$1,234.50"; empty where it held numbers.
    """

    name: str
    kind: str
    values: str
    states: int
    missing: int
    cuts: tuple[float, ...] = ()
    finding: str | None = None
    written: str = ""

    @property
    def remarks(self) -> str:
        """What is worth knowing of the column, in words."""
        found = [] if self.finding is None else [WORDS[self.finding]]
        if self.states == 1:
            found.insert(0, "unused: no cut" if self.kind == "interval" else "unused: constant")
        if self.cuts:
            shown = ", ".join(f"{cut:.6g}" for cut in self.cuts[:MOST_CUTS])
            found.insert(0, f"cuts {shown}{', …' if len(self.cuts) > MOST_CUTS else ''}")
        if self.written:
            found.insert(0, f"text such as {example(self.written)!r} read as numbers")
        return "; ".join(found)


@dataclass(frozen=True)
class DataReport:
    """What training saw: rows, classes, and every column with its states, missing values and what is odd about it.

    It prints as text, a notebook shows it as a table, and ``to_dict`` gives it as JSON has it.

    Parameters
    ----------
    rows : int
        Number of rows, whatever their weights.
    target : str
        The name of the class.
    classes : dict
        Rows by class.
    columns : tuple of ColumnReport
        Every column that training was given, in order.

    Examples
    --------
    >>> import tanbark as tb
    >>> report = tb.NaiveBayes().fit([["a", 1], ["b", 1], ["a", 1], [None, 1]], [0, 1, 0, 1]).data_report_
    >>> print(report)
    4 rows, 2 columns: 1 used, 1 unused, 0 left out
    class: 0 2 (50.0 %), 1 2 (50.0 %)
    column  kind      states  missing  remarks
    x0      category       2        1
    x1      category       1        0  unused: constant
    """

    rows: int
    target: str
    classes: dict[Any, int]
    columns: tuple[ColumnReport, ...]

    @property
    def used(self) -> list[str]:
        """Names of the columns with at least two states."""
        return [column.name for column in self.columns if column.states > 1]

    @property
    def unused(self) -> list[str]:
        """Names of the columns with one state: constant, never observed, or numbers without a cut."""
        return [column.name for column in self.columns if column.states == 1]

    @property
    def left_out(self) -> list[str]:
        """Names of the columns that training left out."""
        return [column.name for column in self.columns if not column.states]

    @property
    def suspicious(self) -> dict[str, str]:
        """What was found in suspicious columns, by name."""
        return {column.name: column.finding for column in self.columns if column.finding is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "rows": self.rows,
            "class": self.target,
            "classes": [{"label": label, "rows": rows} for label, rows in self.classes.items()],
            "columns": [
                {
                    "name": column.name, "kind": column.kind, "values": column.values, "states": column.states,
                    "missing": column.missing, "cuts": list(column.cuts), "finding": column.finding,
                    **({"written": column.written} if column.written else {}),
                }
                for column in self.columns
            ],
            "used": self.used, "unused": self.unused, "left_out": self.left_out, "suspicious": self.suspicious,
        }  # fmt: skip

    def summary(self) -> str:
        """Return the first line: rows, and what became of the columns."""
        return (
            f"{_plural(self.rows, 'row')}, {_plural(len(self.columns), 'column')}: {len(self.used)} used, "
            f"{len(self.unused)} unused, {len(self.left_out)} left out"
        )

    def balance(self) -> str:
        """Return the second line: the rows of every class."""
        total = max(1, sum(self.classes.values()))
        shown = [f"{label} {rows:,} ({100 * rows / total:.1f} %)" for label, rows in self.classes.items()]
        more = f", and {len(shown) - MOST_LABELS} others" if len(shown) > MOST_LABELS else ""
        return f"{self.target}: {', '.join(shown[:MOST_LABELS])}{more}"

    def lines(self) -> list[list[str]]:
        """Return a line of text for every column, as ``HEADINGS`` names its cells."""
        return [
            [column.name, column.kind, str(column.states or "-"), f"{column.missing:,}", column.remarks]
            for column in self.columns
        ]

    def __str__(self) -> str:
        table = [list(HEADINGS), *self.lines()[:MOST_LINES]]
        wide = [max(len(line[place]) for line in table) for place in range(len(HEADINGS))]
        rows = [
            "  ".join(
                cell.rjust(wide[k]) if k in (2, 3) else cell.ljust(wide[k]) for k, cell in enumerate(line)
            ).rstrip()
            for line in table
        ]
        rest = len(self.columns) - MOST_LINES
        more = [f"… and {rest} other columns; to_dict() has them all"] if rest > 0 else []
        return "\n".join([self.summary(), self.balance(), *rows, *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in HEADINGS)
        lines = [_html_line(line) for line in self.lines()]
        return (
            f"<div><p>{escape(self.summary())}<br>{escape(self.balance())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        )


def _html_line(cells: Sequence[str]) -> str:
    styles = ["left", "left", "right", "right", "left"]
    row = "".join(f"<td style='text-align:{s}'>{escape(cell)}</td>" for s, cell in zip(styles, cells, strict=True))
    return f"<tr>{row}</tr>"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def make_report(schema: Schema, seen: Seen) -> DataReport:
    """Join what training saw with the columns that it learnt."""
    known = {column.name: column for column in schema.features}
    columns = [
        _column_report(name, known.get(name), values, facts.missing, facts.finding)
        for name, values, facts in zip(seen.names, seen.values, seen.facts, strict=True)
    ]
    target = schema.columns[-1]
    return DataReport(seen.rows, target.name, dict(zip(target.levels, seen.class_rows, strict=True)), tuple(columns))


def _column_report(name: str, column: Column | None, values: str, missing: int, finding: str | None) -> ColumnReport:
    if column is None:
        return ColumnReport(name, "left out", values, 0, missing, (), finding)
    return ColumnReport(name, column.kind, values, column.n_states, missing, column.cuts, finding, column.written)


def describe(
    X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None, discretize: Any = "mdlp",
    categorical_features: Any = "auto", n_jobs: int | None = None,
) -> DataReport:  # fmt: skip
    """Report what ``fit`` would see in a table, without learning a model.

    Parameters
    ----------
    X : frame or array of shape (n_rows, n_features); or a file, a lazy frame or a :func:`tanbark.scan`
    y : array-like of shape (n_rows,)
        Labels, none missing.
    sample_weight : array-like of shape (n_rows,), optional
    target : str
        For a file and the like, the name of the column with the labels.
    discretize, categorical_features, n_jobs :
        As the options of every classifier of tables.

    Examples
    --------
    >>> from tanbark.estimators import describe
    >>> rows = [[f"customer {k}", "ab"[k % 2], 1.5] for k in range(40)]
    >>> describe(rows, [k % 3 // 2 for k in range(40)]).left_out
    ['x0']
    """
    from tanbark.estimators.files.scan import as_scan, is_scan, open_counts
    from tanbark.estimators.models.fixed import NaiveBayes
    from tanbark.estimators.training import encode_training

    model = NaiveBayes(discretize=discretize, categorical_features=categorical_features, n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspiciousColumnWarning)  # the report says it
        if target is None and not is_scan(X):
            encode_training(model, X, y, sample_weight)
        else:
            open_counts(model, as_scan(X, target, y, sample_weight))
    return model.data_report_
