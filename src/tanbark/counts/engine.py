"""The two doors to the data: tables of counts, and batches of coded rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Floats
from tanbark.counts.column_sets import ColumnSet
from tanbark.table import Schema


@dataclass(frozen=True, eq=False)
class PairInformation:
    """What each pair of features i < j tells about one another given the class, in the order (0, 1), (0, 2), …

    Parameters
    ----------
    gain : array
        N I(Xi; Xj | C) in nats: the log-likelihood that an arc between them gains.
    rows : array
        N, the rows (or their weight) in which both are observed.
    """

    gain: Floats
    rows: Floats


class CountEngine(Protocol):
    """Whoever owns the rows answers this; a learner asks nothing else of them.

    Counts are int64, or float64 when the rows have weights. A row counts in a table if it has a value in each of the
    table's columns (available cases).
    """

    @property
    def schema(self) -> Schema:
        """Columns and states, the class last."""

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""

    def prefetch(self, sets: Iterable[ColumnSet]) -> None:
        """Hear which sets will be asked for soon; an engine for which a question is a pass counts them together."""

    def flat_tables(self, sets: Sequence[ColumnSet]) -> Counts:
        """Count sets of columns as ``tables`` does, one table after another in one flat array."""

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[NDArray[np.int64], Counts]]:
        """Count only the cells that occur: for each set the (n_cells, n_columns) states, sorted, and their counts."""

    def pair_information(self) -> PairInformation:
        """Measure the dependence of every two features given the class."""

    def batches(self, size: int = 65536) -> Iterator[tuple[NDArray[np.unsignedinteger], Floats | None]]:
        """Walk over the coded rows: (columns, rows) codes with their weights."""
