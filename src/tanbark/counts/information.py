"""Mutual information: of raw columns, and of many pairs of features given the class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Floats, Integers
from tanbark.errors import InputError, find
from tanbark.machine import blocks, run_threads
from tanbark.scores import conditional_mutual_information
from tanbark.scores.information import UNITS
from tanbark.table.objects import is_missing


def cmi(x: Any, y: Any, *, given: Any = None, unit: str = "nats") -> float:
    """Mutual information I(x; y | given) of columns of any values.

    Parameters
    ----------
    x, y : columns of the same length
        Every different value is a state; None, NaN and NA are missing values, and a row with one does not count.
    given : column, or list or frame of columns, optional
        The conditioning columns; several are taken jointly.
    unit : {"nats", "bits"}, default "nats"

    >>> round(cmi(["a", "a", "b", "b"], [0, 0, 1, 1]), 4)
    0.6931
    >>> round(cmi(["a", "a", "b", "b"], [0, 0, 1, 1], unit="bits"), 4)
    1.0
    >>> cmi(["a", "a", "b", "b"], [0, 0, 1, 1], given=["a", "a", "b", "b"])
    0.0
    """
    return conditional_mutual_information(count_columns(x, y, given=given)[0]) / find("unit", unit, UNITS)


def count_columns(x: Any, y: Any, *, given: Any = None) -> tuple[Floats, float]:
    """Count columns of any values: the (x, y, given) table, and how many configurations ``given`` can have.

    Configurations of several conditioning columns that no row has are left out of the table.
    """
    conditions = [] if given is None else _columns(given)
    columns = [_states(column) for column in (x, y, *conditions)]
    lengths = {len(codes) for codes in columns}
    if len(lengths) > 1:
        msg = f"The columns must be of the same length; they have {sorted(lengths)} values."
        raise InputError(msg)
    n_configs = math.prod(float(codes.max(initial=0) + 1) for codes in columns[2:])
    kept = np.all([codes >= 0 for codes in columns], axis=0)
    left, right, *rest = (codes[kept] for codes in columns)
    joint = np.zeros(len(left), np.int64)
    for codes in rest:
        joint = np.unique(joint * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    n_left, n_right = (int(codes.max(initial=0)) + 1 for codes in columns[:2])
    counts = np.zeros((n_left, n_right, int(joint.max(initial=0)) + 1))
    np.add.at(counts, (left, right, joint), 1)
    return counts, n_configs


def _columns(given: Any) -> list[Any]:
    """Take one column, or several from a frame, a matrix or a list of columns."""
    if hasattr(given, "columns"):
        return [given[name] for name in given.columns]
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return list(given.T)
    several = isinstance(given, (list, tuple)) and len(given) > 0 and np.ndim(given[0]) == 1
    return list(given) if several and not isinstance(given[0], str) else [given]


def _states(column: Any) -> NDArray[np.int64]:
    """Number the different values of a column in order of appearance; -1 for a missing value."""
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    place: dict[Any, int] = {}
    return np.array([-1 if is_missing(value) else place.setdefault(value, len(place)) for value in values], np.int64)


def measure_tables(
    counts: Counts, starts: Integers, left: Integers, right: Integers, n_classes: int, threads: int
) -> tuple[Floats, Floats]:
    """Measure pairs by their (left, right, class) tables, which begin at ``starts``: N I(left; right | class) and N."""
    from tanbark.counts import kernels

    gain, rows = np.zeros(len(starts)), np.zeros(len(starts))

    def work(low: int, high: int) -> None:
        part = slice(low, high)
        kernels.pair_gains(counts, starts[part], left[part], right[part], n_classes, gain[part], rows[part])

    run_threads(work, blocks(len(starts), max(1, -(-len(starts) // (4 * threads)))), threads)
    return gain, rows


def mutual_informations(tables: Sequence[Counts]) -> Floats:
    """Return the mutual information of the two axes of every table, in nats per row; that of an empty table is 0.

    >>> mutual_informations([np.eye(2), np.ones((3, 2))]).round(4).tolist()
    [0.6931, 0.0]
    """
    shapes = np.array([table.shape for table in tables], np.int64).reshape(-1, 2)
    flat = np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])
    sizes = shapes.prod(axis=1)
    gain, rows = measure_tables(flat, np.cumsum(sizes) - sizes, shapes[:, 0], shapes[:, 1], 1, 1)
    return np.asarray(gain / np.maximum(rows, 1e-300))


def measure_by_cells(states: Integers, counts: Counts) -> tuple[float, float]:
    """Measure one pair by its observed (left, right, class) cells, class by class, without its full table."""
    gain = 0.0
    for label in np.unique(states[:, 2]):
        rows = states[:, 2] == label
        left, right, n = states[rows, 0], states[rows, 1], counts[rows].astype(float)
        margins = np.bincount(left, n)[left] * np.bincount(right, n)[right]
        gain += float((n * np.log(n * n.sum() / margins)).sum())
    return max(gain, 0.0), float(counts.sum())
