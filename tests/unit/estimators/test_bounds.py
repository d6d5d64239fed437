"""Memory has a bound that is checked before anything is allocated."""

import tracemalloc

import numpy as np
import pytest

import tanbark as tb
from tanbark.errors import TableTooLargeError


@pytest.mark.parametrize(
    "make", [tb.TAN, tb.ChowLiuTree, tb.SparseCandidateGBN, tb.ACLLTAN, tb.RAIGBN, tb.RAIANB],
    ids=lambda make: make.__name__,
)  # fmt: skip
def test_two_columns_of_identifiers_are_refused_before_their_table_is_made(make):
    rng, n_rows = np.random.default_rng(0), 5000
    X = np.column_stack([rng.permutation(n_rows), rng.permutation(n_rows), rng.integers(0, 3, n_rows)])
    X = np.array([[f"r{value}" for value in row] for row in X], object)
    y = rng.integers(0, 2, n_rows)

    def fit():
        with pytest.raises(TableTooLargeError, match="max_cells"):
            make(suspicious="keep").fit(X, y)

    fit()  # kernels are compiled while memory is not traced, which takes a third of the time
    tracemalloc.start()
    try:
        fit()
        assert tracemalloc.get_traced_memory()[1] < 60e6  # a table of both takes 200 MB
    finally:
        tracemalloc.stop()


def test_the_pairs_that_a_search_keeps_are_added_up_before_they_are_counted(monkeypatch):
    monkeypatch.setattr("tanbark.structure.greedy.sparse_candidate.MOST_KEPT", 50)
    X = np.random.default_rng(0).integers(0, 4, (60, 5)).astype(str)
    with pytest.raises(TableTooLargeError, match="use GBN"):
        tb.SparseCandidateGBN().fit(X, X[:, 0])
