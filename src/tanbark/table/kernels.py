"""Compiled loops over blocks of raw numbers: which values occur, and the codes of the values; cuts of MDLP.

A block has shape (rows, columns); codes go to ``out`` of shape (columns, rows), at rows from ``low`` on, so that
threads fill disjoint rows of one array.
"""

from __future__ import annotations

from math import log, log1p, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernel import kernel, tiered

Array = NDArray[np.generic]

WINDOW_LOW = -64  # whole numbers in [WINDOW_LOW, WINDOW_LOW + WINDOW_SIZE) are collected in the first pass
WINDOW_SIZE = 320
SMALL_BITS = 6  # whole numbers below 2 ** 6 fit in the 64 bits of one word

SLACK = 1e-12  # bits per row by which class entropies are equal

LOOKUP, CUTS, LEVELS = 0, 1, 2  # methods by which a column's numbers become codes
TILE_ROWS, TILE_COLUMNS = 64, 32  # a tile is transposed within the first-level cache
BYTE_ROWS = 256  # the same of bytes


class NumberCoding(NamedTuple):
    """How the numbers of each column become codes; the columns share the flat arrays ``lookup`` and ``cuts``.

    LOOKUP: the code of value v is ``lookup[start + v - base]``. CUTS: the code is the position of v among
    ``cuts[start:stop]``. LEVELS: v is searched in ``cuts[start:stop]``, and its code is ``lookup[base + position]``.
    A code below 0 marks a value without a code.
    """

    method: Array
    base: Array
    start: Array
    stop: Array
    lookup: Array
    cuts: Array


@kernel
def look_integers(block: Array, seen: Array, outside: Array) -> None:
    """Mark the whole numbers of the window that occur in each column, and the columns with others."""
    # seen[column, value - WINDOW_LOW] and outside[column] are flags; one pass over the block in memory order.
    rows, columns = block.shape
    for row in range(rows):
        for column in range(columns):
            place = block[row, column] - WINDOW_LOW
            if 0 <= place < WINDOW_SIZE:
                seen[column, place] = 1
            else:
                outside[column] = 1


@kernel
def join_bits(block: Array) -> int:
    """Return the bits of all whole numbers of a block together: at least the largest one, or negative if any is."""
    numbers, found = block.ravel(), 0
    for place in range(len(numbers)):
        found |= numbers[place]
    return found


@kernel
def count_by_class(block: Array, labels: Array, counts: Array) -> None:
    """Count numbers by column and class, ``counts[label, column, number]``; no label or number is out of its range."""
    # Row by row, in the order of memory: neighbours raise counters of different columns, so that none waits for the
    # one before.
    rows, columns = block.shape
    for row in range(rows):
        values, of_class = block[row], counts[np.uint64(labels[row])]
        for column in range(columns):
            of_class[column, np.uint64(values[column])] += 1


@tiered(lambda values, *_: 4 * values.size)
def count_numbers(values: Array, low: int, labels: Array, counts: Array) -> None:
    """Count the whole numbers of one column by class: ``counts[number - low, label]``."""
    for row in range(len(values)):
        counts[np.uint64(np.int64(values[row]) - low), np.uint64(labels[row])] += 1


@tiered(lambda block, *_: 20 * block.size)
def look_small(block: Array, low: int, out: Array, seen: Array, strange: Array) -> None:
    """Mark the whole numbers from 0 to 63 of each column in the bits of ``seen``; others set bits in ``strange``.

    The block is also written to ``out`` transposed: where all numbers are small, these may be the codes.
    """
    # One pass: v >> 6 is 0 exactly where v lies in 0..63 (a negative number wraps round to a large one). Tiles of rows
    # become bytes, which are transposed and looked at while they are in the cache.
    rows, columns = block.shape
    tile = np.empty((BYTE_ROWS, columns), np.uint8)
    for top in range(0, rows, BYTE_ROWS):
        size = min(BYTE_ROWS, rows - top)
        for row in range(size):
            values, found = block[top + row], tile[row]
            for column in range(columns):
                value = np.uint64(values[column])
                strange[column] |= value >> np.uint64(SMALL_BITS)
                found[column] = value
        _transpose(tile[:size], low + top, out)
        _mark_small(out, low + top, low + top + size, seen)


@kernel
def look_bytes(block: Array, low: int, out: Array, seen: Array, strange: Array) -> None:
    """Do as ``look_small`` for bytes, which need no narrowing."""
    for top in range(0, len(block), BYTE_ROWS):
        tile = block[top : top + BYTE_ROWS]
        _transpose(tile, low + top, out)
        start, stop = low + top, low + top + len(tile)
        _mark_small(out, start, stop, seen)
        for column in range(block.shape[1]):
            values, others = out[column, start:stop], np.uint8(0)
            for row in range(len(values)):
                others |= values[row] >> np.uint8(SMALL_BITS)
            strange[column] |= others


@kernel
def _mark_small(codes: Array, start: int, stop: int, seen: Array) -> None:
    """Set the bit (v mod 64) of a column's word for each of its bytes, from row ``start`` to ``stop``."""
    for column in range(len(seen)):
        values, found = codes[column, start:stop], np.uint64(0)
        for row in range(len(values)):
            found |= np.uint64(1) << (np.uint64(values[row]) & np.uint64((1 << SMALL_BITS) - 1))
        seen[column] |= found


@kernel
def _transpose(tile: Array, low: int, out: Array) -> None:
    """Write rows as columns: ``out[column, low + row]``."""
    for column in range(tile.shape[1]):
        target = out[column, low : low + len(tile)]
        for row in range(len(target)):
            target[row] = tile[row, column]


@tiered(lambda block, *_: 4 * block.size)
def look_floats(block: Array, seen: Array, outside: Array, fractional: Array, missing: Array, infinite: Array) -> None:
    """Mark the whole numbers of the window, and the columns with other, fractional, missing or infinite values."""
    # As look_integers; NaN is a missing value. All arrays but seen hold one flag per column.
    rows, columns = block.shape
    for row in range(rows):
        for column in range(columns):
            value = block[row, column]
            if value != value:
                missing[column] = 1
            elif value == np.inf or value == -np.inf:
                infinite[column] = 1
            elif value != np.floor(value):
                fractional[column] = 1
            elif WINDOW_LOW <= value < WINDOW_LOW + WINDOW_SIZE:
                seen[column, int(value) - WINDOW_LOW] = 1
            else:
                outside[column] = 1


@tiered(lambda block, *_: 8 * block.size)
def encode_integers(block: Array, coding: NumberCoding, missing: int, low: int, out: Array, unseen: Array) -> None:
    """Encode whole numbers; values without a code become ``missing`` and are counted per column in ``unseen``."""
    # Tiles of the block are read by rows and written by columns within the cache. A lookup costs O(1) per value,
    # a search among n cut points or levels O(log n).
    rows, columns = block.shape
    base, lookup, cuts = coding.base, coding.lookup, coding.cuts
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    for tile in range((rows + TILE_ROWS - 1) // TILE_ROWS * across):
        top, left = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
        bottom = min(top + TILE_ROWS, rows)
        for column in range(left, min(left + TILE_COLUMNS, columns)):
            first, last, method = coding.start[column], coding.stop[column], coding.method[column]
            if method == LOOKUP:
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
                    code = _search(cuts, lookup, first, last, base[column], float(block[row, column]), method)
                    if code < 0:
                        unseen[column] += 1
                        code = missing
                    out[column, low + row] = code


@tiered(lambda block, *_: 8 * block.size)
def encode_plain(block: Array, base: Array, span: Array, missing: int, low: int, out: Array, unseen: Array) -> None:
    """Encode whole numbers where the levels of every column are ``base, base + 1, …``, ``span`` of them."""
    # The code is v - base; taken as an unsigned number it is at least span for every value without a code.
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
        _transpose(tile[:size], low + top, out)


@tiered(lambda block, *_: 8 * block.size)
def encode_plain_floats(
    block: Array, base: Array, span: Array, missing: int, low: int, out: Array, unseen: Array, infinite: Array
) -> None:
    """Encode floats, of which NaN is missing, where the levels of every column are as for ``encode_plain``."""
    # Without a branch, so that several values are encoded at once: a value outside the levels is put on the first one,
    # so that it can become an integer, and marked.
    rows, columns = block.shape
    tile = np.empty((TILE_ROWS, columns), out.dtype)
    for top in range(0, rows, TILE_ROWS):
        size = min(TILE_ROWS, rows - top)
        for row in range(size):
            values, found = block[top + row], tile[row]
            for column in range(columns):
                value, place = values[column], values[column] - base[column]
                inside = (place >= 0.0) & (place < span[column])
                code = np.int64(place if inside else 0.0)
                known = inside & (np.float64(base[column] + code) == value)
                found[column] = code if known else missing
                unseen[column] += (not known) & (place == place)
                infinite[column] |= np.abs(place) == np.inf
        _transpose(tile[:size], low + top, out)


@kernel
def look_up_bytes(block: Array, codes: Array, low: int, out: Array) -> None:
    """Look up the code of every byte of a block in the 256 codes of its column."""
    # Tiles are read by rows and written by columns within the cache, as are the codes of a column.
    for top in range(0, len(block), BYTE_ROWS):
        tile = block[top : top + BYTE_ROWS]
        for column in range(tile.shape[1]):
            found, known = out[column, low + top : low + top + len(tile)], codes[column]
            for row in range(len(found)):
                found[row] = known[tile[row, column]]


@tiered(lambda block, *_: 8 * block.size)
def encode_floats(
    block: Array, coding: NumberCoding, missing: int, low: int, out: Array, unseen: Array, infinite: Array
) -> None:
    """Encode floats, of which NaN is missing; columns with an infinite value are marked."""
    # As encode_integers; a float is looked up only if it is a whole number.
    rows, columns = block.shape
    base, lookup, cuts = coding.base, coding.lookup, coding.cuts
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    for tile in range((rows + TILE_ROWS - 1) // TILE_ROWS * across):
        top, left = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
        bottom = min(top + TILE_ROWS, rows)
        for column in range(left, min(left + TILE_COLUMNS, columns)):
            first, last, method = coding.start[column], coding.stop[column], coding.method[column]
            for row in range(top, bottom):
                value = block[row, column]
                code = missing
                if value == value:
                    code = -1
                    if value == np.inf or value == -np.inf:
                        infinite[column] = 1
                    elif method == LOOKUP:
                        place = value - base[column]
                        if place >= 0 and place < last - first and value == np.floor(value):
                            code = lookup[first + int(place)]
                    else:
                        code = _search(cuts, lookup, first, last, base[column], value, method)
                    if code < 0:
                        unseen[column] += 1
                        code = missing
                out[column, low + row] = code


@kernel
def _search(cuts: Array, lookup: Array, first: int, last: int, base: int, value: float, method: int) -> int:
    """Return the interval (low, high] of a value, or with LEVELS the code of the level that equals it, else -1."""
    # Binary search for the first of cuts[first:last] that is at least the value.
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    if method == CUTS:
        return low - first
    if low == last or cuts[low] != value:
        return -1
    return lookup[base + low - first]  # type: ignore[no-any-return]  # an integer once compiled


@kernel
def number_addresses(addresses: Array, codes: Array, first: Array) -> int:
    """Number addresses by their first occurrence, at row ``first[code]``; return how many there are, or one too many.

    It stops where there are more than ``first`` has room for.
    """
    # Open addressing in four slots for every address: a slot holds a code, or -1. Addresses are multiples of 16.
    mask = 4 * len(first) - 1  # len(first) is a power of two
    slots, found = np.full(mask + 1, -1, np.int32), 0
    for row in range(len(addresses)):
        address = addresses[row]
        slot = ((address >> 4) ^ (address >> 16)) & mask
        while slots[slot] >= 0 and addresses[first[slots[slot]]] != address:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            if found == len(first):
                return found + 1
            slots[slot], first[found] = found, row
            found += 1
        codes[row] = slots[slot]
    return found


@tiered(lambda below, products: 40 * below.size)
def mdlp_cuts(below: Array, products: Array) -> Array:
    """Return the accepted cuts in rising order, each the number of distinct values below it; see ``mdlp``.

    ``below[v, c]`` counts the rows of class c with one of the first v values. ``products[x]`` is x log2 x where all
    counts are whole numbers, otherwise it is empty.
    """
    # Idea: ranges that wait on a stack; in each, one pass over its values computes the entropy of both parts.
    # Layout: range i holds the values from lows[i] to before highs[i].
    # Cost: O(values x classes) per level of cuts.
    n_values = len(below) - 1
    lows, highs = np.zeros(n_values + 2, np.int64), np.zeros(n_values + 2, np.int64)
    accepted = np.zeros(n_values + 1, np.bool_)
    highs[0], height = n_values, 1
    entropies = np.empty(n_values + 1)
    while height:
        height -= 1
        low, high = lows[height], highs[height]
        cut = _best_cut(below, products, low, high, entropies)
        if cut > low:
            accepted[cut] = True
            lows[height], highs[height] = low, cut
            lows[height + 1], highs[height + 1] = cut, high
            height += 2
    return np.flatnonzero(accepted)


@kernel
def _best_cut(below: Array, products: Array, low: int, high: int, entropies: Array) -> int:
    """Return the lowest cut of least entropy between two values if its gain pays for it, otherwise ``low``."""
    whole, size, n_classes = _entropy(below, products, low, high)
    if high - low < 2 or size <= 1.0 or n_classes < 2:
        return low
    least = np.inf
    for cut in range(low + 1, high):
        entropies[cut] = _entropy(below, products, low, cut)[0] + _entropy(below, products, cut, high)[0]
        least = min(least, entropies[cut])
    best = low + 1
    while entropies[best] > least + SLACK * size:
        best += 1
    left, left_size, left_classes = _entropy(below, products, low, best)
    right, right_size, right_classes = _entropy(below, products, best, high)
    delta = log2(3.0) * n_classes + log1p(-2.0 * 3.0**-n_classes) / log(2.0)
    delta -= n_classes * whole / size - left_classes * left / left_size - right_classes * right / right_size
    return best if whole - entropies[best] > log2(size - 1.0) + delta else low


@kernel
def _entropy(below: Array, products: Array, low: int, high: int) -> tuple[float, float, int]:
    """Return the class entropy in bits times the rows of a range, its rows, and the number of its classes."""
    size, cells, n_classes = 0.0, 0.0, 0
    for c in range(below.shape[1]):
        n = below[high, c] - below[low, c]
        if n > 0.0:
            size += n
            n_classes += 1
            cells += products[int(n)] if len(products) else n * log2(n)
    if n_classes == 0:
        return 0.0, 0.0, 0
    return (products[int(size)] if len(products) else size * log2(size)) - cells, size, n_classes
