"""Gains of adding and removing parents, against naive family scores."""

import itertools

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.scores import mml
from tanbark.structure.greedy import gains as module
from tanbark.structure.greedy.gains import Gains

FAMILIES = [(y, ps) for y in range(4) for k in range(3) for ps in itertools.combinations(range(4), k) if y not in ps]


def make_gains(table, criterion, **options):
    options = {"ess": 2.0, "allowed": ~np.eye(4, dtype=bool), "max_cells": 1 << 20, **options}
    return Gains(MemoryCounts(table), criterion, **options)


def naive_score(table, node, parents, criterion):
    if criterion != "mml":
        return naive_search.family_score(table, node, parents, criterion, ess=2.0)
    n = naive_search.naive.table(table.codes, table.schema.cardinalities, (*parents, node), table.weights)
    return -mml.adaptive(n.reshape(-1, n.shape[-1]))


@pytest.mark.parametrize("dense", [1 << 16, 5], ids=["tables", "cells"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic", "bdeu", "k2", "mml"])
def test_toggles_are_differences_of_family_scores(monkeypatch, criterion, weighted, dense):
    monkeypatch.setattr(module, "DENSE_CELLS", dense)
    table = make_table(np.random.default_rng(3), (2, 3, 2, 3), 60, weighted=weighted)
    found = make_gains(table, criterion).toggles(FAMILIES)
    for (node, parents), row in zip(FAMILIES, found, strict=True):
        before = naive_score(table, node, parents, criterion)
        assert row[node] == -np.inf
        for x in set(range(4)) - {node}:
            after = naive_score(table, node, sorted({*parents} ^ {x}), criterion)
            assert row[x] == approx(after - before, abs=1e-9)


@pytest.mark.parametrize("dense", [1 << 16, 5], ids=["tables", "cells"])
@pytest.mark.parametrize("criterion", ["bic", "bdeu", "k2"])
def test_family_scores(monkeypatch, criterion, dense):
    monkeypatch.setattr(module, "DENSE_CELLS", dense)
    table = make_table(np.random.default_rng(4), (2, 3, 2, 3), 60, gaps=0.2)
    found = make_gains(table, criterion).family_scores(FAMILIES)
    assert found == approx([naive_score(table, *family, criterion) for family in FAMILIES], abs=1e-9)


def test_both_terms_rest_on_the_rows_that_have_all_columns():
    table = make_table(np.random.default_rng(5), (2, 3, 2, 3), 80, gaps=0.3)
    (row,) = make_gains(table, "bic").toggles([(0, (1,))])
    complete = (table.codes[[0, 1, 2]] < 255).all(axis=0)
    rest = type(table)(table.schema, np.ascontiguousarray(table.codes[:, complete]))
    gain = naive_score(rest, 0, (1, 2), "bic") - naive_score(rest, 0, (1,), "bic")
    assert row[2] == approx(gain, abs=1e-9)


def test_what_is_not_allowed_or_too_large_gains_minus_infinity():
    table = make_table(np.random.default_rng(6), (2, 3, 2, 3), 50)
    allowed = ~np.eye(4, dtype=bool)
    allowed[2, 0] = False
    (row,) = make_gains(table, "bic", allowed=allowed, max_cells=12).toggles([(0, (1,))])
    assert np.isneginf(row[[0, 2, 3]]).all()  # itself, forbidden, and 2 * 3 * 3 cells
    assert np.isfinite(row[1])


def test_a_family_is_counted_once(monkeypatch):
    gains = make_gains(make_table(np.random.default_rng(7), (2, 3, 2, 3), 50), "bdeu")
    first = gains.toggles(FAMILIES)
    monkeypatch.setattr(gains, "_gains_of", None)  # would raise if it were called
    assert all(a is b for a, b in zip(first, gains.toggles(FAMILIES), strict=True))


def test_batches_change_nothing(monkeypatch):
    table = make_table(np.random.default_rng(8), (2, 3, 4, 3), 100)
    whole = make_gains(table, "bic").toggles(FAMILIES)
    for cells, tables in ((0, 1 << 10), (100, 1 << 10), (1 << 20, 1)):
        monkeypatch.setattr(module, "BATCH_CELLS", cells)
        monkeypatch.setattr(module, "BATCH_TABLES", tables)
        assert np.array_equal(whole, make_gains(table, "bic").toggles(FAMILIES))


def test_which_scores_are_equivalent():
    table = make_table(np.random.default_rng(9), (2, 3, 2, 3), 20)
    assert [make_gains(table, name).equivalent for name in ("bic", "aic", "bdeu", "k2", "loglik")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    with pytest.raises(OptionError, match="Did you mean 'bdeu'"):
        make_gains(table, "bdue")
