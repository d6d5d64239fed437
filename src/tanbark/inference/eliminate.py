"""Missing values in any structure: small sums row by row, and variable elimination for the others.

Missing columns without observed descendants sum to one and are pruned. The others fall, row by row, into groups that
share no factor; a group is a sum of its own. Where it is small, a kernel walks through its states. The same group
recurs in many rows even where no two rows have the same gaps, so elimination is planned once per group and run over all
its rows at once, in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Codes, Floats
from tanbark.errors import InputError, TableTooLargeError
from tanbark.graph import Network
from tanbark.inference.layout import families
from tanbark.machine import blocks, row_blocks, run_threads
from tanbark.table import missing_code

MAX_FACTOR = 1 << 27  # entries of one row's largest factor
CHUNK_ENTRIES = 1 << 22  # entries of a factor over all rows that are worked on at once
ROWS_AT_ONCE = 8192
MOST_STATES = 1 << 14  # of a group of missing columns that is summed row by row


@dataclass(frozen=True)
class Group:
    """Missing columns that hang together, and the families (by their node) that tie them."""

    columns: tuple[int, ...]
    families: tuple[int, ...]


def add_with_gaps(network: Network, codes: Codes, out: Floats, threads: int = 1) -> None:
    """Add log P(class, observed values) of rows with gaps to ``out``.

    Small groups of missing columns are summed row by row in one compiled pass; rows with larger ones, or whose
    probabilities leave the range of floats, go by elimination.
    """
    rows = np.arange(len(out)) if network.exponents is not None else _add_summed(network, codes, out, threads)
    if len(rows):
        part = np.zeros((len(rows), out.shape[1]))
        _add_eliminated(network, codes[:, rows], part)
        out[rows] += part


def _add_summed(network: Network, codes: Codes, out: Floats, threads: int) -> NDArray[np.int64]:
    """Add what is summed row by row; give the rows that are left."""
    from tanbark.inference import missing_kernels as gap_kernels

    sizes = np.array(network.schema.cardinalities[: network.target], np.int64)
    flat, left = families(network), np.zeros(len(out), np.bool_)
    arguments = flat.arguments(), *flat.sums(network)

    def work(low: int, high: int) -> None:
        gap_kernels.add_summed(codes, sizes, *arguments, MOST_STATES, low, high, out, left)

    run_threads(work, row_blocks(len(out), threads, smallest=256), threads)
    return np.flatnonzero(left)


def _add_eliminated(network: Network, codes: Codes, out: Floats) -> None:
    orders: dict[Group, list[int]] = {}
    for low, high in blocks(codes.shape[1], ROWS_AT_ONCE):
        part = np.ascontiguousarray(codes[:, low:high])
        for group, rows in _groups(network, part, out[low:high]):
            if group not in orders:
                orders[group] = elimination_order(network, group)
            out[low + rows] += _sum_out(network, group, orders[group], part[:, rows])


def _groups(network: Network, codes: Codes, out: Floats) -> Iterator[tuple[Group, NDArray[np.int64]]]:
    """Add the families without missing members to ``out``, and yield the groups of missing columns with their rows."""
    from tanbark.inference import complete_kernels as kernels

    flat = families(network)
    missing = codes == missing_code(codes)
    barren = _barren(network, missing)
    active = missing & ~barren[: network.target]
    open_families = np.zeros_like(barren)
    for node in range(len(barren)):
        columns = flat.members[flat.member_starts[node] : flat.member_starts[node + 1]]
        open_families[node] = active[columns].any(axis=0) & ~barren[node]
    kernels.add_families(codes, *flat.arguments(), barren | open_families, 0, codes.shape[1], out)
    if not open_families.any():
        return
    if network.exponents is not None:
        msg = (
            "A value is missing that another column depends on, and the tables are weighted, so that it cannot be "
            "summed out. Fill it, or use naive Bayes, or weights with normalize=True."
        )
        raise InputError(msg)
    label = np.empty((codes.shape[1], network.target), np.int64)
    kernels.find_components(np.ascontiguousarray(active.T), barren, flat.members, flat.member_starts, label)
    yield from _collect(network, label, open_families)


def _barren(network: Network, missing: Bools) -> Bools:
    """Mark the missing columns all of whose children are missing and barren; the class never is."""
    barren = np.zeros((missing.shape[0] + 1, missing.shape[1]), bool)
    for node in reversed(network.dag.order):
        if node != network.target:
            barren[node] = missing[node]
            for child in network.dag.children[node]:
                barren[node] &= barren[child]
    return barren


def _collect(network: Network, label: NDArray[np.int64], open_families: Bools) -> Iterator[tuple[Group, Any]]:
    """Gather the rows that have the same group of missing columns tied by the same families."""
    flat = families(network)
    rows, columns = np.nonzero(label >= 0)
    keys = rows * network.target + label[rows, columns]
    heads, number = np.unique(keys, return_inverse=True)
    place = np.full(label.shape, -1, np.int64)
    place[rows, columns] = number
    marks = np.zeros((len(heads), network.target + len(open_families)), bool)
    marks[number, columns] = True
    for node, opened in enumerate(open_families):
        for column in flat.members[flat.member_starts[node] : flat.member_starts[node + 1]]:
            tied = place[opened, column]
            marks[tied[tied >= 0], network.target + node] = True
    packed = np.packbits(marks, axis=1)
    kinds, kind = np.unique(packed, axis=0, return_inverse=True)
    order = np.argsort(kind.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(kind.ravel(), minlength=len(kinds)))[:-1]
    for members in np.split(order, bounds):
        mark = marks[members[0]]
        group = Group(
            tuple(np.flatnonzero(mark[: network.target]).tolist()),
            tuple(np.flatnonzero(mark[network.target :]).tolist()),
        )
        yield group, heads[members] // network.target


def elimination_order(network: Network, group: Group) -> list[int]:
    """Order a group's columns by min-fill; ties go to the smaller new factor, then to the lower column."""
    neighbours: dict[int, set[int]] = {column: set() for column in group.columns}
    for node in group.families:
        scope = [axis for axis in network.axes(node) if axis in neighbours]
        for column in scope:
            neighbours[column] |= set(scope) - {column}
    sizes = network.schema.cardinalities
    order = []
    while neighbours:
        best = min(neighbours, key=lambda c: (_fill(neighbours, c), math.prod(sizes[k] for k in neighbours[c]), c))
        around = neighbours.pop(best)
        _check_width(network, (best, *around))
        for column in around:
            neighbours[column] |= around - {column}
            neighbours[column].discard(best)
        order.append(best)
    return order


def _fill(neighbours: dict[int, set[int]], column: int) -> int:
    around = sorted(neighbours[column])
    return sum(b not in neighbours[a] for i, a in enumerate(around) for b in around[i + 1 :])


def _check_width(network: Network, scope: tuple[int, ...]) -> None:
    sizes = network.schema.cardinalities
    entries = math.prod(sizes[c] for c in (*scope, network.target))
    if entries > MAX_FACTOR:
        names = [network.dag.names[c] for c in scope[:8]]
        msg = (
            f"Summing out the missing values of a row needs a table of {entries:,} entries over {len(scope)} columns "
            f"({names} …), more than {MAX_FACTOR:,}. Fill some of them, or use a structure with fewer parents."
        )
        raise TableTooLargeError(msg)


def _sum_out(network: Network, group: Group, order: list[int], codes: Codes) -> Floats:
    """Sum the product of a group's families over its columns, for every row and class."""
    sizes = network.schema.cardinalities
    largest = max(math.prod(sizes[c] for c in scope) for scope in _scopes(network, group, order))
    step = max(1, CHUNK_ENTRIES // (largest * sizes[network.target]))
    parts = [_sum_out_rows(network, group, order, codes[:, a:b]) for a, b in blocks(codes.shape[1], step)]
    return np.concatenate(parts)


def _scopes(network: Network, group: Group, order: list[int]) -> Iterator[tuple[int, ...]]:
    """Replay an elimination and give the columns of each factor it builds."""
    inside = set(group.columns)
    factors = [frozenset(network.axes(node)) & inside for node in group.families]
    for column in order:
        scope = frozenset().union(*(f for f in factors if column in f)) | {column}
        factors = [f for f in factors if column not in f] + [scope - {column}]
        yield tuple(scope)


def _sum_out_rows(network: Network, group: Group, order: list[int], codes: Codes) -> Floats:
    factors = [_factor(network, node, group.columns, codes) for node in group.families]
    for column in order:
        used = [factor for factor in factors if column in factor[0]]
        scope = tuple(sorted({c for columns, _ in used for c in columns}))
        total = np.zeros(1)
        for columns, table in used:
            total = total + _align(columns, table, scope)
        summed = _log_sum(total, 1 + scope.index(column))
        rest = tuple(c for c in scope if c != column)
        factors = [factor for factor in factors if column not in factor[0]] + [(rest, summed)]
    result = np.zeros((codes.shape[1], network.schema.cardinalities[network.target]))
    for _, table in factors:
        result += table
    return result


def _factor(network: Network, node: int, inside: tuple[int, ...], codes: Codes) -> tuple[tuple[int, ...], Floats]:
    """Read a family's log-table at the observed values: axes (row, missing columns, class)."""
    axes, table = network.axes(node), network.log_tables[node]
    kept = tuple(axis for axis in axes if axis in inside)
    known = [axis for axis in axes if axis not in inside and axis != network.target]
    last = [network.target] if network.target in axes else []
    turned = table.transpose([axes.index(axis) for axis in (*known, *kept, *last)])
    read = turned[tuple(codes[axis].astype(np.int64) for axis in known)] if known else turned[None]
    return kept, read if last else read[..., None]


def _align(columns: tuple[int, ...], table: Floats, scope: tuple[int, ...]) -> Floats:
    """Return a table an axis of length one for every column of the scope that it lacks."""
    places = [axis for axis, column in enumerate(scope) if column not in columns]
    turned = table.transpose([0, *(1 + columns.index(c) for c in scope if c in columns), table.ndim - 1])
    return np.expand_dims(turned, [1 + place for place in places])


def _log_sum(table: Floats, axis: int) -> Floats:
    top = table.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(table - top).sum(axis=axis)) + top.squeeze(axis))
