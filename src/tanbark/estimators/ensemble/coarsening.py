"""The intervals of one member of an ensemble: neighbouring intervals of a fine grid, merged.

Numeric columns are coded once, on a grid of equal-frequency intervals that does not depend on the class. A member has
few intervals, each a run of the grid's; they are found from counts on the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tanbark.arrays import Array, Bools, Codes, Floats
from tanbark.counts import MemoryCounts
from tanbark.table import Column, Schema, missing_code
from tanbark.table.coded import code_dtype

Cutter = Callable[..., Floats]  # of values, labels, n_classes, weights


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Merged intervals of numeric columns.

    Parameters
    ----------
    schema : Schema
        The columns with their merged intervals; the class last.
    lookups : tuple of arrays
        For every feature, the state of each state of the grid, and at the end that of a missing value.
    """

    schema: Schema
    lookups: tuple[Codes, ...]

    def apply(self, codes: Codes) -> Codes:
        """Merge the states of features, (n_features, n_rows), or with the class, which stays, as the last row."""
        dtype = self.lookups[0].dtype if self.lookups else codes.dtype
        out = np.empty(codes.shape, dtype)
        for column, lookup in enumerate(self.lookups):
            out[column] = lookup[np.minimum(codes[column], len(lookup) - 1)]
        if len(codes) > len(self.lookups):
            labels = codes[-1]
            out[-1] = np.where(labels == missing_code(codes), missing_code(out), labels)
        return out


def grid_counts(rows: MemoryCounts) -> list[Array]:
    """Count (state of the grid, class) for every feature."""
    target = rows.schema.target
    return rows.tables([(column, target) for column in range(target)])


def coarsen(schema: Schema, counts: list[Array], cutters: list[Cutter | None]) -> Coarsening:
    """Merge the intervals of the grid between the cuts that each column's cutter finds; None keeps the column."""
    columns: list[Column] = []
    for column, table, cutter in zip(schema.features, counts, cutters, strict=True):
        if cutter is None or column.kind != "interval":
            columns.append(column)
            continue
        states, labels = np.nonzero(table)
        cuts = np.zeros(0)
        if len(states):
            cuts = cutter(states.astype(np.float64), labels, table.shape[1], table[states, labels].astype(np.float64))
        kept = np.unique(np.floor(cuts).astype(np.int64))
        columns.append(replace(column, cuts=tuple(column.cuts[k] for k in kept.tolist())))
    return merge_to(schema, Schema((*columns, schema.columns[-1])))


def merge_to(grid: Schema, coarse: Schema) -> Coarsening:
    """Merge the intervals of a grid to those of a schema, whose cuts are some of the grid's."""
    dtype = code_dtype(coarse.cardinalities)
    lookups = []
    for fine, column in zip(grid.features, coarse.features, strict=True):
        states = np.arange(fine.n_states)
        if column.kind == "interval":
            states = np.searchsorted(np.searchsorted(fine.cuts, column.cuts), states, side="left")
        lookups.append(np.append(states, np.iinfo(dtype).max).astype(dtype))
    return Coarsening(coarse, tuple(lookups))


def numeric(schema: Schema) -> Bools:
    """Mark the features that are intervals."""
    return np.array([column.kind == "interval" for column in schema.features], bool)
