"""Networks from names, states and CPTs that are written by hand or read from files; all are validated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats
from tanbark.errors import InputError, nearest
from tanbark.graph.dag import Dag
from tanbark.graph.network import Network, family_axes
from tanbark.table import Column, Level, Schema

BY_HAND = 1e-6  # how far a distribution that somebody typed may be from one
EXACT = 1e-12  # a distribution nearer to one than this is left as it is, to the last bit


def make_column(name: str, states: Iterable[Level]) -> Column:
    """Make a column of categories from their names; numbers and booleans stay what they are."""
    if not isinstance(name, str):
        msg = f"The name of a variable must be a string; got {name!r}."
        raise InputError(msg)
    if isinstance(states, str) or not isinstance(states, Iterable):
        msg = f"The states of {name!r} must be a list; got {states!r}."
        raise InputError(msg)
    levels = tuple(_plain(name, state) for state in states)
    if not levels:
        msg = f"{name!r} has no states; give it at least one."
        raise InputError(msg)
    if len(set(levels)) < len(levels):
        twice = next(level for place, level in enumerate(levels) if level in levels[:place])
        msg = f"The states of {name!r} must be different; {twice!r} occurs more than once."
        raise InputError(msg)
    if all(isinstance(level, bool) for level in levels):
        return Column(name, "category", "boolean", levels)
    number = all(isinstance(level, (int, float)) for level in levels)
    return Column(name, "category", "number" if number else "text", levels)


def _plain(name: str, state: Any) -> Level:
    value = state.item() if isinstance(state, np.generic) else state
    if not isinstance(value, (str, bool, int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        msg = f"A state of {name!r} is {state!r}; states are strings, finite numbers or booleans."
        raise InputError(msg)
    return value


def from_tables(
    states: Mapping[str, Iterable[Level]], tables: Mapping[str, Any], *, target: str | None = None
) -> Network:
    """Build a network from states and CPTs; see :meth:`Network.from_tables`."""
    columns = [make_column(name, levels) for name, levels in states.items()]
    _same_names(states, tables)
    split = {name: _split(name, entry, states) for name, entry in tables.items()}
    return assemble(columns, split, target=target, tolerance=BY_HAND)


def _same_names(states: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    for name in tables:
        if name not in states:
            msg = f"There is a CPT for {name!r}, which has no states.{nearest(name, list(states))}"
            raise InputError(msg)
    for name in states:
        if name not in tables:
            msg = f"There is no CPT for {name!r}.{nearest(name, [n for n in tables if n not in states])}"
            raise InputError(msg)


def _split(name: str, entry: Any, states: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Split ``(parents, array)``; a root may have its array alone."""
    parents: Any = ()
    table = entry
    if isinstance(entry, tuple) and len(entry) == 2 and not np.isscalar(entry[0]):
        given = list(entry[0])
        if all(isinstance(parent, str) for parent in given):
            parents, table = tuple(given), entry[1]
    elif isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
        msg = f"The parents of {name!r} must be a tuple of names, as in (({entry[0]!r},), array); got {entry[0]!r}."
        raise InputError(msg)
    for parent in parents:
        if parent not in states:
            msg = f"{name!r} has the parent {parent!r}, which has no states.{nearest(parent, list(states))}"
            raise InputError(msg)
    twice = [parent for parent in parents if parents.count(parent) > 1]
    if twice:
        msg = f"{name!r} has the parent {twice[0]!r} more than once."
        raise InputError(msg)
    return parents, table


def assemble(
    columns: Sequence[Column], tables: Mapping[str, tuple[Sequence[str], ArrayLike]], *, target: str | None = None,
    tolerance: float = BY_HAND,
) -> Network:  # fmt: skip
    """Validate and order the CPTs of known columns; an array runs over the parents as given, then the variable."""
    names = [column.name for column in columns]
    if target is not None and target not in names:
        msg = f"The class must be one of the variables; got {target!r}.{nearest(target, names)}"
        raise InputError(msg)
    ordered = [c for c in columns if c.name != target] + [c for c in columns if c.name == target]
    schema = Schema(tuple(ordered), has_class=target is not None)
    place = {column.name: index for index, column in enumerate(ordered)}
    parents = [tuple(place[parent] for parent in tables[column.name][0]) for column in ordered]
    dag = Dag(schema.names, tuple(parents))
    ready = []
    for node, column in enumerate(ordered):
        axes = [*parents[node], node]
        table = check_table(tables[column.name][1], [ordered[axis] for axis in axes], tolerance)
        wanted = family_axes(tuple(parents[node]), node, schema.target)
        ready.append(np.ascontiguousarray(table.transpose([axes.index(axis) for axis in wanted])))
    return Network(schema, dag, tuple(ready))


def check_table(values: ArrayLike, columns: Sequence[Column], tolerance: float) -> Floats:
    """Validate the shape, the range and the sums of a CPT whose last axis is the variable itself."""
    name, shape = columns[-1].name, tuple(column.n_states for column in columns)
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"The CPT of {name!r} is no array of numbers: {error}."
        raise InputError(msg) from None
    if table.shape != shape:
        axes = ", ".join(f"{column.name!r} ({column.n_states})" for column in columns)
        msg = f"The CPT of {name!r} must have the shape {shape}, over {axes}; got {table.shape}."
        raise InputError(msg)
    flat = table.reshape(-1, shape[-1])
    sums = flat.sum(axis=1)
    wrong = ~np.isfinite(flat).all(axis=1) | (flat < 0).any(axis=1)
    if wrong.any():
        where = _configuration(columns[:-1], int(wrong.argmax()))
        msg = f"The CPT of {name!r} must hold probabilities; got {flat[wrong.argmax()].tolist()}{where}."
        raise InputError(msg)
    off = np.abs(sums - 1)
    if (off > tolerance).any():
        first = int((off > tolerance).argmax())
        where = _configuration(columns[:-1], first)
        msg = f"The probabilities of {name!r} must sum to 1; they sum to {sums[first]:.9g}{where}."
        raise InputError(msg)
    rounded = off > EXACT
    flat[rounded] /= sums[rounded, None]
    return table


def _configuration(parents: Sequence[Column], number: int) -> str:
    if not parents:
        return ""
    states = np.unravel_index(number, tuple(column.n_states for column in parents))
    named = ", ".join(f"{c.name}={c.states()[k]!r}" for c, k in zip(parents, states, strict=True))
    return f" where {named}"


def parents_first(network: Network, node: int) -> tuple[tuple[int, ...], Floats]:
    """Return a node's parents and its CPT with the parents' axes first and its own last."""
    axes = network.axes(node)
    parents = tuple(axis for axis in axes if axis != node)
    return parents, network.tables[node].transpose([axes.index(axis) for axis in (*parents, node)])
