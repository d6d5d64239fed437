"""The rows of the data as the search by conditional log-likelihood reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array, Codes, Integers
from tanbark.counts import CountEngine
from tanbark.table import missing_code

CLASS = 0  # the class comes first in the search, so that of equal moves the one from the class is taken


class RowArrays(NamedTuple):
    """Distinct rows of the features for kernels: codes (columns, rows), states of the columns, and the classes.

    The classes of row t are ``labels[starts[t] : starts[t + 1]]`` with ``weights``, which add up to ``totals[t]``.
    """

    codes: Array
    states: Array
    starts: Array
    labels: Array
    weights: Array
    totals: Array


class LogFactor(NamedTuple):
    """A family as a factor of the joint: each row's line of the CPT (-1 for none), and the logs of the CPT."""

    keys: Array
    logs: Array


class DistinctRows:
    """The distinct rows of the features, each with the weight of every class that occurs with it.

    Node 0 is the class, and node i + 1 is feature i; ``states`` are those of the nodes.
    """

    def __init__(self, counts: CountEngine) -> None:
        codes, weights = counts.coded_rows()
        schema = counts.schema
        n_classes = schema.cardinalities[-1]
        cells = _row_numbers(codes[:-1], schema.cardinalities) * n_classes + codes[-1]
        cells, first, place = np.unique(cells, return_index=True, return_inverse=True)
        rows, row_of = np.unique(cells // n_classes, return_inverse=True)
        self.states = np.array([n_classes, *schema.cardinalities[:-1]], np.int64)
        entries = np.bincount(place, weights, len(cells)).astype(np.float64)
        starts = np.searchsorted(row_of, np.arange(len(rows) + 1)).astype(np.int64)
        distinct = np.ascontiguousarray(codes[:-1, first[starts[:-1]]])
        labels, totals = codes[-1, first].astype(np.int64), np.bincount(row_of, entries, len(rows))
        self.arrays = RowArrays(distinct, self.states[1:], starts, labels, entries, totals)
        self.complete = not (distinct == missing_code(distinct)).any()
        self.total = float(entries.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of distinct rows, and of classes."""
        return len(self.arrays.totals), int(self.states[CLASS])


def _row_numbers(codes: Codes, cardinalities: Sequence[int]) -> Integers:
    """Number the rows so that two rows have the same number if and only if they are equal."""
    keys, radix = np.zeros(codes.shape[1], np.int64), 1
    for values, states in zip(codes, cardinalities, strict=False):
        if radix * (states + 1) >= 2**31:
            _, keys = np.unique(keys, return_inverse=True)
            radix = len(keys) + 1
        keys = keys * (states + 1) + np.minimum(values, states)
        radix *= states + 1
    return np.unique(keys, return_inverse=True)[1]
