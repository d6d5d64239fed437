"""Mutual information of raw columns and of many pairs."""

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts, cmi
from tanbark.counts.information import measure_by_cells, measure_tables
from tanbark.errors import InputError


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_raw_columns_are_counted_where_all_are_known(gaps):
    table = make_table(np.random.default_rng(4), (3, 2, 4, 2), 80, gaps=gaps)
    x, y, a, b = ([None if code == 255 else f"s{code}" for code in row] for row in table.codes)
    counts = naive.table(table.codes, table.schema.cardinalities, (0, 1, 2, 3))
    assert cmi(x, y, given=[a, b]) == pytest.approx(naive.cmi(counts.reshape(3, 2, -1)), abs=1e-12)
    pair = naive.table(table.codes, table.schema.cardinalities, (0, 1))
    assert cmi(x, y) == pytest.approx(naive.cmi(pair[..., None]), abs=1e-12)
    with pytest.raises(InputError, match="same length"):
        cmi(x, y[1:])


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_and_observed_cells_measure_alike(weighted):
    table = make_table(np.random.default_rng(4), (3, 5, 2), 60, gaps=0.1, weighted=weighted)
    counts = MemoryCounts(table)
    (flat,) = counts.tables([(0, 1, 2)])
    gain, rows = measure_tables(flat.ravel(), np.array([0]), np.array([3]), np.array([5]), 2, 1)
    by_cells = measure_by_cells(*counts.cells([(0, 1, 2)])[0])
    assert by_cells == pytest.approx((gain[0], rows[0]))
    assert gain[0] == pytest.approx(flat.sum() * naive.cmi(flat), abs=1e-9)
