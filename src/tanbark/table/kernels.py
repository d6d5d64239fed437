"""Compiled loops over raw numbers: looking at a block, and turning it into codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[np.generic]

WINDOW_LOW = -64  # whole numbers in [WINDOW_LOW, WINDOW_LOW + WINDOW_SIZE) are collected in the first look
WINDOW_SIZE = 320

LOOKUP, CUTS, LEVELS = 0, 1, 2  # how a column's numbers become codes
TILE_ROWS, TILE_COLUMNS = 64, 32  # a tile is turned from rows to columns within the nearest cache


@kernel
def look_integers(block: Array, seen: Array, outside: Array) -> None:
    """Mark which whole numbers of the window occur in each column, and which columns leave the window."""
    rows, columns = block.shape
    for row in range(rows):
        for column in range(columns):
            place = block[row, column] - WINDOW_LOW
            if 0 <= place < WINDOW_SIZE:
                seen[column, place] = 1
            else:
                outside[column] = 1


@kernel
def look_small(block: Array, low: int, out: Array, seen: Array, strange: Array) -> None:
    """Mark the whole numbers from 0 to 63 of each column in the bits of ``seen``; others leave bits in ``strange``.

    The numbers go to ``out[column, low + row]``, which is of use where all are small.
    """
    rows, columns = block.shape
    tile = np.empty((TILE_ROWS, columns), np.uint8)
    for top in range(0, rows, TILE_ROWS):
        size = min(TILE_ROWS, rows - top)
        for row in range(size):
            values, found = block[top + row], tile[row]
            for column in range(columns):
                value = np.uint64(values[column])
                seen[column] |= np.uint64(1) << (value & np.uint64(63))
                strange[column] |= value >> np.uint64(6)
                found[column] = value
        _turn(tile[:size], low + top, out)


@kernel
def _turn(tile: Array, low: int, out: Array) -> None:
    """Write rows as columns: ``out[column, low + row]``."""
    for column in range(tile.shape[1]):
        turned = out[column, low : low + len(tile)]
        for row in range(len(turned)):
            turned[row] = tile[row, column]


@kernel
def look_floats(block: Array, seen: Array, outside: Array, fractional: Array, gaps: Array, infinite: Array) -> None:
    """Do the same for floats; also note fractions, gaps and infinities."""
    rows, columns = block.shape
    for row in range(rows):
        for column in range(columns):
            value = block[row, column]
            if value != value:
                gaps[column] = 1
            elif value == np.inf or value == -np.inf:
                infinite[column] = 1
            elif value != np.floor(value):
                fractional[column] = 1
            elif WINDOW_LOW <= value < WINDOW_LOW + WINDOW_SIZE:
                seen[column, int(value) - WINDOW_LOW] = 1
            else:
                outside[column] = 1


@kernel
def encode_integers(
    block: Array, how: Array, base: Array, start: Array, stop: Array, lookup: Array, cuts: Array, missing: int,
    low: int, out: Array, unseen: Array,
) -> None:  # fmt: skip
    """Turn whole numbers into codes: ``out[column, low + row]``; values without a code become missing and are counted.

    ``how`` chooses per column: LOOKUP finds value v at ``lookup[start + v - base]``; CUTS and LEVELS search
    ``cuts[start:stop]``, and LEVELS goes on to ``lookup[base + position]``. A code below 0 is no code.
    """
    rows, columns = block.shape
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    for tile in range((rows + TILE_ROWS - 1) // TILE_ROWS * across):
        top, left = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
        bottom = min(top + TILE_ROWS, rows)
        for column in range(left, min(left + TILE_COLUMNS, columns)):
            first, last, way = start[column], stop[column], how[column]
            if way == LOOKUP:
                origin, codes, span = base[column], lookup[first:last], np.uint64(last - first)
                values, found, strange = block[top:bottom, column], out[column, low + top : low + bottom], 0
                for row in range(len(found)):
                    place = np.uint64(values[row] - origin)
                    code = codes[place] if place < span else -1
                    strange += code < 0
                    found[row] = missing if code < 0 else code
                unseen[column] += strange
            else:
                for row in range(top, bottom):
                    code = _search(cuts, lookup, first, last, base[column], float(block[row, column]), way)
                    if code < 0:
                        unseen[column] += 1
                        code = missing
                    out[column, low + row] = code


@kernel
def encode_plain(block: Array, base: Array, span: Array, missing: int, low: int, out: Array, unseen: Array) -> None:
    """Do the same where the levels of every column are all whole numbers from ``base`` on, ``span`` of them."""
    rows, columns = block.shape
    tile = np.empty((TILE_ROWS, columns), out.dtype)
    for top in range(0, rows, TILE_ROWS):
        size = min(TILE_ROWS, rows - top)
        for row in range(size):
            values, found = block[top + row], tile[row]
            for column in range(columns):
                code = np.uint64(values[column] - base[column])
                strange = code >= np.uint64(span[column])
                found[column] = np.uint64(missing) if strange else code
                unseen[column] += strange
        _turn(tile[:size], low + top, out)


@kernel
def encode_floats(
    block: Array, how: Array, base: Array, start: Array, stop: Array, lookup: Array, cuts: Array, missing: int,
    low: int, out: Array, unseen: Array, infinite: Array,
) -> None:  # fmt: skip
    """Do the same for floats, whose NaN are gaps."""
    rows, columns = block.shape
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    for tile in range((rows + TILE_ROWS - 1) // TILE_ROWS * across):
        top, left = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
        bottom = min(top + TILE_ROWS, rows)
        for column in range(left, min(left + TILE_COLUMNS, columns)):
            first, last, way = start[column], stop[column], how[column]
            for row in range(top, bottom):
                value = block[row, column]
                code = missing
                if value == value:
                    code = -1
                    if value == np.inf or value == -np.inf:
                        infinite[column] = 1
                    elif way == LOOKUP:
                        place = value - base[column]
                        if place >= 0 and place < last - first and value == np.floor(value):
                            code = lookup[first + int(place)]
                    else:
                        code = _search(cuts, lookup, first, last, base[column], value, way)
                    if code < 0:
                        unseen[column] += 1
                        code = missing
                out[column, low + row] = code


@kernel
def _search(cuts: Array, lookup: Array, first: int, last: int, base: int, value: float, way: int) -> int:
    """Find the interval (low, high] of a value, or with LEVELS the code of the level that equals it, else -1."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    if way == CUTS:
        return low - first
    if low == last or cuts[low] != value:
        return -1
    return lookup[base + low - first]  # type: ignore[no-any-return]  # an integer once compiled
