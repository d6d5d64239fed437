"""The compiled loops of junction trees."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


@kernel
def expect_families(
    codes: Array, weights: Array, top: int, bottom: int, potential: Array, columns: Array, own: Array, up: Array,
    scope_starts: Array, table_starts: Array, above: Array, above_starts: Array, separator_starts: Array,
    parent: Array, home: Array, family: Array, family_starts: Array, count_starts: Array, n_states: Array,
    largest: int, out: Array,
) -> tuple[float, int]:  # fmt: skip
    """Add P(family | row) times the row's weight to ``out``; give the weighted log-probability and the impossible rows.

    Clique k has the columns ``columns[scope_starts[k]:scope_starts[k + 1]]`` with strides ``own`` in its own table and
    ``up`` in the separator to the clique above; that clique's columns have the strides ``above[above_starts[k]:]``
    in the same separator. Only the entries that agree with the row are ever touched.
    """
    work = np.empty(table_starts[-1])
    message = np.empty(separator_starts[-1])
    update = np.empty(separator_starts[-1])
    left, right = np.empty(largest, np.int64), np.empty(largest, np.int64)
    n_cliques = len(parent)
    total, impossible = 0.0, 0
    for row in range(top, bottom):
        for k in range(n_cliques):
            scope = columns[scope_starts[k] : scope_starts[k + 1]]
            strides = own[scope_starts[k] : scope_starts[k + 1]]
            size = _agreeing(codes, row, scope, n_states, strides, strides, left, right)
            start = table_starts[k]
            for entry in range(size):
                work[start + left[entry]] = potential[start + left[entry]]
        likelihood = _collect(
            codes, row, columns, own, up, scope_starts, table_starts, above, above_starts, separator_starts, parent,
            n_states, left, right, work, message,
        )  # fmt: skip
        if likelihood == -np.inf:
            impossible += 1
            continue
        total += weights[row] * likelihood
        _distribute(
            codes, row, columns, own, up, scope_starts, table_starts, above, above_starts, separator_starts, parent,
            n_states, left, right, work, message, update,
        )  # fmt: skip
        for node in range(len(home)):
            k = home[node]
            scope = columns[scope_starts[k] : scope_starts[k + 1]]
            strides = own[scope_starts[k] : scope_starts[k + 1]]
            steps = family[family_starts[node] : family_starts[node] + len(scope)]
            size = _agreeing(codes, row, scope, n_states, strides, steps, left, right)
            for entry in range(size):
                out[count_starts[node] + right[entry]] += weights[row] * work[table_starts[k] + left[entry]]
    return total, impossible


@kernel
def _agreeing(
    codes: Array, row: int, scope: Array, n_states: Array, first: Array, second: Array, left: Array, right: Array
) -> int:
    """List the entries of a table that agree with a row, as places by two sets of strides; give their number."""
    size, base_left, base_right = 1, 0, 0
    left[0], right[0] = 0, 0
    for position in range(len(scope)):
        column = scope[position]
        code, states = np.int64(codes[column, row]), n_states[column]
        if code < states:
            base_left += code * first[position]
            base_right += code * second[position]
            continue
        for state in range(1, states):
            for entry in range(size):
                left[state * size + entry] = left[entry] + state * first[position]
                right[state * size + entry] = right[entry] + state * second[position]
        size *= states
    for entry in range(size):
        left[entry] += base_left
        right[entry] += base_right
    return size


@kernel
def _collect(
    codes: Array, row: int, columns: Array, own: Array, up: Array, scope_starts: Array, table_starts: Array,
    above: Array, above_starts: Array, separator_starts: Array, parent: Array, n_states: Array, left: Array,
    right: Array, work: Array, message: Array,
) -> float:  # fmt: skip
    """Send messages from the leaves to the roots, each scaled to sum to one; give the log-probability of the row."""
    likelihood = 0.0
    for k in range(len(parent)):
        low, high = scope_starts[k], scope_starts[k + 1]
        size = _agreeing(codes, row, columns[low:high], n_states, own[low:high], up[low:high], left, right)
        start, there = table_starts[k], separator_starts[k]
        mass = 0.0
        for entry in range(size):
            mass += work[start + left[entry]]
        if not mass > 0.0:
            return -np.inf
        likelihood += np.log(mass)
        for entry in range(size):
            work[start + left[entry]] /= mass
            message[there + right[entry]] = 0.0
        over = parent[k]
        if over < 0:
            continue
        for entry in range(size):
            message[there + right[entry]] += work[start + left[entry]]
        low, high = scope_starts[over], scope_starts[over + 1]
        steps = above[above_starts[k] : above_starts[k] + high - low]
        size = _agreeing(codes, row, columns[low:high], n_states, own[low:high], steps, left, right)
        for entry in range(size):
            work[table_starts[over] + left[entry]] *= message[there + right[entry]]
    return likelihood


@kernel
def _distribute(
    codes: Array, row: int, columns: Array, own: Array, up: Array, scope_starts: Array, table_starts: Array,
    above: Array, above_starts: Array, separator_starts: Array, parent: Array, n_states: Array, left: Array,
    right: Array, work: Array, message: Array, update: Array,
) -> None:  # fmt: skip
    """Send messages from the roots back to the leaves, so that every clique holds its posterior."""
    for k in range(len(parent) - 1, -1, -1):
        over = parent[k]
        if over < 0:
            continue
        there = separator_starts[k]
        low, high = scope_starts[over], scope_starts[over + 1]
        steps = above[above_starts[k] : above_starts[k] + high - low]
        size = _agreeing(codes, row, columns[low:high], n_states, own[low:high], steps, left, right)
        for entry in range(size):
            update[there + right[entry]] = 0.0
        for entry in range(size):
            update[there + right[entry]] += work[table_starts[over] + left[entry]]
        low, high = scope_starts[k], scope_starts[k + 1]
        size = _agreeing(codes, row, columns[low:high], n_states, own[low:high], up[low:high], left, right)
        for entry in range(size):
            sent = message[there + right[entry]]
            work[table_starts[k] + left[entry]] *= update[there + right[entry]] / sent if sent > 0.0 else 0.0
