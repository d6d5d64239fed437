"""The compiled enumeration of missing values in any structure, row by row.

Missing columns without observed descendants are barren and sum to one. The others fall into groups that share no
family; the joint states of a group's columns are enumerated like the digits of a counter, and the product over the
leading digits is kept. Cost: per group, about its number of joint states times its families.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.graph.kernels import find_root, join_roots
from tanbark.inference.factors.order_kernels import mark_ancestors
from tanbark.inference.layout import Factors, FlatNetwork
from tanbark.kernel import kernel
from tanbark.stopping import stopping

SAFE = 1e-200  # a sum below this may have lost digits: the row is left to a computation in logarithms


class Row(NamedTuple):
    """What is known of a row: the columns that are missing and not barren, the group of each (a union-find forest),
    the columns that are not barren, and where each family is read."""

    active: Bools
    root: Integers
    needed: Bools
    place: Integers


class Group(NamedTuple):
    """A group of missing columns, outermost digit first, and the families that read them.

    Family k of the group is ``families[k]`` and reads the digits ``read[bounds[k] : bounds[k + 1]]`` with ``steps``;
    the families whose innermost digit is d are ``by_level[level_bounds[d] : level_bounds[d + 1]]``. ``products[d]`` is
    the product of the families that the first d digits decide, by class.
    """

    columns: Integers
    digit: Integers
    families: Integers
    bounds: Integers
    read: Integers
    steps: Integers
    level: Integers
    by_level: Integers
    level_bounds: Integers
    uses: Integers
    products: Floats


@kernel
def add_enumerated(
    codes: Array, flat: FlatNetwork, logarithms: Array, most_states: int, top: int, bottom: int, out: Array, left: Array
) -> None:
    """Add log P(class, observed values) of rows with missing values to ``out``; mark the rows that are left.

    ``flat`` is a :class:`FlatNetwork` with the class as its last column, and ``logarithms`` are those of its CPTs. Rows
    are left where a group has more than ``most_states`` joint states or its sum is too small.
    """
    cpts, n_columns, n_classes = flat.cpts, len(flat.sizes) - 1, out.shape[1]
    n_families = len(cpts.with_class)
    seen = Row(
        np.zeros(n_columns + 1, np.bool_), np.empty(n_columns + 1, np.int64), np.empty(n_columns + 1, np.bool_),
        np.empty(n_families, np.int64),
    )  # fmt: skip
    opened, joint = np.empty(n_families, np.int64), np.empty(n_classes)
    group = _make_group(n_columns, n_families, len(cpts.columns), n_classes)
    for row in range(top, bottom):
        if stopping():
            return
        _mark(codes, flat, row, seen)
        joint[:] = 0.0
        n_open = 0
        for family in range(n_families):
            if not seen.needed[family]:
                continue
            if _tie(codes, cpts, family, row, seen):
                opened[n_open] = family
                n_open += 1
            else:
                step = 1 if cpts.with_class[family] else 0
                for c in range(n_classes):
                    joint[c] += logarithms[seen.place[family] + c * step]
        done = True
        for first in range(n_columns if n_open else 0):
            if done and seen.active[first] and seen.root[first] == first:
                n_chosen, size = _list_columns(flat.sizes, seen, first, most_states, group)
                done = size <= most_states
                if done:
                    n_group = _list_families(cpts, opened[:n_open], seen, first, group)
                    _order_columns(n_chosen, n_group, group)
                    done = _add_group(flat, seen.place, n_chosen, group, joint)
        if done:
            for c in range(n_classes):
                out[row, c] += joint[c]
        else:
            left[row] = True


@kernel
def _make_group(n_columns: int, n_families: int, n_members: int, n_classes: int) -> Group:
    """Make room for the largest possible group."""
    return Group(
        np.empty(n_columns, np.int64), np.empty(n_columns, np.int64), np.empty(n_families, np.int64),
        np.empty(n_families + 1, np.int64), np.empty(n_members, np.int64), np.empty(n_members, np.int64),
        np.empty(n_families, np.int64), np.empty(n_families, np.int64), np.empty(n_columns + 1, np.int64),
        np.zeros(n_columns, np.int64), np.empty((n_columns + 1, n_classes)),
    )  # fmt: skip


@kernel
def _mark(codes: Array, flat: FlatNetwork, row: int, seen: Row) -> None:
    """Mark the columns that are not barren, and those of them that are missing; each of these is its own group."""
    n_columns = len(flat.sizes) - 1
    for column in range(n_columns):
        seen.needed[column] = np.int64(codes[column, row]) < flat.sizes[column]
        seen.active[column] = not seen.needed[column]
        seen.root[column] = column
    seen.needed[n_columns] = True
    mark_ancestors(flat.cpts, flat.children_first, seen.needed)
    for column in range(n_columns):
        seen.active[column] &= seen.needed[column]


@kernel
def _tie(codes: Array, cpts: Factors, family: int, row: int, seen: Row) -> bool:
    """Find where a family is read by what is observed, and unite its missing columns; return whether it has any."""
    first, place = -1, cpts.starts[family]
    for at in range(cpts.bounds[family], cpts.bounds[family + 1] - cpts.with_class[family]):
        column = cpts.columns[at]
        if not seen.active[column]:
            place += np.int64(codes[column, row]) * cpts.strides[at]
        elif first < 0:
            first = column
        else:
            join_roots(seen.root, first, column)
    seen.place[family] = place
    return first >= 0


@kernel
def _list_columns(sizes: Array, seen: Row, first: int, most: int, group: Group) -> tuple[int, int]:
    """List the columns of a group; return their number and that of their joint states, counted up to ``most``."""
    found, size = 0, 1
    for column in range(first, len(sizes) - 1):
        if seen.active[column]:
            seen.root[column] = find_root(seen.root, column)
            if seen.root[column] == first:
                group.columns[found] = column
                found += 1
                size *= sizes[column]
                if size > most:
                    break
    return found, size


@kernel
def _list_families(cpts: Factors, opened: Array, seen: Row, first: int, group: Group) -> int:
    """List the open families of a group, and what each reads of its columns; return their number."""
    found, filled = 0, 0
    group.bounds[0] = 0
    for family in opened:
        for at in range(cpts.bounds[family], cpts.bounds[family + 1]):
            column = cpts.columns[at]
            if seen.active[column] and seen.root[column] == first:
                group.read[filled], group.steps[filled] = column, cpts.strides[at]
                filled += 1
        if filled > group.bounds[found]:
            group.families[found] = family
            found += 1
            group.bounds[found] = filled
    return found


@kernel
def _order_columns(n_chosen: int, n_group: int, group: Group) -> None:
    """Put last, time and again, the column with the fewest families left: the innermost digit is read most often."""
    columns, bounds, level, read, uses = group.columns, group.bounds, group.level, group.read, group.uses
    # From the innermost digit outwards; a family is multiplied at the level of its innermost column.
    level[:n_group] = -1
    for last in range(n_chosen - 1, -1, -1):
        for k in range(last + 1):
            uses[columns[k]] = 0
        for family in range(n_group):
            if level[family] < 0:
                for at in range(bounds[family], bounds[family + 1]):
                    uses[read[at]] += 1
        best = 0
        for k in range(1, last + 1):
            if uses[columns[k]] < uses[columns[best]]:
                best = k
        chosen = columns[best]
        columns[best], columns[last] = columns[last], chosen
        for family in range(n_group):
            for at in range(bounds[family], bounds[family + 1]):
                if level[family] < 0 and read[at] == chosen:
                    level[family] = last
    filled = 0
    for last in range(n_chosen):
        group.level_bounds[last] = filled
        for family in range(n_group):
            if level[family] == last:
                group.by_level[filled] = family
                filled += 1
    group.level_bounds[n_chosen] = filled
    for k in range(n_chosen):
        uses[columns[k]] = k
    for at in range(bounds[n_group]):
        read[at] = uses[read[at]]


@kernel
def _add_group(flat: FlatNetwork, place: Array, n_chosen: int, group: Group, joint: Array) -> bool:
    """Add the logarithm of a group's sum to ``joint``; return whether it is safe."""
    cpts, digit, products, n_classes = flat.cpts, group.digit, group.products, len(joint)
    total = np.zeros(n_classes)
    products[0] = 1.0
    level, digit[0] = 0, 0
    # A counter in depth: products[level + 1] extends products[level] by the families that this digit decides.
    while level >= 0:
        if digit[level] == flat.sizes[group.columns[level]]:
            level -= 1
            if level >= 0:
                digit[level] += 1
            continue
        for c in range(n_classes):
            products[level + 1, c] = products[level, c]
        for at in range(group.level_bounds[level], group.level_bounds[level + 1]):
            k = group.by_level[at]
            family = group.families[k]
            entry, step = place[family], 1 if cpts.with_class[family] else 0
            for i in range(group.bounds[k], group.bounds[k + 1]):
                entry += digit[group.read[i]] * group.steps[i]
            for c in range(n_classes):
                products[level + 1, c] *= cpts.values[entry + c * step]
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
