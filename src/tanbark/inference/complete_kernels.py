"""The compiled loops of prediction for complete rows."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel

ROWS_AT_ONCE = 512


@kernel
def add_families(
    codes: Array, tables: Array, starts: Array, members: Array, strides: Array, member_starts: Array,
    with_class: Array, skip: Array, top: int, bottom: int, out: Array,
) -> None:  # fmt: skip
    """Add to ``out[row, class]``, for rows from top to bottom, the logarithm of every family's entry.

    One gather of a class vector serves a family and a row.

    Family f reads ``tables[starts[f] + sum(code * stride)]`` over its members; with ``with_class`` the classes follow
    one another there, else one entry serves them all. Families that ``skip[f, row]`` marks are left out; an empty
    ``skip`` marks none.
    """
    n_classes = out.shape[1]
    places = np.empty(ROWS_AT_ONCE, np.int64)
    skipping = skip.size > 0
    for low in range(top, bottom, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, bottom - low)
        for family in range(len(starts)):
            places[:size] = starts[family]
            for member in range(member_starts[family], member_starts[family + 1]):
                stride = strides[member]
                values = codes[members[member], low : low + size]
                for row in range(size):
                    places[row] += np.int64(values[row]) * stride
            if skipping:
                for row in range(size):
                    if skip[family, low + row]:
                        places[row] = -1
            if with_class[family]:
                _add_vectors(tables, places, low, size, n_classes, out)
            else:
                for row in range(size):
                    place = places[row]
                    if place >= 0:
                        for c in range(n_classes):
                            out[low + row, c] += tables[place]


@kernel
def _add_vectors(tables: Array, places: Array, low: int, size: int, n_classes: int, out: Array) -> None:
    """Add to every row the class vector at its place; the common numbers of classes are written out."""
    if n_classes == 2:
        for row in range(size):
            place = places[row]
            if place >= 0:
                out[low + row, 0] += tables[place]
                out[low + row, 1] += tables[place + 1]
        return
    whole = n_classes - n_classes % 4
    for row in range(size):
        place = places[row]
        if place >= 0:
            for c in range(0, whole, 4):
                out[low + row, c] += tables[place + c]
                out[low + row, c + 1] += tables[place + c + 1]
                out[low + row, c + 2] += tables[place + c + 2]
                out[low + row, c + 3] += tables[place + c + 3]
            for c in range(whole, n_classes):
                out[low + row, c] += tables[place + c]


@kernel
def find_components(active: Array, closed: Array, members: Array, member_starts: Array, label: Array) -> None:
    """Label, row by row, the groups of missing columns that share a factor: ``label[row, column]`` is the lowest
    column of the group, -1 for columns that are observed or sum to one. ``closed[family, row]`` marks families that
    are left out."""
    n_rows, n_columns = active.shape
    for row in range(n_rows):
        for column in range(n_columns):
            label[row, column] = column if active[row, column] else -1
        for family in range(len(member_starts) - 1):
            if closed[family, row]:
                continue
            first = -1
            for position in range(member_starts[family], member_starts[family + 1]):
                column = members[position]
                if not active[row, column]:
                    continue
                top = column
                while label[row, top] != top:
                    top = label[row, top]
                if first < 0:
                    first = top
                elif top != first:
                    low, high = min(top, first), max(top, first)
                    label[row, high] = low
                    first = low
        for column in range(n_columns):
            if label[row, column] >= 0:
                label[row, column] = label[row, label[row, column]]


@kernel
def normalize_rows(joint: Array, impossible: Array, logs: bool, top: int, bottom: int) -> None:
    """Turn rows of log-joints into posteriors or their logarithms in place; rows that are all -inf are marked."""
    n_classes = joint.shape[1]
    for row in range(top, bottom):
        largest = -np.inf
        for c in range(n_classes):
            largest = max(largest, joint[row, c])
        if largest == -np.inf:
            impossible[row] = True
            continue
        total = 0.0
        for c in range(n_classes):
            share = 1.0 if joint[row, c] == largest else np.exp(joint[row, c] - largest)
            total += share
            if not logs:
                joint[row, c] = share
        if logs:
            shift = largest + np.log(total)
            for c in range(n_classes):
                joint[row, c] -= shift
        else:
            for c in range(n_classes):
                joint[row, c] /= total
