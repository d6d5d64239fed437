"""The compiled loops of prediction."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel

ROWS_AT_ONCE = 512
SMALL = 1e-100  # a message below this is rescaled, so that a product of two cannot underflow


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
def add_forest(
    codes: Array, probability: Array, logarithm: Array, starts: Array, n_states: Array, parent: Array, order: Array,
    message_starts: Array, top: int, bottom: int, out: Array,
) -> None:  # fmt: skip
    """Add the log-evidence of every tree of a forest, summing out missing values by one upward pass.

    Node i has P(i | parent, class) at ``starts[i] + ((parent state * n_states[i]) + state) * n_classes + class``;
    ``parent`` is -1 at a root and ``order`` lists children before their parents. A missing node with an observed
    descendant collects lambda(state, class), the probability of what is observed below it; it is rescaled when small
    and the logarithm of the scale goes to ``out``.
    """
    n_classes = out.shape[1]
    messages, sums = np.empty(message_starts[-1]), np.ones(n_classes)
    active = np.zeros(len(parent), np.bool_)
    for row in range(top, bottom):
        for position in range(len(order)):
            node = order[position]
            above, states = parent[node], n_states[node]
            code = np.int64(codes[node, row])
            observed = code < states
            if not observed and not active[node]:
                continue  # nothing observed below: sums to one
            start = starts[node]
            lam = message_starts[node]
            if above < 0 or np.int64(codes[above, row]) < n_states[above]:
                if above >= 0:
                    start += np.int64(codes[above, row]) * states * n_classes
                if observed:
                    for c in range(n_classes):
                        out[row, c] += logarithm[start + code * n_classes + c]
                else:
                    for c in range(n_classes):
                        total = 0.0
                        for k in range(states):
                            total += probability[start + k * n_classes + c] * messages[lam + k * n_classes + c]
                        sums[c] *= total
                        if sums[c] < SMALL:
                            _add_log(sums, c, row, out)
            else:
                up = message_starts[above]
                if not active[above]:
                    active[above] = True
                    messages[up : up + n_states[above] * n_classes] = 1.0
                _send_up(
                    probability, messages, start, lam, up, states, n_states[above], n_classes, code, observed, row, out
                )
            active[node] = False
        for c in range(n_classes):
            if sums[c] != 1.0:
                _add_log(sums, c, row, out)


@kernel
def _add_log(sums: Array, c: int, row: int, out: Array) -> None:
    """Add the logarithm of the product of a class's sums so far, and begin another."""
    out[row, c] += np.log(sums[c]) if sums[c] > 0.0 else -np.inf
    sums[c] = 1.0


@kernel
def _send_up(
    probability: Array, messages: Array, start: int, lam: int, up: int, states: int, above_states: int, n_classes: int,
    code: int, observed: bool, row: int, out: Array,
) -> None:  # fmt: skip
    """Multiply a node's message into its missing parent's, rescaling each class that becomes small."""
    for c in range(n_classes):
        largest = 0.0
        for p in range(above_states):
            entry = start + p * states * n_classes + c
            if observed:
                message = probability[entry + code * n_classes]
            else:
                message = 0.0
                for k in range(states):
                    message += probability[entry + k * n_classes] * messages[lam + k * n_classes + c]
            messages[up + p * n_classes + c] *= message
            largest = max(largest, messages[up + p * n_classes + c])
        if 0.0 < largest < SMALL:
            for p in range(above_states):
                messages[up + p * n_classes + c] /= largest
            out[row, c] += np.log(largest)


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
