"""Prior knowledge of columns by name: distributions and counts, read against the states of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanbark.arrays import Floats
from tanbark.errors import OptionError, nearest
from tanbark.table import Column, Schema


def check_columns(option: str, given: Any, schema: Schema) -> None:
    """Validate that a mapping names columns only."""
    if not isinstance(given, Mapping):
        msg = f"{option} must be a mapping from names of columns; got {type(given).__name__}."
        raise OptionError(msg)
    for name in given:
        if name not in schema.names:
            msg = f"{option} names {name!r}, which is no column.{nearest(name, schema.names)}"
            raise OptionError(msg)


def by_state(option: str, given: Any, column: Column) -> Any:
    """Order values by the states of a column: a list has them in order already, a mapping names every state."""
    if not isinstance(given, Mapping):
        values = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != column.n_states:
            msg = f"{option} of {column.name!r} must have a value for each of its {column.n_states} states."
            raise OptionError(msg)
        return list(values)
    states = [*column.states()]
    labels = column.labels()
    known: dict[Any, int] = {label: place for place, label in enumerate(labels)}
    known.update((state, place) for place, state in enumerate(states))
    found: list[Any] = [None] * len(states)
    for state, value in given.items():
        if state not in known:
            msg = f"{option} of {column.name!r} names {state!r}, which is none of its states {labels[:10]}."
            raise OptionError(msg)
        found[known[state]] = value
    if any(value is None for value in found):
        left = [label for label, value in zip(labels, found, strict=True) if value is None]
        msg = f"{option} of {column.name!r} has no value for {left[:10]}."
        raise OptionError(msg)
    return found


def numbers(option: str, given: Any, column: Column) -> Floats:
    """Read a number of at least 0 for every state of a column."""
    values = by_state(option, given, column)
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        msg = f"{option} of {column.name!r} must be numbers of at least 0, one for every state."
        raise OptionError(msg) from error
    if found.shape != (column.n_states,) or not np.isfinite(found).all() or (found < 0).any():
        msg = f"{option} of {column.name!r} must be numbers of at least 0, one for every state; got {given!r:.80}."
        raise OptionError(msg)
    return found


def distribution(option: str, given: Any, column: Column) -> Floats:
    """Read a distribution over the states of a column."""
    found = numbers(option, given, column)
    if abs(float(found.sum()) - 1.0) > 1e-6:
        msg = f"{option} of {column.name!r} must add up to 1; they add up to {found.sum():.6g}."
        raise OptionError(msg)
    return np.asarray(found / found.sum())


def by_class(option: str, given: Any, column: Column, target: Column) -> Floats:
    """Read the (states, classes) counts of a column: for every class, numbers by state."""
    return np.stack([numbers(option, part, column) for part in by_state(option, given, target)], axis=1)
