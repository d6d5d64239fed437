"""The compiled sums over missing values in any structure, row by row.

Missing columns without observed descendants sum to one. The others fall into groups that share no family; the joint
states of a group's columns are walked through like the digits of a counter, and what the leading digits fix is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel

SAFE = 1e-200  # a sum below this may have lost digits: the way in logarithms takes over


@kernel
def add_summed(
    codes: Array, n_states: Array, flat: Any, probabilities: Array, order: Array, children: Array, child_starts: Array,
    most_states: int, top: int, bottom: int, out: Array, left: Array,
) -> None:  # fmt: skip
    """Add log P(class, observed values) of rows with gaps to ``out``; mark the rows that are left as they are.

    ``flat`` is laid out as ``add_families`` takes it, ``probabilities`` are its tables without the logarithm, and
    ``order`` has children before their parents. Rows are left where a group has more than ``most_states`` joint states
    or its sum is too small.
    """
    tables, starts, with_class = flat[0], flat[1], flat[5]
    n_columns, n_families, n_classes = len(n_states), len(starts), out.shape[1]
    active, barren = np.zeros(n_columns + 1, np.bool_), np.zeros(n_families, np.bool_)
    head, place = np.empty(n_columns, np.int64), np.empty(n_families, np.int64)
    opened, joint = np.empty(n_families, np.int64), np.empty(n_classes)
    room = _make_room(n_columns, n_families, len(flat[2]), n_classes)
    for row in range(top, bottom):
        _mark(codes, n_states, order, children, child_starts, row, active, barren, head)
        joint[:] = 0.0
        n_open = 0
        for family in range(n_families):
            if barren[family]:
                continue
            place[family] = starts[family]
            if _tie(codes, flat, family, row, active, head, place):
                opened[n_open] = family
                n_open += 1
            else:
                for c in range(n_classes):
                    joint[c] += tables[place[family] + (c if with_class[family] else 0)]
        done = True
        for first in range(n_columns if n_open else 0):
            if done and active[first] and head[first] == first:
                n_chosen, size = _gather(n_states, active, head, first, most_states, room)
                done = size <= most_states
                if done:
                    _order_columns(n_chosen, _list_families(flat, opened[:n_open], active, head, first, room), room)
                    done = _add_group(n_states, flat, probabilities, place, n_chosen, room, joint)
        if done:
            for c in range(n_classes):
                out[row, c] += joint[c]
        else:
            left[row] = True


@kernel
def _make_room(n_columns: int, n_families: int, n_members: int, n_classes: int) -> Any:
    """Make room for a group: its columns and their digits; its families, where they read, and their levels; products.

    Family k of a group reads the columns ``read[ends[k] : ends[k + 1]]`` with ``steps``; those whose last column
    stands at a level are ``by_level[level_ends[level] : level_ends[level + 1]]``.
    """
    columns, digit = np.empty(n_columns, np.int64), np.empty(n_columns, np.int64)
    level_ends = np.empty(n_columns + 1, np.int64)
    group, ends = np.empty(n_families, np.int64), np.empty(n_families + 1, np.int64)
    by_level, level = np.empty(n_families, np.int64), np.empty(n_families, np.int64)
    read, steps = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
    uses = np.zeros(n_columns, np.int64)
    products = np.empty((n_columns + 1, n_classes))
    return columns, digit, level_ends, group, ends, by_level, level, read, steps, uses, products


@kernel
def _mark(
    codes: Array, n_states: Array, order: Array, children: Array, child_starts: Array, row: int, active: Array,
    barren: Array, head: Array,
) -> None:  # fmt: skip
    """Mark the missing columns of a row that sum to one, and those that do not; each of these heads its own group."""
    for node in order:
        if node == len(n_states):
            continue
        gap = np.int64(codes[node, row]) >= n_states[node]
        nothing = gap
        if gap:
            for at in range(child_starts[node], child_starts[node + 1]):
                nothing &= barren[children[at]]
        barren[node], active[node], head[node] = nothing, gap and not nothing, node


@kernel
def _tie(codes: Array, flat: Any, family: int, row: int, active: Array, head: Array, place: Array) -> bool:
    """Find a family's place among its tables by what is observed, and join the groups of what is not; tell if any."""
    members, strides, member_starts = flat[2], flat[3], flat[4]
    first = -1
    for at in range(member_starts[family], member_starts[family + 1]):
        column = members[at]
        if not active[column]:
            place[family] += np.int64(codes[column, row]) * strides[at]
            continue
        while head[column] != column:
            column = head[column]
        if first >= 0 and first != column:
            head[max(first, column)] = min(first, column)
            column = min(first, column)
        first = column
    return first >= 0


@kernel
def _gather(n_states: Array, active: Array, head: Array, first: int, most: int, room: Any) -> tuple[int, int]:
    """List the columns of a group; give their number and that of their joint states, which may stop above ``most``."""
    found, size = 0, 1
    for column in range(first, len(n_states)):
        if active[column]:
            top = column
            while head[top] != top:
                top = head[top]
            head[column] = top
            if top == first:
                room[0][found] = column
                found += 1
                size *= n_states[column]
                if size > most:
                    break
    return found, size


@kernel
def _list_families(flat: Any, opened: Array, active: Array, head: Array, first: int, room: Any) -> int:
    """List the open families of a group, and what each reads of its columns; give their number."""
    members, strides, member_starts = flat[2], flat[3], flat[4]
    group, ends, read, steps = room[3], room[4], room[7], room[8]
    found, filled = 0, 0
    ends[0] = 0
    for family in opened:
        for at in range(member_starts[family], member_starts[family + 1]):
            column = members[at]
            if active[column] and head[column] == first:
                read[filled], steps[filled] = column, strides[at]
                filled += 1
        if filled > ends[found]:
            group[found] = family
            found += 1
            ends[found] = filled
    return found


@kernel
def _order_columns(n_chosen: int, n_group: int, room: Any) -> None:
    """Put last, time and again, the column with the fewest families left: what is inmost is read most often."""
    columns, _, level_ends, _, ends, by_level, level, read, _, uses, _ = room
    level[:n_group] = -1
    for last in range(n_chosen - 1, -1, -1):
        for k in range(last + 1):
            uses[columns[k]] = 0
        for family in range(n_group):
            if level[family] < 0:
                for at in range(ends[family], ends[family + 1]):
                    uses[read[at]] += 1
        best = 0
        for k in range(1, last + 1):
            if uses[columns[k]] < uses[columns[best]]:
                best = k
        chosen = columns[best]
        columns[best], columns[last] = columns[last], chosen
        for family in range(n_group):
            for at in range(ends[family], ends[family + 1]):
                if level[family] < 0 and read[at] == chosen:
                    level[family] = last
    filled = 0
    for last in range(n_chosen):
        level_ends[last] = filled
        for family in range(n_group):
            if level[family] == last:
                by_level[filled] = family
                filled += 1
    level_ends[n_chosen] = filled
    for k in range(n_chosen):
        uses[columns[k]] = k
    for at in range(ends[n_group]):
        read[at] = uses[read[at]]


@kernel
def _add_group(
    n_states: Array, flat: Any, probabilities: Array, place: Array, n_chosen: int, room: Any, joint: Array
) -> bool:
    """Add the logarithm of a group's sum to ``joint``; tell whether it is safe."""
    columns, digit, level_ends, group, ends, by_level, _, read, steps, _, products = room
    with_class, n_classes = flat[5], len(joint)
    total = np.zeros(n_classes)
    products[0] = 1.0
    level, digit[0] = 0, 0
    while level >= 0:
        if digit[level] == n_states[columns[level]]:
            level -= 1
            if level >= 0:
                digit[level] += 1
            continue
        for c in range(n_classes):
            products[level + 1, c] = products[level, c]
        for at in range(level_ends[level], level_ends[level + 1]):
            family = by_level[at]
            entry, step = place[group[family]], 1 if with_class[group[family]] else 0
            for k in range(ends[family], ends[family + 1]):
                entry += digit[read[k]] * steps[k]
            for c in range(n_classes):
                products[level + 1, c] *= probabilities[entry + c * step]
        if level == n_chosen - 1:
            for c in range(n_classes):
                total[c] += products[level + 1, c]
            digit[level] += 1
        else:
            level += 1
            digit[level] = 0
    safe = True
    for c in range(n_classes):
        safe &= total[c] >= SAFE
        joint[c] += np.log(max(total[c], SAFE))
    return safe
