"""Compiled gains of candidate parents, from many contingency tables in one flat array.

The tables are described by the rows of a layout, see :mod:`tanbark.structure.greedy.kernels.layout`.
"""

from __future__ import annotations

import math

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel, tiered
from tanbark.structure.greedy.kernels import layout as field

TOO_LARGE = 1 << 40  # sizes of tables are clipped here, so that they do not overflow
ADDED, REMOVED = 1, -1  # the sign of a gain: of a candidate, or of the removal of a parent


@kernel
def log_gamma(x: float) -> float:
    """Return ln Gamma(x) for x > 0: Stirling's series past 10, and the recursion up to there."""
    # math.lgamma differs in the last bit, and with it the scores in model files that were saved before.
    shift = 1.0
    while x < 10.0:
        shift *= x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    value = (x - 0.5) * math.log(x) - x + 0.9189385332046728 + series / x
    return value - math.log(shift) if shift != 1.0 else value


@tiered(lambda size: size)
def list_n_log_n(size: int) -> Array:
    """Return n ln n for n = 0, 1, … below a size."""
    found = np.zeros(size)
    for n in range(2, size):
        found[n] = n * math.log(n)
    return found


@kernel
def _term(n: float, a: float, base: float, known: Array) -> float:
    """Return n ln n where a is 0, else ln Gamma(a + n) - ln Gamma(a), with ``base`` = ln Gamma(a)."""
    if n <= 0.0:
        return 0.0
    if a > 0.0:
        return float(log_gamma(a + n) - base)
    whole = int(n)
    if whole < len(known) and whole == n:
        return known[whole]  # type: ignore[no-any-return]  # an element of an array
    return n * math.log(n)


@kernel
def flat_gains(flat: Array, layout: Array, masses: Array, penalty: int, n_log_n: Array, out: Array) -> None:
    r"""Fill ``out`` with the gain of a candidate parent from each (configurations, child, candidate) table.

    .. math:: \sum f_0(n_{jkl}) - \sum f_1(n_{j \cdot l}) - \sum f_2(n_{jk \cdot}) + \sum f_3(n_{j \cdot \cdot})

    with :math:`f_i` of the prior mass ``masses[table, i]``, or n ln n where that is 0; ``n_log_n`` lists the first of
    these.
    """
    for table in range(len(layout)):
        mine = masses[table]
        out[table] = table_gain(flat, layout[table], (mine[0], mine[1], mine[2], mine[3]), penalty, n_log_n)


@kernel
def table_gain(
    flat: Array, row: Array, masses: tuple[float, float, float, float], penalty: int, n_log_n: Array
) -> float:  # fmt: skip
    """Return the gain of a candidate parent from the table that a row of a layout describes."""
    # Idea: all four margins in one sweep over a table; the sum over states is a scalar, the one over levels a buffer.
    # Empty parent configurations add nothing. Cost: one read and one term per cell, one term per cell of a margin.
    outer, inner, states, levels = row[field.OUTER], row[field.INNER], row[field.STATES], row[field.LEVELS]
    state_step, level_step = row[field.STATE_STEP], row[field.LEVEL_STEP]
    by_level = np.empty(levels)
    a0, a1, a2, a3 = masses
    b0, b1, b2, b3 = _base(a0), _base(a1), _base(a2), _base(a3)
    gain, total = 0.0, 0.0
    for config in range(outer * inner):
        by_level[:] = 0.0
        rows = 0.0
        first = row[field.START] + config // inner * row[field.OUTER_STEP] + config % inner * row[field.INNER_STEP]
        for state in range(states):
            by_state = 0.0
            for level in range(levels):
                n = float(flat[first + state * state_step + level * level_step])
                by_state += n
                by_level[level] += n
                gain += _term(n, a0, b0, n_log_n)
            gain -= _term(by_state, a2, b2, n_log_n)
            rows += by_state
        if rows > 0.0:
            for level in range(levels):
                gain -= _term(by_level[level], a1, b1, n_log_n)
            gain += _term(rows, a3, b3, n_log_n)
            total += rows
    parameters = outer * inner * (levels - 1) * (states - 1)
    if penalty == field.AIC:
        gain -= parameters
    elif penalty == field.BIC:
        gain -= 0.5 * math.log(max(total, 1.0)) * parameters
    return gain


@tiered(lambda flat, *_: 8 * flat.size)
def flat_scores(flat: Array, starts: Array, shapes: Array, masses: Array, penalty: int, n_log_n: Array) -> Array:
    """Return the score of each (configurations, states) table, with the masses of a cell and of a configuration."""
    found = np.zeros(len(starts))
    for table in range(len(starts)):
        shape, mine = (shapes[table, 0], shapes[table, 1]), (masses[table, 0], masses[table, 1])
        found[table] = table_score(flat, starts[table], shape, mine, penalty, n_log_n)
    return found


@kernel
def table_score(
    flat: Array, start: int, shape: tuple[int, int], masses: tuple[float, float], penalty: int, n_log_n: Array
) -> float:  # fmt: skip
    """Return the score of one (configurations, states) table, as :func:`flat_scores` does."""
    configs, states = shape
    a0, a1 = masses
    b0, b1 = _base(a0), _base(a1)
    score, total = 0.0, 0.0
    for config in range(configs):
        rows, inner = 0.0, 0.0
        for cell in range(start + config * states, start + (config + 1) * states):
            rows += float(flat[cell])
            inner += _term(float(flat[cell]), a0, b0, n_log_n)
        score += inner - _term(rows, a1, b1, n_log_n)
        total += rows
    if penalty == field.AIC:
        score -= configs * (states - 1)
    elif penalty == field.BIC:
        score -= 0.5 * math.log(max(total, 1.0)) * configs * (states - 1)
    return score


@kernel
def _base(a: float) -> float:
    return log_gamma(a) if a > 0.0 else 0.0


@kernel
def lay_out_families(
    children: Array, parents: Array, ends: Array, allowed: Array, states: Array, most: int, most_base: int, enough: int
) -> tuple[int, tuple[Array, Array], Array, Array]:
    """Lay out the tables from which the gains of candidates and of the removal of parents are computed.

    The parents of a family are ``parents[ends[f] : ends[f + 1]]``. Each allowed candidate needs the table (parents,
    child, candidate), if that has at most ``most`` cells; the removal of any parent needs the table of the family, if
    that has at most ``most_base``. Returns the number of families laid out, which are all unless their tables need more
    than ``enough`` cells; the sets of columns (members, ends); the layouts; and for each layout (family, column, ADDED
    or REMOVED).
    """
    # Idea: one counted table per candidate, and one per family that serves all of its parents, each by other strides.
    # Cost: O(columns) per candidate; nothing is counted here.
    n, total = len(states), len(children)
    members = np.empty((n + 1) * (len(parents) + 2 * total), np.int64)
    set_ends = np.zeros((n + 1) * total + 1, np.int64)
    layout, place = np.ones((n * total, field.FIELDS), np.int64), np.full((n * total, 3), ADDED, np.int64)
    cells, sets, tables, family = 0, 0, 0, 0
    while family < total and cells <= enough:
        child, mine = children[family], parents[ends[family] : ends[family + 1]]
        size = states[child]
        for parent in mine:
            size = min(size * states[parent], TOO_LARGE)
        for candidate in range(n):
            levels = states[candidate]
            if allowed[candidate, child] and size * levels <= most and not (mine == candidate).any():
                layout[tables, field.START] = cells
                layout[tables, field.OUTER] = size // states[child]
                layout[tables, field.OUTER_STEP] = levels * states[child]
                layout[tables, field.STATES], layout[tables, field.STATE_STEP] = states[child], levels
                layout[tables, field.LEVELS] = levels
                place[tables, :2] = family, candidate
                set_ends[sets + 1] = _write_set(mine, child, candidate, members, set_ends[sets])
                cells, sets, tables = cells + size * levels, sets + 1, tables + 1
        if size <= most_base and len(mine):
            outer = 1
            for parent in mine:
                levels = states[parent]
                step = size // (outer * levels)
                layout[tables, field.START] = cells
                layout[tables, field.OUTER], layout[tables, field.OUTER_STEP] = outer, levels * step
                layout[tables, field.INNER], layout[tables, field.INNER_STEP] = step // states[child], states[child]
                layout[tables, field.STATES], layout[tables, field.STATE_STEP] = states[child], 1
                layout[tables, field.LEVELS], layout[tables, field.LEVEL_STEP] = levels, step
                place[tables] = family, parent, REMOVED
                outer, tables = outer * levels, tables + 1
            set_ends[sets + 1] = _write_set(mine, child, -1, members, set_ends[sets])
            cells, sets = cells + size, sets + 1
        family += 1
    return family, (members[: set_ends[sets]], set_ends[: sets + 1]), layout[:tables], place[:tables]


@kernel
def _write_set(parents: Array, child: int, candidate: int, members: Array, at: int) -> int:
    """Write the columns of a table, without a candidate that is below 0; return where the next set begins."""
    for parent in parents:
        members[at] = parent
        at += 1
    members[at] = child
    if candidate >= 0:
        members[at + 1] = candidate
        at += 1
    return at + 1
