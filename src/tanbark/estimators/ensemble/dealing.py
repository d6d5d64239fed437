"""Rows dealt out to folds, so that neither their order nor whether a row is repeated or weighted makes a difference."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array, Floats, Integers
from tanbark.table import CodedTable

MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, close to 2**64 over the golden ratio
NOTHING = 1e-9  # weights up to this are left out


def row_order(table: CodedTable, rng: np.random.Generator) -> Integers:
    """Return the rows class by class, in a random order in which equal rows are neighbours."""
    keys = [np.uint64(key | 1) for key in rng.integers(0, 1 << 62, len(table.codes)).tolist()]
    mixed = np.zeros(table.n_rows, np.uint64)
    for column in range(len(keys)):
        mixed = (mixed ^ (table.codes[column].astype(np.uint64) + np.uint64(1)) * keys[column]) * MIXER
        mixed ^= mixed >> np.uint64(29)
    return np.lexsort((mixed, table.codes[-1]))


def fold_weights(table: CodedTable, folds: int, rng: np.random.Generator, *, only: int | None = None) -> Floats:
    """Return how often every row counts in each fold, (n_folds, n_rows), or in the first ``only`` folds.

    Rows are dealt out in turn in the order of :func:`row_order`, so that a row of weight w is dealt out as w equal rows
    would be.
    """
    order = row_order(table, rng)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    ends = np.cumsum(weights[order])
    begins = ends - weights[order]
    found = np.empty((folds if only is None else only, table.n_rows))
    for fold in range(len(found)):
        found[fold, order] = _dealt(ends, fold, folds) - _dealt(begins, fold, folds)
    return found


def _dealt(upto: Floats, fold: int, folds: int) -> Floats:
    """Return how much of the numbers below ``upto`` a fold gets when units are dealt out in turn."""
    whole = np.floor(upto / folds)
    return np.asarray(whole + np.clip(upto - whole * folds - fold, 0.0, 1.0))


def sample_rows(table: CodedTable, most: int, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """Choose rows of a total weight of about ``most`` at most; return them and how often each counts."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    folds = int(-(-weights.sum() // most))
    if folds > 1:
        weights = fold_weights(table, folds, rng, only=1)[0]  # with large weights there are very many folds
    rows = np.flatnonzero(weights > NOTHING)
    return rows, weights[rows]


def single_rows(table: CodedTable, rng: np.random.Generator) -> tuple[Array, Floats]:
    """Repeat every row as often as its weight says, in the order of :func:`row_order`.

    Returns the rows, and the weight of each: one, or what is left of a weight that is no whole number.
    """
    order = row_order(table, rng)
    weights = (np.ones(table.n_rows) if table.weights is None else table.weights)[order]
    times = np.maximum(np.ceil(weights - NOTHING), 1.0).astype(np.int64)
    rows, ones = np.repeat(order, times), np.ones(int(times.sum()))
    ones[np.cumsum(times) - 1] = weights - (times - 1)
    return rows, ones
