"""The approximate conditional log-likelihood and its trees."""

import itertools
import math

import numpy as np
import pytest
from pytest import approx

import tanbark as tb
from fixtures_small import f500
from strategies import make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.graph.spanning import maximum_arborescence
from tanbark.scores import log_likelihood
from tanbark.scores.conditional import acll_slope, approximate_cll
from tanbark.structure.trees import acll_tan, tan
from tanbark.table import CodedTable

PUBLISHED = {2: -0.338766, 3: -0.200173, 4: -0.142314, 5: -0.110548, 8: -0.066344, 10: -0.052407, 26: -0.019569}


def counts_of_f500():
    codes = np.ascontiguousarray(np.roll(f500(), -1, axis=1).T.astype(np.uint8))
    return MemoryCounts(CodedTable(make_schema((2, 2, 3, 2, 2, 2)), codes))


def test_the_slope():
    assert acll_slope(2) == approx((math.pi**2 - 18) / 24, abs=1e-9)
    assert {k: acll_slope(k) for k in PUBLISHED} == approx(PUBLISHED, abs=1e-6)
    assert acll_slope(1) == 0.0


def test_worked_example():
    counts = counts_of_f500()
    alone = [float(approximate_cll(t[None], beta=acll_slope(2))) for t in counts.tables([(i, 5) for i in range(5)])]
    assert alone == approx([156.461529, 72.552669, 58.333951, 26.806325, 42.449014], abs=1e-6)
    gains = acll_tan.arc_gains(counts, list(range(5)), acll_slope(2), 1.0)
    a, b, w, v, u = range(5)
    told = [gains[b, a], gains[a, b], gains[v, w], gains[w, v], gains[v, b], gains[a, u]]
    assert told == approx([-46.946673, -102.596381, -13.337213, -51.077685, -75.765821, -53.026664], abs=1e-6)
    learnt = acll_tan.learn(counts)
    assert [p[:-1] for p in learnt.dag.parents[:-1]] == [(b,), (v,), (v,), (), (a,)]
    assert learnt.score - sum(alone) == approx(-189.076371, abs=1e-6)


def test_without_the_slope_it_is_the_likelihood():
    table = make_table(np.random.default_rng(1), (3, 2, 4, 2), 900)
    (counts,) = MemoryCounts(table).tables([(0, 1, 3)])
    turned = np.moveaxis(counts, 1, -1).reshape(-1, counts.shape[1])
    assert approximate_cll(counts, beta=0.0, min_count=1e-300) == approx(log_likelihood(turned))
    plain, other = tan.learn(MemoryCounts(table)), acll_tan.learn(MemoryCounts(table), beta=0.0, min_count=1e-300)
    assert {frozenset(arc) for arc in plain.dag.arcs()} == {frozenset(arc) for arc in other.dag.arcs()}


@pytest.mark.parametrize("seed", range(30))
def test_arborescences_are_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    weights = rng.integers(-5, 6, (n, n)).astype(float) if seed % 2 else rng.normal(size=(n, n))
    best = -np.inf
    for parents in itertools.product(*([-1, *(k for k in range(n) if k != node)] for node in range(n))):
        if parents.count(-1) == 1 and all(reaches_root(node, parents) for node in range(n)):
            best = max(best, sum(weights[p, node] for node, p in enumerate(parents) if p >= 0))
    found = maximum_arborescence(weights)
    assert found.count(-1) == 1
    assert all(reaches_root(node, found) for node in range(n))
    assert sum(weights[p, node] for node, p in enumerate(found) if p >= 0) == approx(best)


def reaches_root(node, parents):
    for _ in parents:
        node = parents[node] if node >= 0 else node
    return node == -1


def test_nothing_to_span():
    assert maximum_arborescence(np.zeros((0, 0))) == []


@pytest.mark.parametrize("options", [{"beta": 0.5}, {"beta": "x"}, {"beta": -1}, {"min_count": 0}, {"min_count": None}])
def test_wrong_options_are_refused(options):
    with pytest.raises(tb.errors.OptionError, match=next(iter(options))):
        tb.ACLLTAN(**options).fit([[0, 1], [1, 0]], [0, 1])
