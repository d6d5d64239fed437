"""One feature as a parent of all the others."""

from __future__ import annotations

import numpy as np
import pytest

import tanbark as tb
from fixtures_small import f500
from strategies import make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.fixed import spode
from tanbark.table import CodedTable


def rows():
    data = f500()
    return CodedTable(make_schema((2, 2, 3, 2, 2, 2)), np.vstack([data[:, 1:].T, data[:, 0]]).astype(np.uint8))


@pytest.mark.parametrize(("chosen", "column"), [(None, 2), ("x0", 0), (3, 3), (np.int64(4), 4)])
def test_the_super_parent_is_a_parent_of_all_others(chosen, column):
    dag = spode.learn(MemoryCounts(rows()), superparent=chosen).dag
    for node in range(5):
        assert dag.parents[node] == ((5,) if node == column else tuple(sorted((column, 5))))
    assert dag.parents[5] == ()


def test_ties_go_to_the_earlier_column():
    column = np.arange(40) % 3
    codes = np.vstack([np.zeros(40), column, column, column % 2]).astype(np.uint8)
    dag = spode.learn(MemoryCounts(CodedTable(make_schema((2, 3, 3, 2)), codes))).dag
    assert dag.parents == ((1, 3), (3,), (1, 3), ())


def test_one_feature_is_naive_bayes():
    table = make_table(np.random.default_rng(0), (3, 2), 30)
    assert spode.learn(MemoryCounts(table)).dag.parents == ((1,), ())


@pytest.mark.parametrize("bad", ["x9", 5, -1, 1.0, True])
def test_a_bad_super_parent_is_refused(bad):
    with pytest.raises(tb.errors.OptionError, match="superparent must be the name of a feature"):
        spode.learn(MemoryCounts(rows()), superparent=bad)


def test_the_tables_are_those_of_pairs_given_the_class():
    data = f500()
    X, y = data[:, 1:], data[:, 0]
    found = tb.SPODE(superparent=2, parameters="laplace").fit(X, y)
    counts = np.zeros((3, 2, 2))
    np.add.at(counts, (X[:, 2], X[:, 0], y), 1)
    expected = (counts + 1) / (counts.sum(axis=1, keepdims=True) + 2)
    assert found.network_.axes(0) == (2, 0, 5)
    assert np.allclose(found.network_.table("x0"), expected)
