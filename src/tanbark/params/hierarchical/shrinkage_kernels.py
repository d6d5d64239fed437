"""Compiled kernels of the shrinkage of context trees: every context towards the one above, level by level."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import dividing_kernel, kernel
from tanbark.params.hierarchical.context_kernels import ROOT

CONCENTRATION_RATE = 0.01  # rate of the exponential prior of a concentration
LEAST, MOST = 0.1, 1e4  # concentrations: few rows never make certain
SECANT_START, SECANT_LIMIT, LARGEST_MOVE = 3.0, 10.0, 2.0  # of the log of a concentration
MOST_SWEEPS, SETTLED = 30, 0.02
BLOCK = 512  # differences of the digamma function that are computed at once: they stay in the nearest cache
COUNTED = 64  # totals below it are counted, so that equal ones cost one difference
ROOT_OF_HALF = 0x3FE6A09E667F3BCD  # its bits
EXPONENT = 52  # the bit of a double at which its exponent begins
LOG_2 = 0.6931471805599453
FAR = 1e30  # beyond which reciprocals are nothing beside a logarithm, and their cubes would overflow
TINY = 1e-300  # in place of 0, whose logarithm Python does not take


@kernel
def shrink(rows: Array, above: Array, levels: Array) -> tuple[Array, Array, Array, Array]:
    """Estimate counts, totals, probabilities and concentrations of all contexts from the counts of rows.

    A sweep goes up, passing expected tables on to the contexts above, and down, shrinking every context towards the
    one above. The concentration of a level maximises the Dirichlet-multinomial evidence of its contexts less
    0.01 times itself: there c (sum of psi(c + n) - psi(c) + 0.01) equals the tables, and every sweep takes a secant
    step towards it.
    """
    # Idea: only cells with rows pass anything on, and the deepest contexts, which are most, receive nothing: their
    # counts and totals stay, single rows are passed on once, and their distributions are needed at the end only.
    # Cost: O(cells with rows + contexts above the deepest x states) per sweep; 6 to 30 sweeps, since counts and
    # concentrations settle together.
    n_contexts, n_states = rows.shape
    n_levels = len(levels) - 2
    counts, probabilities = rows.copy(), np.empty((n_contexts, n_states))  # np.full would be compiled for each shape
    for v in range(n_contexts):
        for k in range(n_states):
            probabilities[v, k] = 1.0 / n_states
    totals, concentrations = np.zeros(n_contexts), np.zeros(n_levels + 1)
    for level in range(n_levels + 1):
        concentrations[level] = 0.5 * n_states if level == ROOT else 4.0
    steps, moved = np.zeros(n_levels + 1), np.zeros(n_levels + 1)
    starts, places, uppers = _cells_with_rows(rows, above)
    _add_up(counts.ravel(), starts, places, levels[n_levels], n_contexts, totals)
    passed, singles, kept = _pass_singles(rows.ravel(), places, uppers, starts[levels[n_levels]])
    room = np.empty((4, BLOCK))
    for sweep in range(MOST_SWEEPS):
        for v in range(levels[n_levels]):  # a loop: Numba compiles four seconds for an assignment of arrays
            for k in range(n_states):
                counts[v, k] = passed[v * n_states + k]
        largest = 0.0
        for level in range(n_levels, 0, -1):
            c, first, last = concentrations[level], levels[level], levels[level + 1]
            if level < n_levels:
                _add_up(counts.ravel(), starts, places, first, last, totals)
            low, high = starts[first], kept if level == n_levels else starts[last]
            tables = _pass_up(counts.ravel(), c, places[low:high], uppers[low:high], probabilities.ravel(), room)
            tables += singles if level == n_levels else 0.0
            if sweep > 0 and last > first:
                slope = CONCENTRATION_RATE + sum_differences(c, totals[first:last], room)
                step = log(max(tables / (c * slope), TINY))  # zero where the evidence is largest
                factor = SECANT_START
                if sweep > 1 and abs(step - steps[level]) > 1e-12:
                    factor = min(max(-moved[level] / (step - steps[level]), 1.0), SECANT_LIMIT)
                steps[level] = step
                moved[level] = min(max(factor * step, -LARGEST_MOVE), LARGEST_MOVE)
                largest = max(largest, abs(moved[level]))
                concentrations[level] = min(max(c * exp(moved[level]), LEAST), MOST)
        totals[ROOT] = 0.0
        for k in range(n_states):
            totals[ROOT] += counts[ROOT, k]
        _go_down(counts, totals, concentrations, above, levels, probabilities, n_levels - 1)
        if sweep > 1 and largest < SETTLED:
            break
    _go_down(counts, totals, concentrations, above, levels, probabilities, n_levels)
    return counts, totals, probabilities, concentrations


@kernel
def _cells_with_rows(rows: Array, above: Array) -> tuple[Array, Array, Array]:
    """List the cells that have rows in a context or below it: those of context v begin at ``starts[v]``.

    ``places`` are their places among all (context, state), ``uppers`` those of the same state in the context above.
    """
    n_contexts, n_states = rows.shape
    seen = np.empty((n_contexts, n_states), np.bool_)
    for v in range(n_contexts):
        for k in range(n_states):
            seen[v, k] = rows[v, k] > 0.0
    n_cells = 0
    for v in range(n_contexts - 1, -1, -1):
        for k in range(n_states):
            if seen[v, k]:
                seen[above[v], k] = True
                n_cells += 1
    starts, at = np.zeros(n_contexts + 1, np.int64), 0
    places, uppers = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64)
    for v in range(n_contexts):
        for k in range(n_states):
            if seen[v, k]:
                places[at], uppers[at] = v * n_states + k, np.int64(above[v]) * n_states + k
                at += 1
        starts[v + 1] = at
    return starts, places, uppers


@kernel
def _pass_singles(rows: Array, places: Array, uppers: Array, first: int) -> tuple[Array, float, int]:
    """Pass the cells with one row, from ``first`` on, up once for all sweeps: each is one table, whatever is above it.

    Returns the rows with these tables in the contexts above, and their number; the other cells are moved to the front
    of the lists, up to the end that is returned.
    """
    passed, singles, kept = rows.copy(), 0.0, first
    for at in range(first, len(places)):
        if rows[places[at]] == 1.0:
            passed[uppers[at]] += 1.0
            singles += 1.0
        else:
            places[kept], uppers[kept] = places[at], uppers[at]
            kept += 1
    return passed, singles, kept


@kernel
def _add_up(counts: Array, starts: Array, places: Array, first: int, last: int, totals: Array) -> None:
    """Write the totals of the contexts from first to last."""
    for v in range(first, last):
        total = 0.0
        for at in range(starts[v], starts[v + 1]):
            total += counts[places[at]]
        totals[v] = total


@kernel
def _pass_up(counts: Array, c: float, places: Array, uppers: Array, probabilities: Array, room: Array) -> float:
    """Pass the expected tables of the cells of a level on to the contexts above, and return all tables."""
    # Idea: the differences of digamma functions are most of the work. Cells are gathered into blocks, of which vector
    # instructions compute several at once.
    a, n, found = room[0], room[1], room[2]
    tables = 0.0
    for low in range(0, len(places), BLOCK):
        size = min(BLOCK, len(places) - low)
        for i in range(size):
            n[i] = counts[places[low + i]]
            a[i] = c * probabilities[uppers[low + i]]
        fill_differences(a, n, found, room[3], size)
        for i in range(size):
            expected = 1.0 if n[i] == 1.0 else a[i] * found[i]
            found[i] = expected
            a[i] = n[i] if n[i] <= 1.0 else min(max(expected, 1.0), n[i])
        for i in range(size):
            tables += found[i]
            counts[uppers[low + i]] += a[i]
    return tables


@dividing_kernel
def fill_differences(a: Array, n: Array, out: Array, ratios: Array, size: int) -> None:
    """Write psi(a + n) - psi(a) for the first values of positive a and n, with a relative error below 1e-10.

    ``ratios`` is room for as many values.
    """
    # Idea: psi(x) = log(x + 6) + rest(x + 6) - (1/x + ... + 1/(x + 5)). With u = x (x + 5) the sum of the reciprocals
    # is (2x + 5)(3u^2 + 20u + 24) / (u (u + 4)(u + 6)). The two logarithms are one, of m 2^e with m between the roots
    # of 1/2 and 2: log m = 2 artanh(s), s = (m - 1) / (m + 1), a short series.
    bits = ratios.view(np.int64)
    for i in range(size):
        x, y = float(a[i]), float(a[i] + n[i])
        far = min(y, FAR)
        u, v = x * (x + 5.0), far * (far + 5.0)
        lower = (2.0 * x + 5.0) * (24.0 + u * (20.0 + 3.0 * u)) / (u * (u + 4.0) * (u + 6.0))
        upper = (2.0 * far + 5.0) * (24.0 + v * (20.0 + 3.0 * v)) / (v * (v + 4.0) * (v + 6.0))
        p, q = 1.0 / (x + 6.0), 1.0 / (y + 6.0)
        f, g = p * p, q * q
        low = 0.5 * p + f * (1.0 / 12.0 - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f / 132.0))))
        high = 0.5 * q + g * (1.0 / 12.0 - g * (1.0 / 120.0 - g * (1.0 / 252.0 - g * (1.0 / 240.0 - g / 132.0))))
        out[i] = (lower - upper) + (low - high)
        ratios[i] = (y + 6.0) * p
    for i in range(size):
        exponent = (bits[i] - ROOT_OF_HALF) >> EXPONENT
        out[i] += exponent * LOG_2
        bits[i] -= exponent << EXPONENT
    for i in range(size):
        m = float(ratios[i])
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        high = 1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0))))
        out[i] += 2.0 * s * (1.0 + z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * high))))


@kernel
def sum_differences(c: float, totals: Array, room: Array) -> float:
    """Return the sum of psi(c + n) - psi(c) over the totals n of contexts; ``room`` is for blocks of them."""
    a, n, found = room[0], room[1], room[2]
    times, total, waiting, most = np.zeros(COUNTED), 0.0, 0, 0
    a[:] = c
    for v in range(len(totals)):
        whole = int(totals[v]) if totals[v] < COUNTED else 0
        if whole == totals[v]:
            times[whole] += 1.0
            most = max(most, whole)
            continue
        n[waiting] = totals[v]
        waiting += 1
        if waiting == BLOCK:
            fill_differences(a, n, found, room[3], waiting)
            for i in range(waiting):
                total += found[i]
            waiting = 0
    fill_differences(a, n, found, room[3], waiting)
    for i in range(waiting):
        total += found[i]
    known = 0.0
    for j in range(1, most + 1):
        known += 1.0 / (c + (j - 1.0))
        total += times[j] * known
    return total


@dividing_kernel
def _go_down(
    counts: Array, totals: Array, concentrations: Array, above: Array, levels: Array, probabilities: Array,
    deepest: int,
) -> None:  # fmt: skip
    """Write the distributions of the contexts down to a level, each shrunk towards that of the context above."""
    n_states = counts.shape[1]
    for k in range(n_states):
        probabilities[ROOT, k] = (counts[ROOT, k] + 0.5) / (totals[ROOT] + concentrations[ROOT])
    for level in range(1, deepest + 1):
        c = concentrations[level]
        for v in range(levels[level], levels[level + 1]):
            up, total = above[v], totals[v] + c
            for k in range(n_states):
                probabilities[v, k] = (counts[v, k] + c * probabilities[up, k]) / total
