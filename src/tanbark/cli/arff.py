"""ARFF, the tables of Weka: numeric, nominal and string attributes, dense and sparse rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tanbark.errors import InputError, nearest

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
CELL = re.compile(r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,]*?)\s*(,|$)""")
NUMERIC = ("numeric", "real", "integer")


def parse(content: str, text: Sequence[str] = ()) -> Any:
    """Read ARFF as a ``pyarrow.Table``; nominal attributes keep all of their declared categories."""
    names: list[str] = []
    kinds: list[tuple[str, ...] | str] = []
    rows: list[list[str | None]] = []
    in_data = False
    for number, line in enumerate(content.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        if in_data:
            rows.append(_row(stripped, kinds, number))
        elif stripped[:5].lower() == "@data":
            in_data = True
        elif stripped[:10].lower() == "@attribute":
            match = ATTRIBUTE.match(stripped)
            if match is None:
                msg = f"line {number}: expected '@attribute name type', got {stripped[:60]!r}."
                raise InputError(msg)
            names.append(_bare(match[1]))
            kinds.append(_kind(match[2], number))
        elif stripped[:9].lower() != "@relation":
            msg = f"line {number}: expected @relation, @attribute or @data, got {stripped[:60]!r}."
            raise InputError(msg)
    if not in_data or not names:
        raise InputError("line 1: expected @attribute lines and a line @data; one is not there.")
    return _table(names, kinds, rows, text)


def _kind(declared: str, line: int) -> tuple[str, ...] | str:
    """Read the type of an attribute: its categories, or "number" or "text"."""
    declared = declared.strip()
    if declared.startswith("{"):
        if not declared.rstrip().endswith("}"):
            msg = f"line {line}: expected '}}' at the end of the categories, got {declared[-20:]!r}."
            raise InputError(msg)
        return tuple(_bare(cell) for cell in _cells(declared[1 : declared.rindex("}")], line))
    word = (declared.split() or [""])[0].lower()
    if word in NUMERIC:
        return "number"
    if word in ("string", "date"):
        return "text"
    msg = f"line {line}: the type {declared[:40]!r} is unknown.{nearest(word, [*NUMERIC, 'string', 'date'])}"
    raise InputError(msg)


def _cells(line: str, number: int) -> list[str]:
    found, at = [], 0
    while True:
        match = CELL.match(line, at)
        if match is None:
            msg = f"line {number}: a quote is not closed, or a comma lacks, at {line[at : at + 30]!r}."
            raise InputError(msg)
        found.append(match[1])
        at = match.end()
        if not match[2]:
            return found


def _bare(cell: str) -> str:
    if cell[:1] in ("'", '"') and cell[-1:] == cell[:1] and len(cell) > 1:
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell


def _row(line: str, kinds: list[tuple[str, ...] | str], number: int) -> list[str | None]:
    if line.startswith("{"):
        row: list[str | None] = [kind[0] if isinstance(kind, tuple) else "0" for kind in kinds]
        inside = line.strip("{} \t")
        for cell in _cells(inside, number) if inside else ():
            place, _, value = cell.partition(" ")
            if not place.isdigit() or int(place) >= len(kinds):
                msg = f"line {number}: expected 'position value' pairs, got {cell[:40]!r}."
                raise InputError(msg)
            row[int(place)] = None if value.strip() == "?" else _bare(value.strip())
        return row
    cells = _cells(line, number)
    if len(cells) != len(kinds):
        msg = f"line {number}: expected {len(kinds)} values, got {len(cells)}."
        raise InputError(msg)
    return [None if cell in ("?", "") else _bare(cell) for cell in cells]


def _table(
    names: list[str], kinds: list[tuple[str, ...] | str], rows: list[list[str | None]], text: Sequence[str]
) -> Any:
    from tanbark.cli.tables import arrow

    pa = arrow()
    arrays = []
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        values = [row[place] for row in rows]
        if kind == "number" and name not in text:
            arrays.append(pa.array([None if value is None else _number(value, name) for value in values], pa.float64()))
        elif isinstance(kind, tuple) and name not in text:
            codes = {category: code for code, category in enumerate(kind)}
            strange = next((value for value in values if value is not None and value not in codes), None)
            if strange is not None:
                msg = f"attribute {name!r}: {strange!r} is none of its categories.{nearest(strange, list(kind))}"
                raise InputError(msg)
            indices = pa.array([None if value is None else codes[value] for value in values], pa.int32())
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array(kind, pa.string())))
        else:
            arrays.append(pa.array(values, pa.string()))
    return pa.Table.from_arrays(arrays, names=names)


def _number(value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        msg = f"attribute {name!r} is numeric and cannot hold {value!r}."
        raise InputError(msg) from None
