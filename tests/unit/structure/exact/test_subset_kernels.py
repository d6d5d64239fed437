"""Walking over all subsets by packed tables and by rows."""

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.scores.dirichlet import make_term_cache
from tanbark.structure.exact import subset_kernels as kernels
from tanbark.structure.exact.subset_scores import CompleteRows


@pytest.mark.parametrize("n_rows", [1, 30, 400])
@pytest.mark.parametrize("stop", [0, 2, 5])
@pytest.mark.parametrize("cached", [1, 500])
def test_a_walk_fills_h_of_every_subset(n_rows, stop, cached):
    states = (4, 3, 2, 2, 2)
    table = make_table(np.random.default_rng(7), (*states, 2), n_rows)
    rows = CompleteRows.of(MemoryCounts(table)).labelled((0, 1, 2, 3, 4), None)
    columns = kernels.PackedColumns(np.array([2, 2, 1, 1, 1]), np.array(states), np.arange(5))
    keys = np.zeros(n_rows, np.int64)
    for width, codes in zip(columns.widths, rows.codes, strict=True):
        keys = keys << width | codes
    keys, counts = np.unique(keys, return_counts=True)
    by_tables, by_rows = np.zeros(32), np.zeros(32)
    root = kernels.Root(keys, counts.astype(np.int32), 31, float(np.prod(states)))
    kernels.walk(root, 0, stop, columns, 2.0, True, make_term_cache(cached), by_tables)
    for fixed in range(4):
        kernels.walk_rows(rows, fixed, 2, 2.0, make_term_cache(cached), by_rows)
    for mask in range(32):
        counted = naive.table(table.codes, states, [c for c in range(5) if mask >> c & 1])
        assert by_tables[mask] == pytest.approx(naive.h(counted, 2.0), abs=1e-9)
        assert by_rows[mask] == pytest.approx(by_tables[mask], abs=1e-9)
