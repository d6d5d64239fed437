"""Networks laid out in flat arrays, in one form for all kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from tanbark.arrays import Array, Bools, Floats, Integers
from tanbark.graph import Network

MERGED_ENTRIES = 1024  # a merged factor of this size stays in the nearest cache while a block of rows reads it
MERGED_COLUMNS = 32  # and no more axes: columns with one state cost no entries, and an array has at most 64

Made = TypeVar("Made")
Factor = tuple[tuple[int, ...], Array]  # columns and entries


class Factors(NamedTuple):
    """Factors one after another in one array, with the columns and strides that find an entry.

    Factor f has the entries ``values[starts[f] : starts[f + 1]]`` and, along its axes, the columns
    ``columns[bounds[f] : bounds[f + 1]]`` with their ``strides``. The class, where a factor has it (``with_class``), is
    its last column, so that the entries of the classes follow one another.
    """

    values: Floats
    starts: Integers
    columns: Integers
    strides: Integers
    bounds: Integers
    with_class: Bools


class FlatNetwork(NamedTuple):
    """A network's CPTs, the number of states of every column, children before parents, and the CPTs with a zero."""

    sizes: Integers
    cpts: Factors
    children_first: Integers
    zeros: Bools


class Forest(NamedTuple):
    """Features that are trees given the class, as :func:`forest_kernels.add_forest` reads them.

    Feature i has P(i | parent, class) at ``starts[i] + (parent state * n_states[i] + state) * n_classes + class``;
    ``parent`` is -1 at a root, ``order`` lists children before their parents, and the message to feature i begins at
    ``message_starts[i]``.
    """

    probabilities: Floats
    logarithms: Floats
    starts: Integers
    n_states: Integers
    parent: Integers
    order: Integers
    message_starts: Integers


def once_per_network(make: Callable[[Network], Made]) -> Callable[[Network], Made]:
    """Remember what a function makes of a network for as long as the network lives."""
    made: WeakKeyDictionary[Network, Made] = WeakKeyDictionary()

    @wraps(make)
    def remembered(network: Network) -> Made:
        try:
            return made[network]
        except KeyError:
            return made.setdefault(network, make(network))

    return remembered


@once_per_network
def flat_network(network: Network) -> FlatNetwork:
    """Lay out a network's CPTs, once."""
    sizes, tables = network.schema.cardinalities, network.tables
    scopes = [network.axes(node) for node in range(len(tables))]
    return FlatNetwork(
        np.array(sizes, np.int64),
        lay_out(scopes, sizes, network.target, _flat(tables)),
        np.array(network.dag.order[::-1], np.int64),
        np.array([bool((table <= 0).any()) for table in tables], np.bool_),
    )


@once_per_network
def flat_logarithms(network: Network) -> Floats:
    """Return the logarithms of the CPTs, with their exponents, in the order of :func:`flat_network`."""
    return _flat(network.log_tables)


@once_per_network
def merged_logarithms(network: Network) -> Factors:
    """Lay out the logarithms for complete rows, once: neighbours share a factor as long as it stays small."""
    factors = _merge(network)
    scopes, tables = [scope for scope, _ in factors], [table for _, table in factors]
    return lay_out(scopes, network.schema.cardinalities, network.target, _flat(tables))


def lay_out(scopes: Sequence[Sequence[int]], sizes: Sequence[int], target: int, values: Floats) -> Factors:
    """Find the strides and starts of factors over the given columns; ``values`` has their entries one after another.

    >>> lay_out([(0, 2), (1,)], (2, 3, 2), 2, np.zeros(7)).strides.tolist()
    [2, 1, 1]
    """
    strides = [stride for scope in scopes for stride in strides_of(scope, sizes).values()]
    return Factors(
        values,
        ends_of([math.prod(sizes[c] for c in scope) for scope in scopes]),
        np.array([column for scope in scopes for column in scope], np.int64),
        np.array(strides, np.int64),
        ends_of([len(scope) for scope in scopes]),
        np.array([target >= 0 and target in scope for scope in scopes], np.bool_),
    )


def strides_of(scope: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """Return the stride of every column of a factor whose entries run over its columns, the last one fastest."""
    found, stride = {}, math.prod(sizes[column] for column in scope)
    for column in scope:
        stride //= sizes[column]
        found[column] = stride
    return found


def ends_of(lengths: Sequence[int]) -> Integers:
    """Return where parts of the given lengths begin when they follow one another, and where the last one ends."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def _flat(tables: Sequence[Array]) -> Floats:
    return np.concatenate([np.zeros(0), *(np.asarray(table, np.float64).ravel() for table in tables)])


def _merge(network: Network) -> list[Factor]:
    """Add up logarithms of consecutive families, in the order of the graph, while the sum has few entries."""
    sizes = network.schema.cardinalities
    merged: list[Factor] = []
    for node in network.dag.order:
        columns, table = network.axes(node), network.log_tables[node]
        if merged:
            union = tuple(sorted({*merged[-1][0], *columns}))
            if len(union) <= MERGED_COLUMNS and math.prod(sizes[c] for c in union) <= MERGED_ENTRIES:
                merged[-1] = union, spread(*merged[-1], union) + spread(columns, table, union)
                continue
        merged.append((columns, table))
    return merged


def spread(columns: tuple[int, ...], table: Array, union: tuple[int, ...]) -> Array:
    """Return a factor with an axis for every column of a union, in its order."""
    turned = table.transpose([columns.index(c) for c in union if c in columns])
    return np.expand_dims(turned, [axis for axis, c in enumerate(union) if c not in columns])


@once_per_network
def forest(network: Network) -> Forest | None:
    """Lay out a network whose features are trees given the class, once; None for any other."""
    target, sizes = network.target, network.schema.cardinalities
    inner = [[p for p in parents if p != target] for parents in network.dag.parents[:target]]
    weighted_arcs = network.exponents is not None and any(inner)
    if network.dag.parents[target] or any(len(parents) > 1 for parents in inner) or weighted_arcs:
        return None
    tables = []
    for node in range(target):
        table = network.tables[node] if network.exponents is None else np.exp(network.log_tables[node])
        if target not in network.dag.parents[node]:
            table = np.repeat(table[..., None], sizes[target], axis=-1)
        tables.append(table)
    probabilities = _flat(tables)
    with np.errstate(divide="ignore"):
        logarithms = np.log(probabilities)
    return Forest(
        probabilities,
        logarithms,
        ends_of([table.size for table in tables])[:-1],
        np.array(sizes[:target], np.int64),
        np.array([parents[0] if parents else -1 for parents in inner], np.int64),
        np.array([node for node in reversed(network.dag.order) if node != target], np.int64),
        ends_of([size * sizes[target] for size in sizes[:target]]),
    )
