"""The network to read: at most one feature parent, few intervals."""

from __future__ import annotations

from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble.coarsening import coarsen, grid_counts
from tanbark.estimators.ensemble.member import Member, learn_member, measure
from tanbark.table import CodedTable
from tanbark.table.discretize import mdlp

MOST_CELLS = 1 << 20  # of a CPT with a feature parent


def learn_reading(table: CodedTable, *, n_jobs: int | None) -> Member:
    """Learn a k-dependence network with k = 1 over the intervals of MDLP."""
    kind = coarsen(table.schema, grid_counts(MemoryCounts(table, n_jobs=n_jobs)), [mdlp] * table.schema.target)
    rows = CodedTable(kind.schema, kind.apply(table.codes), table.weights)
    information = measure(MemoryCounts(rows, n_jobs=n_jobs))
    return learn_member(kind, rows, information, 1, None, most_cells=MOST_CELLS)[0]
