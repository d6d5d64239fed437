"""Counts of chosen sets of columns."""

import itertools

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import ChosenCounts, MemoryCounts, chosen_cells
from tanbark.errors import InputError

SETS = (
    np.array([[4]]), np.array([[0, 4], [1, 4], [2, 4], [3, 4]]), np.array([[0, 2, 4], [1, 3, 4]]),
    np.array([[0, 1, 3, 4], [1, 2, 3, 4]]),
)  # fmt: skip


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def counts(request):
    return MemoryCounts(make_table(np.random.default_rng(0), (3, 3, 3, 3, 2), 70, gaps=0.1, weighted=request.param))


def test_tables_are_those_of_the_engine_in_any_order_of_columns(counts):
    chosen = ChosenCounts.count(counts, SETS)
    assert chosen.flat.size == chosen_cells(counts.schema, SETS)
    assert chosen.total == counts.total
    for columns in (tuple(row) for some in SETS for row in some.tolist()):
        for order in itertools.permutations(columns):
            assert np.array_equal(chosen.tables([order])[0], counts.tables([order])[0])


def test_a_stack_may_mix_the_orders_of_columns(counts):
    sets = np.array([[0, 1, 3, 4], [3, 1, 2, 4], [1, 3, 0, 4], [1, 2, 3, 4]])
    found = ChosenCounts.count(counts, SETS).stack(sets)
    assert np.array_equal(found, np.stack(counts.tables([tuple(row) for row in sets.tolist()])))


def test_single_features_are_stored_counts(counts):
    chosen = ChosenCounts.count(counts, SETS)
    assert np.array_equal(chosen.stored(1).flat, counts.stored(1).flat)
    with pytest.raises(InputError, match="do not hold all tables of order 2"):
        chosen.stored(2)
