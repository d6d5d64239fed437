"""Max-min hill climbing: candidates against a slow twin, arcs between candidates only."""

import math
from collections import Counter

import numpy as np
import pytest

import naive_constraint
import tanbark as tb
from engines import stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import mmhc
from tanbark.structure.constraint.mmpc import find_candidates
from tanbark.structure.constraint.streamed_tests import StreamedTests


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_order", [1, 3])
def test_candidates_are_those_of_the_definition(seed, max_order):
    table = make_table(np.random.default_rng(seed), (2, 3, 2, 2, 3, 2), 250)

    def support(x, y, chosen):
        p = naive_constraint.p_value(naive_constraint.strata(table, x, y, chosen), "log-likelihood")
        return math.log(max(p, 1e-300) / 0.1)

    expected = naive_constraint.max_min_candidates(6, support, max_order)
    tests = StreamedTests(MemoryCounts(table), given_class=False, test=tb.GTest(0.1))
    found = find_candidates(tests, list(range(6)), 6, max_order, Counter())
    assert {frozenset((x, y)) for x in range(6) for y in found[x]} == expected


@pytest.mark.parametrize("learn", [mmhc.learn_augmented, mmhc.learn_general])
def test_arcs_are_between_candidates(learn):
    table = make_table(np.random.default_rng(7), (*[2, 3] * 4, 2), 400, gaps=0.05)
    learnt = learn(MemoryCounts(table))
    near = learnt.report.candidates
    for parent, child in learnt.dag.arcs():
        assert child in near[parent] or (learn is mmhc.learn_augmented and parent == "class")
    again = learn(stream(table))
    assert (again.dag, again.report.candidates) == (learnt.dag, near)


def test_the_score_is_that_of_the_graph():
    counts = MemoryCounts(make_table(np.random.default_rng(1), (2, 3, 2, 2), 200))
    learnt = mmhc.learn_augmented(counts, ess=2.0)
    families = [(*parents, node) for node, parents in enumerate(learnt.dag.parents)]
    assert learnt.score == pytest.approx(counts.family_scores(families, ess=2.0).sum())


def test_parents_are_limited():
    table = make_table(np.random.default_rng(2), (*[2] * 6, 2), 3000)
    dag = mmhc.learn_augmented(MemoryCounts(table), max_parents=1).dag
    assert max(map(len, dag.parents)) == 2
    with pytest.raises(tb.errors.OptionError, match="max_order"):
        mmhc.learn_general(MemoryCounts(table), max_order=-1)
