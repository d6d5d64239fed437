"""Compiled lists of the cells of a family: its observed joint states, and the rows of each.

The rows lie in ``PackedRows`` of :mod:`tanbark.counts.bitsets`. The rows of a cell are a bitset, or a list where they
are few. No value is missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.bitsets import ALL_ROWS, PackedRows
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel

MOST_BIT_CELLS = 512  # joint states of a family whose bitsets are made; larger ones are counted row by row
MOST_WORDS = 1 << 18  # of these bitsets together


class Cells(NamedTuple):
    """Room for the cells of a family, which are listed by their configuration and state.

    ``total`` is the weight of a cell, ``config`` its configuration, ``bits`` where its bitset is in ``held``, or -1;
    its rows are the ``n_rows`` from ``begin`` on in ``rows``, or ``begin`` is -1. ``key`` and ``place`` number the
    rows, ``dense`` has the weights of all joint states, and ``buffer`` is for those of the levels of a candidate.
    """

    total: Array
    config: Array
    bits: Array
    begin: Array
    n_rows: Array
    held: Array
    rows: Array
    key: Array
    place: Array
    dense: Array
    buffer: Array


@kernel
def make_cells(data: PackedRows, buffer: Array, most_cells: int) -> Cells:
    """Reserve the memory that counting needs, with bitsets for ``most_cells``; it is touched where it is used only."""
    n_rows, n_words = data.codes.shape[1], data.words.shape[1]
    observed = max(n_rows, most_cells) + 1
    held = np.empty((max(1, min(most_cells, MOST_WORDS // max(n_words, 1))), n_words), np.uint64)
    return Cells(
        np.empty(observed), np.empty(observed, np.int64), np.empty(observed, np.int64), np.empty(observed, np.int64),
        np.empty(observed, np.int64), held, np.empty(n_rows, np.int64), np.empty(n_rows, np.int64),
        np.empty(max(n_rows, 1) * buffer.shape[1], np.int64), np.empty(most_cells), buffer,
    )  # fmt: skip


@kernel
def _number_rows(data: PackedRows, members: Array, cells: Cells) -> int:
    """Number the observed joint states of columns in their order, into ``key`` of every row; return how many."""
    # Idea: column by column, so that a number stays below rows x states. Cost: O(rows) per column, and a sweep over the
    # numbers that might occur.
    key, place = cells.key, cells.place
    key[:] = 0
    found = 1
    for column in members:
        states = data.n_states[column]
        codes = data.codes[column]
        place[: found * states] = 0
        for row in range(len(key)):
            key[row] = key[row] * states + codes[row]
            place[key[row]] = 1
        known = 0
        for number in range(found * states):
            if place[number]:
                place[number] = known
                known += 1
        for row in range(len(key)):
            key[row] = place[key[row]]
        found = known
    return found


@kernel
def list_by_rows(data: PackedRows, child: int, parents: Array, cells: Cells) -> int:
    """List the cells of a family row by row; return their number."""
    key, place, weighted = cells.key, cells.place, len(data.weights) > 0
    configs, states = _number_rows(data, parents, cells), data.n_states[child]
    place[: configs * states] = 0
    for row in range(len(key)):
        key[row] = key[row] * states + data.codes[child, row]
        place[key[row]] += 1
    number, low = 0, 0
    for cell in range(configs * states):
        size = place[cell]
        if size:
            cells.config[number], cells.begin[number] = cell // states, low
            cells.total[number], cells.bits[number], cells.n_rows[number] = 0.0, -1, 0
            place[cell] = number
            number, low = number + 1, low + size
    for row in range(len(key)):
        cell = place[key[row]]
        cells.rows[cells.begin[cell] + cells.n_rows[cell]] = row
        cells.n_rows[cell] += 1
        cells.total[cell] += data.weights[row] if weighted else 1.0
    return number


@kernel
def count_by_bits(data: PackedRows, child: int, parents: Array, cells: Cells) -> int:
    """Fill ``held`` and ``dense`` with the bitsets and the counts of all joint states of a family; return how many."""
    # Idea: the bitsets of the joint states of the first columns are split by the states of the next, from the last one
    # down, so that none is overwritten before it was split.
    held, words = cells.held, data.words
    size = words.shape[1]
    for word in range(size):
        held[0, word] = words[ALL_ROWS, word]
    made = 1
    for position in range(len(parents) + 1):
        column = child if position == len(parents) else parents[position]
        states, start = data.n_states[column], data.first[column]
        for cell in range(made - 1, -1, -1):
            for state in range(states - 1, -1, -1):
                for word in range(size):
                    held[cell * states + state, word] = held[cell, word] & words[start + state, word]
        made *= states
    for cell in range(made):
        total = np.uint64(0)
        for word in range(size):
            total += popcount(held[cell, word])
        cells.dense[cell] = np.int64(total)
    return int(made)


@kernel
def list_by_bits(data: PackedRows, child: int, parents: Array, cells: Cells, listed: bool) -> int:
    """List the cells of a family by bitsets; return their number.

    The rows of a cell are listed too where they are few, or in all cells where they are to be ``listed``.
    """
    made, states = count_by_bits(data, child, parents, cells), data.n_states[child]
    few, number, low = 2 * data.words.shape[1] + 12, 0, 0
    for cell in range(made):
        rows = np.int64(cells.dense[cell])
        if rows == 0:
            continue
        cells.total[number], cells.config[number], cells.bits[number] = rows, cell // states, cell
        cells.begin[number], cells.n_rows[number] = -1, rows
        if listed or rows <= few:
            cells.begin[number] = low
            low = _list_rows(cells.held[cell], cells.rows, low)
        number += 1
    return number


@kernel
def _list_rows(bitset: Array, rows: Array, low: int) -> int:
    """Write the rows of a bitset from a place on; return the place after them."""
    one = np.uint64(1)
    for word in range(len(bitset)):
        left = bitset[word]
        while left:
            rows[low] = 64 * word + np.int64(popcount((left & (~left + one)) - one))
            low += 1
            left &= left - one
    return low
