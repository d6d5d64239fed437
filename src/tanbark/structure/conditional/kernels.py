"""Compiled kernels of the search by conditional log-likelihood.

A family is given by its feature columns, the node last (where the node is the class all are parents), and by whether it
contains the class. Its table has a line for every configuration of these columns and an entry per class; the key of a
row is its line, or -1 where one of the columns is missing.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel
from tanbark.stopping import stopping
from tanbark.structure.conditional.rows import LogFactor, RowArrays


@kernel
def fill_keys(rows: RowArrays, columns: Array, keys: Array) -> None:
    """Fill in the key of every row: its configuration of some columns, or -1 where one of them is missing."""
    codes, states = rows.codes, rows.states
    keys[:] = 0
    for column in columns:
        radix = states[column]
        for row in range(len(keys)):
            code = np.int64(codes[column, row])
            if keys[row] >= 0:
                keys[row] = keys[row] * radix + code if code < radix else -1


@kernel
def fill_table(rows: RowArrays, keys: Array, radix: int, table: Array) -> float:
    """Fill in a maximum-likelihood CPT and return the log-likelihood of the rows that have all columns of the family.

    ``radix`` is the number of states of the node, or 0 where the node is the class. The CPT of a parent configuration
    that never occurs is uniform.
    """
    # Idea: count, then normalise over the node: over the entries of a line where it is the class, else over `radix`
    # successive lines, one class at a time. Cost: one pass over the rows and two over the table.
    starts, labels, weights = rows.starts, rows.labels, rows.weights
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
    """Turn counts into relative frequencies in place; return the log-likelihood of the counts."""
    total, found = counts.sum(), 0.0
    for place in range(len(counts)):
        n = counts[place]
        counts[place] = n / total if total > 0 else 1.0 / len(counts)
        if n > 0:
            found += n * np.log(counts[place])
    return found


@kernel
def add_family(factor: LogFactor, finite: Array, zeros: Array) -> None:
    """Add the logs of a factor to the log-joint of every row and class; zero probabilities are counted apart."""
    # Counting the zeros keeps the factor removable: -inf cannot be subtracted again. Arrays are (rows, classes).
    keys, logs = factor.keys, factor.logs
    for row in range(len(keys)):
        key = keys[row]
        if key >= 0:
            for label in range(logs.shape[1]):
                if logs[key, label] > -np.inf:
                    finite[row, label] += logs[key, label]
                else:
                    zeros[row, label] += 1


@kernel
def remove_factors(
    finite: Array, zeros: Array, first: LogFactor, second: LogFactor, rows: RowArrays, out: Array
) -> float:
    """Divide two factors out of the joint; fill ``out`` with the rest, scaled to a maximum of 1 per row.

    Returns the sum, over the rows with their own classes and weights, of the logs of ``out``.
    """
    n_rows, classes = out.shape
    keys, logs, keys2, logs2 = first.keys, first.logs, second.keys, second.logs
    starts, labels, weights = rows.starts, rows.labels, rows.weights
    found = 0.0
    for row in range(n_rows):
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
def total_log(rest: Array, totals: Array, first: Array, table: Array, second: Array, table2: Array) -> float:
    """Return the weighted sum, over the rows, of the log of the sum over the classes of ``rest`` times two factors.

    A factor is given by its keys and its CPT. Cost: one pass over (rows, classes) and a logarithm per row.
    """
    rows, classes = rest.shape
    found = 0.0
    for row in range(rows):
        value = 0.0
        key, key2 = first[row], second[row]
        if key2 >= 0:
            for label in range(classes):
                one = table[key, label] if key >= 0 else 1.0
                value += rest[row, label] * one * table2[key2, label]
        elif key >= 0:
            for label in range(classes):
                value += rest[row, label] * table[key, label]
        else:
            for label in range(classes):
                value += rest[row, label]
        found += totals[row] * np.log(value)
    return found


@kernel
def score_candidates(
    rows: RowArrays, rest: Array, own: float, members: Array, ends: Array, radix: int, relevant: Array, out: Array
) -> None:
    """Fill in the conditional log-likelihood with each of some families of one node in place of its present one.

    ``rest`` and ``own`` are what :func:`remove_factors` left without the present family. The columns of family f are
    ``members[ends[f] : ends[f + 1]]``; those that are not ``relevant``, without the class, cancel out.
    """
    # Idea: CLL = sum of the rows' own log-joints - sum of the logs of their class totals. A family changes the first
    # by its log-likelihood, the second by one pass over (rows, classes).
    n_rows, classes = rest.shape
    keys, nowhere = np.empty(n_rows, np.int64), np.full(n_rows, -1, np.int64)
    for place in range(len(relevant)):
        if stopping():
            return
        columns = members[ends[place] : ends[place + 1]]
        lines = 1
        if relevant[place]:
            for column in columns:
                lines *= rows.states[column]
        table = np.empty((lines, classes))
        log_likelihood = 0.0
        if relevant[place]:
            fill_keys(rows, columns, keys)
            log_likelihood = fill_table(rows, keys, radix, table)
        else:
            keys[:] = -1
        out[place] = own + log_likelihood - total_log(rest, rows.totals, keys, table, nowhere, table)
