"""Entries of complete rows, with and without the class, for several numbers of classes."""

import numpy as np
import pytest
from pytest import approx

from tanbark.inference import complete_kernels
from tanbark.inference.layout import lay_out


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("n_rows", [1, 700])
def test_entries_are_added(n_classes, n_rows):
    rng = np.random.default_rng(n_classes)
    sizes, scopes = (3, 2, n_classes), [(0, 1, 2), (1,), (2,)]
    tables = [rng.normal(size=[sizes[c] for c in scope]) for scope in scopes]
    factors = lay_out(scopes, sizes, 2, np.concatenate([table.ravel() for table in tables]))
    codes = np.stack([rng.integers(0, r, n_rows) for r in sizes[:2]]).astype(np.uint8)
    out = np.ones((n_rows, n_classes))
    complete_kernels.add_entries(codes, factors, np.array(sizes) - 1, 0, n_rows, out)
    assert out == approx(1.0 + tables[0][codes[0], codes[1]] + tables[1][codes[1], None] + tables[2])


def test_only_the_rows_asked_for_are_written():
    factors = lay_out([(1,)], (2, 2), 1, np.array([1.0, 2.0]))
    out = np.zeros((3, 2))
    complete_kernels.add_entries(np.zeros((1, 3), np.uint8), factors, np.array([1, 1]), 1, 2, out)
    assert out.tolist() == [[0, 0], [1, 2], [0, 0]]
