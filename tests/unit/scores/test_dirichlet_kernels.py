"""The compiled h: its cache, and keys of rows."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.scores import dirichlet_kernels as kernels
from tanbark.scores.dirichlet import h, make_term_cache


def test_a_full_cache_changes_nothing():
    cache = make_term_cache(10, 2)
    for q in (2.0, 3.0, 4.0, 2.0):
        assert kernels.h_of_counts(np.array([3, 1]), q, 1.0, True, cache)[0] == pytest.approx(h([3, 1], q))
    assert cache.used[0] == 2


@pytest.mark.parametrize("weighted", [False, True])
def test_keys_of_rows_are_counted(weighted):
    table = make_table(np.random.default_rng(2), (200, 150, 180), 90, gaps=0.1, weighted=weighted)
    weights = np.zeros(0) if table.weights is None else table.weights
    slots, keys, n_keys = kernels.make_key_table(90), np.zeros(90, np.int64), 1
    for column, states in enumerate(table.schema.cardinalities):
        n_keys = kernels.add_column(keys, n_keys, table.codes[column], states, slots, keys)
    known = (table.codes < 255).all(axis=0)
    assert ((keys >= 0) == known).all()
    _, place = np.unique(table.codes[:, known], axis=1, return_inverse=True)
    counts = np.bincount(place.ravel(), weights[known] if weighted else None)
    q = 200.0 * 150 * 180
    assert kernels.h_of_keys(keys, weights, q, 1.0, slots, make_term_cache(90)) == pytest.approx(h(counts, q))
    assert kernels.rank_keys(keys, slots) == len(counts)
