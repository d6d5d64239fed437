"""The compiled gains of candidate parents, from stacked counts."""

from __future__ import annotations

import math

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


@kernel
def _log_gamma(x: float) -> float:
    """Return ln Gamma(x) for x > 0: Stirling's series past 10, and the recursion up to there."""
    shift = 1.0
    while x < 10.0:
        shift *= x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046728 + series / x - math.log(shift)


@kernel
def list_n_log_n(size: int) -> Array:
    """List n ln n for n = 0, 1, … below a size."""
    found = np.zeros(size)
    for n in range(2, size):
        found[n] = n * math.log(n)
    return found


@kernel
def _term(n: float, a: float, base: float, known: Array) -> float:
    """Return n ln n where a is 0, else ln Gamma(a + n) - ln Gamma(a), whose last part is ``base``."""
    if n <= 0.0:
        return 0.0
    if a > 0.0:
        return float(_log_gamma(a + n) - base)
    whole = int(n)
    if whole < len(known) and whole == n:
        return known[whole]  # type: ignore[no-any-return]  # an element of an array
    return n * math.log(n)


@kernel
def flat_gains(flat: Array, layout: Array, masses: Array, price: int, known: Array, out: Array) -> None:
    r"""Return the gain of candidate parents from (configurations, child, candidate) counts.

    .. math:: \sum f_0(n_{jkl}) - \sum f_1(n_{j \cdot l}) - \sum f_2(n_{jk \cdot}) + \sum f_3(n_{j \cdot \cdot})

    with :math:`f_i` of the prior mass ``masses[table, i]``, or n ln n where that is 0; ``known`` lists n ln n for the
    first n. ``price`` 1 takes one nat for every new parameter, 2 half the logarithm of the rows. ``layout[table]``
    tells where a table begins in ``flat``, then the size and the stride of four axes: two of configurations, the child
    and the candidate.
    """
    by_level = np.empty(layout[:, 7].max() if len(layout) else 0)
    for table in range(len(layout)):
        told = layout[table]
        start, outer, step_outer, inner, step_inner = told[0], told[1], told[2], told[3], told[4]
        states, step_state, levels, step_level = told[5], told[6], told[7], told[8]
        a0, a1, a2, a3 = masses[table, 0], masses[table, 1], masses[table, 2], masses[table, 3]
        b0, b1, b2, b3 = _base(a0), _base(a1), _base(a2), _base(a3)
        gain, total = 0.0, 0.0
        for config in range(outer * inner):
            by_level[:levels] = 0.0
            rows = 0.0
            first = start + config // inner * step_outer + config % inner * step_inner
            for state in range(states):
                by_state = 0.0
                for level in range(levels):
                    n = float(flat[first + state * step_state + level * step_level])
                    by_state += n
                    by_level[level] += n
                    gain += _term(n, a0, b0, known)
                gain -= _term(by_state, a2, b2, known)
                rows += by_state
            if rows > 0.0:
                for level in range(levels):
                    gain -= _term(by_level[level], a1, b1, known)
                gain += _term(rows, a3, b3, known)
                total += rows
        parameters = outer * inner * (levels - 1) * (states - 1)
        if price == 1:
            gain -= parameters
        elif price == 2:
            gain -= 0.5 * math.log(max(total, 1.0)) * parameters
        out[table] = gain


@kernel
def _base(a: float) -> float:
    return _log_gamma(a) if a > 0.0 else 0.0


@kernel
def lay_out_families(
    children: Array, parents: Array, ends: Array, allowed: Array, states: Array, most: int, most_base: int, enough: int
) -> tuple[int, tuple[Array, Array], Array, Array]:
    """List the tables from which candidates of families and the removal of their parents are measured.

    The parents of a family are ``parents[ends[f] : ends[f + 1]]``. Each allowed candidate asks for the table (parents,
    child, candidate) where that has at most ``most`` cells, and the parents ask for the table of the family where that
    has at most ``most_base``. Gives how many families are laid out, which are all unless their tables need more than
    ``enough`` cells; the sets of columns; the layouts that ``flat_gains`` wants; and for each of these (family, column,
    1 or -1): whose gain it is.
    """
    n, total = len(states), len(children)
    members = np.empty((n + 1) * (len(parents) + 2 * total), np.int64)
    set_ends = np.zeros((n + 1) * total + 1, np.int64)
    layout, place = np.ones((n * total, 9), np.int64), np.ones((n * total, 3), np.int64)
    cells, sets, tables, family = 0, 0, 0, 0
    while family < total and cells <= enough:
        child, mine = children[family], parents[ends[family] : ends[family + 1]]
        size = states[child]
        for parent in mine:
            size = min(size * states[parent], 1 << 40)
        for candidate in range(n):
            levels = states[candidate]
            if allowed[candidate, child] and size * levels <= most and not (mine == candidate).any():
                layout[tables, :3] = cells, size // states[child], levels * states[child]
                layout[tables, 5:8] = states[child], levels, levels
                place[tables, :2] = family, candidate
                set_ends[sets + 1] = _write_set(mine, child, candidate, members, set_ends[sets])
                cells, sets, tables = cells + size * levels, sets + 1, tables + 1
        if size <= most_base and len(mine):
            outer = 1
            for parent in mine:
                levels = states[parent]
                step = size // (outer * levels)
                layout[tables, :5] = cells, outer, levels * step, step // states[child], states[child]
                layout[tables, 5:] = states[child], 1, levels, step
                place[tables] = family, parent, -1
                outer, tables = outer * levels, tables + 1
            set_ends[sets + 1] = _write_set(mine, child, -1, members, set_ends[sets])
            cells, sets = cells + size, sets + 1
        family += 1
    return family, (members[: set_ends[sets]], set_ends[: sets + 1]), layout[:tables], place[:tables]


@kernel
def _write_set(parents: Array, child: int, candidate: int, members: Array, at: int) -> int:
    """Write the columns of a table, without a candidate that is below 0; give where the next set begins."""
    for parent in parents:
        members[at] = parent
        at += 1
    members[at] = child
    if candidate >= 0:
        members[at + 1] = candidate
        at += 1
    return at + 1
