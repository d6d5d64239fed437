"""Numbers for tests of independence, RAI and exact search, worked out by independent scripts."""

import numpy as np
import pytest
from pytest import approx

import tanbark as tb
from fixtures_small import L10, f500
from strategies import make_schema
from tanbark.counts import MemoryCounts
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint.independence import IndependenceTests
from tanbark.structure.constraint.rai import identify
from tanbark.table import CodedTable


def engine(rows):
    codes = np.ascontiguousarray(np.asarray(rows).T.astype(np.uint8))
    return MemoryCounts(CodedTable(make_schema([int(column.max()) + 1 for column in codes]), codes))


def class_last(rows):
    return np.roll(np.asarray(rows), -1, axis=1)


def frame(rows):
    rows = class_last(rows)
    return rows[:, :-1], rows[:, -1]


def log_factor(counts, x, y, *given):
    return counts.log_bayes_factors([(x, y, given)], ess=1.0)[0]


def test_bayes_factors_of_ten_records():
    counts, c = engine(class_last(L10)), 4
    expected = {(0, 1): -5.603922, (0, 2): 1.084156, (0, 3): 0.448168, (1, 2): 1.084156, (1, 3): 0.448168}
    for (x, y), value in expected.items():
        assert log_factor(counts, x, y, c) == approx(value, abs=1e-6)
        assert log_factor(counts, y, x, c) == approx(value, abs=1e-6)
    for pair, value in {(0, 1): 1.532995, (0, 3): -0.045190, (1, 3): -0.664229}.items():
        assert log_factor(counts, *pair) == approx(value, abs=1e-6)


def test_bayes_factors_of_five_hundred_records():
    a, b, w, v, _, c = range(6)
    counts = engine(class_last(f500()))
    assert log_factor(counts, a, b, c) == approx(7.358609, abs=1e-6)
    assert log_factor(counts, a, b, w, c) == approx(-7.032930, abs=1e-6)
    assert log_factor(counts, w, v, c) == approx(-106.903073, abs=1e-6)
    assert log_factor(counts, a, v, c) == approx(-7.677817, abs=1e-6)
    assert log_factor(counts, a, v, w, c) == approx(20.141090, abs=1e-6)


def test_rai_anb():
    small = tb.RAIANB().fit(*frame(L10))
    assert [p[:-1] for p in small.dag_.parents[:-1]] == [(1,), (), (3,), ()]
    assert dict(small.report_.tests) == {0: 8}
    large = tb.RAIANB().fit(*frame(f500()))
    assert [p[:-1] for p in large.dag_.parents[:-1]] == [(), (), (0, 1), (2,), ()]
    assert large.structure_score_ == approx(-1891.495983, abs=1e-6)
    report = large.report_
    assert dict(report.tests) == {0: 15, 1: 7}
    assert (report.n_splits, report.n_substructures, report.n_calls) == (2, 5, 6)
    literal = tb.RAIANB(start_order=1).fit(*frame(f500()))
    assert literal.dag_ == large.dag_
    assert dict(literal.report_.tests) == {1: 22}
    assert literal.report_.n_splits == 1


def test_rai_gbn_with_the_class_first():
    """Deletions follow the order of the columns, and these figures were made with the class as the first."""
    graph = PartialGraph(5)
    report = identify(graph, IndependenceTests(engine(L10), given_class=False), np.arange(5))
    assert sorted(zip(*np.nonzero(graph.adjacent), strict=True)) == [(0, 4), (3, 0)]
    assert dict(report.tests) == {0: 14, 1: 4}
    graph = PartialGraph(6)
    report = identify(graph, IndependenceTests(engine(f500()), given_class=False), np.arange(6))
    c, a, b, w, v, u = range(6)
    both = [(a, b), (a, w), (b, w)]
    arrows = [(w, c), (u, c), (w, v), *both, *((y, x) for x, y in both)]
    assert sorted(zip(*np.nonzero(graph.adjacent), strict=True)) == sorted(arrows)
    assert dict(report.tests) == {0: 27, 1: 27, 2: 1}


@pytest.mark.parametrize(
    ("ess", "anb", "gbn"), [(1, -31.846895, -28.953334), (0.1, -40.632916, -33.492234), (10, -30.909234, -30.364149)]
)
def test_exact_on_ten_records(ess, anb, gbn):
    assert tb.ExactANB(ess=ess).fit(*frame(L10)).structure_score_ == approx(anb, abs=1e-6)
    assert tb.ExactGBN(ess=ess).fit(*frame(L10)).structure_score_ == approx(gbn, abs=1e-6)


def test_exact_on_five_hundred_records():
    augmented = tb.ExactANB().fit(*frame(f500()))
    assert augmented.structure_score_ == approx(-1891.495983, abs=1e-6)
    assert {frozenset(arc) for arc in augmented.dag_.arcs() if "class" not in arc} == {
        frozenset(pair) for pair in (("x0", "x2"), ("x1", "x2"), ("x2", "x3"))
    }
    assert tb.ExactGBN().fit(*frame(f500())).structure_score_ == approx(-1875.146993, abs=1e-6)
    assert tb.ExactANB(max_parents=0).fit(*frame(f500())).structure_score_ == approx(-2086.457482, abs=1e-6)
