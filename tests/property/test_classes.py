"""Climbing over equivalence classes: against all graphs of a class, one by one."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError
from tanbark.graph import Dag
from tanbark.structure.greedy import hill_climb
from tanbark.structure.greedy.gains import Gains
from tanbark.table import CodedTable, Column, Schema

few = settings(max_examples=15)
seeds = st.integers(0, 10_000)


def learn(counts, **options):
    """Climb to the first local optimum, over DAGs unless told otherwise."""
    return hill_climb.learn(counts, **{"space": "dags", "tabu": 0, **options})


def draw(seed, n=4, rows=300):
    """Rows of a random graph over columns of two or three states."""
    rng = np.random.default_rng(seed)
    states = rng.integers(2, 4, n)
    codes = np.zeros((n, rows), np.uint8)
    for node in range(n):
        parents = [p for p in range(node) if rng.random() < 0.6]
        table = rng.dirichlet(np.full(states[node], 0.6), [states[p] for p in parents])
        steps = table[tuple(codes[p] for p in parents)].cumsum(axis=-1)
        codes[node] = (rng.random((rows, 1)) > np.broadcast_to(steps, (rows, states[node]))[:, :-1]).sum(axis=1)
    columns = [Column(f"x{k}", "category", "number", tuple(range(states[k]))) for k in range(n)]
    return CodedTable(Schema(tuple(columns)), codes)


def score(counts, dag, name):
    n = len(dag.names)
    gains = Gains(counts, name, ess=1.0, allowed=np.ones((n, n), bool), max_cells=1 << 20)
    return sum(gains.family_scores(list(enumerate(dag.parents))))


def all_graphs(names):
    pairs = list(combinations(range(len(names)), 2))
    for choice in product((0, 1, 2), repeat=len(pairs)):
        arcs = [(a, b) if how == 1 else (b, a) for (a, b), how in zip(pairs, choice, strict=True) if how]
        try:
            yield Dag.from_arcs([(names[a], names[b]) for a, b in arcs], names)
        except InputError:
            continue


def pattern(dag):
    """The skeleton and the colliders, which two graphs share if they are equivalent."""
    joined = {frozenset((p, c)) for c, parents in enumerate(dag.parents) for p in parents}
    colliders = {
        (a, c, b)
        for c, parents in enumerate(dag.parents)
        for a, b in combinations(parents, 2)
        if frozenset((a, b)) not in joined
    }
    return joined, colliders


def moves(dag):
    arcs = dag.arcs()
    for x, y in permutations(dag.names, 2):
        ways = [[*arcs, (x, y)]] if (x, y) not in arcs and (y, x) not in arcs else []
        if (x, y) in arcs:
            rest = [arc for arc in arcs if arc != (x, y)]
            ways = [rest, [*rest, (y, x)]]
        for way in ways:
            try:
                yield Dag.from_arcs(way, dag.names)
            except InputError:
                continue


@given(seeds, st.sampled_from(["bic", "bdeu"]))
@example(244, "bic")  # the best arc can be turned only where its other end has other parents
@few
def test_no_equivalent_graph_has_a_better_neighbour(seed, name):
    counts = MemoryCounts(draw(seed))
    found = learn(counts, criterion=name, space="equivalence-classes")
    assert found.score == pytest.approx(score(counts, found.dag, name), abs=1e-7)
    scores = [step.score for step in found.history]
    assert scores == sorted(scores)
    for dag in all_graphs(found.dag.names):
        if pattern(dag) == pattern(found.dag):
            assert score(counts, dag, name) == pytest.approx(found.score, abs=1e-7)
            assert max(score(counts, other, name) for other in moves(dag)) <= found.score + 1e-6


@given(seeds)
@few
def test_required_and_forbidden_arcs_and_limits_are_kept(seed):
    counts = MemoryCounts(draw(seed, n=6))
    required, forbidden = [("x4", "x1")], [("x0", "x5"), ("x5", "x0"), ("x2", "x3")]
    found = learn(
        counts, space="equivalence-classes", max_parents=2, required=required, forbidden=forbidden, tabu=3, restarts=1
    )
    arcs = found.dag.arcs()
    assert required[0] in arcs
    assert not set(forbidden) & set(arcs)
    assert max(map(len, found.dag.parents)) <= 2
    assert found.score == pytest.approx(score(counts, found.dag, "bic"), abs=1e-7)


def test_gaps_end_in_a_graph():
    table = draw(3, n=6)
    codes = table.codes.copy()
    codes[np.random.default_rng(0).random(codes.shape) < 0.3] = 255
    found = learn(MemoryCounts(CodedTable(table.schema, codes)), space="equivalence-classes", tabu=5)
    assert np.isfinite(found.score)


def test_a_score_that_tells_equivalent_graphs_apart_climbs_over_graphs():
    counts = MemoryCounts(draw(5, n=5))
    assert learn(counts, criterion="k2", space="equivalence-classes").dag == learn(counts, criterion="k2").dag


def test_a_wrong_name_is_refused():
    with pytest.raises(OptionError, match="Did you mean 'equivalence-classes'"):
        learn(MemoryCounts(draw(0)), space="equivalence-class")


def test_steps_are_told_when_asked(capsys):
    learn(MemoryCounts(draw(1)), space="equivalence-classes", verbose=True)
    assert "step 1: " in capsys.readouterr().err
    learn(MemoryCounts(draw(1)), space="equivalence-classes")
    assert capsys.readouterr().err == ""
