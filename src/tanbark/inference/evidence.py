"""Evidence as people write it, turned into columns and codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tanbark.arrays import Array, Floats
from tanbark.errors import InputError, nearest
from tanbark.graph import Network
from tanbark.inference.layout import once_per_network
from tanbark.table import Column, Level, RawTable, encode, missing_code, read_table
from tanbark.table.objects import is_missing
from tanbark.table.raw import is_frame


@dataclass(frozen=True, eq=False)
class Names:
    """The codes of a network's names and states, and the states in the order of their codes."""

    columns: dict[str, int]
    states: list[dict[Level, int]]
    levels: tuple[tuple[Level, ...], ...]


@once_per_network
def names(network: Network) -> Names:
    """Index a network's names and states, once."""
    columns = {name: index for index, name in enumerate(network.dag.names)}
    levels = tuple(column.states() for column in network.schema.columns)
    states = [{state: code for code, state in enumerate(known)} for known in levels]
    return Names(columns, states, levels)


def column_index(network: Network, name: Any) -> int:
    """Find a variable, or offer the nearest name."""
    known = names(network).columns
    if isinstance(name, str):
        found = known.get(name)
        if found is not None:
            return found
    elif isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(known):
        return int(name)
    msg = f"There is no variable {name!r}.{nearest(name, known)}"
    raise InputError(msg)


def target_indices(network: Network, targets: Any) -> tuple[int, ...]:
    """Find the variables that are asked for, in their order."""
    if isinstance(targets, (str, int, np.integer)) or not isinstance(targets, Iterable):
        return (column_index(network, targets),)
    found = tuple(column_index(network, name) for name in targets)
    if not found:
        msg = "Name at least one variable to ask for."
        raise InputError(msg)
    if len(set(found)) < len(found):
        msg = f"Each variable can be asked for once; got {targets!r}."
        raise InputError(msg)
    return found


def state_code(network: Network, column: int, state: Any) -> int:
    """Find a state's code, or offer the nearest; a number falls into its interval."""
    try:
        found = names(network).states[column].get(state)
    except TypeError:
        found = None
    if found is not None:
        return found
    described = network.schema.columns[column]
    if described.kind == "interval" and isinstance(state, Real) and not isinstance(state, bool):
        return int(np.searchsorted(described.cuts, float(state)))
    raise _unknown(described, state)


def _unknown(column: Column, state: Any) -> InputError:
    labels = column.labels()
    hint = nearest(state, labels)
    if not isinstance(state, str) and str(state) in labels:
        hint = f" It has {str(state)!r}, a string."
    elif isinstance(state, str) and state in labels:
        hint = f" It has {state}, which is no string."
    return InputError(f"{column.name!r} has no state {state!r}.{hint} Its states are {list(column.states())[:20]}.")


def read_evidence(network: Network, evidence: Any) -> dict[int, int]:
    """Read a mapping of names to states; None and NaN mean that nothing was observed."""
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        msg = f"Evidence is a dict of names to states, or a frame; got {type(evidence).__name__}."
        raise InputError(msg)
    known = names(network)
    found = {}
    for name, state in evidence.items():
        column = known.columns.get(name)
        if column is None:
            column = column_index(network, name)
        try:
            code = known.states[column].get(state)
        except TypeError:  # not hashable: state_code raises the error
            code = None
        if code is not None:
            found[column] = code
        elif not is_missing(state):
            found[column] = state_code(network, column, state)
    return found


def read_soft(network: Network, soft: Any, evidence: Iterable[int]) -> tuple[dict[int, Floats], float]:
    """Read likelihood vectors; each is divided by its greatest entry, and the logs of those are added up."""
    found: dict[int, Floats] = {}
    if soft is None:
        return found, 0.0
    if not isinstance(soft, Mapping):
        msg = f"Soft evidence is a dict of names to likelihoods; got {type(soft).__name__}."
        raise InputError(msg)
    scale = 0.0
    for name, given in soft.items():
        column = column_index(network, name)
        described = network.schema.columns[column]
        if column in evidence:
            msg = f"{described.name!r} is observed, so that soft evidence on it adds nothing. Leave one out."
            raise InputError(msg)
        values = _likelihood(network, column, given)
        top = float(values.max())
        scale += math.log(top)
        found[column] = values / top
    return found, scale


def _likelihood(network: Network, column: int, given: Any) -> Floats:
    described = network.schema.columns[column]
    n_states = described.n_states
    if isinstance(given, Mapping):
        values = np.zeros(n_states)
        for state, value in given.items():
            values[state_code(network, column, state)] = value
    else:
        values = np.array(given, dtype=np.float64)
    if values.shape != (n_states,) or not np.isfinite(values).all() or (values < 0).any() or not (values > 0).any():
        msg = (
            f"The likelihoods of {described.name!r} must be {n_states} numbers, none negative and not all zero, one "
            f"for each of {list(described.states())[:20]}; got {given!r}."
        )
        raise InputError(msg)
    return values


def is_batch(evidence: Any) -> bool:
    """Return whether evidence is a frame of rows rather than one observation."""
    return evidence is not None and not isinstance(evidence, Mapping) and is_frame(evidence)


def read_rows(network: Network, frame: Any) -> tuple[tuple[int, ...], Array, Array]:
    """Read a frame of evidence: its columns, their codes (rows, columns) and where nothing was observed."""
    table = read_table(frame)
    columns = tuple(column_index(network, table.name(k)) for k in range(table.n_columns))
    described = tuple(network.schema.columns[column] for column in columns)
    coded = encode(table, described)
    if coded.unseen:
        raise _unseen(table, described, next(iter(coded.unseen)))
    missing = coded.codes == missing_code(coded.codes)
    return columns, np.ascontiguousarray(coded.codes.T.astype(np.int64)), np.ascontiguousarray(missing.T)


def _unseen(table: RawTable, columns: tuple[Column, ...], name: str) -> InputError:
    """Find the first value that a column does not know."""
    place = next(k for k, column in enumerate(columns) if column.name == name)
    values: Iterable[Any] = ()
    for block in table.blocks:
        if place in block.columns:
            values = block.values[:, block.columns.index(place)].tolist()
    for item in table.coded:
        if item.column == place:
            values = [item.levels[code] for code in item.codes.tolist() if code >= 0]
    strange = next(value for value in values if not is_missing(value) and value not in columns[place].levels)
    return _unknown(columns[place], strange)
