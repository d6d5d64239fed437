"""Numbers as people write them: "$1,792.70", "1.234,50 €", "12 %".

A column of text is read as numbers if nearly all of its values have such a form, in one unit. How its text becomes a
number is a short text too, which the schema keeps: the decimal mark, and the unit after it, as in ".$", ",€" and ".%".
Reading removes the unit, spaces and the marks between thousands; what is left must be a number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tanbark.arrays import Bools
from tanbark.errors import TanbarkWarning, warn
from tanbark.table.raw import CodedColumn, NumberBlock, RawTable
from tanbark.table.schema import Level

UNITS = ("$", "€", "£", "¥", "₹", "%", "USD", "EUR", "GBP", "CHF", "JPY")
SPACES = (" ", "\u00a0", "\u202f", "'", "\u2019")  # between thousands, whatever the decimal mark
THOUSANDS = {".": (",", *SPACES), ",": (".", *SPACES)}  # by decimal mark
NEARLY_ALL = 0.95  # of the values, that have the form
HOPELESS = 0.5  # the same below which no more is read
DIGIT = re.compile(r"\d")
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")


def _form(mark: str) -> re.Pattern[str]:
    unit = "|".join(map(re.escape, UNITS))
    apart = "".join(map(re.escape, THOUSANDS[mark]))
    digits = rf"(?:[1-9]\d{{0,2}}(?P<apart>[{apart}])\d{{3}}(?:(?P=apart)\d{{3}})*|\d+)"
    sign = r"\s*[-+]?\s*"
    return re.compile(rf"{sign}(?P<first>{unit})?{sign}{digits}(?:{re.escape(mark)}\d+)?\s*(?P<last>{unit})?\s*")


FORMS = {mark: _form(mark) for mark in THOUSANDS}


def is_number(text: str, mark: str = ".") -> bool:
    """Return whether a text is a plain number, with a decimal point or with the decimal mark that is given.

    >>> is_number("-1.5e3"), is_number(" 1,5 ", ","), is_number("1,500.0", ","), is_number("12 %")
    (True, True, False, False)
    """
    return NUMBER.fullmatch(text.replace(mark, ".")) is not None


def read_number(text: str, written: str) -> float:
    """Read a number; NaN where the text is none.

    >>> read_number("$1,792.70", ".$"), read_number("-1.234,5 €", ",€"), read_number("on request", ".$")
    (1792.7, -1234.5, nan)
    """
    mark, *removed = pieces(written)
    for piece in removed:
        text = text.replace(piece, "") if piece else text
    return float(text.strip().replace(mark, ".")) if is_number(text, mark) else float("nan")


def pieces(written: str) -> list[str]:
    """Return the decimal mark, and what is removed: the unit, which may be empty, and the marks between thousands."""
    return [written[0], written[1:], *THOUSANDS[written[0]]]


def example(written: str) -> str:
    """Write a number in such a form.

    >>> example(".$"), example(",€"), example(".%"), example(".")
    ('$1,234.5', '1.234,5 €', '12.5 %', '1,234.5')
    """
    mark, unit = written[0], written[1:]
    number = f"12{mark}5" if unit == "%" else f"1{THOUSANDS[mark][0]}234{mark}5"
    return f"{unit}{number}" if unit in ("$", "£", "¥", "₹") else f"{number} {unit}".strip()


@dataclass
class Tally:
    """How many rows of a column of text have a form, by decimal mark, by unit, and with marks between thousands."""

    rows: int = 0
    fits: Counter[str] = field(default_factory=Counter)
    grouped: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)

    def add(self, levels: Sequence[Level], counts: Iterable[int]) -> None:
        """Add texts with the number of rows of each."""
        for text, n in zip(levels, counts, strict=True):
            self.rows += n
            found = {mark: form.fullmatch(text) for mark, form in FORMS.items()} if isinstance(text, str) else {}
            for mark, match in found.items():
                if match is not None:
                    self.fits[mark] += n
                    self.grouped[mark] += n if match["apart"] not in (None, " ") else 0
            known = next((match for match in found.values() if match is not None), None)
            if known is not None:
                self.units[(known["first"] or "") + (known["last"] or "")] += n

    def merge(self, other: Tally) -> None:
        """Add the rows of another part."""
        self.rows += other.rows
        for mine, theirs in ((self.fits, other.fits), (self.grouped, other.grouped), (self.units, other.units)):
            mine.update(theirs)

    @property
    def hopeless(self) -> bool:
        """Whether too few rows have a form for it to be worth while to read more."""
        return max(self.fits.values(), default=0) < HOPELESS * self.rows

    def decide(self) -> str:
        """Return how the column is written; empty if it holds no numbers of one unit, or plain ones.

        Plain digits alone stay text, since they may be codes: a unit or a mark between thousands must occur. Where both
        decimal marks fit, as with "1,234", the mark in the text is taken for one between thousands.
        """
        mark = max(THOUSANDS, key=lambda each: (self.fits[each], self.grouped[each]))
        if not self.rows or self.fits[mark] < NEARLY_ALL * self.rows:
            return ""
        units = [unit for unit, n in self.units.items() if unit and n]
        if len(units) > 1 or (units == ["%"] and self.units[""]) or (units and units[0] not in UNITS):
            return ""
        return f"{mark}{''.join(units)}" if units or self.grouped[mark] else ""


def tally(item: CodedColumn) -> Tally:
    """Count the forms of a column of text."""
    found = Tally()
    found.add(item.levels, item.rows.tolist())
    return found


def as_numbers(item: CodedColumn, written: str) -> CodedColumn:
    """Return a column of text with numbers for its levels, NaN where a text is none; any other as it is."""
    if not written or item.values != "text":
        return item
    numbers = tuple(read_number(level, written) if isinstance(level, str) else float(level) for level in item.levels)
    return replace(item, levels=numbers, values="number", declared=False)


def read_written(table: RawTable, rows: Bools | None, kept: Bools | None) -> RawTable:
    """Read the columns of text that hold written numbers; values that are none become missing, with a warning.

    Parameters
    ----------
    table : RawTable
    rows : mask of rows, optional
        Those that decide, by default all.
    kept : mask of columns, optional
        Columns that stay text.
    """
    blocks, coded = list(table.blocks), []
    for item in table.coded:
        plain = item.values != "text" or item.declared or (kept is not None and bool(kept[item.column]))
        plain = plain or not any(isinstance(level, str) and DIGIT.search(level) for level in item.levels)
        chosen = item if rows is None else replace(item, codes=item.codes[rows])
        written = "" if plain else tally(chosen).decide()
        if not written:
            coded.append(item)
            continue
        numbers = as_numbers(item, written)
        strange = [text for text, number in zip(item.levels, numbers.levels, strict=True) if number != number]
        values = numbers.numbers()
        warn_of_others(table.name(item.column), written, int(np.isnan(values[item.codes >= 0]).sum()), strange)
        blocks.append(NumberBlock((item.column,), values.reshape(-1, 1), written))
    return replace(table, blocks=tuple(blocks), coded=tuple(coded))


def warn_of_others(name: str, written: str, count: int, strange: Sequence[Level]) -> None:
    """Warn of values that are no numbers in a column that is read as numbers."""
    if count:
        what = "value is none and counts" if count == 1 else "values are none and count"
        warn(
            f"{name!r} is read as numbers, such as {example(written)!r}; {count:,} {what} as missing, such as "
            f"{strange[0]!r}. categorical_features=[…] keeps a column that it names as text.",
            TanbarkWarning,
        )
