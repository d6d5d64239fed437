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
PADDED_ENTRIES = 2048  # the same for factors with a state for missing values, most of whose entries are seldom read
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

    ``entries`` are logarithms of the CPTs with one more state per column for a missing value, where they are zero;
    ``n_states`` is therefore the largest code that they know. Feature i has P(i | parent, class) from ``starts[i]`` on
    in ``probabilities``, with axes (parent, i, class), and from ``turned_starts[i]`` on in ``turned``, with axes (i,
    parent, class) and one more state of i, a missing value, where it is one. ``parent`` is -1 at a root, ``inner``
    lists the features with children, children before parents, ``children[ends[i] : ends[i + 1]]`` are those of feature
    i, and a row's messages to it begin at ``message_starts[i]`` of all messages to features with children.
    """

    entries: Factors
    probabilities: Floats
    starts: Integers
    turned: Floats
    turned_starts: Integers
    n_states: Integers
    parent: Integers
    inner: Integers
    children: Integers
    ends: Integers
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
        lay_out(scopes, sizes, network.target, flatten(tables)),
        np.array(network.dag.order[::-1], np.int64),
        np.array([bool((table <= 0).any()) for table in tables], np.bool_),
    )


@once_per_network
def flat_logarithms(network: Network) -> Floats:
    """Return the logarithms of the CPTs, with their exponents, in the order of :func:`flat_network`."""
    return flatten(network.log_tables)


@once_per_network
def merged_logarithms(network: Network) -> Factors:
    """Lay out the logarithms for complete rows, once: neighbours share a factor as long as it stays small."""
    sizes, order = network.schema.cardinalities, network.dag.order
    families = [(network.axes(node), network.log_tables[node]) for node in order]
    return _lay_out_merged(families, sizes, network.target, MERGED_ENTRIES)


def _lay_out_merged(families: Sequence[Factor], sizes: Sequence[int], target: int, most: int) -> Factors:
    """Lay out factors of logarithms, neighbours added up while they have at most so many entries."""
    merged = _merge(families, sizes, most)
    return lay_out([scope for scope, _ in merged], sizes, target, flatten([table for _, table in merged]))


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


def flatten(tables: Sequence[Array]) -> Floats:
    """Return the entries of tables one after another."""
    return np.concatenate([np.zeros(0), *(np.asarray(table, np.float64).ravel() for table in tables)])


def _merge(families: Sequence[Factor], sizes: Sequence[int], most: int) -> list[Factor]:
    """Add up logarithms of consecutive families while the sum has few entries."""
    merged: list[Factor] = []
    for columns, table in families:
        if merged:
            union = tuple(sorted({*merged[-1][0], *columns}))
            if len(union) <= MERGED_COLUMNS and math.prod(sizes[c] for c in union) <= most:
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
    above = {node: tuple(p for p in network.dag.parents[node] if p != target) for node in network.dag.order}
    weighted_arcs = network.exponents is not None and any(above.values())
    if network.dag.parents[target] or any(len(parents) > 1 for parents in above.values()) or weighted_arcs:
        return None
    order = [node for node in network.dag.order if node != target]
    tables, families = [], []
    for node in order:
        scope, logs = (*above[node], node, target), network.log_tables[node]
        table = network.tables[node] if network.exponents is None else np.exp(logs)
        if target not in network.dag.parents[node]:
            table, logs = (np.repeat(each[..., None], sizes[target], axis=-1) for each in (table, logs))
        tables.append(table)
        families.append((scope, pad(logs)))
    padded = (*(size + 1 for size in sizes[:target]), sizes[target])
    entries = _lay_out_merged(families, padded, target, PADDED_ENTRIES)
    return lay_out_forest([(node, above[node]) for node in order], sizes, tables, entries)


def pad(logs: Floats, axes: int | None = None) -> Floats:
    """Add a state for missing values, with zeros, to the axes of logarithms before the class's, or to the last few.

    >>> pad(np.ones((2, 2))).tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    """
    padded = logs.ndim - 1 if axes is None else axes
    return np.pad(logs, [(0, 0)] * (logs.ndim - 1 - padded) + [(0, 1)] * padded + [(0, 0)])


def lay_out_forest(
    families: Sequence[tuple[int, tuple[int, ...]]], sizes: Sequence[int], tables: Sequence[Floats], entries: Factors
) -> Forest:
    """Lay out trees: each feature with its parent, parents before children, and the CPT of each with the class last."""
    n, n_classes = len(sizes) - 1, sizes[-1]
    starts, turned_starts, parent = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64)
    children: list[list[int]] = [[] for _ in range(n)]
    places, turned = ends_of([table.size for table in tables]), [turn(table) for table in tables]
    turned_places = ends_of([table.size for table in turned])
    for at, (feature, above) in enumerate(families):
        starts[feature], turned_starts[feature] = places[at], turned_places[at]
        for p in above:
            parent[feature] = p
            children[p].append(feature)
    return Forest(
        entries,
        flatten(tables),
        starts,
        flatten(turned),
        turned_starts,
        np.array(sizes[:-1], np.int64),
        parent,
        np.array([feature for feature, _ in reversed(families) if children[feature]], np.int64),
        np.array([child for below in children for child in below], np.int64),
        ends_of([len(below) for below in children]),
        ends_of([sizes[i] * n_classes * (len(below) > 0) for i, below in enumerate(children)]),
    )


def turn(table: Floats, folds: int = 0) -> Floats:
    """Return a CPT with the axis of its feature first, and one more state of it, a missing value, where it is one.

    The CPT of a root is empty then, as it has no parent to send a message to. ``folds`` axes come before all others.
    """
    if table.ndim - folds < 3:
        return table[..., :0]
    return np.pad(np.swapaxes(table, -3, -2), [(0, 0)] * folds + [(0, 1), (0, 0), (0, 0)], constant_values=1.0)
