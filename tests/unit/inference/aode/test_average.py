"""Averages over super-parent models, cell by cell and row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
from strategies import coded_tables, make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.inference.aode.average import averaged_log_proba, make_super_parents
from tanbark.inference.aode.selection import all_super_parents, super_parent_cells
from tanbark.params import Laplace


def make(counts, order, alpha, prior):
    models = all_super_parents(counts.schema, order)
    return make_super_parents(counts.stored(order + 1), models, Laplace(alpha), prior)


def average(table, order, least, *, alpha=1.0, codes=None, **options):
    counts = MemoryCounts(table)
    models = make(counts, order, alpha, np.log(naive.smoothed(counts.tables([(table.schema.target,)])[0], 0, alpha)))
    rows = table.codes[:-1] if codes is None else codes
    return averaged_log_proba(models, table.schema, np.ascontiguousarray(rows), least, **options)


@settings(max_examples=50)
@given(
    coded_tables(max_features=4, max_states=4, max_rows=60),
    st.sampled_from([1, 2]),
    st.sampled_from([0, 1, 2.5, 6]),
    st.sampled_from([0.3, 1.0]),
    st.sampled_from(["sum", "drop"]),
)
def test_the_slow_twin_agrees(table, order, least, alpha, missing_parent):
    """The twin sums missing values out of the models' joints by enumeration of the complete rows."""
    found, empty = average(table, order, least, alpha=alpha, missing_parent=missing_parent)
    states = table.schema.cardinalities
    for row in range(min(12, table.n_rows)):
        expected = naive.averaged_joint(
            table.codes, states, table.codes[:, row], order=order, m=least, alpha=alpha, weights=table.weights,
            missing_parent=missing_parent,
        )  # fmt: skip
        assert empty[row] == (expected is None)
        if expected is not None:
            assert np.exp(found[row]) == approx(expected, rel=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_zeros_stay_zeros(order):
    table = make_table(np.random.default_rng(0), (3, 3, 4, 3), 20)
    counts = MemoryCounts(table)
    with np.errstate(divide="ignore"):
        models = make(counts, order, 0.0, np.log(np.full(3, 1 / 3)))
    codes = np.ascontiguousarray(table.codes[:-1])
    blanked = np.where(np.random.default_rng(1).random(codes.shape) < 0.3, 255, codes).astype(np.uint8)
    for rows in (codes, blanked):
        found, empty = averaged_log_proba(models, table.schema, rows, 1)
        assert not np.isnan(found).any()
        assert np.isneginf(found).any()
        assert not empty.any()


def test_cells_are_those_of_the_tables():
    table = make_table(np.random.default_rng(0), (3, 2, 4, 3), 20)
    for order in (1, 2):
        models = make(MemoryCounts(table), order, 1.0, np.zeros(3))
        assert super_parent_cells(table.schema, order) == models.probabilities.size
    assert super_parent_cells(make_schema((5, 2)), 2) == 0


@pytest.mark.parametrize("order", [1, 2])
def test_threads_change_nothing(order):
    table = make_table(np.random.default_rng(1), (*[3] * 8, 2), 3000, gaps=0.05)
    one, three = average(table, order, 1, n_jobs=1), average(table, order, 1, n_jobs=3)
    assert np.array_equal(one[0], three[0])


@pytest.mark.parametrize("order", [1, 2])
def test_rows_without_missing_values_do_not_depend_on_the_option(order):
    table = make_table(np.random.default_rng(3), (3, 4, 2, 3, 3), 90)
    summed, dropped = (average(table, order, 2, missing_parent=choice) for choice in ("sum", "drop"))
    assert np.array_equal(summed[0], dropped[0])


def test_the_rows_that_agree_with_the_observed_super_parents_decide():
    """Of a pair with one missing value, the rows with the other value count; of one without values, all rows."""
    table = make_table(np.random.default_rng(2), (2, 2, 2), 10)
    table.codes[:] = np.array([[0] * 7 + [1] * 3, [0, 1] * 5, [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]], np.uint8)
    for row, rows in (([1, 255], 3), ([0, 255], 7), ([255, 255], 10)):
        codes = np.array(row, np.uint8)[:, None]
        assert not average(table, 2, rows, codes=codes)[1][0]
        assert average(table, 2, rows + 0.5, codes=codes)[1][0]
        assert average(table, 2, 0, codes=codes, missing_parent="drop")[1][0]


def test_a_state_must_be_seen_often_enough():
    """A row counts as a super-parent's only with ``m`` training rows of that state, the class whatever it is."""
    table = make_table(np.random.default_rng(2), (2, 2, 2), 10)
    table.codes[:] = np.array([[0] * 7 + [1] * 3, [0, 1] * 5, [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]], np.uint8)
    row = np.array([[1], [0]], np.uint8)
    for least, used in ((3, 2), (3.5, 1), (5, 1), (5.5, 0)):
        found, empty = average(table, 1, least, codes=row)
        assert empty[0] == (used == 0)
        if used:
            expected = naive.averaged_joint(table.codes, (2, 2, 2), [1, 0], order=1, m=least)
            assert np.exp(found[0]) == approx(expected)
