"""Summing columns out of sparse and dense tables with packed keys."""

import numpy as np
import pytest

from tanbark.structure.exact.table_kernels import CellTable, drop_sparse, sum_out

WIDTHS = (2, 1, 2)


def slow(dense, column):
    """Sum one axis out of a (4, 2, 4) table."""
    return dense.sum(axis=column).ravel()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("fill", [0.1, 0.9])
def test_a_column_is_summed_out(seed, column, fill):
    rng = np.random.default_rng(seed)
    dense = (rng.integers(1, 9, (4, 2, 4)) * (rng.random((4, 2, 4)) < fill)).astype(np.int32)
    dense[0, 0, 0] = 1
    keys = np.flatnonzero(dense)
    counts = dense.ravel()[keys]
    low, width = sum(WIDTHS[column + 1 :]), WIDTHS[column]
    expected = slow(dense, column)
    new_keys, new_counts = np.empty_like(keys), np.empty_like(counts)
    size = drop_sparse(keys, counts, len(keys), low, width, new_keys, new_counts)
    assert new_keys[:size].tolist() == np.flatnonzero(expected).tolist()
    assert new_counts[:size].tolist() == expected[expected > 0].tolist()
    bits = sum(WIDTHS)
    for table in (CellTable(keys, counts, len(keys), False), CellTable(keys, dense.ravel(), 32, True)):
        out, work = np.zeros(4 * len(keys) + 64, np.int32), np.empty(len(keys), np.int32)
        size, is_dense = sum_out(table, bits, low, width, bits - width, new_keys, out, work)
        found = np.zeros(1 << (bits - width), int)
        found[slice(None) if is_dense else new_keys[:size]] = out[:size]
        assert found.tolist() == expected.tolist()
