"""Names, literals and expressions of SQL that mean the same in every dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tanbark.errors import InputError
from tanbark.export.notation import number_text

NEVER = -1e9  # in place of the logarithm of zero
MOST_OPERANDS = 50  # of one flat sum: SQLite limits the depth of expressions to 1,000
DECIMALS = 12  # of values that are looked up in strings
DIGITS = "'0123456789'"
SIGNS = "('+', '-')"


class Step(NamedTuple):
    """One step of the WITH clause; every step is materialised, so that no expression is computed twice."""

    name: str
    select: str


def step_from(name: str, before: str, columns: Sequence[str]) -> Step:
    """Return a step that adds columns to those of an earlier step."""
    return select_step(name, [f"{before}.*", *columns], before)


def select_step(name: str, columns: Sequence[str], source: str) -> Step:
    """Return a step that selects columns of tables."""
    return Step(name, "SELECT " + ",\n    ".join(columns) + f"\n  FROM {source}")


def quote_name(text: str) -> str:
    """Quote the name of a column or of a table."""
    return '"' + text.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    """Quote a string."""
    if "\x00" in value:
        msg = f"{value!r} holds a zero byte, which SQL cannot hold. Rename it."
        raise InputError(msg)
    return "'" + value.replace("'", "''") + "'"


def literal(value: Any) -> str:
    """Write a category."""
    if isinstance(value, str):
        return quote_text(value)
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else number_text(value)


def number(value: float) -> str:
    """Format a number as a double in every dialect: with an exponent, it is not a decimal."""
    return f"{float(value):.17e}" if value else "0e0"


def log_number(value: float) -> str:
    """Format a logarithm; that of zero is ``NEVER``."""
    return number(value if np.isfinite(value) else NEVER)


def one_line(text: str) -> str:
    """Return text without line breaks, for comments."""
    return " ".join(text.split())


def join_terms(terms: Sequence[str], operator: str) -> str:
    """Join expressions by an operator, in groups of groups, so that no expression is deep.

    >>> join_terms(["a", "b"], "+")
    '(a + b)'
    """
    parts = list(terms)
    while True:
        groups = [parts[k : k + MOST_OPERANDS] for k in range(0, len(parts), MOST_OPERANDS)]
        parts = ["(" + f"\n      {operator} ".join(group) + ")" if len(parts) > 2 else
                 "(" + f" {operator} ".join(group) + ")" for group in groups]  # fmt: skip
        if len(parts) <= 1:
            return parts[0]


def number_or_null(raw: str, text: str) -> str:
    """Write the number that a column holds, or NULL if it holds text that is none.

    ``raw`` is the column and ``text`` its trimmed text. Casts of other text raise an error in some databases and return
    zero in others; therefore the text is checked first: one sign at most, digits with one point at most, an exponent.
    """
    tail = f"LOWER(LTRIM({text}, '+-.0123456789'))"
    mantissa = f"SUBSTR({text}, 1, LENGTH({text}) - LENGTH({tail}))"
    exponent = f"RTRIM({tail}, {DIGITS}) IN ('e', 'e+', 'e-') AND {tail} NOT IN ('e', 'e+', 'e-')"
    cast = f"CAST({raw} AS DOUBLE PRECISION)"
    plain = f"RTRIM(LTRIM({text}, {DIGITS}), {DIGITS}) IN ('', '.') AND {text} NOT IN ('', '.')"
    forms = [plain, _is_decimal(text), f"{exponent} AND {_is_decimal(mantissa)}"]  # the frequent and quick one first
    return "CASE " + " ".join(f"WHEN {form} THEN {cast}" for form in forms) + " END"


def _is_decimal(text: str) -> str:
    """Write the condition that text is a number without an exponent."""
    rest = f"RTRIM(LTRIM(LTRIM({text}, '+-'), {DIGITS}), {DIGITS})"
    return f"{rest} IN ('', '.') AND LTRIM({text}, '+-.') <> '' AND SUBSTR({text}, 2, 1) NOT IN {SIGNS}"
