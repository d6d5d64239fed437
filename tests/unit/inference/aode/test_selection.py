"""The choice of super-parents: all that fit, by mutual information less its bias, against a slow twin."""

import itertools

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.inference.aode import selection
from tanbark.inference.aode.selection import all_super_parents, choose_super_parents, needed_sets
from tanbark.scores import mutual_information

SIZES = (3, 5, 2, 4, 2, 3)


@pytest.fixture(scope="module")
def table():
    return make_table(np.random.default_rng(0), SIZES, 200, gaps=0.1)


def corrected_information(table, columns):
    counts = naive.table(table.codes, SIZES, (*columns, 5)).reshape(-1, SIZES[-1])
    return mutual_information(counts) - (len(counts) - 1) * (SIZES[-1] - 1) / 2 / counts.sum()


def slow_choice(table, order, max_cells):
    """Sets by falling corrected information; each enters if it still fits."""
    worth = {columns: corrected_information(table, columns) for columns in itertools.combinations(range(5), order)}
    chosen, left = [], max_cells
    for columns in sorted(worth, key=lambda columns: -worth[columns]):
        cells = int(np.prod([SIZES[c] for c in columns])) * sum(SIZES[:-1]) * SIZES[-1]
        if cells <= left:
            chosen.append(columns)
            left -= cells
    return sorted(chosen)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("states", [0, 1, 3, 6, 9, 14, 30, 60, 90, 1000])
def test_the_slow_twin_chooses_the_same(table, order, states):
    max_cells = states * sum(SIZES[:-1]) * SIZES[-1]
    found = choose_super_parents(MemoryCounts(table), order, max_cells)
    assert [tuple(row) for row in found.tolist()] == slow_choice(table, order, max_cells)
    assert found.shape[1] == order


def test_one_pass_or_several_choose_the_same(table, monkeypatch):
    whole = choose_super_parents(MemoryCounts(table), 2, 1200)
    monkeypatch.setattr(MemoryCounts, "most_cells", 20)
    assert np.array_equal(choose_super_parents(MemoryCounts(table), 2, 1200), whole)


def test_of_very_many_features_the_most_informative_are_paired(table, monkeypatch):
    monkeypatch.setattr(selection, "MOST_FEATURES", 3)
    max_cells = 60 * sum(SIZES[:-1]) * SIZES[-1]
    found = choose_super_parents(MemoryCounts(table), 2, max_cells)
    worth = {feature: corrected_information(table, (feature,)) for feature in range(5)}
    best = sorted(sorted(worth, key=lambda feature: -worth[feature])[:3])
    assert found.tolist() == [list(pair) for pair in itertools.combinations(best, 2)]


def test_needed_sets_of_all_models_are_those_that_are_stored(table):
    models = tuple(all_super_parents(table.schema, order) for order in (2, 1))
    found = [tuple(columns) for some in needed_sets(table.schema, models) for columns in some.tolist()]
    assert found == list(MemoryCounts(table).stored(3)._sets())


def test_needed_sets_of_some_models(table):
    singles, pairs, triples = needed_sets(table.schema, (np.array([[1, 3]]), np.array([[2]])))[1:]
    assert singles.tolist() == [[i, 5] for i in range(5)]
    assert pairs.tolist() == [[0, 2, 5], [1, 2, 5], [1, 3, 5], [2, 3, 5], [2, 4, 5]]
    assert triples.tolist() == [[0, 1, 3, 5], [1, 2, 3, 5], [1, 3, 4, 5]]
