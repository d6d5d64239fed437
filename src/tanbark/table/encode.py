"""Encoding: the values of a raw table become the codes of a schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes
from tanbark.errors import InputError
from tanbark.kernel import for_work
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.table.coded import code_dtype
from tanbark.table.raw import EXACT, CodedColumn, NumberBlock, RawTable
from tanbark.table.schema import Column, Level
from tanbark.table.small_numbers import SmallNumbers
from tanbark.table.written import as_numbers

if TYPE_CHECKING:
    from tanbark.table.kernels import NumberCoding

INTERPRETED = 100_000  # numbers that Python encodes while Numba would be imported
LOOKUP_LIMIT = 1 << 16  # widest range of whole numbers that is looked up by position


@dataclass(frozen=True, eq=False)
class Encoded:
    """Codes of a table, ``(n_columns, n_rows)``, and how many values had no code, per column."""

    codes: Codes
    unseen: dict[str, int]


def encode(
    table: RawTable, columns: tuple[Column, ...], *, extra_states: int = 0, n_jobs: int | None = None,
    small: SmallNumbers | None = None,
) -> Encoded:  # fmt: skip
    """Encode every value; missing values and values that the schema does not know get the missing code.

    ``extra_states`` is the number of states of a further row of codes (the class), which the caller fills. ``small``
    is what a scan of this table left; where its numbers are the codes, they are returned, and may be written to.
    """
    dtype = code_dtype((*(column.n_states for column in columns), extra_states, 1))
    unseen = np.zeros(table.n_columns, np.int64)
    n_codes = table.n_columns + (extra_states > 0)
    if small is not None and dtype == np.uint8 and _are_codes(small, columns):
        codes: Codes = small.codes[:n_codes]
    else:
        codes = np.empty((n_codes, table.n_rows), dtype)
        narrow = [block for block in table.blocks if block.values.dtype in (np.int8, np.uint8)]
        _encode_bytes(narrow, columns, codes, unseen, thread_count(n_jobs))
        for block in table.blocks:
            if block not in narrow:
                _encode_block(block, columns, codes, unseen, thread_count(n_jobs))
        for item in table.coded:
            _encode_coded(item, columns[item.column], codes, unseen)
    _code_missing(table, columns, codes)
    return Encoded(codes, {columns[c].name: int(unseen[c]) for c in np.flatnonzero(unseen)})


def _are_codes(small: SmallNumbers, columns: tuple[Column, ...]) -> bool:
    """Return whether the numbers of every column are their codes: all of them categories 0, 1, 2, …"""
    for column, occurring in zip(columns, small.occurring, strict=True):
        n = len(column.levels)
        if column.kind != "category" or int(occurring).bit_length() > n or column.levels != tuple(range(n)):
            return False
    return True


def _code_missing(table: RawTable, columns: tuple[Column, ...], codes: Codes) -> None:
    """Give missing values code 0 in columns where they are a state; values without a code stay missing."""
    marked = [place for place, column in enumerate(columns) if column.missing_state]
    if marked:
        missing = np.iinfo(codes.dtype).max
        mask = table.missing_mask()
        for place in marked:
            codes[place] += codes[place] != missing
            codes[place][mask[place]] = 0


def _encode_coded(item: CodedColumn, column: Column, codes: Codes, unseen: NDArray[np.int64]) -> None:
    item = as_numbers(item, column.written)
    check_type(column, item.values, observed=lambda: item.observed)
    missing = np.iinfo(codes.dtype).max
    if column.kind == "interval" and item.observed:
        numbers = [float(level) for level in item.levels]
        places = np.searchsorted(column.cuts, numbers).tolist()
        found = [missing if x != x else place for x, place in zip(numbers, places, strict=True)]  # a text that is none
    else:
        place: dict[Level, int] = {level: code for code, level in enumerate(column.levels)}
        found = [place.get(level, missing) for level in item.levels]
    lookup = np.array([*found, missing], codes.dtype)
    lookup.take(item.codes, out=codes[item.column], mode="wrap")
    if missing in found:
        unseen[item.column] = int((codes[item.column] == missing).sum()) - int((item.codes < 0).sum())


def check_type(column: Column, values: str, *, observed: Callable[[], bool] = lambda: True) -> None:
    """Raise an error for a column whose values are of another kind than in training, if any is observed."""
    plural = {"number": "numbers", "text": "strings", "boolean": "booleans"}
    numeric = column.kind == "interval" or any(not isinstance(level, str) for level in column.levels)
    textual = any(isinstance(level, str) for level in column.levels)
    if (numeric or textual) and not (textual if values == "text" else numeric) and observed():
        msg = (
            f"Column {column.name!r} held {plural[column.values]} in training and now holds {plural[values]}. "
            f"Convert it, or train again."
        )
        raise InputError(msg)


def _encode_bytes(
    blocks: list[NumberBlock], columns: tuple[Column, ...], codes: Codes, unseen: NDArray[np.int64], threads: int
) -> None:
    """Encode columns of bytes: find the codes of all 256 numbers, and look every value up."""
    from tanbark.table import kernels

    if not blocks:
        return
    found, missing = _codes_of_bytes(blocks, columns, codes.dtype), np.iinfo(codes.dtype).max
    calls, low = [], 0
    for block in blocks:
        first, last = block.columns[0], block.columns[-1]
        together = block.columns == tuple(range(first, last + 1))
        high = low + len(block.columns)
        out = codes[first : last + 1] if together else np.empty((high - low, codes.shape[1]), codes.dtype)
        parts = row_blocks(len(block.values), threads) if len(blocks) < threads else [(0, len(block.values))]
        calls += [(block, found[low:high], out, *part) for part in parts]
        low = high

    def work(block: NumberBlock, found: Codes, out: Codes, low: int, high: int) -> None:
        kernels.look_up_bytes(block.values[low:high].view(np.uint8), found, low, out)
        if block.columns != tuple(range(block.columns[0], block.columns[-1] + 1)):
            codes[list(block.columns), low:high] = out[:, low:high]

    run_threads(work, calls, threads)
    for block in blocks:
        for column in block.columns:
            unseen[column] += np.count_nonzero(codes[column] == missing)


def _codes_of_bytes(blocks: list[NumberBlock], columns: tuple[Column, ...], dtype: np.dtype[Any]) -> Codes:
    """Return the codes of all 256 numbers for every column of the blocks, found together."""
    every = np.arange(256, dtype=np.uint8)
    used = [(place, every.view(block.values.dtype)) for block in blocks for place in block.columns]
    numbers = np.stack([values.astype(np.int64) for _, values in used], axis=1)
    found = np.empty((len(used), 256), dtype)
    described = tuple(columns[place] for place, _ in used)
    _encode_block(NumberBlock(tuple(range(len(used))), numbers), described, found, np.zeros(len(used), np.int64), 1)
    return found


def _encode_block(
    block: NumberBlock, columns: tuple[Column, ...], codes: Codes, unseen: NDArray[np.int64], threads: int
) -> None:
    from tanbark.table import kernels

    used = [columns[c] for c in block.columns]
    values = "boolean" if block.values.dtype == bool else "number"
    for position, column in enumerate(used):
        if column.values == "text":
            check_type(column, values, observed=partial(_any_value, block.values[:, position]))
    missing = int(np.iinfo(codes.dtype).max)
    targets = np.array(block.columns)
    together = bool((np.diff(targets) == 1).all())
    out = codes[targets[0] : targets[-1] + 1] if together else np.empty((len(targets), codes.shape[1]), codes.dtype)
    whole = block.values.dtype != np.float64
    plain = _all_levels_in_a_row(used) and block.values.flags.c_contiguous
    bounds = _plain_bounds(used) if plain else ()
    coding = None if plain else _number_coding(used)
    of_whole, of_floats = (
        (kernels.encode_plain, kernels.encode_plain_floats)
        if plain
        else (kernels.encode_integers, kernels.encode_floats)
    )
    run = for_work(of_whole if whole else of_floats, block.values.size, INTERPRETED)

    def work(low: int, high: int) -> tuple[NDArray[Any], NDArray[Any]]:
        part = block.values[low:high]
        if part.dtype == bool:
            part = part.astype(np.int64)
        strange, infinite = np.zeros(len(used), np.int64), np.zeros(len(used), np.uint8)
        rules, flags = bounds if plain else (coding,), () if whole else (infinite,)
        with np.errstate(over="ignore"):  # differences of very large numbers wrap round, in Python as in the kernel
            run(part, *rules, missing, low, out, strange, *flags)
        return strange, infinite

    for strange, infinite in run_threads(work, row_blocks(len(block.values), threads), threads):
        if infinite.any():
            refuse_infinity(used[int(infinite.argmax())].name)
        unseen[targets] += strange
    if not together:
        codes[targets] = out
    for position, column in enumerate(used):
        if any(not isinstance(level, str) and abs(level) >= EXACT for level in column.levels):
            _encode_coded(_as_coded(block, position), column, codes, unseen)


def _all_levels_in_a_row(columns: list[Column]) -> bool:
    """Return whether the levels of every column are consecutive whole numbers in increasing order."""
    return all(
        column.kind == "category"
        and 0 < len(column.levels) < LOOKUP_LIMIT
        and not isinstance(column.levels[0], str)
        and abs(column.levels[0]) < EXACT
        and column.levels == tuple(range(int(column.levels[0]), int(column.levels[0]) + len(column.levels)))
        for column in columns
    )


def _plain_bounds(columns: list[Column]) -> tuple[NDArray[Any], ...]:
    """Return the first level of each column, and the number of its levels."""
    return np.array([int(column.levels[0]) for column in columns]), np.array([len(c.levels) for c in columns])


def _as_coded(block: NumberBlock, position: int) -> CodedColumn:
    """Return a column of numbers as codes of its distinct values, which compare exactly where floats do not."""
    distinct, place = np.unique(block.values[:, position], return_inverse=True)
    missing = np.isnan(distinct)
    codes = np.where(missing, -1, np.arange(len(distinct)))[place]
    return CodedColumn(block.columns[position], codes, tuple(distinct[~missing].tolist()), "number")


def _any_value(values: NDArray[Any]) -> bool:
    return values.dtype != np.float64 or not np.isnan(values).all()


def refuse_infinity(name: str) -> None:
    """Raise the error for an infinite number."""
    msg = (
        f"Column {name!r} holds infinity, which lies in no interval. Replace it by a large number or by a missing "
        "value (NaN)."
    )
    raise InputError(msg)


def _number_coding(columns: list[Column]) -> NumberCoding:
    """Lay out how the numbers of each column become codes, as flat arrays for the kernels."""
    from tanbark.table.kernels import CUTS, LEVELS, LOOKUP, NumberCoding

    method, base, start, stop = (np.zeros(len(columns), np.int64) for _ in range(4))
    lookup: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    cuts: list[float] = []
    filled = 0
    for place, column in enumerate(columns):
        if column.kind == "interval":
            method[place], start[place], stop[place] = CUTS, len(cuts), len(cuts) + len(column.cuts)
            cuts.extend(column.cuts)
            continue
        numeric = sorted((level, code) for code, level in enumerate(column.levels) if not isinstance(level, str))
        row = _dense_lookup(numeric)
        if row is not None:
            method[place], base[place] = LOOKUP, int(numeric[0][0])
            start[place], stop[place] = filled, filled + len(row)
        else:
            method[place], base[place] = LEVELS, filled
            start[place], stop[place] = len(cuts), len(cuts) + len(numeric)
            cuts.extend(float(level) for level, _ in numeric)
            row = np.array([code for _, code in numeric], np.int64)
        lookup.append(row)
        filled += len(row)
    return NumberCoding(method, base, start, stop, np.concatenate(lookup), np.array(cuts, np.float64))


def _dense_lookup(numeric: list[tuple[float, int]]) -> NDArray[np.int64] | None:
    """Return the codes of all whole numbers between the lowest and the highest level, -1 where there is none."""
    if not numeric or not all(float(level).is_integer() for level, _ in numeric):
        return None
    low, high = int(numeric[0][0]), int(numeric[-1][0])
    if high - low >= LOOKUP_LIMIT or max(-low, high) >= EXACT:
        return None
    row = np.full(high - low + 1, -1, np.int64)
    for level, code in numeric:
        row[int(level) - low] = code
    return row
