"""Hill climbing by conditional log-likelihood, against recomputation from scratch."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
import tanbark as tb
from strategies import make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag
from tanbark.structure.ascent import Move
from tanbark.structure.conditional import bnc2p, cmdl_gbn
from tanbark.structure.conditional import climb as cll_climb
from tanbark.structure.conditional.climb import ConditionalClimb, _class_first, _class_last
from tanbark.structure.conditional.rows import DistinctRows
from tanbark.structure.fixed import naive as naive_bayes
from tanbark.structure.greedy.moves import KINDS

few = settings(max_examples=12)
kinds = st.sampled_from(["plain", "gaps", "weights"])


def draw(seed, kind, states=(2, 3, 2, 2, 3), rows=60):
    return make_table(
        np.random.default_rng(seed), states, rows, gaps=0.15 * (kind == "gaps"), weighted=kind == "weights"
    )


def slow_score(table, parents, price):
    states = table.schema.cardinalities
    free = sum((states[v] - 1) * math.prod(states[p] for p in found) for v, found in enumerate(parents))
    return naive.conditional_log_likelihood(table, parents) - price * free


def price_of(table, penalised):
    total = table.n_rows if table.weights is None else table.weights.sum()
    return 0.5 * math.log(total) * penalised


def slow_moves(table, parents, max_parents):
    """List the legal moves in the order of ties, the class the first of the columns, with the graphs they lead to."""
    n = len(parents)
    varied = [c for c in (n - 1, *range(n - 1)) if table.schema.cardinalities[c] > 1]
    arcs = {(p, c) for c, found in enumerate(parents) for p in found}
    found = []
    for kind, x, y in itertools.product(KINDS, varied, varied):
        if x == y or (kind == "add") == ((x, y) in arcs) or (kind == "add" and (y, x) in arcs):
            continue
        changed = arcs ^ {(x, y)} | ({(y, x)} if kind == "reverse" else set())
        above = tuple(tuple(sorted(p for p, c in changed if c == v)) for v in range(n))
        grown = x if kind == "reverse" else y
        if kind != "delete" and max_parents is not None and len(above[grown]) > max_parents:
            continue
        try:
            Dag(table.schema.names, above)
        except ValueError:
            continue
        found.append(((kind, x, y), above))
    return found


def slow_search(table, *, penalised, max_parents):
    """Search as the specification says, each candidate counted from the rows."""
    price = price_of(table, penalised)
    current = ((),) * len(table.schema.names)
    score = slow_score(table, current, price)
    scores = [score]
    while True:
        moves = [(slow_score(table, above, price), above) for _, above in slow_moves(table, current, max_parents)]
        best = max(value for value, _ in moves)
        if best <= score + 1e-9:
            return current, scores
        tie = 1e-9 * max(1.0, best - score)
        score, current = next((value, above) for value, above in moves if value >= best - tie)
        scores.append(score)


@few
@given(seeds, kinds, st.sampled_from([1, 2, 3, None]), st.booleans())
def test_the_search_is_the_slow_one(seed, kind, max_parents, penalised):
    table = draw(seed, kind, states=(2, 3, 2, 3), rows=40)
    learner = cmdl_gbn if penalised else bnc2p
    learnt = learner.learn(MemoryCounts(table), max_parents=max_parents)
    parents, scores = slow_search(table, penalised=penalised, max_parents=max_parents)
    assert [step.score for step in learnt.history] == approx(scores, abs=1e-8)
    assert learnt.dag.parents == parents
    assert learnt.score == approx(scores[-1], abs=1e-8)


def walk(table, penalised, steps, seed):
    """Make random legal moves from a graph, which need not gain anything."""
    counts = MemoryCounts(table)
    rules, begin = _class_first(counts, None, (), (), "naive")
    penalty = price_of(table, penalised)
    state = ConditionalClimb(DistinctRows(counts), rules, begin, penalty=penalty, max_cells=1 << 20, threads=1)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        legal = np.argwhere(state.legal())
        state.apply(Move(0.0, "", tuple(map(int, legal[rng.integers(len(legal))]))))
    return counts, state


@few
@given(seeds, kinds, st.booleans(), st.integers(0, 8))
def test_every_gain_is_that_of_recomputing(seed, kind, penalised, steps):
    table = draw(seed, kind)
    counts, state = walk(table, penalised, steps, seed)
    price = price_of(table, penalised)
    dag = _class_last(counts, state.arcs)
    score = slow_score(table, dag.parents, price)
    assert state.score == approx(score, abs=1e-8)
    assert state.cll <= 1e-12
    moves, n = state.moves(), len(dag.names)
    for (kind_, x, y), above in slow_moves(table, dag.parents, None):
        gain = slow_score(table, above, price) - score
        told = moves[KINDS.index(kind_), (x + 1) % n, (y + 1) % n]
        if told == -np.inf:  # left out, since it gains nothing
            assert gain <= 1e-9
        else:
            assert told == approx(gain, abs=1e-8)


@few
@given(seeds, kinds)
def test_climbing_never_goes_down_and_keeps_to_its_limits(seed, kind):
    table = draw(seed, kind, states=(2, 4, 1, 3, 2, 2, 3), rows=200)
    counts = MemoryCounts(table)
    for learner, limit in ((bnc2p, 2), (bnc2p, 1), (cmdl_gbn, 7)):
        learnt = learner.learn(counts, max_parents=limit)
        scores = [step.score for step in learnt.history]
        assert all(b > a + 1e-9 for a, b in itertools.pairwise(scores))
        assert max(map(len, learnt.dag.parents)) <= limit
        assert not learnt.dag.parents[2]
        assert not learnt.dag.children[2]
    start = naive_bayes.learn(counts).dag
    assert bnc2p.learn(counts, start=start).history[0].score <= bnc2p.learn(counts, start=start).score


@few
@given(seeds)
def test_the_first_arc_is_that_of_highest_information(seed):
    table = draw(seed, "plain", rows=300)
    gains = [
        naive.cmi(naive.table(table.codes, table.schema.cardinalities, (feature, 4))[:, :, None])
        for feature in range(4)
    ]
    learnt = bnc2p.learn(MemoryCounts(table))
    assert learnt.history[1].move == f"add class -> x{int(np.argmax(gains))}"
    assert learnt.history[1].score - learnt.history[0].score == approx(300 * max(gains), abs=1e-8)


def test_states_may_be_named_in_any_order():
    table = draw(3, "plain", rows=200)
    turned = table.codes.copy()
    turned[1] = np.array([2, 0, 1])[turned[1]]
    other = type(table)(table.schema, turned)
    assert bnc2p.learn(MemoryCounts(other)).score == approx(bnc2p.learn(MemoryCounts(table)).score)


def test_threads_change_nothing(monkeypatch):
    table = draw(1, "gaps", states=(*[3] * 8, 3), rows=400)
    one = bnc2p.learn(MemoryCounts(table, n_jobs=1))
    monkeypatch.setattr(cll_climb, "WORTH_THREADS", 1)
    many = bnc2p.learn(MemoryCounts(table, n_jobs=3))
    assert (one.dag, one.score) == (many.dag, many.score)


def test_rules_are_kept():
    table = draw(7, "plain", rows=300)
    free = bnc2p.learn(MemoryCounts(table))
    first = free.history[1].move.split()[1:]
    learnt = bnc2p.learn(MemoryCounts(table), forbidden=[(first[0], first[2])], required=[("x3", "class")])
    assert (first[0], first[2]) not in learnt.dag.arcs()
    assert ("x3", "class") in learnt.dag.arcs()
    assert bnc2p.learn(MemoryCounts(table), max_cells=1).dag.n_arcs == 0
    with pytest.raises(tb.errors.OptionError, match="start must be"):
        bnc2p.learn(MemoryCounts(table), start="tan")
