"""Compiled gains of first parents, and the scores of columns without parents, from rows in memory."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.counts.bitsets import PackedRows
from tanbark.counts.kernels import popcount
from tanbark.kernel import kernel
from tanbark.structure.greedy.kernels import layout as field
from tanbark.structure.greedy.kernels.gain_kernels import table_gain
from tanbark.structure.greedy.kernels.scoring_kernels import K2, Scoring, base_of, mass_of, penalty_of, term_of


@kernel
def pair_gains(
    data: PackedRows, scoring: Scoring, allowed: Array, max_cells: int, out: Array, scores: Array
) -> None:  # fmt: skip
    """Fill ``out[y, x]`` with the gain of x as the first parent of y, and ``scores[y]`` with the score without any."""
    # Idea: each pair is counted once for both directions; the last state of a column is what the others leave.
    n, n_rows = len(out), data.codes.shape[1]
    margins = np.zeros((n, data.n_states.max() if n else 0))
    weighted = len(data.weights) > 0
    out[:] = -np.inf
    for y in range(n):
        if weighted or data.first[y] < 0:
            for row in range(n_rows):
                margins[y, data.codes[y, row]] += data.weights[row] if weighted else 1.0
        else:
            for state in range(data.n_states[y]):
                mine, total = data.words[data.first[y] + state], np.uint64(0)
                for word in range(len(mine)):
                    total += popcount(mine[word])
                margins[y, state] = float(np.int64(total))
        scores[y] = _column_score(scoring, margins[y, : data.n_states[y]])
    most = 1
    for x in range(n):
        for y in range(x):
            if allowed[x, y] or allowed[y, x]:
                most = max(most, min(data.n_states[x] * data.n_states[y], max_cells))
    table = np.empty(most)
    for x in range(n):
        for y in range(x + 1, n):
            left, right = data.n_states[x], data.n_states[y]
            if not (allowed[x, y] or allowed[y, x]) or left * right > max_cells:
                continue
            _count_pair(data, x, y, margins, table)
            gain = _pair_gain(scoring, table, (right, 1), (left, right))
            if allowed[x, y]:
                out[y, x] = gain
            if allowed[y, x]:  # all but K2 are the same in both directions
                out[x, y] = gain if scoring.kind != K2 else _pair_gain(scoring, table, (left, right), (right, 1))


@kernel
def _column_score(scoring: Scoring, counts: Array) -> float:
    states = len(counts)
    mass, above = mass_of(scoring, float(states), states, True), mass_of(scoring, 1.0, states, False)
    total = 0.0
    for state in range(states):
        total += counts[state]
    value = -term_of(total, above, base_of(above))
    for state in range(states):
        value += term_of(counts[state], mass, base_of(mass))
    return float(value - penalty_of(scoring, float(states - 1)))


@kernel
def _count_pair(data: PackedRows, x: int, y: int, margins: Array, table: Array) -> None:
    """Count the joint states of two columns, those of y varying fastest."""
    left, right, size = data.n_states[x], data.n_states[y], data.words.shape[1]
    n_rows, weighted = data.codes.shape[1], len(data.weights) > 0
    by_bits = (left - 1) * (right - 1) * (3 * size // 8 + 2) <= n_rows
    if weighted or data.first[x] < 0 or data.first[y] < 0 or not by_bits:
        table[: left * right] = 0.0
        mine, other = data.codes[x], data.codes[y]
        for row in range(n_rows):
            table[mine[row] * right + other[row]] += data.weights[row] if weighted else 1.0
        return
    for b in range(right):
        table[(left - 1) * right + b] = margins[y, b]
    for a in range(left - 1):
        words_a, rest = data.words[data.first[x] + a], margins[x, a]
        for b in range(right - 1):
            words_b = data.words[data.first[y] + b]
            both = np.uint64(0)
            for word in range(size):
                both += popcount(words_a[word] & words_b[word])
            table[a * right + b] = float(np.int64(both))
            rest -= table[a * right + b]
        table[a * right + right - 1] = rest
        for b in range(right):
            table[(left - 1) * right + b] -= table[a * right + b]


@kernel
def _pair_gain(scoring: Scoring, table: Array, of_child: tuple[int, int], of_candidate: tuple[int, int]) -> float:
    """Return the gain of a first parent; of child and candidate the states and the stride in the table are given."""
    states, state_step = of_child
    levels, level_step = of_candidate
    row = np.ones(field.FIELDS, np.int64)
    row[field.START] = 0
    row[field.STATES], row[field.STATE_STEP] = states, state_step
    row[field.LEVELS], row[field.LEVEL_STEP] = levels, level_step
    masses = (
        mass_of(scoring, 1.0 * levels * states, states, True), mass_of(scoring, 1.0 * levels, states, False),
        mass_of(scoring, 1.0 * states, states, True), mass_of(scoring, 1.0, states, False),
    )  # fmt: skip
    return table_gain(table, row, masses, scoring.penalty, scoring.memo[0])  # type: ignore[no-any-return]
