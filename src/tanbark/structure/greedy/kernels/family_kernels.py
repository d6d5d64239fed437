"""Compiled gains of all candidate parents of a family, counted and scored in one go from rows in memory.

The rows lie in ``PackedRows`` of :mod:`tanbark.counts.bitsets`. A cell is an observed joint state of the parents and
the child; its rows are a bitset, or a list where they are few. No value is missing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.bitsets import ALL_ROWS, PackedRows
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.structure.greedy.kernels import layout as field
from tanbark.structure.greedy.kernels.gain_kernels import TOO_LARGE, log_gamma, table_score

MOST_BIT_CELLS = 512  # joint states of a family whose bitsets are made; larger ones are counted row by row
MOST_WORDS = 1 << 18  # of these bitsets together
REMEMBERED, SLOT_BITS = 256, 10  # counts below have their terms of a Dirichlet score remembered, for 2^10 sizes
N_LOG_N, BDEU, K2 = range(3)  # what a cell adds to a score


class Scoring(NamedTuple):
    """How a table is scored: the terms of its cells, the penalty, the terms that are known.

    ``log_rows`` is half the logarithm of the rows, which is BIC's cost of a parameter. ``memo[slot]`` holds the terms
    of small counts for the prior mass whose table has ``sizes[slot]`` cells, NaN where a term is not known yet, and
    ``bases[slot]`` is ln Gamma of that mass. Where terms are n ln n, there is one slot, and all of its terms are known.
    """

    kind: int
    penalty: int
    ess: float
    log_rows: float
    sizes: Array
    bases: Array
    memo: Array


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


def make_cells(data: PackedRows) -> Cells:
    """Reserve the memory that counting needs; it is touched where it is used only."""
    n_rows, n_words = data.codes.shape[1], data.words.shape[1]
    most = int(data.n_states.max(initial=1))
    observed = max(n_rows, MOST_BIT_CELLS) + 1
    held = np.empty((max(1, min(MOST_BIT_CELLS, MOST_WORDS // max(n_words, 1))), n_words), np.uint64)
    config, bits, begin, in_cell = (np.empty(observed, np.int64) for _ in range(4))
    return Cells(
        np.empty(observed), config, bits, begin, in_cell, held, np.empty(n_rows, np.int64), np.empty(n_rows, np.int64),
        np.empty(max(n_rows, 1) * most, np.int64), np.empty(MOST_BIT_CELLS),
        np.empty((2, most), np.float64 if len(data.weights) else np.int64),
    )  # fmt: skip


def make_scoring(criterion: str, ess: float, total: float, n_log_n: Array) -> Scoring:
    """Prepare the terms of a score."""
    kind = {"bdeu": BDEU, "k2": K2}.get(criterion, N_LOG_N)
    penalty, log_rows = field.PENALTIES[criterion], 0.5 * math.log(max(total, 1.0))
    slots = 1 if kind == N_LOG_N else 1 << SLOT_BITS
    memo = n_log_n[None] if kind == N_LOG_N else np.empty((slots, REMEMBERED))
    return Scoring(kind, penalty, ess, log_rows, np.zeros(slots, np.int64), np.zeros(slots), memo)


@kernel
def mass_of(scoring: Scoring, size: float, states: int, by_state: bool) -> float:
    """Return the prior mass of each of ``size`` cells or configurations; 0 where the term is n ln n."""
    if scoring.kind == BDEU:
        return scoring.ess / size
    if scoring.kind == K2:
        return 1.0 if by_state else float(states)
    return 0.0


@kernel
def _slot(scoring: Scoring, size: int, mass: float) -> int:
    """Return where the terms of a mass are remembered, or -1; another size that was there is forgotten."""
    if scoring.kind == N_LOG_N:
        return 0
    if size >= TOO_LARGE:
        return -1
    key = size if scoring.kind == BDEU else -int(mass)
    slot = (key * 40503 >> 9) % (1 << SLOT_BITS)  # multiplicative hashing (Knuth 1973, section 6.4), no overflow
    if scoring.sizes[slot] != key:
        scoring.sizes[slot] = key
        scoring.memo[slot] = np.nan
        scoring.bases[slot] = base_of(mass)
    return slot


@kernel
def term_of(n: float, mass: float, base: float) -> float:
    """Return n ln n where the mass is 0, else ln Gamma(mass + n) - ln Gamma(mass), the latter being ``base``."""
    if n == 0:
        return 0.0
    if mass > 0.0:
        return float(log_gamma(mass + n) - base)
    return n * math.log(n)


@kernel
def base_of(mass: float) -> float:
    """Return ln Gamma of a mass above 0."""
    return float(log_gamma(mass)) if mass > 0.0 else 0.0


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
def _list_by_rows(data: PackedRows, child: int, parents: Array, cells: Cells) -> int:
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
def _list_by_bits(data: PackedRows, child: int, parents: Array, cells: Cells, listed: bool) -> int:
    """List the cells of a family by bitsets; return their number.

    The rows of a cell are listed too where they are few, or in all cells where they are to be ``listed``.
    """
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
    states = data.n_states[child]
    few, number, low = 2 * size + 12, 0, 0
    for cell in range(made):
        total = np.uint64(0)
        for word in range(size):
            total += popcount(held[cell, word])
        rows = np.int64(total)
        cells.dense[cell] = rows
        if rows == 0:
            continue
        cells.total[number], cells.config[number], cells.bits[number] = rows, cell // states, cell
        cells.begin[number], cells.n_rows[number] = -1, rows
        if listed or rows <= few:
            cells.begin[number] = low
            low = _list_rows(held[cell], cells.rows, low)
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
def penalty_of(scoring: Scoring, parameters: float) -> float:
    """Return the penalty of some free parameters."""
    if scoring.penalty == field.AIC:
        return parameters
    return scoring.log_rows * parameters if scoring.penalty == field.BIC else 0.0


@kernel
def score_family(data: PackedRows, scoring: Scoring, child: int, parents: Array, table: Array, place: Array) -> float:
    """Return the score of a family from rows without weights, counted one by one.

    It is that of :func:`tanbark.structure.greedy.kernels.gain_kernels.flat_scores` to the last digit. ``table`` has
    room for all joint states, and ``place`` for every row.
    """
    n_rows, states, q = data.codes.shape[1], data.n_states[child], 1
    for row in range(n_rows):
        place[row] = 0
    for position in range(len(parents) + 1):
        column = child if position == len(parents) else parents[position]
        for row in range(n_rows):
            place[row] = place[row] * data.n_states[column] + data.codes[column, row]
    for parent in parents:
        q *= data.n_states[parent]
    for cell in range(q * states):
        table[cell] = 0.0
    for row in range(n_rows):
        table[place[row]] += 1.0
    masses = mass_of(scoring, float(q * states), states, True), mass_of(scoring, float(q), states, False)
    return table_score(table, 0, (q, states), masses, scoring.penalty, scoring.memo[0])  # type: ignore[no-any-return]


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
        slot_above = _slot(scoring, q * levels, above)
        slot = _slot(scoring, q * levels * states, mass)
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
        number = _list_by_bits(data, child, parents, cells, listed)
    else:
        bits = False
        number = _list_by_rows(data, child, parents, cells)
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
        number = _list_by_rows(data, child, rest, cells)
        smaller = float(q // data.n_states[parents[left_out]])
        out[parents[left_out]] = _score_cells(scoring, cells, number, states, smaller) - value
