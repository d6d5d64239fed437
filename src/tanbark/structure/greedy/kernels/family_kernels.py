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
from tanbark.machine import kernel
from tanbark.structure.greedy.kernels import layout as field
from tanbark.structure.greedy.kernels.gain_kernels import TOO_LARGE, log_gamma, table_gain

MOST_BIT_CELLS = 512  # joint states of a family whose bitsets are made; larger ones are counted row by row
MOST_WORDS = 1 << 18  # of these bitsets together
REMEMBERED, SLOTS = 256, 128  # counts below have their terms of a Dirichlet score remembered, for so many sizes
N_LOG_N, BDEU, K2 = range(3)  # what a cell adds to a score


class Scoring(NamedTuple):
    """How a table is scored: the terms of its cells, the penalty, the terms that are known.

    ``log_rows`` is half the logarithm of the rows, which is BIC's cost of a parameter; ``n_log_n`` lists terms of small
    counts. ``memo[slot]`` holds the terms of the prior mass whose table has ``sizes[slot]`` cells, NaN where a term is
    not known yet.
    """

    kind: int
    penalty: int
    ess: float
    log_rows: float
    n_log_n: Array
    sizes: Array
    memo: Array


class Cells(NamedTuple):
    """Room for the cells of a family, which are listed by their configuration and state.

    ``total`` and ``term`` are the weight and the term of a cell, ``config`` its configuration, ``bits`` where its
    bitset is in ``held``, or -1; its rows are the ``n_rows`` from ``begin`` on in ``rows``, or ``begin`` is -1.
    ``of_config`` and ``config_term`` are the weights and terms of the configurations; ``key`` and ``place`` number the
    rows, ``dense`` has the weights of all joint states, and ``buffer`` is for those of the levels of a candidate.
    """

    total: Array
    term: Array
    config: Array
    bits: Array
    begin: Array
    n_rows: Array
    of_config: Array
    config_term: Array
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
        np.empty(observed), np.empty(observed), config, bits, begin, in_cell, np.empty(observed), np.empty(observed),
        held, np.empty(n_rows, np.int64), np.empty(n_rows, np.int64), np.empty(max(n_rows, 1) * most, np.int64),
        np.empty(MOST_BIT_CELLS), np.empty((2, most), np.float64 if len(data.weights) else np.int64),
    )  # fmt: skip


def make_scoring(criterion: str, ess: float, total: float, n_log_n: Array) -> Scoring:
    """Prepare the terms of a score."""
    kind = {"bdeu": BDEU, "k2": K2}.get(criterion, N_LOG_N)
    slots = 0 if kind == N_LOG_N else SLOTS
    penalty, log_rows = field.PENALTIES[criterion], 0.5 * math.log(max(total, 1.0))
    return Scoring(
        kind, penalty, ess, log_rows, n_log_n, np.zeros(slots, np.int64), np.empty((slots, REMEMBERED))
    )  # fmt: skip


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
    if scoring.kind == N_LOG_N or size >= TOO_LARGE:
        return -1
    key = size if scoring.kind == BDEU else -int(mass)
    slot = (key * 40503 >> 9) % SLOTS  # multiplicative hashing (Knuth 1973, section 6.4) without an overflow
    if scoring.sizes[slot] != key:
        scoring.sizes[slot] = key
        scoring.memo[slot] = np.nan
    return slot


@kernel
def terms_of(scoring: Scoring, slot: int) -> Array:
    """Return what is known of the terms of a mass, NaN elsewhere."""
    if scoring.kind == N_LOG_N:
        return scoring.n_log_n
    return scoring.memo[max(slot, 0), : REMEMBERED if slot >= 0 else 0]


@kernel
def term_of(terms: Array, n: float, mass: float, base: float) -> float:
    """Return n ln n where the mass is 0, else ln Gamma(mass + n) - ln Gamma(mass), the latter being ``base``."""
    whole = int(n)
    small = whole < len(terms) and whole == n
    if small:
        found = terms[whole]
        if found == found:
            return float(found)
    if n == 0:
        found = 0.0
    elif mass > 0.0:
        found = log_gamma(mass + n) - base
    else:
        found = n * math.log(n)
    if small:
        terms[whole] = found
    return float(found)


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
def _list_by_rows(data: PackedRows, child: int, parents: Array, cells: Cells) -> tuple[int, int]:
    """List the cells of a family row by row; return their number and that of the configurations."""
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
    return number, configs


@kernel
def _list_by_bits(data: PackedRows, child: int, parents: Array, cells: Cells, listed: bool) -> tuple[int, int]:
    """List the cells of a family by bitsets; return their number and that of the configurations, observed or not.

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
    return number, made // states


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
def _score_cells(scoring: Scoring, cells: Cells, number: int, configs: int, states: int, q: float) -> float:
    """Note the terms of the cells and configurations of a family that has ``q`` of these; return its score."""
    mass, above = mass_of(scoring, q * states, states, True), mass_of(scoring, q, states, False)
    base, base_above = base_of(mass), base_of(above)
    terms, value = terms_of(scoring, -1), 0.0
    for config in range(configs):
        cells.of_config[config] = 0.0
    for cell in range(number):
        cells.of_config[cells.config[cell]] += cells.total[cell]
        cells.term[cell] = term_of(terms, cells.total[cell], mass, base)
        value += cells.term[cell]
    for config in range(configs):
        cells.config_term[config] = term_of(terms, cells.of_config[config], above, base_above)
        value -= cells.config_term[config]
    return float(value - penalty_of(scoring, q * (states - 1)))


@kernel
def penalty_of(scoring: Scoring, parameters: float) -> float:
    """Return the penalty of some free parameters."""
    if scoring.penalty == field.AIC:
        return parameters
    return scoring.log_rows * parameters if scoring.penalty == field.BIC else 0.0


@kernel
def _candidate_gain(
    data: PackedRows, scoring: Scoring, cells: Cells, number: int, states: int, q: int, candidate: int
) -> float:  # fmt: skip
    """Return the gain of a candidate parent for the family whose cells are listed."""
    levels, size, first = data.n_states[candidate], data.words.shape[1], data.first[candidate]
    whole = float(q)
    mass = mass_of(scoring, whole * levels * states, states, True)
    above = mass_of(scoring, whole * levels, states, False)
    base, base_above = base_of(mass), base_of(above)
    slot_above = _slot(scoring, q * levels, above)
    slot = _slot(scoring, q * levels * states, mass)
    terms, terms_above = terms_of(scoring, slot), terms_of(scoring, -1 if slot == slot_above else slot_above)
    few = (levels - 1) * (3 * size // 8 + 2) if first >= 0 else len(cells.rows)
    split, by_level = cells.buffer[0], cells.buffer[1]
    by_level[:levels] = 0
    gain = 0.0
    for cell in range(number):
        begin = cells.begin[cell]
        if begin >= 0 and (cells.n_rows[cell] <= few or cells.bits[cell] < 0):
            _split_rows(data, cells.rows[begin : begin + cells.n_rows[cell]], candidate, split)
        else:
            rest, mine = cells.n_rows[cell], cells.held[cells.bits[cell]]
            for level in range(levels - 1):
                other = data.words[first + level]
                both = np.uint64(0)
                for word in range(size):
                    both += popcount(mine[word] & other[word])
                split[level] = np.int64(both)
                rest -= np.int64(both)
            split[levels - 1] = rest
        for level in range(levels):
            by_level[level] += split[level]
            gain += term_of(terms, split[level], mass, base)
        gain -= cells.term[cell]
        config = cells.config[cell]
        if cell + 1 == number or cells.config[cell + 1] != config:
            for level in range(levels):
                gain -= term_of(terms_above, by_level[level], above, base_above)
                by_level[level] = 0
            gain += cells.config_term[config]
    return float(gain - penalty_of(scoring, float(q * (levels - 1) * (states - 1))))


@kernel
def _split_rows(data: PackedRows, rows: Array, candidate: int, split: Array) -> None:
    """Count some rows by the levels of a candidate."""
    codes = data.codes[candidate]
    split[: data.n_states[candidate]] = 0
    if len(data.weights):
        for row in rows:
            split[codes[row]] += data.weights[row]
    else:
        for row in rows:
            split[codes[row]] += 1


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
    # each row of the small ones, and a term for every cell.
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
        number, configs = _list_by_bits(data, child, parents, cells, listed)
    else:
        bits = False
        number, configs = _list_by_rows(data, child, parents, cells)
    value = _score_cells(scoring, cells, number, configs, states, float(q))
    most = -value - number * math.log(states)
    if scoring.kind == N_LOG_N:
        most = -value - penalty_of(scoring, float(q * (states - 1)))
    for x in range(len(out)):
        levels = data.n_states[x]
        if allowed[x, child] and q * states * levels <= max_cells and not (parents == x).any():
            bound = most - penalty_of(scoring, float(q * (levels - 1) * (states - 1)))
            if bound <= 0.0:
                out[x] = bound
            else:
                out[x] = _candidate_gain(data, scoring, cells, number, states, q, x)
    if bits:
        _dense_removals(data, scoring, cells, states, parents, q, out)
    else:
        _removals(data, scoring, cells, child, parents, q, value, out)


@kernel
def _dense_removals(
    data: PackedRows, scoring: Scoring, cells: Cells, states: int, parents: Array, q: int, out: Array
) -> None:  # fmt: skip
    """Fill in the gain of removing each parent, from the table of all joint states."""
    outer, row = 1, np.ones(field.FIELDS, np.int64)
    for parent in parents:
        levels = data.n_states[parent]
        step = states * q // (outer * levels)
        row[field.START], row[field.OUTER], row[field.OUTER_STEP] = 0, outer, levels * step
        row[field.INNER], row[field.INNER_STEP] = step // states, states
        row[field.STATES], row[field.STATE_STEP] = states, 1
        row[field.LEVELS], row[field.LEVEL_STEP] = levels, step
        rest = float(q // levels)
        masses = (
            mass_of(scoring, rest * levels * states, states, True), mass_of(scoring, rest * levels, states, False),
            mass_of(scoring, rest * states, states, True), mass_of(scoring, rest, states, False),
        )  # fmt: skip
        out[parent] = -table_gain(cells.dense, row, masses, scoring.penalty, scoring.n_log_n)
        outer *= levels


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
        number, configs = _list_by_rows(data, child, rest, cells)
        smaller = float(q // data.n_states[parents[left_out]])
        out[parents[left_out]] = _score_cells(scoring, cells, number, configs, states, smaller) - value
