"""Reading any table: pandas, polars, pyarrow and other frames through narwhals, and arrays.

A raw table holds its numbers in blocks, as they came, and every other column as codes into the values that occur.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tanbark.errors import InputError
from tanbark.table.schema import Level

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NumberBlock:
    """Numbers of one or more columns: int64, float64 (NaN is a gap) or bool, of shape (n_rows, len(columns))."""

    columns: tuple[int, ...]
    values: Array


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of anything but numbers: ``codes`` into ``levels``, -1 for a gap.

    ``declared`` levels come from the type (a categorical) and are kept even if no row has them.
    """

    column: int
    codes: NDArray[np.integer]
    levels: tuple[Level, ...]
    values: str
    declared: bool = False


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it came, with the names of its columns (None for an array)."""

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    blocks: tuple[NumberBlock, ...]
    coded: tuple[CodedColumn, ...]

    def name(self, column: int) -> str:
        """Name a column; those of an array are called x0, x1, …"""
        return self.names[column] if self.names else f"x{column}"

    def take(self, order: Sequence[int]) -> RawTable:
        """Choose and reorder columns."""
        place = {old: new for new, old in enumerate(order)}
        kept = [(block, [c for c in block.columns if c in place]) for block in self.blocks]
        return RawTable(
            names=tuple(self.name(column) for column in order) if self.names else None,
            n_rows=self.n_rows,
            n_columns=len(order),
            blocks=tuple(
                NumberBlock(
                    tuple(place[c] for c in columns),
                    block.values
                    if len(columns) == len(block.columns)
                    else block.values[:, [block.columns.index(c) for c in columns]],
                )
                for block, columns in kept
                if columns
            ),
            coded=tuple(replace(item, column=place[item.column]) for item in self.coded if item.column in place),
        )

    def rows(self, keep: NDArray[np.bool_]) -> RawTable:
        """Choose rows by a mask."""
        return replace(
            self,
            n_rows=int(keep.sum()),
            blocks=tuple(replace(block, values=block.values[keep]) for block in self.blocks),
            coded=tuple(replace(item, codes=item.codes[keep]) for item in self.coded),
        )


def read_table(data: Any) -> RawTable:
    """Read a frame or a two-dimensional array.

    >>> table = read_table(np.array([[1, 2], [3, 4]]))
    >>> table.n_rows, table.name(1)
    (2, 'x1')
    """
    if isinstance(data, np.ndarray):
        return _read_array(data)
    names = _column_names(data)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        msg = (
            f"X must be a table in memory (pandas, polars, pyarrow or an array); got {type(data).__name__}. "
            "Collect a lazy frame first."
        )
        raise InputError(msg) from error
    blocks, coded = [], []
    for column, name in enumerate(frame.columns):
        part = _read_series(frame[name], column, names[column])
        (blocks if isinstance(part, NumberBlock) else coded).append(part)
    return RawTable(names, len(frame), len(names), tuple(blocks), tuple(coded))  # type: ignore[arg-type]  # sorted above


def is_frame(data: Any) -> bool:
    """Say whether something is a table with named columns."""
    return not isinstance(data, np.ndarray) and hasattr(data, "columns") or hasattr(data, "column_names")


def _column_names(data: Any) -> tuple[str, ...]:
    raw = data.column_names if hasattr(data, "column_names") else data.columns
    names = tuple(str(name) for name in raw)
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        msg = f"Column names must be different; {twice} occur more than once. Rename them."
        raise InputError(msg)
    return names


def _read_array(array: Array) -> RawTable:
    rows, columns = array.shape
    if array.dtype.kind in "biuf":
        block = NumberBlock(tuple(range(columns)), _numbers(array))
        return RawTable(None, rows, columns, (block,) if columns else (), ())
    _refuse_type(array.dtype.kind, "X", str(array.dtype))
    blocks, coded = [], []
    for column in range(columns):
        part = _read_values(array[:, column].tolist(), column, f"x{column}")
        (blocks if isinstance(part, NumberBlock) else coded).append(part)
    return RawTable(None, rows, columns, tuple(blocks), tuple(coded))  # type: ignore[arg-type]  # sorted above


def _numbers(array: Array) -> Array:
    """Bring numbers to int64, float64 or bool, without a copy where they are that already."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b" or array.dtype in (np.int64, np.float64):
        return array
    return array.astype(np.float64 if kind == "f" or (kind == "u" and size == 8) else np.int64)


def _refuse_type(kind: str, name: str, dtype: str) -> None:
    if kind in "mM":
        msg = (
            f"Column {name!r} holds dates or times ({dtype}), which have no order of states of their own. "
            "Derive what matters from it (year, weekday, age in days) as numbers or categories."
        )
        raise InputError(msg)
    if kind in "SV":
        msg = f"Column {name!r} holds {dtype}, which is no category. Decode it to strings."
        raise InputError(msg)


def _read_series(series: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    dtype = series.dtype
    if dtype.is_temporal():
        _refuse_type("M", name, str(dtype))
    if dtype.is_nested() or dtype in (nw.Binary,):
        msg = f"Column {name!r} holds {dtype}; a column must hold one plain value per row. Spread it over columns."
        raise InputError(msg)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _read_categorical(series, column)
    if dtype == nw.Boolean and not series.is_null().any():
        return NumberBlock((column,), series.to_numpy().astype(bool).reshape(-1, 1))
    if dtype.is_numeric():
        if dtype.is_decimal() or series.is_null().any():
            series = series.cast(nw.Float64)
        return NumberBlock((column,), _numbers(np.asarray(series.to_numpy())).reshape(-1, 1))
    return _read_values(series.to_list(), column, name)


def _read_categorical(series: Any, column: int) -> CodedColumn:
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas and its kin keep codes of their own
        return _coded(column, np.asarray(native.cat.codes), native.cat.categories.tolist(), declared=True)
    levels = series.cat.get_categories().to_list()
    place = {level: code for code, level in enumerate(levels)}
    codes = np.fromiter((place.get(v, -1) for v in series.cast(nw.String).to_list()), np.int32, len(series))
    if isinstance(series.dtype, nw.Enum):
        return _coded(column, codes, levels, declared=True)
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(levels)))  # polars may list other columns' levels
    compact = np.full(len(levels) + 1, -1, np.int32)
    compact[used] = np.arange(len(used))
    return _coded(column, compact[codes], [levels[k] for k in used], declared=True)


def _coded(column: int, codes: Array, levels: list[Any], *, declared: bool) -> CodedColumn:
    typed = tuple(_plain(level) for level in levels)
    if all(isinstance(level, bool) for level in typed) and typed:
        values = "boolean"
    else:
        values = "number" if typed and all(isinstance(level, (int, float)) for level in typed) else "text"
    return CodedColumn(column, codes, typed, values, declared)


def _plain(value: Any) -> Level:
    """Turn numpy scalars and the like into Python's own bool, int, float or str."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return float(value)
    return str(value)


def _is_gap(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _read_values(values: list[Any], column: int, name: str) -> NumberBlock | CodedColumn:
    """Read a column of Python objects: strings, numbers, booleans and gaps, each looked at once per distinct value."""
    try:
        first_seen = dict.fromkeys(values)
    except TypeError:
        nested = next(value for value in values if not isinstance(value, Hashable))
        msg = f"Column {name!r} holds {type(nested).__name__} values; a column must hold one plain value per row."
        raise InputError(msg) from None
    distinct = [value for value in first_seen if not _is_gap(value)]
    for value in distinct:
        _refuse_value(value, name)
    if distinct and all(isinstance(v, (numbers.Real, decimal.Decimal)) and not _is_bool(v) for v in distinct):
        floats = np.array([np.nan if _is_gap(value) else float(value) for value in values])
        return NumberBlock((column,), floats.reshape(-1, 1))
    levels = sorted(distinct, key=lambda value: (isinstance(value, str), str(type(value)), value))
    place: dict[Any, int] = {level: code for code, level in enumerate(levels)}
    codes = np.fromiter((place.get(value, -1) for value in values), np.int32, len(values))
    return _coded(column, codes, levels, declared=False)


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _refuse_value(value: Any, name: str) -> None:
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)):
        _refuse_type("M", name, type(value).__name__)
    if not isinstance(value, (str, bool, np.bool_, numbers.Real, decimal.Decimal)):
        msg = (
            f"Column {name!r} holds a {type(value).__name__}: {value!r:.60}. "
            "A column must hold strings, numbers, booleans or categories."
        )
        raise InputError(msg)
