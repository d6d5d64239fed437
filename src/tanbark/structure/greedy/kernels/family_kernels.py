"""Compiled gains of all candidate parents of a family, counted and scored in one go from rows in memory.

The rows lie in ``PackedRows`` of :mod:`tanbark.counts.bitsets`, and the cells of the family are listed as in
:mod:`tanbark.structure.greedy.kernels.cell_kernels`. No value is missing.
"""

from __future__ import annotations

import math

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.bitsets import PackedRows
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.structure.greedy.kernels.cell_kernels import Cells, count_by_bits, list_by_bits, list_by_rows
from tanbark.structure.greedy.kernels.gain_kernels import TOO_LARGE, table_score
from tanbark.structure.greedy.kernels.scoring_kernels import (
    N_LOG_N,
    Scoring,
    base_of,
    mass_of,
    penalty_of,
    slot_of,
    term_of,
)


@kernel
def _score_cells(scoring: Scoring, cells: Cells, number: int, states: int, q: float) -> float:
    """Return the score of a family that has ``q`` configurations, and whose cells are listed."""
    mass, above = mass_of(scoring, q * states, states, True), mass_of(scoring, q, states, False)
    base, base_above = base_of(mass), base_of(above)
    value, rows = 0.0, 0.0
    for cell in range(number):
        value += term_of(cells.total[cell], mass, base)
        rows += cells.total[cell]
        if cell + 1 == number or cells.config[cell + 1] != cells.config[cell]:
            value -= term_of(rows, above, base_above)
            rows = 0.0
    return float(value - penalty_of(scoring, q * (states - 1)))


@kernel
def score_family(
    data: PackedRows, scoring: Scoring, cells: Cells, child: int, parents: Array, table: Array, place: Array
) -> float:  # fmt: skip
    """Return the score of a family from rows without weights, counted by bitsets or one by one.

    It is that of :func:`tanbark.structure.greedy.kernels.gain_kernels.flat_scores` to the last digit. ``table`` has
    room for all joint states, and ``place`` for every row.
    """
    states, q, packed = data.n_states[child], 1, data.first[child] >= 0
    for parent in parents:
        q *= data.n_states[parent]
        packed &= data.first[parent] >= 0
    masses = mass_of(scoring, float(q * states), states, True), mass_of(scoring, float(q), states, False)
    if packed and q * states <= len(cells.held):
        count_by_bits(data, child, parents, cells)
        counts = cells.dense
    else:
        _count_by_rows(data, child, parents, table[: q * states], place)
        counts = table
    return table_score(counts, 0, (q, states), masses, scoring.penalty, scoring.memo[0])  # type: ignore[no-any-return]


@kernel
def _count_by_rows(data: PackedRows, child: int, parents: Array, table: Array, place: Array) -> None:
    """Count all joint states of a family, row by row; ``place`` becomes the joint state of each row."""
    n_rows = data.codes.shape[1]
    for row in range(n_rows):
        place[row] = 0
    for position in range(len(parents) + 1):
        column = child if position == len(parents) else parents[position]
        for row in range(n_rows):
            place[row] = place[row] * data.n_states[column] + data.codes[column, row]
    for cell in range(len(table)):
        table[cell] = 0.0
    for row in range(n_rows):
        table[place[row]] += 1.0


@kernel
def _candidate_gains(
    data: PackedRows, scoring: Scoring, cells: Cells, number: int, states: int, q: int, out: Array
) -> None:  # fmt: skip
    """Turn the bounds of candidates that are above 0 into gains, for the family whose cells are listed.

    The bound of a candidate supposes that it leaves nothing to be explained. It is lowered by what the candidate does
    leave, one parent configuration after another, and is the gain after the last one. A bound that is no longer above 0
    stays as it is.
    """
    # Arrays are looked up once, and no view is made in the loops: each would cost as much as the count of a cell.
    size, weighted, known = data.words.shape[1], len(data.weights) > 0, scoring.memo.shape[1]
    codes, weights, words, memo = data.codes, data.weights, data.words, scoring.memo
    begin, n_rows, bits, config = cells.begin, cells.n_rows, cells.bits, cells.config
    held, rows, buffer = cells.held, cells.rows, cells.buffer
    first_row = math.log(states) if scoring.kind != N_LOG_N else 0.0
    for x in range(len(out)):
        hope = out[x]
        if hope <= 0.0:
            continue
        levels, first = data.n_states[x], data.first[x]
        mass = mass_of(scoring, float(q) * levels * states, states, True)
        above = mass_of(scoring, float(q) * levels, states, False)
        slot_above = slot_of(scoring, q * levels, above)
        slot = slot_of(scoring, q * levels * states, mass)
        if slot == slot_above and scoring.kind != N_LOG_N:
            slot_above = -1
        base = scoring.bases[slot] if slot >= 0 else base_of(mass)
        base_above = scoring.bases[slot_above] if slot_above >= 0 else base_of(above)
        few = (levels - 1) * (3 * size // 8 + 2) if first >= 0 else len(rows)
        for level in range(levels):
            buffer[1, level] = 0
        for cell in range(number):
            low, in_cell = begin[cell], n_rows[cell]
            if low >= 0 and (in_cell <= few or bits[cell] < 0):
                for level in range(levels):
                    buffer[0, level] = 0
                for at in range(low, low + in_cell):
                    if weighted:
                        buffer[0, codes[x, rows[at]]] += weights[rows[at]]
                    else:
                        buffer[0, codes[x, rows[at]]] += 1
            else:
                mine, rest = bits[cell], in_cell
                for level in range(levels - 1):
                    other, both = first + level, np.uint64(0)
                    for word in range(size):
                        both += popcount(held[mine, word] & words[other, word])
                    buffer[0, level] = np.int64(both)
                    rest -= np.int64(both)
                buffer[0, levels - 1] = rest
            hope += first_row
            for level in range(levels):
                n = buffer[0, level]
                buffer[1, level] += n
                whole = int(n)
                if slot >= 0 and whole < known and whole == n:
                    term = memo[slot, whole]
                    if term != term:
                        term = memo[slot, whole] = term_of(float(n), mass, base)
                    hope += term
                else:
                    hope += term_of(float(n), mass, base)
            if cell + 1 == number or config[cell + 1] != config[cell]:
                for level in range(levels):
                    n = buffer[1, level]
                    buffer[1, level] = 0
                    whole = int(n)
                    if slot_above >= 0 and whole < known and whole == n:
                        term = memo[slot_above, whole]
                        if term != term:
                            term = memo[slot_above, whole] = term_of(float(n), above, base_above)
                        hope -= term
                    else:
                        hope -= term_of(float(n), above, base_above)
                if hope <= 0.0:
                    break
        out[x] = hope


@kernel
def family_gains(
    data: PackedRows, scoring: Scoring, cells: Cells, child: int, parents: Array, allowed: Array, max_cells: int,
    out: Array,
) -> None:  # fmt: skip
    """Fill ``out`` with the gain of toggling every column as a parent of a child; -inf where that is not allowed.

    A candidate that cannot gain is not counted: its gain is an upper bound of at most 0. The likelihood cannot pass 1;
    and under a Dirichlet prior with equal masses the first row of a state in a configuration has a probability of at
    most one by the states, however the configuration is split (Correia, Cussens and de Campos 2020).
    """
    # Cost: the cells are listed once; a candidate then costs a sweep over the bitsets of the large cells and a look at
    # each row of the small ones, and a term for every cell, until its bound is not above 0.
    out[:] = -np.inf
    states = data.n_states[child]
    q, bits = 1, data.first[child] >= 0 and len(data.weights) == 0
    for parent in parents:
        q = min(q * data.n_states[parent], TOO_LARGE)
        bits &= data.first[parent] >= 0
    listed = False
    for x in range(len(out)):
        if allowed[x, child] and q * states * data.n_states[x] <= max_cells:
            listed |= data.first[x] < 0
    if bits and q * states <= len(cells.held):
        number = list_by_bits(data, child, parents, cells, listed)
    else:
        bits = False
        number = list_by_rows(data, child, parents, cells)
    value = _score_cells(scoring, cells, number, states, float(q))
    most = -value - number * math.log(states)
    if scoring.kind == N_LOG_N:
        most = -value - penalty_of(scoring, float(q * (states - 1)))
    for x in range(len(out)):
        levels = data.n_states[x]
        if allowed[x, child] and q * states * levels <= max_cells:
            out[x] = most - penalty_of(scoring, float(q * (levels - 1) * (states - 1)))
    for parent in parents:
        out[parent] = -np.inf
    _candidate_gains(data, scoring, cells, number, states, q, out)
    if bits:
        _dense_removals(data, scoring, cells, states, parents, q, value, out)
    else:
        _removals(data, scoring, cells, child, parents, q, value, out)


@kernel
def _dense_removals(
    data: PackedRows, scoring: Scoring, cells: Cells, states: int, parents: Array, q: int, value: float, out: Array
) -> None:  # fmt: skip
    """Fill in the gain of removing each parent, as the difference of two scores, from the table of all joint states."""
    dense, inner = cells.dense, q
    for parent in parents:
        levels = data.n_states[parent]
        inner //= levels
        rest, step = q // levels, inner * states
        mass, above = mass_of(scoring, float(rest * states), states, True), mass_of(scoring, float(rest), states, False)
        base, base_above = base_of(mass), base_of(above)
        score = -penalty_of(scoring, float(rest * (states - 1)))
        for config in range(rest):
            low, rows = config // inner * levels * step + config % inner * states, 0.0
            for state in range(states):
                n = 0.0
                for level in range(levels):
                    n += dense[low + level * step + state]
                score += term_of(n, mass, base)
                rows += n
            score -= term_of(rows, above, base_above)
        out[parent] = score - value


@kernel
def _removals(
    data: PackedRows, scoring: Scoring, cells: Cells, child: int, parents: Array, q: int, value: float, out: Array
) -> None:  # fmt: skip
    """Fill in the gain of removing each parent, as the difference of two scores; the cells are listed anew."""
    states, rest = data.n_states[child], np.empty(max(len(parents) - 1, 0), np.int64)
    for left_out in range(len(parents)):
        at = 0
        for place in range(len(parents)):
            if place != left_out:
                rest[at] = parents[place]
                at += 1
        number = list_by_rows(data, child, rest, cells)
        smaller = float(q // data.n_states[parents[left_out]])
        out[parents[left_out]] = _score_cells(scoring, cells, number, states, smaller) - value
