"""Learning a schema: which columns are categories, and where the others are cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import EmptyColumnWarning, warn
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.table.encode import refuse_infinity
from tanbark.table.raw import CodedColumn, NumberBlock, RawTable
from tanbark.table.schema import Column, Level, check_levels
from tanbark.table.written import as_numbers

FEW = 20  # whole numbers with at most this many different values are categories
FEW_ORDERED = 7  # the same where cuts are fine enough to keep the order of whole numbers, which categories lose

Cut = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Look:
    """The whole numbers that occur in a numeric column; ``levels`` is None if it has fractions or very many values."""

    levels: NDArray[Any] | None


def learn_schema(
    table: RawTable, cut: Cut, *, categorical: NDArray[np.bool_] | None = None, n_jobs: int | None = None,
    occurring: NDArray[np.uint64] | None = None, few: int = FEW,
) -> tuple[Column, ...]:  # fmt: skip
    """Describe every column of a training table.

    Parameters
    ----------
    table : RawTable
    cut : function of the observed values and of the mask of rows that have one
        Returns the cut points of a continuous column.
    categorical : mask of columns, optional
        The numeric columns that are categories; None decides by their values: whole numbers with at most
        ``few`` different values are.
    occurring : (n_columns,) array, optional
        Where a scan found nothing but numbers from 0 to 63, a bit for each that occurs; they are not scanned again.
    few : int, default 20
        The most different values of whole numbers that are categories.
    """
    columns: list[Column | None] = [None] * table.n_columns
    continuous: list[tuple[int, NDArray[Any]]] = []
    for item in table.coded:
        columns[item.column] = described = _describe_coded(item, table.name(item.column))
        wanted = len(described.levels) <= few if categorical is None else bool(categorical[item.column])
        if item.values == "number" and not item.declared and not wanted:
            continuous.append((item.column, item.numbers()))
    threads = thread_count(n_jobs)
    for block in table.blocks:
        for position, look in enumerate(
            _small_looks(occurring) if occurring is not None else look_at(block, table, threads)
        ):
            index = block.columns[position]
            values = block.values[:, position]
            if is_category(look, None if categorical is None else bool(categorical[index]), few):
                levels = look.levels if look.levels is not None else _distinct(values)
                columns[index] = _describe_levels(table.name(index), levels)
            else:
                continuous.append((index, values))
    for column in run_threads(_describe_cuts, [(table.name(i), values, cut, i) for i, values in continuous], threads):
        columns[column[0]] = column[1]
    for block in table.blocks:
        found = columns[block.columns[0]] if block.written else None
        if found is not None:
            columns[block.columns[0]] = replace(found, written=block.written)
    return _warn_about_empty(tuple(column for column in columns if column is not None))


def is_category(look: Look, wanted: bool | None, few: int = FEW) -> bool:
    """Return whether a column is categorical: by the user's choice, or else by its values.

    Booleans and columns without values always are; numbers are if they are whole with at most ``few`` different values.
    """
    if look.levels is not None and (len(look.levels) == 0 or look.levels.dtype == bool):
        return True
    if wanted is not None:
        return wanted
    return look.levels is not None and len(look.levels) <= few


def look_at(block: NumberBlock, table: RawTable, threads: int) -> list[Look]:
    """Scan every number of a block once for infinities, fractions, and the whole numbers that occur."""
    from tanbark.table import kernels

    rows, n_columns = block.values.shape
    if block.values.dtype == bool:
        return [Look(np.unique(block.values[:, position])) for position in range(n_columns)]
    whole = block.values.dtype != np.float64

    def work(low: int, high: int) -> list[NDArray[np.uint8]]:
        seen = np.zeros((n_columns, kernels.WINDOW_SIZE), np.uint8)
        flags = [np.zeros(n_columns, np.uint8) for _ in range(4)]
        part = block.values[low:high]
        if whole:
            kernels.look_integers(part, seen, flags[0])
        else:
            kernels.look_floats(part, seen, *flags)
        return [seen, *flags]

    seen, outside, fractional, _, infinite = (
        np.maximum.reduce(parts) for parts in zip(*run_threads(work, row_blocks(rows, threads), threads), strict=True)
    )
    if infinite.any():
        refuse_infinity(table.name(block.columns[int(infinite.argmax())]))
    looks = []
    for position in range(n_columns):
        levels: NDArray[Any] | None = np.flatnonzero(seen[position]) + kernels.WINDOW_LOW
        if fractional[position]:
            levels = None
        elif outside[position]:
            levels = _distinct(block.values[:, position])
        looks.append(Look(levels))
    return looks


def _small_looks(occurring: NDArray[np.uint64]) -> list[Look]:
    """Return the numbers that occur in every column."""
    words, place = np.unique(occurring, return_inverse=True)  # most columns have the same numbers as others
    bits = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    looks = [Look(np.flatnonzero(row)) for row in bits]
    return [looks[k] for k in place.tolist()]


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    found = np.unique(values)
    if found.dtype == np.float64:
        found = found[~np.isnan(found)] + 0.0  # -0.0 is 0.0
        if (found == np.floor(found)).all() and (np.abs(found) < 2.0**53).all():
            found = found.astype(np.int64)
    return found


def _describe_levels(name: str, levels: NDArray[Any]) -> Column:
    return Column(name, "category", "boolean" if levels.dtype == bool else "number", tuple(levels.tolist()))


def _describe_cuts(name: str, values: NDArray[Any], cut: Cut, index: int) -> tuple[int, Column]:
    observed = ~np.isnan(values) if values.dtype == np.float64 else np.ones(len(values), bool)
    cuts = cut(values[observed].astype(np.float64), observed)
    return index, Column(name, "interval", "number", cuts=tuple(cuts.tolist()))


def _describe_coded(item: CodedColumn, name: str) -> Column:
    levels: tuple[Level, ...] = item.levels
    if not item.declared:
        levels = tuple(level for level, n in zip(levels, item.rows.tolist(), strict=True) if n)
    check_levels(name, levels)
    return Column(name, "category", item.values, levels)


def _warn_about_empty(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    empty = [column.name for column in columns if column.kind == "category" and not column.levels]
    if empty:
        msg = f"These columns have no value in any row and carry no information about the class: {empty[:10]}."
        warn(msg, EmptyColumnWarning)
    return columns


def extend_columns(columns: tuple[Column, ...], table: RawTable) -> tuple[Column, ...]:
    """Append to category columns the values of a further table that they do not have yet."""
    extended = list(columns)
    for item in table.coded:
        if columns[item.column].kind != "category":
            continue
        fresh = _describe_coded(_numbers_only(item, columns[item.column]), table.name(item.column))
        extended[item.column] = _appended(columns[item.column], fresh)
    for block in table.blocks:
        for position, index in enumerate(block.columns):
            if columns[index].kind == "category":
                fresh = _describe_levels(columns[index].name, _distinct(block.values[:, position]))
                extended[index] = _appended(columns[index], fresh)
    return tuple(extended)


def _numbers_only(item: CodedColumn, column: Column) -> CodedColumn:
    """Return written numbers as numbers, without the texts that are none."""
    item = as_numbers(item, column.written)
    wrong = [k for k, level in enumerate(item.levels) if level != level]
    return replace(item, codes=np.where(np.isin(item.codes, wrong), -1, item.codes)) if wrong else item


def _appended(column: Column, fresh: Column) -> Column:
    if not column.levels:
        return replace(fresh, name=column.name, missing_state=column.missing_state)
    if (column.values == "text") != (fresh.values == "text"):
        return column  # encoding raises the error about the changed type
    return column.with_levels(fresh.levels)
