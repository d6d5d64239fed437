"""Intervals of an ensemble's members: runs of the intervals of a grid."""

from functools import partial

import numpy as np
import pytest

from tanbark.counts import MemoryCounts
from tanbark.estimators.encoding import Encoder
from tanbark.estimators.ensemble.coarsening import coarsen, grid_counts, merge_to, numeric
from tanbark.table import CodedTable, Column, Schema, missing_code
from tanbark.table.discretize import mdlp, quantile
from tanbark.table.raw import read_table


def grid_of(X, y, n_bins=250, n_classes=3):
    """Code numeric columns on a grid of quantiles, the last column as a category."""
    columns = [
        Column(f"x{k}", "interval", "number", cuts=tuple(quantile(x[~np.isnan(x)], n_bins=n_bins).tolist()))
        for k, x in enumerate(X.T[:-1])
    ]
    columns.append(Column("kind", "category", "number", tuple(sorted(set(X[:, -1].tolist())))))
    labels = Column("y", "category", "number", tuple(range(n_classes)))
    schema = Schema((*columns, labels))
    raw = read_table(X)
    codes = Encoder(schema.features).encode(raw, n_jobs=1, extra_states=n_classes).codes
    codes[-1] = y
    return CodedTable(schema, codes)


@pytest.fixture(params=[40, 250, 700], ids=["few", "bytes", "words"])
def table(request):
    rng = np.random.default_rng(request.param)
    y = rng.integers(0, 3, 4000)
    X = np.column_stack([rng.normal(y, 1.0), rng.exponential(size=4000), rng.integers(0, 4, 4000)])
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, -1] = np.nan_to_num(X[:, -1])
    return X, grid_of(X, y, n_bins=request.param)


@pytest.mark.parametrize("cutter", [mdlp, partial(quantile, n_bins=5)])
def test_coding_with_the_merged_cuts_is_merging_the_codes(table, cutter):
    X, grid = table
    assert grid.codes.dtype == (np.uint16 if grid.schema.features[1].n_states > 255 else np.uint8)
    counts = grid_counts(MemoryCounts(grid))
    kind = coarsen(grid.schema, counts, [cutter] * 3)
    merged = kind.apply(grid.codes)
    assert merged.dtype == np.uint8
    assert 2 < kind.schema.cardinalities[0] < grid.schema.cardinalities[0]
    raw = read_table(X)
    again = Encoder(kind.schema.features).encode(raw, n_jobs=1, extra_states=3).codes
    assert np.array_equal(merged[:-1], again[:-1])
    assert np.array_equal(merged[-1], grid.codes[-1])
    assert np.array_equal(kind.apply(grid.codes[:-1]), merged[:-1])
    gone = grid.codes[:-1] == missing_code(grid.codes)
    assert gone[:2].any()
    assert np.array_equal(merged[:-1] == missing_code(merged), gone)


def test_a_cutter_of_none_and_categories_stay(table):
    _, grid = table
    kind = coarsen(grid.schema, grid_counts(MemoryCounts(grid)), [None, mdlp, mdlp])
    assert kind.schema.columns[0] == grid.schema.columns[0]
    assert kind.schema.columns[2:] == grid.schema.columns[2:]
    known = grid.codes[0] < grid.schema.cardinalities[0]
    assert np.array_equal(kind.apply(grid.codes)[0][known], grid.codes[0][known])
    assert numeric(grid.schema).tolist() == [True, True, False]


def test_a_label_that_is_missing_stays_missing(table):
    _, grid = table
    codes = grid.codes.copy()
    codes[-1, :7] = missing_code(codes)
    merged = merge_to(grid.schema, coarsen(grid.schema, grid_counts(MemoryCounts(grid)), [mdlp] * 3).schema).apply(
        codes
    )
    assert (merged[-1, :7] == missing_code(merged)).all()


def test_columns_without_values_or_cuts():
    nothing = Schema((Column("a", "interval", "number"), Column("y", "category", "number", (0, 1))))
    table = CodedTable(nothing, np.array([[255, 255, 255], [0, 1, 0]], np.uint8))
    kind = coarsen(nothing, grid_counts(MemoryCounts(table)), [mdlp])
    assert kind.schema == nothing
    assert kind.apply(table.codes).tolist() == [[255] * 3, [0, 1, 0]]
