"""The protocol between learners and data: contingency tables, what derives from them, and coded rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Counts, Floats, Integers
from tanbark.counts.bitsets import PackedRows
from tanbark.counts.column_sets import ColumnSet
from tanbark.scores.dirichlet import h, log_bayes_factor
from tanbark.table import Schema

if TYPE_CHECKING:
    from tanbark.counts.low_order import StoredCounts

CodedRows = tuple[NDArray[np.unsignedinteger], Floats | None]
Test = tuple[int, int, ColumnSet]  # are x and y independent given these columns?

MAX_DENSE_FAMILY = 1 << 20  # cells; larger families are scored by their observed cells
MAX_HELD_CELLS = 1 << 24  # cells of tables that a learner may hold at once, unless the engine sets a limit


@dataclass(frozen=True, eq=False)
class PairInformation:
    """Conditional mutual information of each pair of features i < j given the class, in the order (0, 1), (0, 2), …

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
    """The queries that a learner may put to the data; a learner never asks which engine it has.

    Most learners need contingency tables only. Learners that score each row (conditional likelihood, exact search)
    read coded rows by ``batches`` or ``coded_rows``; an engine without rows raises InputError there.
    Counts are int64, or float64 when the rows have weights. A row counts in a table if it has a value in each of the
    table's columns (available cases). Methods with a body are derived from the others; an engine may have faster ones.

    Attributes
    ----------
    schema : Schema
        Columns and states, the class last.
    n_jobs : int, optional
        Threads that a learner may use, as ``machine.thread_count`` reads it.
    counts_in_passes : bool
        Whether a query is answered by a pass over rows that are not in memory, so that batches of queries pay.
    """

    schema: Schema
    n_jobs: int | None = None
    counts_in_passes: bool = False

    @property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""

    @property
    def pass_cost(self) -> float:
        """Nanoseconds of one core that a pass takes per row before anything is counted."""
        return 0.0

    def table_cost(self, columns: ColumnSet) -> float:
        """Return the nanoseconds of one core per row to count the table of sorted columns; 0 where it is cached."""
        return 0.0

    @property
    def most_cells(self) -> int:
        """Cells of tables that may be asked for in one pass."""
        return MAX_HELD_CELLS

    def tables(self, sets: Sequence[ColumnSet]) -> list[Counts]:
        """Count the joint states of each set of columns, as dense arrays whose axes follow the set."""

    def flat_tables(self, sets: Sequence[ColumnSet]) -> Counts:
        """Count sets of columns as ``tables`` does, one table after another in one flat array."""
        return np.concatenate([table.ravel() for table in self.tables(sets)])

    def feature_tables(self) -> Counts:
        """Count the class, then (i, class) for all features i, one table after another in one flat array."""
        target = self.schema.target
        return self.flat_tables([(target,), *((i, target) for i in range(target))])

    def prefetch(self, sets: Iterable[ColumnSet]) -> None:
        """Announce sets that will be asked for soon; an engine that counts in passes counts them together."""
        return

    def cells(self, sets: Sequence[ColumnSet]) -> list[tuple[Integers, Counts]]:
        """Count only the cells that occur: for each set the (n_cells, n_columns) states, sorted, and their counts."""

    def pair_information(self) -> PairInformation:
        """Return the conditional mutual information of every two features given the class."""

    def stored(self, order: int) -> StoredCounts:
        """Count all tables of the class with up to ``order`` features."""

    def family_scores(self, families: Sequence[ColumnSet], *, ess: float) -> Floats:
        """Return the BDeu score of families, each its parents and then its node, on the rows complete in the family."""
        states = self.schema.cardinalities
        sizes = [math.prod(states[c] for c in family) for family in families]
        found = np.zeros(len(families))
        dense = [k for k, size in enumerate(sizes) if size <= MAX_DENSE_FAMILY]
        for k, table in zip(dense, self.tables([tuple(families[k]) for k in dense]), strict=True):
            by_config = table.reshape(-1, states[families[k][-1]])
            found[k] = h(by_config, sizes[k], ess) - h(by_config.sum(axis=1), sizes[k] / by_config.shape[1], ess)
        large = [k for k, size in enumerate(sizes) if size > MAX_DENSE_FAMILY]
        for k, (cells, counts) in zip(large, self.cells([tuple(families[k]) for k in large]), strict=True):
            _, config = np.unique(cells[:, :-1], axis=0, return_inverse=True)
            below = np.bincount(config.ravel(), counts)
            found[k] = h(counts, sizes[k], ess) - h(below, sizes[k] / states[families[k][-1]], ess)
        return found

    def log_bayes_factors(self, tests: Sequence[Test], *, ess: float) -> Floats:
        """Return ln BF(x, y | given) for each test (x, y, given) under BDeu; positive favours independence."""
        sets = [(*given, x, y) for x, y, given in tests]
        shapes = [tuple(self.schema.cardinalities[c] for c in columns) for columns in sets]
        found = zip(self.cells(sets), shapes, strict=True)
        return np.array([log_bayes_factor(cells, counts, shape, ess) for (cells, counts), shape in found])

    def batches(self, size: int = 65536) -> Iterator[CodedRows]:
        """Iterate over the coded rows: (columns, rows) codes with their weights, None where each row counts once."""

    def coded_rows(self) -> CodedRows:
        """Return all coded rows as one contiguous (columns, rows) matrix, and their weights."""
        batches = list(self.batches())
        weights = [part for _, part in batches if part is not None]
        return np.concatenate([codes for codes, _ in batches], axis=1), np.concatenate(weights) if weights else None

    def packed_rows(self) -> PackedRows | None:
        """Return complete rows that are few enough for one kernel to count them sooner than it could ask; else None."""
        return None
