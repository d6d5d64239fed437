"""The compiled loops of cross-validated search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]

TIE = 1e-9
NOWHERE = -(1 << 40)


@kernel
def estimate_folds(
    codes: Array, weights: Array, members: Array, strides: Array, n_states: Array, smooth: float, out: Array
) -> None:
    """Estimate P(last member | other members, class) of every fold from all rows less the fold's own.

    ``codes`` ends with the class and the fold; ``out[fold]`` is flat with the classes last. Rows with a gap in a member
    do not count, and a configuration without mass becomes uniform.
    """
    target = codes.shape[0] - 2
    weighted = len(weights) > 0
    out[:] = 0.0
    places = np.zeros(codes.shape[1], np.int64)
    _add_places(codes, members, strides, n_states, places)
    for row in range(codes.shape[1]):
        if places[row] >= 0:
            cell = places[row] + np.int64(codes[target, row])
            out[np.int64(codes[target + 1, row]), cell] += weights[row] if weighted else 1.0
    smooth_folds(out, n_states[members[-1]], n_states[target], smooth)


@kernel
def smooth_folds(out: Array, states: int, n_classes: int, smooth: float) -> None:
    """Turn the counts of every fold into estimates from all rows less the fold's own.

    ``out[fold]`` is flat with the classes last and the states before them.
    """
    n_folds, n_cells = out.shape
    whole = np.zeros(n_cells)
    for fold in range(n_folds):
        whole += out[fold]
    step = states * n_classes
    for fold in range(n_folds):
        for start in range(0, n_cells, step):
            for c in range(n_classes):
                mass = 0.0
                for cell in range(start + c, start + step, n_classes):
                    out[fold, cell] = whole[cell] - out[fold, cell] + smooth
                    mass += out[fold, cell]
                for cell in range(start + c, start + step, n_classes):
                    out[fold, cell] = out[fold, cell] / mass if mass > 0.0 else 1.0 / states


@kernel
def _add_places(codes: Array, members: Array, strides: Array, n_states: Array, places: Array) -> None:
    """Find the place of every row in a table, without the class; below 0 where a member is missing."""
    for m in range(len(members)):
        values, states, stride = codes[members[m]], n_states[members[m]], strides[m]
        for row in range(len(places)):
            code = np.int64(values[row])
            places[row] += code * stride if code < states else NOWHERE


@kernel
def gather_fold_logs(
    codes: Array, members: Array, strides: Array, n_states: Array, tables: Array, bounds: Array, out: Array
) -> None:
    """Read the logarithm of one family's table of each row's own fold: ``out[row, class]``.

    ``tables[fold]`` is flat with the classes last; ``bounds[fold]`` and ``bounds[fold + 1]`` bound the fold's rows.
    """
    n_classes = out.shape[1]
    logs, places = np.empty(tables.shape[1]), np.zeros(len(out), np.int64)
    _add_places(codes, members, strides, n_states, places)
    for fold in range(len(bounds) - 1):
        for cell in range(len(logs)):
            logs[cell] = np.log(tables[fold, cell]) if tables[fold, cell] > 0.0 else -np.inf
        for row in range(bounds[fold], bounds[fold + 1]):
            for c in range(n_classes):
                out[row, c] = logs[places[row] + c]


@kernel
def count_correct(joint: Array, labels: Array, weights: Array, bounds: Array, out: Array) -> None:
    """Add the weight of rows whose likeliest class is right, per fold; classes within 1e-9 tie, the first wins.

    No row is impossible under every class.
    """
    n_classes = joint.shape[1]
    for fold in range(len(bounds) - 1):
        for row in range(bounds[fold], bounds[fold + 1]):
            top = joint[row, 0]
            for c in range(1, n_classes):
                top = max(top, joint[row, c])
            for c in range(n_classes):
                if joint[row, c] >= top - TIE:
                    if c == labels[row]:
                        out[fold] += weights[row]
                    break


@kernel
def add_log_posteriors(joint: Array, labels: Array, weights: Array, bounds: Array, out: Array) -> None:
    """Add the weighted log-posterior of the right class, per fold; no row is impossible under every class."""
    n_classes = joint.shape[1]
    for fold in range(len(bounds) - 1):
        for row in range(bounds[fold], bounds[fold + 1]):
            top = joint[row, 0]
            for c in range(1, n_classes):
                top = max(top, joint[row, c])
            total = 0.0
            for c in range(n_classes):
                total += np.exp(joint[row, c] - top)
            out[fold] += weights[row] * (joint[row, labels[row]] - top - np.log(total))


@kernel
def add_component(
    codes: Array, logs: Array, starts: Array, nodes: Array, n_states: Array, locals_: Array, strides: Array,
    member_starts: Array, children: Array, child_starts: Array, limit: int, top: int, bottom: int, hard: Array,
    out: Array,
) -> None:  # fmt: skip
    """Add the log-evidence of a connected group of features for rows with gaps, by enumerating what is missing.

    ``nodes`` are the group's columns, parents first; family k reads ``logs[starts[k] + sum(code * stride) + class]``
    over its members, whose positions in the group are ``locals_``. Missing nodes without observed descendants are left
    out; the others are enumerated in groups that share no family. A row with more than ``limit`` combinations in one
    group is marked hard and left to the caller.
    """
    size, n_classes = len(nodes), out.shape[1]
    barren, active = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    label, state = np.zeros(size, np.int64), np.zeros(size, np.int64)
    first, chosen = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for row in range(top, bottom):
        _read_gaps(codes, row, nodes, n_states, children, child_starts, barren, active, state)
        _tie_gaps(active, barren, locals_, member_starts, label, first)
        for k in range(size):
            if not barren[k] and first[k] < 0:
                place = _place(k, state, starts, locals_, strides, member_starts)
                for c in range(n_classes):
                    out[row, c] += logs[place + c]
        for head in range(size):
            if not active[head] or label[head] != head:
                continue
            combinations = 1
            for k in range(size):
                chosen[k] = active[k] and label[k] == head
                if chosen[k] and combinations <= limit:
                    combinations *= n_states[k]
            if combinations > limit:
                hard[row] = True
                break
            _add_combinations(
                combinations, chosen, barren, first, state, logs, starts, n_states, locals_, strides, member_starts,
                row, out,
            )  # fmt: skip


@kernel
def _read_gaps(
    codes: Array, row: int, nodes: Array, n_states: Array, children: Array, child_starts: Array, barren: Array,
    active: Array, state: Array,
) -> None:  # fmt: skip
    """Read a row's states; mark the missing nodes without observed descendants as barren, the others as active."""
    for k in range(len(nodes) - 1, -1, -1):
        code = np.int64(codes[nodes[k], row])
        missing = code >= n_states[k]
        state[k] = 0 if missing else code
        idle = missing
        for position in range(child_starts[k], child_starts[k + 1]):
            idle = idle and barren[children[position]]
        barren[k], active[k] = idle, missing and not idle


@kernel
def _tie_gaps(active: Array, barren: Array, locals_: Array, member_starts: Array, label: Array, first: Array) -> None:
    """Label active nodes that share a family alike, by the lowest; ``first[k]`` is family k's first active member."""
    for k in range(len(label)):
        label[k] = k
    for k in range(len(label)):
        first[k] = -1
        if not barren[k]:
            first[k] = _tie_family(k, active, label, locals_, member_starts)
    for k in range(len(label)):
        label[k] = label[label[k]]


@kernel
def _add_combinations(
    combinations: int, chosen: Array, barren: Array, first: Array, state: Array, logs: Array, starts: Array,
    n_states: Array, locals_: Array, strides: Array, member_starts: Array, row: int, out: Array,
) -> None:  # fmt: skip
    """Add the logarithm of the sum, over all states of the chosen nodes, of the product of the families they are in."""
    size, n_classes = len(chosen), out.shape[1]
    best, total, value = np.full(n_classes, -np.inf), np.zeros(n_classes), np.empty(n_classes)
    for _ in range(combinations):
        value[:] = 0.0
        for k in range(size):
            if not barren[k] and first[k] >= 0 and chosen[first[k]]:
                place = _place(k, state, starts, locals_, strides, member_starts)
                for c in range(n_classes):
                    value[c] += logs[place + c]
        for c in range(n_classes):
            if value[c] > best[c]:
                total[c] = total[c] * np.exp(best[c] - value[c]) + 1.0
                best[c] = value[c]
            elif value[c] > -np.inf:
                total[c] += np.exp(value[c] - best[c])
        for k in range(size):  # the next combination
            if chosen[k]:
                state[k] += 1
                if state[k] < n_states[k]:
                    break
                state[k] = 0
    for c in range(n_classes):
        out[row, c] += best[c] + np.log(total[c]) if total[c] > 0.0 else -np.inf


@kernel
def _tie_family(family: int, active: Array, label: Array, locals_: Array, member_starts: Array) -> int:
    """Give all active members of a family the lowest label among them; give the first of them, or -1."""
    found, first = -1, -1
    for position in range(member_starts[family], member_starts[family + 1]):
        k = locals_[position]
        if not active[k]:
            continue
        head = k
        while label[head] != head:
            head = label[head]
        if first < 0:
            found, first = k, head
        elif head != first:
            low, high = min(head, first), max(head, first)
            label[high] = low
            first = low
    return found


@kernel
def _place(family: int, state: Array, starts: Array, locals_: Array, strides: Array, member_starts: Array) -> int:
    place = starts[family]
    for position in range(member_starts[family], member_starts[family + 1]):
        place += state[locals_[position]] * strides[position]
    return place  # type: ignore[no-any-return]  # an integer once compiled
