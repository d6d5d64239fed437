"""The first steps of a statement: columns of any type become numbers or text, and these become states.

A column of numbers may be stored as text, as it is after SQLite's ``.import`` of a CSV file: its text is checked and
cast. Later steps see generated names only, so that no column of the user's table can be taken for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tanbark.errors import InputError
from tanbark.export.sql.text import Step, number, number_or_null, quote_name, quote_text, select_step
from tanbark.table import Column, Schema
from tanbark.table.written import example, pieces

EXACT = 1 << 53  # whole numbers from here on are not all doubles
TRUE, FALSE = "('true', 't')", "('false', 'f')"
NO_NUMBER = "('', 'nan')"  # text that stands for a missing value in a column of numbers


@dataclass(frozen=True)
class Codes:
    """How states are written: the state k, a missing value, and a value not seen in training."""

    state: Callable[[int], str]
    missing: str
    unknown: str


@dataclass(frozen=True)
class Rows:
    """The table to score.

    Parameters
    ----------
    schema : Schema
    table : str
    keep : list of str
        Columns to select besides the predictions.
    strict : bool
        Whether a row with a value not seen in training has no prediction; otherwise the value is missing.
    numbered : bool
        Whether rows are numbered, as tb_row, for joins of later steps.
    """

    schema: Schema
    table: str
    keep: Sequence[str]
    strict: bool
    numbered: bool = False

    def step(self, name: str) -> str:
        """Return the full name of a step; the table to score has another one, whatever it is."""
        own, k = self.table.split(".")[-1].lower(), 0
        while own.startswith(f"tb{k or ''}_"):
            k += 1
        return f"tb{k or ''}_{name}"

    def value_steps(self) -> list[Step]:
        """Write the steps up to ``values``.

        Its columns are those to keep, tb_k0, tb_k1, ..., and for feature i tb_vi, its number or text; a feature with
        numbers has its text as tb_ui where it matters why there is no number.
        """
        _check(self.schema)
        read = ["ROW_NUMBER() OVER () AS tb_row"] * self.numbered
        values = ["tb_row"] * self.numbered
        for place, name in enumerate(self.keep):
            read.append(f"tb_rows.{quote_name(name)} AS tb_k{place}")
            values.append(f"tb_k{place}")
        for place, column in enumerate(self.schema.features):
            raw = f"tb_rows.{quote_name(column.name)}"
            if _is_textual(column):
                read.append(f"{raw} AS tb_v{place}")
                values.append(f"tb_v{place}")
            else:
                read += [f"{raw} AS tb_x{place}", f"{_text(column, raw)} AS tb_u{place}"]
                values += [f"tb_u{place}"] * (self.strict or column.missing_state)
                values.append(f"{_number(column, place)} AS tb_v{place}")
        relation = ".".join(quote_name(part) for part in self.table.split("."))
        return [
            select_step(self.step("read"), read, f"{relation} AS tb_rows"),
            select_step(self.step("values"), values, self.step("read")),
        ]

    def state(self, place: int, column: Column, codes: Codes) -> str:
        """Write the code of the state of feature ``place``, which has the states of ``column``."""
        value, first = f"tb_v{place}", int(column.missing_state)
        missing = codes.state(0) if first else codes.missing
        unknown = codes.unknown if self.strict else codes.missing
        if column.kind == "interval":
            whens = "".join(
                f"WHEN {value} <= {number(cut)} THEN {codes.state(k + first)} " for k, cut in enumerate(column.cuts)
            )
            last = codes.state(len(column.cuts) + first)
        else:
            whens = "".join(
                f"WHEN {value} = {_level(level, column)} THEN {codes.state(k + first)} "
                for k, level in enumerate(column.levels)
            )
            last = unknown
        return f"CASE {_no_value(place, column, missing, unknown)}{whens}ELSE {last} END"


def _check(schema: Schema) -> None:
    if len({name.lower() for name in schema.names}) < len(schema.names):
        msg = "Two columns differ in capitals only, which SQL does not distinguish. Rename one of them."
        raise InputError(msg)
    for column in schema.features:
        if column.written.startswith(","):
            msg = (
                f"Column {column.name!r} was text such as {example(column.written)!r}, with points between thousands; "
                "in a database they may be decimal. Convert it to numbers, and train again, to write SQL."
            )
            raise InputError(msg)
        if len({isinstance(level, str) for level in column.levels}) > 1:
            msg = f"Column {column.name!r} holds strings and numbers, which no column of a database can. Convert some."
            raise InputError(msg)


def _text(column: Column, raw: str) -> str:
    """Write the trimmed text of a column; of written numbers without their unit and the marks between thousands."""
    found = f"CAST({raw} AS VARCHAR)"
    for piece in pieces(column.written)[1:] if column.written else ():
        found = f"REPLACE({found}, {quote_text(piece)}, '')" if piece else found
    return f"TRIM({found})"


def _is_textual(column: Column) -> bool:
    return column.kind == "category" and (not column.levels or isinstance(column.levels[0], str))


def _is_large(column: Column) -> bool:
    """Return whether categories are whole numbers beyond the exact doubles; they are compared as text."""
    return any(isinstance(level, int) and abs(level) >= EXACT for level in column.levels)


def _number(column: Column, place: int) -> str:
    """Write the number of a column; truth values are 1 and 0."""
    raw, text = f"tb_x{place}", f"tb_u{place}"
    if _is_large(column):
        return text
    if column.written:
        return number_or_null(text, text)
    if column.kind == "category" and set(column.levels) <= {0, 1}:
        low, found = (
            f"LOWER({text})",
            number_or_null(text, text),
        )  # a column of truth values may have no cast to numbers
        return f"CASE WHEN {low} IN {TRUE} THEN 1e0 WHEN {low} IN {FALSE} THEN 0e0 ELSE {found} END"
    return number_or_null(raw, text)


def _level(level: str | float, column: Column) -> str:
    if isinstance(level, str):
        return quote_text(level)
    return quote_text(str(level)) if _is_large(column) else number(float(level))


def _no_value(place: int, column: Column, missing: str, unknown: str) -> str:
    """Write the conditions for values that are missing, or no numbers; an empty string is missing, as in CSV files."""
    value, text = f"tb_v{place}", f"tb_u{place}"
    if missing == unknown:
        return f"WHEN {value} IS NULL THEN {missing} "
    if not _is_textual(column):
        empty = f"{text} IS NULL OR LOWER({text}) IN {NO_NUMBER}"
        return f"WHEN {empty} THEN {missing} WHEN {value} IS NULL THEN {unknown} "
    empty = "" if "" in column.levels else f" OR CAST({value} AS VARCHAR) = ''"
    return f"WHEN {value} IS NULL{empty} THEN {missing} "
