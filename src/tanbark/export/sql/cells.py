"""Sums over families, looked up in cells that the statement carries as text.

The states of a row become one string. A family reads some places of it; its name and what it reads form the key of a
cell, which has the values of all classes. There are cells for contexts of two columns, of three, and so on; the longest
that is found counts. Cells are packed into long strings, since databases parse a few strings much faster than very many
numbers, and joined, since their number is too large for CASE expressions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanbark.arrays import Array, Floats
from tanbark.errors import OptionError
from tanbark.export.sql.text import DECIMALS, Step, join_terms, select_step, step_from
from tanbark.export.sql.values import Codes, Rows
from tanbark.table import Column

ALPHABET = "0123456789abcdefghijklmnopqrstuv"
MISSING, UNKNOWN, FILLER = "-?."  # no digits of the alphabet
NO_STATE, FILLED = -1, -2  # in place of states in contexts
FIRST = 2  # columns of the shortest contexts; a family of one column reads the filler too
PACKED = 100  # cells of one string: reading one counts the characters before it


class Room:
    """How many characters a statement may have."""

    def __init__(self, limit: int) -> None:
        self.limit, self.whole, self.partial = limit, 0, 0

    @property
    def taken(self) -> int:
        """The characters so far."""
        return self.whole + self.partial

    def take(self, characters: int) -> None:
        """Count the characters of something that is written as a whole."""
        self.whole += characters
        self._check(1.0)

    def take_part(self, characters: int, done: float) -> None:
        """Count the characters of one of several parts; ``done`` is the fraction of them that is written by now."""
        self.partial += characters
        self._check(done)

    def _check(self, done: float) -> None:
        if self.taken > self.limit:
            about = self.whole + self.partial / done
            msg = (
                f"The statement would have about {about:,.0f} characters, more than max_size={self.limit:,}. Use "
                "to_python, allow more by max_size, or fit a smaller model: fewer parents (max_parents), fewer "
                "networks (n_estimators), fewer columns."
            )
            raise OptionError(msg)


@dataclass(frozen=True, eq=False)
class Family:
    """What one family adds to the logits.

    Parameters
    ----------
    places : tuple of int
        Which columns of the layout it reads, in the order in which contexts grow.
    cells : dict
        By the number of columns of contexts, at least ``FIRST``: their states, (n, columns), and the values, (n,
        values). ``NO_STATE`` is a missing value; ``FILLED`` is the second state of a family of one column.
    """

    places: tuple[int, ...]
    cells: dict[int, tuple[Array, Floats]]

    def characters(self, width: int) -> int:
        """Return about how many characters the cells have in the statement."""
        return sum(
            len(states) * (2 + length * width + values.shape[1] * (DECIMALS + 4))
            for length, (states, values) in self.cells.items()
        )


@dataclass(frozen=True)
class Layout:
    """The string of states: its columns, each the feature's place and the states it is read with."""

    columns: tuple[tuple[int, Column], ...]

    @property
    def width(self) -> int:
        """The characters of one state."""
        return _digits_for(max((column.n_states for _, column in self.columns), default=1))

    def step(self, rows: Rows, name: str, held: Sequence[str]) -> Step:
        """Write tb_row, columns that are held, and tb_z, the string."""
        width = self.width
        codes = Codes(lambda k: f"'{_digits(k, width)}'", f"'{MISSING * width}'", f"'{UNKNOWN * width}'")
        parts = [rows.state(place, column, codes) for place, column in self.columns]
        text = join_terms([*parts, f"'{FILLER * width}'"], "||")
        return select_step(name, ["tb_row", *held, f"{text} AS tb_z"], rows.step("values"))

    def position(self, place: int) -> int:
        """Return where the state of a column begins, from 1 on; that of the filler has the number of columns."""
        return place * self.width + 1


def _digits_for(n: int) -> int:
    return max(1, math.ceil(math.log(max(n, 1), len(ALPHABET)) - 1e-9))


def _digits(value: int, width: int) -> str:
    out = ""
    for _ in range(width):
        value, digit = divmod(value, len(ALPHABET))
        out = ALPHABET[digit] + out
    return out


def sum_steps(rows: Rows, before: str, layout: Layout, families: Sequence[Family], n_values: int) -> list[Step]:
    """Write the steps up to ``sums``: tb_row and tb_g1, tb_g2, ..., the sums over all families.

    The step ``before`` has tb_row and tb_z.
    """
    width, tags = layout.width, _digits_for(len(families))
    deepest = max((max(family.cells) for family in families), default=FIRST)
    lengths = range(FIRST, deepest + 1)
    listed = []
    for f, family in enumerate(families):
        places = [*family.places, *[len(layout.columns)] * (deepest - len(family.places))]
        positions = ", ".join(str(layout.position(place)) for place in places)
        listed.append(f"('{_digits(f, tags)}', {positions})")
    names = ", ".join(f"tb_a{k + 1}" for k in range(deepest))
    steps = [
        Step(f"{rows.step('families')}(tb_f, {names})", "VALUES " + ",\n    ".join(listed)),
        Step(f"{rows.step('numbers')}(tb_n)", "VALUES " + ", ".join(f"({k})" for k in range(PACKED))),
    ]
    for length in lengths:
        steps += _cell_steps(rows, families, length, tags, width, n_values)
    joins = [f"FROM {before} CROSS JOIN {rows.step('families')}"]
    for length in lengths:
        read = f"SUBSTR(tb_z, tb_a{length}, {width})"
        key = f"tb_c{length - 1} || {read}" if length > FIRST else f"tb_f || SUBSTR(tb_z, tb_a1, {width}) || {read}"
        joins.append(f"LEFT JOIN {rows.step(f'cells{length}')} ON tb_c{length} = {key}")
    sums = []
    for value in range(1, n_values + 1):
        longest = ", ".join(f"tb_w{length}_{value}" for length in reversed(lengths))
        sums.append(f"SUM(COALESCE({longest}, 0e0)) AS tb_g{value}")
    select = "SELECT tb_row,\n    " + ",\n    ".join(sums) + "\n  " + "\n  ".join(joins) + "\n  GROUP BY tb_row"
    return [*steps, Step(rows.step("sums"), select)]


def attach_steps(rows: Rows, before: str, carried: Sequence[str], n_values: int) -> list[Step]:
    """Write the steps that add the sums to the rows of an earlier step, as tb_h1, tb_h2, ..., where tb_side is 0.

    Rows and sums are sorted together, so that the sums of a row come next. A join would do the same, but SQLite joins
    without an index where it expects few rows.
    """
    values = range(1, n_values + 1)
    main = ["0 AS tb_side", "tb_row", *carried, *(f"0e0 AS tb_g{value}" for value in values)]
    sums = ["1", "tb_row", *("NULL" for _ in carried), *(f"tb_g{value}" for value in values)]
    both, ahead = rows.step("both"), "OVER (ORDER BY tb_row, tb_side)"
    select = (
        f"SELECT {', '.join(main)}\n  FROM {before}\n  UNION ALL SELECT {', '.join(sums)}\n  FROM {rows.step('sums')}"
    )
    found = [f"LEAD(tb_g{value}) {ahead} AS tb_h{value}" for value in values]
    return [Step(both, select), step_from(rows.step("attached"), both, found)]


def _cell_steps(
    rows: Rows, families: Sequence[Family], length: int, tags: int, width: int, n_values: int
) -> list[Step]:
    """Write the cells of contexts of one length: packed, and as a table with the key and the values."""
    found = [(f, *family.cells[length]) for f, family in enumerate(families) if length in family.cells]
    largest = max((float(np.abs(values).max(initial=0.0)) for _, _, values in found), default=0.0)
    wide = len(f"{-largest:.{DECIMALS}f}") + 1
    most = max((int(states.max(initial=0)) for _, states, _ in found), default=0)
    symbols = [*(_digits(k, width) for k in range(most + 1)), FILLER * width, MISSING * width]  # -2 and -1 are last
    records = []
    for f, states, values in found:
        tag = _digits(f, tags)
        for context, numbers in zip(states.tolist(), values.tolist(), strict=True):
            key = tag + "".join([symbols[s] for s in context])
            records.append(key + "".join([f"{v:0{wide}.{DECIMALS}f}" for v in numbers]))
    key_size = tags + length * width
    size = key_size + n_values * wide
    packed = ["".join(records[k : k + PACKED]) for k in range(0, len(records), PACKED)] or [""]
    columns = [f"SUBSTR(tb_t, {size} * tb_n + 1, {key_size}) AS tb_c{length}"]
    for value in range(1, n_values + 1):
        begin = key_size + (value - 1) * wide + 1
        columns.append(
            f"CAST(SUBSTR(tb_t, {size} * tb_n + {begin}, {wide}) AS DOUBLE PRECISION) AS tb_w{length}_{value}"
        )
    text = rows.step(f"packed{length}")
    source = f"{text} CROSS JOIN {rows.step('numbers')} WHERE {size} * tb_n < LENGTH(tb_t)"
    return [
        Step(f"{text}(tb_t)", "VALUES " + ",\n    ".join(f"('{each}')" for each in packed)),
        select_step(rows.step(f"cells{length}"), columns, source),
    ]
