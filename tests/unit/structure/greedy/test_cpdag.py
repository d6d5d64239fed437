"""The search over equivalence classes, as a state of the ascent."""

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.ascent import ascend
from tanbark.structure.greedy.cpdag import ClassClimb, GainCache
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.rules import make_dag, make_rules
from tanbark.structure.trace import Trace


def begin(seed, **options):
    table = make_table(np.random.default_rng(seed), (2, 3, 2, 2), 150)
    counts = MemoryCounts(table)
    options = {"max_parents": None, "required": (), "forbidden": (), "start": None, **options}
    rules, start = make_rules(counts, **options)
    gains = Gains(counts, "bic", ess=1.0, allowed=rules.allowed, max_cells=1 << 20)
    score = naive_search.graph_score(table, make_dag(rules.names, start), "bic")
    return table, gains, ClassClimb(gains, rules, start, score)


@pytest.mark.parametrize("seed", range(4))
def test_no_member_of_the_class_it_ends_in_has_a_better_neighbour(seed):
    table, _, state = begin(seed)
    trace = Trace()
    score, arcs = ascend(state, trace)
    dag = make_dag(table.schema.names, arcs)
    assert score == approx(naive_search.graph_score(table, dag, "bic"), abs=1e-8)
    assert [step.score for step in trace.steps] == sorted(step.score for step in trace.steps)
    for other in naive_search.all_dags(table.schema.names):
        if naive_search.essence(other) == naive_search.essence(dag):
            near = naive_search.neighbours(other)
            assert max(naive_search.graph_score(table, after, "bic") for _, after in near) <= score + 1e-8


def test_equivalent_members_have_the_same_key():
    keys = [begin(0, start=[arc])[2].key() for arc in (("x0", "x1"), ("x1", "x0"), ("x0", "x2"))]
    assert keys[0] == keys[1] != keys[2]


def test_a_move_does_not_change_the_solution_before_it():
    _, _, state = begin(1)
    before = state.solution()
    copy = before.copy()
    state.apply(state.propose(()))
    assert np.array_equal(before, copy)
    assert not np.array_equal(state.solution(), copy)
    assert state.tried > 0


def test_required_arcs_stay_and_forbidden_ones_do_not_enter():
    _, _, state = begin(2, required=[("x2", "x0")], forbidden=[("x0", "x1"), ("class", "x1")], max_parents=1)
    arcs = ascend(state, Trace())[1]
    assert arcs[2, 0]
    assert not arcs[0, 1]
    assert not arcs[3, 1]
    assert arcs.sum(axis=0).max() <= 1


def test_the_cache_counts_a_family_once_and_grows(monkeypatch):
    _, gains, _ = begin(3)
    cache = GainCache(gains, 4)
    masks = np.array([[bool(k >> bit & 1) for bit in range(4)] for k in range(0, 16, 2)])  # parents of node 0
    owners = np.zeros(len(masks), np.int64)
    found = cache.look_up(np.repeat(owners, 3), np.repeat(masks, 3, axis=0))
    expected = gains.toggles([(0, tuple(np.flatnonzero(mask).tolist())) for mask in masks])
    assert np.array_equal(found[::3], np.array(expected))
    monkeypatch.setattr(gains, "toggles", None)
    assert np.array_equal(cache.look_up(owners, masks), np.array(expected))
