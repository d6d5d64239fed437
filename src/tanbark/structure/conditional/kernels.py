"""The compiled loops of search by conditional log-likelihood.

A family is told by its columns without the class, the node last (all of them parents where the node is the class), and
by whether the class is in it. Its table has a line for every configuration of these columns and an entry per class.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


@kernel
def fill_keys(codes: Array, states: Array, columns: Array, keys: Array) -> None:
    """Number the configuration of some columns in every row; -1 where one of them has a gap."""
    keys[:] = 0
    for column in columns:
        radix = states[column]
        for row in range(len(keys)):
            code = np.int64(codes[column, row])
            if keys[row] >= 0:
                keys[row] = keys[row] * radix + code if code < radix else -1


@kernel
def fill_table(keys: Array, starts: Array, labels: Array, weights: Array, radix: int, table: Array) -> float:
    """Fill a family's maximum-likelihood table; give the log-likelihood of the rows that have all of its columns.

    ``radix`` is the number of states of the node, or 0 where the node is the class. A parent configuration that never
    occurs is uniform.
    """
    table[:] = 0.0
    for row in range(len(keys)):
        if keys[row] >= 0:
            for entry in range(starts[row], starts[row + 1]):
                table[keys[row], labels[entry]] += weights[entry]
    lines, classes = table.shape
    found = 0.0
    if radix == 0:
        for line in range(lines):
            found += _normalise(table[line])
        return found
    column = np.empty(radix)
    for first in range(0, lines, radix):
        for label in range(classes):
            column[:] = table[first : first + radix, label]
            found += _normalise(column)
            table[first : first + radix, label] = column
    return found


@kernel
def _normalise(counts: Array) -> float:
    """Turn counts into shares in place; give the log-likelihood of the counts."""
    total, found = counts.sum(), 0.0
    for place in range(len(counts)):
        n = counts[place]
        counts[place] = n / total if total > 0 else 1.0 / len(counts)
        if n > 0:
            found += n * np.log(counts[place])
    return found


@kernel
def add_family(keys: Array, logs: Array, finite: Array, zeros: Array) -> None:
    """Add the logs of a family's factors to the log-joint of every row and class; factors of zero are counted apart."""
    for row in range(len(keys)):
        key = keys[row]
        if key >= 0:
            for label in range(logs.shape[1]):
                if logs[key, label] > -np.inf:
                    finite[row, label] += logs[key, label]
                else:
                    zeros[row, label] += 1


@kernel
def take_out(
    finite: Array, zeros: Array, keys: Array, logs: Array, keys2: Array, logs2: Array, starts: Array, labels: Array,
    weights: Array, out: Array,
) -> float:  # fmt: skip
    """Take two families out of the joints; fill ``out`` with the rest, up to a factor per row.

    Gives the total of the logs of what is left for the rows' own classes, less that factor.
    """
    rows, classes = out.shape
    found = 0.0
    for row in range(rows):
        top = -np.inf
        key, key2 = keys[row], keys2[row]
        for label in range(classes):
            value, none = finite[row, label], zeros[row, label]
            if key >= 0:
                if logs[key, label] > -np.inf:
                    value -= logs[key, label]
                else:
                    none -= 1
            if key2 >= 0:
                if logs2[key2, label] > -np.inf:
                    value -= logs2[key2, label]
                else:
                    none -= 1
            out[row, label] = value if none == 0 else -np.inf
            top = max(top, out[row, label])
        for entry in range(starts[row], starts[row + 1]):
            found += weights[entry] * (out[row, labels[entry]] - top)
        for label in range(classes):
            out[row, label] = np.exp(out[row, label] - top)
    return found


@kernel
def total_log(rest: Array, totals: Array, keys: Array, table: Array, keys2: Array, table2: Array) -> float:
    """Sum, over the rows with their weights, the log of the sum over the classes of ``rest`` times two families."""
    rows, classes = rest.shape
    found = 0.0
    for row in range(rows):
        value = 0.0
        key, key2 = keys[row], keys2[row]
        if key2 >= 0:
            for label in range(classes):
                first = table[key, label] if key >= 0 else 1.0
                value += rest[row, label] * first * table2[key2, label]
        elif key >= 0:
            for label in range(classes):
                value += rest[row, label] * table[key, label]
        else:
            for label in range(classes):
                value += rest[row, label]
        found += totals[row] * np.log(value)
    return found


@kernel
def score_families(
    codes: Array, states: Array, starts: Array, labels: Array, weights: Array, totals: Array, rest: Array, own: float,
    members: Array, ends: Array, radix: int, relevant: Array, out: Array,
) -> None:  # fmt: skip
    """Return the conditional log-likelihood with each of some families of one node in place of the one taken out."""
    rows, classes = rest.shape
    keys, nowhere = np.empty(rows, np.int64), np.full(rows, -1, np.int64)
    for place in range(len(relevant)):
        columns = members[ends[place] : ends[place + 1]]
        lines = 1
        if relevant[place]:
            for column in columns:
                lines *= states[column]
        table = np.empty((lines, classes))
        likely = 0.0
        if relevant[place]:
            fill_keys(codes, states, columns, keys)
            likely = fill_table(keys, starts, labels, weights, radix, table)
        else:
            keys[:] = -1
        out[place] = own + likely - total_log(rest, totals, keys, table, nowhere, table)
