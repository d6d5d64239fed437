"""What spreadsheets and people leave in files of text: other encodings, cells without a name, marks for no value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tanbark.errors import InputError, TanbarkWarning, warn

MARKS = {"-", "--", "—", ".", "..", "n.a.", "k.a.", "#n/a", "#value!"}  # words may mean something: --na names them
DATE = re.compile(r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?\s*([AP]M|Z)?", re.IGNORECASE)
NEARLY_ALL = 0.95  # of the texts of a column of dates


def as_utf8(raw: bytes, name: str) -> bytes:
    """Return text in UTF-8: UTF-16 begins with a mark of its own, and what is neither is taken for Windows-1252."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return raw.decode("utf-16").encode()
        except UnicodeDecodeError:
            msg = "expected text in UTF-16, as its first bytes say, and its end is damaged."
            raise InputError(msg) from None
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(10) + 1
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            msg = f"line {line}: expected text in UTF-8, got the byte {raw[error.start]:#x}."
            raise InputError(msg) from None
        warn(f"{name} is not in UTF-8 (line {line}); it is read as Windows-1252. Check its letters.", TanbarkWarning)
        return text.encode()
    return raw


def name_columns(table: Any) -> Any:
    """Drop columns with neither a name nor a value, and name other nameless ones by their place."""
    kept, names = [], []
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True), start=1):
        if name.strip() or column.null_count < len(column):
            kept.append(place - 1)
            names.append(name if name.strip() else f"column {place}")
    return table if names == table.column_names else table.select(kept).rename_columns(names)


def read_marks(table: Any, text: Sequence[str], numbers: Sequence[str], point: str) -> Any:
    """Read columns of text as numbers where all other texts are marks for no value, such as "-".

    The columns in ``text`` stay; in those in ``numbers`` marks are missing values even if there is no number. ``point``
    is the decimal mark.
    """
    from tanbark.table.written import is_number

    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if column.type != arrow.string() or name in text:
            continue
        values = [value for value in compute.unique(column).to_pylist() if value is not None]
        others = [value for value in values if not is_number(value, point)]
        marked = all(value.strip().lower() in MARKS for value in others)
        if others and marked and (len(others) < len(values) or name in numbers):
            marks = compute.is_in(column, value_set=arrow.array(others))
            kept = compute.if_else(marks, arrow.scalar(None, arrow.string()), column)
            plain = compute.replace_substring(compute.utf8_trim_whitespace(kept), pattern=point, replacement=".")
            table = table.set_column(place, name, plain.cast(arrow.float64()))
    return table


def find_dates(table: Any) -> list[str]:
    """Name the columns of dates and times, and those of text that looks like dates."""
    types = import_module("pyarrow").types
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if types.is_temporal(column.type):
            found.append(name)
        elif types.is_string(column.type):
            values = [value for value in column.unique().to_pylist() if value is not None]
            if values and sum(bool(DATE.fullmatch(value.strip())) for value in values) >= NEARLY_ALL * len(values):
                found.append(name)
    return found
