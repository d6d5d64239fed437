"""Columns as JSON, as model files and files of counts hold them."""

from __future__ import annotations

import math
from itertools import pairwise
from reprlib import repr as short
from typing import Any

from tanbark.errors import ModelFileError
from tanbark.table.schema import Column
from tanbark.table.written import THOUSANDS, UNITS

MISSING_STATE = "gap_state"  # the key of Column.missing_state in files, which do not change


def column_document(column: Column) -> dict[str, Any]:
    """Write a column as JSON."""
    document: dict[str, Any] = {"name": column.name, "kind": column.kind, "values": column.values}
    if column.missing_state:
        document[MISSING_STATE] = True
    if column.written:
        document["written"] = column.written
    if column.kind == "interval":
        return {**document, "cuts": list(column.cuts)}
    return {**document, "levels": list(column.levels)}


def demand(holds: bool, otherwise: str) -> None:
    """Raise an error for the file unless a condition holds."""
    if not holds:
        raise ModelFileError(otherwise)


def read_list(value: Any, what: str) -> list[Any]:
    """Read a list."""
    demand(isinstance(value, list), f"the {what} are no list")
    return value  # type: ignore[no-any-return]  # demanded above


def is_number(value: Any) -> bool:
    """Return whether a value is a number of JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read_column(document: Any) -> Column:
    """Read a column from its JSON."""
    demand(isinstance(document, dict), "a column is no mapping")
    name, kind, values = document["name"], document["kind"], document["values"]
    demand(isinstance(name, str), f"the column name {short(name)} is no string")
    demand(kind in ("category", "interval"), f"the column {name!r} is of unknown kind {short(kind)}")
    demand(values in ("number", "text", "boolean"), f"the column {name!r} holds unknown values {short(values)}")
    missing_state = document.get(MISSING_STATE, False)
    demand(isinstance(missing_state, bool), f"whether a missing value of {name!r} is a state is not said")
    written = document.get("written", "")
    known = written == "" or (isinstance(written, str) and written[0] in THOUSANDS and written[1:] in ("", *UNITS))
    demand(known and (not written or values == "number"), f"how the numbers of {name!r} are written is unknown")
    if kind == "interval":
        cuts = read_list(document["cuts"], f"cuts of {name!r}")
        demand(all(is_number(cut) and math.isfinite(cut) for cut in cuts), f"a cut of {name!r} is no finite number")
        demand(all(low < high for low, high in pairwise(cuts)), f"the cuts of {name!r} do not rise")
        return Column(
            name, kind, values, cuts=tuple(float(cut) for cut in cuts), missing_state=missing_state, written=written
        )
    levels = tuple(read_list(document["levels"], f"categories of {name!r}"))
    plain = all(isinstance(level, (str, bool, int, float)) for level in levels)
    demand(plain, f"a category of {name!r} is no plain value")
    finite = all(math.isfinite(level) for level in levels if isinstance(level, float))
    demand(finite, f"a category of {name!r} is no finite number")
    demand(len(set(levels)) == len(levels), f"a category of {name!r} occurs twice")
    return Column(name, kind, values, levels, missing_state=missing_state, written=written)
