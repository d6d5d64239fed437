"""Queries that engines derive from tables: every engine gives what the definitions give."""

import numpy as np
import pytest

import naive
from engines import stream
from strategies import make_table
from tanbark.counts import CountEngine, MemoryCounts, engine
from tanbark.errors import InputError
from tanbark.scores import bdeu

FAMILIES = [(0,), (1, 0), (2, 3, 1), (3, 0, 1, 2)]


class Derived(CountEngine):
    """An engine that answers nothing but tables, cells and batches."""

    def __init__(self, table):
        self.schema, self._rows = table.schema, MemoryCounts(table)

    def tables(self, sets):
        return self._rows.tables(sets)

    def cells(self, sets):
        return self._rows.cells(sets)

    def batches(self, size=7):
        return self._rows.batches(size)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def table(request):
    return make_table(np.random.default_rng(8), (2, 3, 4, 2), 60, gaps=0.1, weighted=request.param)


def engines(table):
    return MemoryCounts(table), stream(table), Derived(table)


@pytest.mark.parametrize("ess", [0.5, 1.0, 10.0])
@pytest.mark.parametrize("dense", [0, 1 << 20])
def test_family_scores_are_bdeu(table, ess, dense, monkeypatch):
    monkeypatch.setattr(engine, "MAX_DENSE_FAMILY", dense)
    states = table.schema.cardinalities
    tables = [naive.table(table.codes, states, family, table.weights) for family in FAMILIES]
    expected = [bdeu(counts.reshape(-1, counts.shape[-1]), ess=ess) for counts in tables]
    for counts in engines(table):
        assert counts.family_scores(FAMILIES, ess=ess) == pytest.approx(expected, abs=1e-9)


def test_bayes_factors_are_four_values_of_h():
    table = make_table(np.random.default_rng(8), (2, 3, 4, 2), 60, gaps=0.1)
    tests = [(0, 1, ()), (1, 0, (3,)), (2, 0, (1, 3))]
    expected = [naive.log_bayes_factor(table, *test, 2.0) for test in tests]
    for counts in engines(table):
        assert counts.log_bayes_factors(tests, ess=2.0) == pytest.approx(expected, abs=1e-9)


def test_rows_come_as_one_matrix(table):
    for counts in engines(table):
        codes, weights = counts.coded_rows()
        np.testing.assert_array_equal(codes, table.codes)
        assert codes.flags.c_contiguous
        if table.weights is None:
            assert weights is None
        else:
            np.testing.assert_array_equal(weights, table.weights)


def test_flat_tables_and_costs(table):
    sets = [(0, 1), (3,), (2, 0)]
    expected = np.concatenate([naive.table(table.codes, table.schema.cardinalities, c, table.weights).ravel()
                               for c in sets])  # fmt: skip
    for counts in engines(table):
        np.testing.assert_array_equal(counts.flat_tables(sets), expected)
        assert counts.most_cells > 0
        assert counts.pass_cost >= 0 <= counts.table_cost((0, 1))
    assert [counts.counts_in_passes for counts in engines(table)] == [False, True, False]


def test_counts_without_rows_answer_what_they_hold(table):
    whole, stored = MemoryCounts(table), MemoryCounts(table).stored(2)
    families = [(3,), (3, 0), (1, 3, 2)]
    np.testing.assert_array_equal(stored.family_scores(families, ess=1.0), whole.family_scores(families, ess=1.0))
    tests = [(0, 2, (3,)), (1, 2, (3,))]
    assert stored.log_bayes_factors(tests, ess=1.0) == pytest.approx(whole.log_bayes_factors(tests, ess=1.0))
    np.testing.assert_array_equal(stored.stored(1).flat, whole.stored(1).flat)
    for ask in (stored.coded_rows, lambda: stored.tables([(0, 1, 2, 3)]), lambda: stored.stored(3)):
        with pytest.raises(InputError):
            ask()
