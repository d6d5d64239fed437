"""k-dependence classifiers against the numbers of the worked example, and what must hold for any data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import tanbark as tb
from fixtures_small import f500
from naive import cmi
from strategies import coded_tables, make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.scores import mutual_information
from tanbark.structure.fixed import kdb
from tanbark.table import CodedTable, Column, Schema

NAMES = ("A", "B", "W", "V", "U")


@pytest.fixture(scope="module")
def counts():
    rows = f500()
    sizes = dict(zip(NAMES, (2, 2, 3, 2, 2), strict=True))
    columns = [Column(name, "category", "number", tuple(range(size))) for name, size in sizes.items()]
    schema = Schema((*columns, Column("class", "category", "number", (0, 1))))
    return MemoryCounts(CodedTable(schema, np.vstack([rows[:, 1:].T, rows[:, 0]]).astype(np.uint8)))


def feature_parents(dag):
    target = len(dag.names) - 1
    return {dag.names[node]: {dag.names[p] for p in parents if p != target} for node, parents in enumerate(dag.parents)}


EXPECTED = {
    0: {"W": "", "A": "", "B": "", "U": "", "V": ""},
    1: {"W": "", "A": "W", "B": "W", "U": "A", "V": "W"},
    2: {"W": "", "A": "W", "B": "AW", "U": "AW", "V": "BW"},
    3: {"W": "", "A": "W", "B": "AW", "U": "ABW", "V": "ABW"},
    4: {"W": "", "A": "W", "B": "AW", "U": "ABW", "V": "ABWU"},
}


def test_the_order_of_the_worked_example(counts):
    information = [mutual_information(table) for table in counts.tables([(i, 5) for i in range(5)])]
    order = kdb.feature_order(np.array(information))
    assert [NAMES[i] for i in order] == ["W", "A", "B", "U", "V"]
    assert np.array(information)[order] == approx([0.121139, 0.110230, 0.055602, 0.054913, 0.043090], abs=5e-7)


@pytest.mark.parametrize("k", EXPECTED)
def test_the_parents_of_the_worked_example(counts, k):
    found = feature_parents(kdb.learn(counts, max_parents=k).dag)
    del found["class"]
    assert found == {name: set(parents) for name, parents in EXPECTED[k].items()}


@settings(max_examples=60)
@given(coded_tables(max_features=6), st.integers(0, 7))
def test_every_feature_has_its_best_earlier_ones(table, k):
    engine = MemoryCounts(table)
    schema = table.schema
    target = schema.target
    learnt = kdb.learn(engine, max_parents=k).dag
    varied = [i for i in range(target) if schema.cardinalities[i] > 1]
    information = {i: mutual_information(engine.tables([(i, target)])[0]) for i in varied}
    earlier = []
    for feature in sorted(varied, key=lambda i: (-round(information[i], 8), i)):
        pairs = {other: cmi(engine.tables([(feature, other, target)])[0]) for other in earlier}
        found = {p for p in learnt.parents[feature] if p != target}
        assert found <= set(earlier)
        assert len(found) == min(k, len(earlier))
        if found and found != set(earlier):
            least = min(pairs[p] for p in found)
            assert all(pairs[other] <= least + 1e-8 for other in earlier if other not in found)
        earlier.append(feature)
    assert all(learnt.parents[i] == (target,) for i in range(target) if i not in varied)
    assert sum(len(learnt.parents[i]) - 1 for i in range(target)) == sum(min(t, k) for t in range(len(varied)))


def test_k_zero_is_naive_bayes_and_the_largest_is_complete(counts):
    assert kdb.learn(counts, max_parents=0).dag == tb.LEARNERS["naive"].learn(counts).dag
    dag = kdb.learn(counts, max_parents=4).dag
    assert dag == kdb.learn(counts, max_parents=99).dag
    assert dag.order == (5, 2, 0, 1, 4, 3)
    assert dag.n_arcs == 5 + 10


def test_least_information_leaves_parents_out(counts):
    pairs = {"AW": 58.232685, "BW": 44.874616, "AB": 0.062181, "AU": 2.456515, "WU": 0.729501, "WV": 120.618292}
    assert kdb.learn(counts, max_parents=2, min_cmi=1.0).dag.n_arcs == 5
    between = (pairs["WU"] / 500 + pairs["AU"] / 500) / 2
    found = feature_parents(kdb.learn(counts, max_parents=2, min_cmi=between).dag)
    assert (found["B"], found["U"], found["V"]) == ({"W"}, {"A"}, {"B", "W"})
    assert kdb.learn(counts, max_parents=2, min_cmi=-1.0).dag == kdb.learn(counts, max_parents=2).dag
    matrix = kdb.pair_matrix(counts, 5)
    for pair, gain in pairs.items():
        assert 500 * matrix[NAMES.index(pair[0]), NAMES.index(pair[1])] == approx(gain, abs=1e-6)


def test_the_threshold_itself_is_not_enough():
    table = make_table(np.random.default_rng(1), (2, 2, 2), 50)
    engine = MemoryCounts(table)
    least = float(kdb.pair_matrix(engine, 2)[0, 1])
    assert kdb.learn(engine, max_parents=1, min_cmi=least).dag.n_arcs == 2
    assert kdb.learn(engine, max_parents=1, min_cmi=np.nextafter(least, 0)).dag.n_arcs == 3


def test_ties_go_to_the_earlier_column():
    column = np.random.default_rng(3).integers(0, 3, 90)
    codes = np.vstack([column, column, column, column, column % 2]).astype(np.uint8)
    dag = kdb.learn(MemoryCounts(CodedTable(make_schema((3, 3, 3, 3, 2)), codes)), max_parents=2).dag
    assert dag.parents == ((4,), (0, 4), (0, 1, 4), (0, 1, 4), ())


def test_constant_columns_stand_apart():
    table = make_table(np.random.default_rng(4), (3, 1, 2, 1, 3, 2), 80)
    dag = kdb.learn(MemoryCounts(table), max_parents=3).dag
    assert dag.parents[1] == dag.parents[3] == (5,)
    assert not any({1, 3} & set(parents) for parents in dag.parents)
    alone = make_table(np.random.default_rng(4), (1, 1, 2), 20)
    assert kdb.learn(MemoryCounts(alone), max_parents=3).dag.parents == ((2,), (2,), ())


def test_one_feature_is_naive_bayes():
    X, y = [[0], [1], [1], [0], [1]], [0, 1, 1, 0, 0]
    found = tb.KDB(max_parents=3).fit(X, y)
    assert found.dag_.arcs() == [("class", "x0")]
    assert np.array_equal(found.predict_proba(X), tb.NaiveBayes().fit(X, y).predict_proba(X))


@pytest.mark.parametrize("k", [-1, 1.0, "2", None, True, np.nan])
def test_a_bad_k_is_refused(counts, k):
    with pytest.raises(tb.errors.OptionError, match="max_parents must be a whole number of at least 0"):
        kdb.learn(counts, max_parents=k)


@pytest.mark.parametrize("least", ["0.1", np.nan, True, [0.1]])
def test_a_bad_threshold_is_refused(counts, least):
    with pytest.raises(tb.errors.OptionError, match="min_cmi must be None or a number"):
        kdb.learn(counts, max_parents=1, min_cmi=least)


def test_the_weakest_parents_are_left_out_until_a_cpt_fits():
    X = np.random.default_rng(0).integers(0, 9, (60, 5))
    y = X[:, 0] % 2
    with pytest.warns(
        tb.errors.ReducedModelWarning, match=r"max_cells=1,500: 'x\d' loses 'x\d'.*raise max_cells"
    ) as told:
        small = tb.KDB(max_parents=4, max_cells=1500).fit(X, y)  # 9 * 9 * 9 * 2 = 1,458: two feature parents fit
    whole = tb.KDB(max_parents=2, max_cells=1500).fit(X, y)
    assert small.dag_ == whole.dag_
    assert np.array_equal(small.predict_proba(X), whole.predict_proba(X))
    free = tb.KDB(max_parents=4).fit(X, y)
    lost = set(free.dag_.arcs()) - set(small.dag_.arcs())
    assert len(lost) == 3  # of the fourth and fifth feature
    message = str(told[0].message)
    assert all(f"{child!r} loses" in message and repr(parent) in message for parent, child in lost)


def test_a_warning_of_left_out_parents_stays_short():
    X = np.random.default_rng(0).integers(0, 5, (60, 12))
    with pytest.warns(tb.errors.ReducedModelWarning, match="of 11 features.*; and 6 more"):
        tb.KDB(max_parents=1, max_cells=40).fit(X, X[:, 0] % 2)


def test_a_class_and_a_feature_that_do_not_fit_are_refused_with_what_to_do():
    X = np.random.default_rng(0).integers(0, 9, (60, 5))
    refused = pytest.raises(tb.errors.TableTooLargeError, match=r"max_cells=17.*simpler structure")
    with pytest.warns(tb.errors.ReducedModelWarning), refused:
        tb.KDB(max_parents=4, max_cells=17).fit(X, X[:, 0] % 2)
