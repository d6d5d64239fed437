"""A network laid out flat for the kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np

from tanbark.arrays import Array
from tanbark.graph import Network

MERGED_ENTRIES = 1024  # a shared table of this size stays in the nearest cache while a block of rows reads it
MERGED_COLUMNS = 32  # and no more axes: columns with one state cost no entries, and an array has at most 64


@dataclass(frozen=True, eq=False)
class Families:
    """Every family's log-table in one array, with the columns and strides that find an entry.

    The class has no stride: where it belongs to a family, its states follow one another.
    """

    tables: Array
    starts: Array
    members: Array
    strides: Array
    member_starts: Array
    with_class: Array

    def arguments(self) -> tuple[Array, ...]:
        """Return the arrays in the order in which the kernel takes them."""
        return self.tables, self.starts, self.members, self.strides, self.member_starts, self.with_class

    def sums(self, network: Network) -> tuple[Array, ...]:
        """Return what sums over missing columns need besides, made once: the tables' probabilities, the nodes with
        children before parents, and the children of each."""
        if "_sums" not in self.__dict__:
            dag = network.dag
            self.__dict__["_sums"] = (
                np.concatenate([table.ravel() for table in network.tables]),
                np.array(dag.order[::-1], np.int64),
                np.array([child for found in dag.children for child in found], np.int64),
                np.cumsum([0, *map(len, dag.children)]),
            )
        return cast("tuple[Array, ...]", self.__dict__["_sums"])


@dataclass(frozen=True, eq=False)
class Forest:
    """The features of a network that are trees given the class, children before parents."""

    probability: Array
    logarithm: Array
    starts: Array
    n_states: Array
    parent: Array
    order: Array
    message_starts: Array

    def arguments(self) -> tuple[Array, ...]:
        """Return the arrays in the order in which the kernel takes them."""
        return (
            self.probability, self.logarithm, self.starts, self.n_states, self.parent, self.order, self.message_starts,
        )  # fmt: skip


_families: WeakKeyDictionary[Network, Families] = WeakKeyDictionary()
_merged: WeakKeyDictionary[Network, Families] = WeakKeyDictionary()
_forests: WeakKeyDictionary[Network, Forest | None] = WeakKeyDictionary()


def families(network: Network) -> Families:
    """Lay out a network's families, once per network."""
    if network not in _families:
        factors = [(network.axes(node), table) for node, table in enumerate(network.log_tables)]
        _families[network] = _lay_out(network, factors)
    return _families[network]


def merged_families(network: Network) -> Families:
    """Lay out the families for complete rows, once: neighbours share a table as long as it stays small."""
    if network not in _merged:
        _merged[network] = _lay_out(network, _merge(network))
    return _merged[network]


def forest(network: Network) -> Forest | None:
    """Lay out a network whose features are trees given the class, once; None for any other."""
    if network not in _forests:
        _forests[network] = _lay_out_forest(network)
    return _forests[network]


Factor = tuple[tuple[int, ...], Array]


def _merge(network: Network) -> list[Factor]:
    """Add up log-tables of consecutive families, in the order of the graph, while the sum has few entries."""
    sizes = network.schema.cardinalities
    merged: list[Factor] = []
    for node in network.dag.order:
        columns, table = network.axes(node), network.log_tables[node]
        if merged:
            union = tuple(sorted({*merged[-1][0], *columns}))
            if len(union) <= MERGED_COLUMNS and math.prod(sizes[c] for c in union) <= MERGED_ENTRIES:
                merged[-1] = union, _spread(*merged[-1], union) + _spread(columns, table, union)
                continue
        merged.append((columns, table))
    return merged


def _spread(columns: tuple[int, ...], table: Array, union: tuple[int, ...]) -> Array:
    """Return a table an axis for every column of a union, in its order."""
    turned = table.transpose([columns.index(c) for c in union if c in columns])
    return np.expand_dims(turned, [axis for axis, c in enumerate(union) if c not in columns])


def _lay_out(network: Network, factors: list[Factor]) -> Families:
    target, sizes = network.target, network.schema.cardinalities
    members, strides, ends, starts, with_class = [], [], [0], [], []
    filled = 0
    for scope, table in factors:
        stride = 1
        for axis in reversed(scope):
            if axis != target:
                members.append(axis)
                strides.append(stride)
            stride *= sizes[axis]
        ends.append(len(members))
        starts.append(filled)
        with_class.append(target in scope)
        filled += table.size
    flat = np.concatenate([table.ravel() for _, table in factors])
    first, columns, steps, bounds = (np.array(part, np.int64) for part in (starts, members, strides, ends))
    return Families(flat, first, columns, steps, bounds, np.array(with_class, np.bool_))


def _lay_out_forest(network: Network) -> Forest | None:
    target, sizes = network.target, network.schema.cardinalities
    inner = [[p for p in parents if p != target] for parents in network.dag.parents[:target]]
    weighted_arcs = network.exponents is not None and any(inner)
    if network.dag.parents[target] or any(len(parents) > 1 for parents in inner) or weighted_arcs:
        return None
    n_classes = sizes[target]
    tables = []
    for node in range(target):
        table = network.tables[node] if network.exponents is None else np.exp(network.log_tables[node])
        if target not in network.dag.parents[node]:
            table = np.repeat(table[..., None], n_classes, axis=-1)
        tables.append(table.ravel())
    lengths = np.array([0, *(table.size for table in tables)], np.int64)
    flat = np.concatenate([np.zeros(0), *tables])
    with np.errstate(divide="ignore"):
        logarithm = np.log(flat)
    states = np.array(sizes[:target], np.int64)
    return Forest(
        flat,
        logarithm,
        np.cumsum(lengths)[:-1],
        states,
        np.array([parents[0] if parents else -1 for parents in inner], np.int64),
        np.array([node for node in reversed(network.dag.order) if node != target], np.int64),
        np.concatenate([[0], np.cumsum(states * n_classes)]).astype(np.int64),
    )
