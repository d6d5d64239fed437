"""Reading any table: pandas, polars, pyarrow and other frames through narwhals, and arrays.

A raw table holds its numbers in blocks, as they came, and every other column as codes into the values that occur.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array
from tanbark.errors import InputError
from tanbark.table.objects import (
    is_missing,
    number_objects,
    number_values,
    plain_value,
    rank_value,
    refuse_type,
    refuse_value,
)
from tanbark.table.schema import Level

Found = TypeVar("Found")

READ_ONCE = "tanbark: read once"  # the name of the categories of text that was read before rows were chosen
EXACT = 2**53  # below this, floats represent whole numbers exactly


@dataclass(frozen=True, eq=False)
class NumberBlock:
    """Numbers of one or more columns: int64, float64 (NaN is missing) or bool, of shape (n_rows, len(columns)).

    Whole numbers may also be int8 or uint8, which are read without a copy. ``written`` says how the text of a single
    column became numbers, see :mod:`tanbark.table.written`.
    """

    columns: tuple[int, ...]
    values: Array
    written: str = ""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of anything but numbers, or of whole numbers beyond floats: ``codes`` into ``levels``, -1 if missing.

    ``declared`` levels come from the type (a categorical) and are kept even if no row has them.
    """

    column: int
    codes: NDArray[np.integer]
    levels: tuple[Level, ...]
    values: str
    declared: bool = False

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The number of rows of every level."""
        return np.bincount(np.add(self.codes, 1, dtype=np.int64), minlength=len(self.levels) + 1)[1:]

    @property
    def observed(self) -> bool:
        """Whether any row has a value."""
        return bool((self.codes >= 0).any())

    def numbers(self) -> NDArray[np.float64]:
        """Return a column of numbers as floats, NaN where missing."""
        values = np.array([*map(float, self.levels), np.nan])
        return np.asarray(values[self.codes])


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
                replace(
                    block,
                    columns=tuple(place[c] for c in columns),
                    values=block.values
                    if len(columns) == len(block.columns)
                    else block.values[:, [block.columns.index(c) for c in columns]],
                )
                for block, columns in kept
                if columns
            ),
            coded=tuple(replace(item, column=place[item.column]) for item in self.coded if item.column in place),
        )

    def missing_mask(self) -> NDArray[np.bool_]:
        """Mark the missing values, as (n_columns, n_rows)."""
        found = np.zeros((self.n_columns, self.n_rows), bool)
        for block in self.blocks:
            if block.values.dtype == np.float64:
                found[list(block.columns)] = np.isnan(block.values).T
        for item in self.coded:
            found[item.column] = item.codes < 0
        return found

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
    if nw.dependencies.is_pandas_dataframe(data):
        names = _different(data.columns)
        parts = [_read_pandas(series, column, names[column]) for column, (_, series) in enumerate(data.items())]
        return raw_table(names, len(data), parts)
    try:
        frame = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise same_names(tuple(map(str, data.columns))) from None
    except TypeError as error:
        msg = (
            f"X must be a table in memory (pandas, polars, pyarrow or an array); got {type(data).__name__}. "
            "Collect a lazy frame first."
        )
        raise InputError(msg) from error
    names = _different(frame.columns)
    parts = [read_series(series, column, names[column]) for column, series in enumerate(frame.iter_columns())]
    return raw_table(names, len(frame), parts)


def _different(columns: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of columns as strings; raise an error if two are the same."""
    names = tuple(map(str, columns))
    if len(set(names)) != len(names):
        raise same_names(names)
    return names


def raw_table(names: tuple[str, ...] | None, n_rows: int, parts: list[NumberBlock | CodedColumn]) -> RawTable:
    """Make a table of columns in order."""
    blocks = tuple(part for part in parts if isinstance(part, NumberBlock))
    coded = tuple(part for part in parts if isinstance(part, CodedColumn))
    return RawTable(names, n_rows, len(parts), blocks, coded)


def is_frame(data: Any) -> bool:
    """Return whether something is a table with named columns."""
    return hasattr(type(data), "columns") or hasattr(type(data), "column_names")  # asking a lazy frame itself is work


def read_dtypes(frame: Any) -> dict[str, str]:
    """Return the type of every column of a frame, by the names of narwhals; empty where it knows no such frame.

    >>> import pandas as pd
    >>> read_dtypes(pd.DataFrame({"a": [1], "b": [True]}))
    {'a': 'Int64', 'b': 'Boolean'}
    """
    known = nw.from_native(frame, pass_through=True)
    if not isinstance(known, (nw.DataFrame, nw.LazyFrame)):
        return {}
    return {name: str(dtype) for name, dtype in known.collect_schema().items()}


def same_names(names: tuple[str, ...]) -> InputError:
    """Return the error of columns with the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    return InputError(f"Column names must be different; {twice} occur more than once. Rename them.")


def _read_array(array: Array) -> RawTable:
    rows, columns = array.shape
    if array.dtype.kind in "biuf" and not _beyond_int64(array):
        bytes_each = array.dtype.kind in "iu" and array.dtype.itemsize == 1
        block = NumberBlock(tuple(range(columns)), array if bytes_each else plain_numbers(array))
        return RawTable(None, rows, columns, (block,) if columns else (), ())
    refuse_type(array.dtype.kind, "x0", str(array.dtype))
    if array.dtype.kind == "O":
        return raw_table(None, rows, [_read_objects(array[:, c], c, f"x{c}") for c in range(columns)])
    return raw_table(None, rows, [_read_values(array[:, c].tolist(), c, f"x{c}") for c in range(columns)])


def _beyond_int64(array: Array) -> bool:
    return array.dtype == np.uint64 and array.size > 0 and int(array.max()) > np.iinfo(np.int64).max


def plain_numbers(array: Array) -> Array:
    """Bring numbers to int64, float64 or bool, without a copy where they are that already."""
    if array.dtype.kind == "b" or array.dtype in (np.int64, np.float64):
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def _read_pandas(series: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    """Read a column of pandas; a categorical is read from its codes, and numpy's own types without a wrapper."""
    held = series.array
    if isinstance(getattr(held, "codes", None), np.ndarray):
        if held.categories.name == READ_ONCE:
            return _read_distinct(*_occurring(held.codes, held.categories.tolist()), column, name)
        return _coded(column, held.codes, held.categories.tolist(), declared=True)
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else ""
    if kind in ("f", "i", "b"):
        return NumberBlock((column,), plain_numbers(series.to_numpy()).reshape(-1, 1))
    if kind == "O":
        return _read_objects(series.to_numpy(), column, name)
    if getattr(series.dtype, "storage", None) == "pyarrow" and len(series):  # text
        return _read_distinct(*_split_dictionary(held.__arrow_array__().dictionary_encode()), column, name)
    if series.dtype.name in ("str", "string"):
        codes, distinct = _hashed(series.factorize, name)
        return _read_distinct(codes, distinct.tolist(), column, name)
    return read_series(nw.from_native(series, series_only=True), column, name)


def read_once(data: Any) -> Any:
    """Return a frame of pandas whose text has been read, so that choosing rows of it and reading those is quick.

    Text becomes a categorical with a mark, which is read as the text would be: levels that no row has are none. Other
    columns, and anything but a frame of pandas, stay as they are.
    """
    if not nw.dependencies.is_pandas_dataframe(data) or len(set(data.columns)) < data.shape[1]:
        return data
    pd, read = nw.dependencies.get_pandas(), {}
    for name, series in data.items():
        if series.dtype.kind == "O" and not isinstance(series.dtype, pd.CategoricalDtype):
            codes, distinct = _hashed(series.factorize, str(name))
            if all(type(value) is str for value in distinct):
                read[name] = pd.Categorical.from_codes(codes, pd.Index(distinct, name=READ_ONCE))
    return data.assign(**read) if all(isinstance(name, str) for name in read) else data


def _occurring(codes: Array, levels: list[Any]) -> tuple[Array, list[Any]]:
    """Leave out the levels that no row has."""
    present = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(levels)))
    return _places(present.tolist(), len(levels))[codes], [levels[code] for code in present]


def read_series(series: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    """Read a column, a series of narwhals."""
    dtype = series.dtype
    if dtype.is_temporal():
        refuse_type("M", name, str(dtype))
    if dtype == nw.Binary:
        refuse_type("S", name, str(dtype))
    if dtype.is_nested():
        msg = f"Column {name!r} holds {dtype}; a column must hold one plain value per row. Spread it over columns."
        raise InputError(msg)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _read_categorical(series, column, name)
    if dtype.is_numeric():
        return _read_numbers(series, column, name)
    if dtype == nw.Boolean and not series.is_null().any():
        return NumberBlock((column,), series.to_numpy().astype(bool).reshape(-1, 1))
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas-like
        codes, distinct = _hashed(native.factorize, name)
        return _read_distinct(codes, distinct.tolist(), column, name)
    if hasattr(native, "dictionary_encode") and len(native):  # pyarrow, which has no dictionary of nothing
        return _read_distinct(*_split_dictionary(native.dictionary_encode()), column, name)
    return _read_values(series.to_list(), column, name)


def _read_numbers(series: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    dtype = series.dtype
    if dtype.is_decimal() or dtype in (nw.UInt64, nw.Int128, nw.UInt128) or series.is_null().any():
        ends = [int(end) for end in (series.min(), series.max()) if dtype.is_integer() and not is_missing(end)]
        if any(abs(end) >= EXACT for end in ends):
            return _read_values(series.to_list(), column, name)
        return NumberBlock((column,), np.asarray(series.cast(nw.Float64).to_numpy()).reshape(-1, 1))
    return NumberBlock((column,), plain_numbers(np.asarray(series.to_numpy())).reshape(-1, 1))


def _read_categorical(series: Any, column: int, name: str) -> NumberBlock | CodedColumn:
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas-like frames store the codes
        return _coded(column, np.asarray(native.cat.codes), native.cat.categories.tolist(), declared=True)
    if hasattr(native, "combine_chunks"):
        return _read_dictionary(native, column)
    part = _read_values(series.to_list(), column, name)  # polars lists the levels of other columns too, in any order
    if isinstance(series.dtype, nw.Enum) and isinstance(part, CodedColumn):
        levels: list[Any] = list(series.dtype.categories)
        place = np.array([*map(levels.index, part.levels), -1], np.int32)
        return _coded(column, place[part.codes], levels, declared=True)
    return part


def _read_dictionary(native: Any, column: int) -> CodedColumn:
    """Read pyarrow's categorical: an ordered one keeps its order, another is sorted."""
    codes, levels = _split_dictionary(native)
    order = [code for code, level in enumerate(levels) if not is_missing(level)]
    if not native.type.ordered:
        order.sort(key=lambda code: rank_value(levels[code]))
    return _coded(column, _places(order, len(levels))[codes], [levels[code] for code in order], declared=True)


def _split_dictionary(native: Any) -> tuple[Array, list[Any]]:
    whole = native.combine_chunks()
    codes = whole.indices.fill_null(-1) if whole.null_count else whole.indices
    return codes.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()


def _coded(column: int, codes: Array, levels: list[Any], *, declared: bool) -> CodedColumn:
    typed = tuple(plain_value(level) for level in levels)
    if all(isinstance(level, bool) for level in typed) and typed:
        values = "boolean"
    else:
        values = "number" if typed and all(isinstance(level, (int, float)) for level in typed) else "text"
    return CodedColumn(column, codes, typed, values, declared)


def _read_values(values: list[Any], column: int, name: str) -> NumberBlock | CodedColumn:
    """Read a column of Python objects in a list."""
    return _read_distinct(*_hashed(lambda: number_values(values), name), column, name)


def _read_objects(values: Array, column: int, name: str) -> NumberBlock | CodedColumn:
    """Read a column of Python objects in an array."""
    return _read_distinct(*_hashed(lambda: number_objects(values), name), column, name)


def _hashed(find: Callable[[], Found], name: str) -> Found:
    """Find the distinct values of a column; raise an error if they are not hashable."""
    try:
        return find()
    except TypeError as error:
        msg = f"Column {name!r} holds lists or the like ({error}); a column must hold one plain value per row."
        raise InputError(msg) from None


def _read_distinct(codes: Array, distinct: list[Any], column: int, name: str) -> NumberBlock | CodedColumn:
    """Read strings, numbers and booleans, given as codes into the distinct values; -1 is missing."""
    order = [code for code, value in enumerate(distinct) if not is_missing(value)]
    kinds = {type(distinct[code]) for code in order}
    for code in order if kinds != {str} else ():
        refuse_value(distinct[code], name)
    if kinds and not any(issubclass(kind, (str, bool, np.bool_)) for kind in kinds):
        if not any(abs(distinct[code]) >= EXACT and isinstance(distinct[code], numbers.Integral) for code in order):
            floats = np.full(len(distinct) + 1, np.nan)
            floats[order] = [float(distinct[code]) for code in order]
            return NumberBlock((column,), floats[codes].reshape(-1, 1))
        order.sort(key=lambda code: distinct[code])
    elif kinds == {str}:
        order.sort(key=distinct.__getitem__)
    else:
        order.sort(key=lambda code: rank_value(distinct[code]))
    if order != list(range(len(distinct))):
        codes, distinct = _places(order, len(distinct))[codes], [distinct[code] for code in order]
    return _coded(column, codes, distinct, declared=False)


def _places(order: list[int], size: int) -> NDArray[np.int32]:
    """Return the new code of each old one, -1 where it has none; the last entry is for missing values."""
    places = np.full(size + 1, -1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places
