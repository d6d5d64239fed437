"""Search over orders: never below hill climbing, repeatable, and stopped by patience or time."""

from functools import cache

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.greedy import anytime, ban, hill_climb, parent_sets, sparse_candidate
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.kernels import climb_kernels
from tanbark.structure.greedy.parent_sets import pack_parents
from tanbark.structure.rules import make_rules, parents_in

PLAIN = {"space": "dags", "tabu": 0}


def draw(seed, n=6, rows=200):
    """Draw rows in which every column depends on up to two earlier ones."""
    rng = np.random.default_rng(seed)
    table = make_table(rng, (2,) * n, rows)
    codes = rng.integers(0, 2, (n, rows)).astype(np.uint8)
    for node in range(2, n):
        a, b = rng.choice(node, 2, replace=False)
        noise = rng.random(rows) < 0.15
        codes[node] = np.where(noise, codes[node], codes[a] ^ codes[b] if node % 2 else codes[a] & codes[b])
    return MemoryCounts(type(table)(table.schema, codes))


@pytest.mark.parametrize("criterion", ["bic", "bdeu", "k2", "aic", "mml"])
@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_that_of_the_graph_and_not_below_hill_climbing(criterion, seed):
    counts = draw(seed)
    found = hill_climb.learn(counts, criterion=criterion)
    if criterion != "mml":
        assert found.score == approx(naive_search.graph_score(counts.table, found.dag, criterion), abs=1e-7)
    assert found.score >= hill_climb.learn(counts, criterion=criterion, **PLAIN).score - 1e-7
    assert found.history[0].move == "start"


def test_it_finds_the_best_of_all_graphs():
    """The exclusive or hides its arcs from hill climbing."""
    counts = draw(5, n=4)
    family = cache(lambda node, parents: naive_search.family_score(counts.table, node, parents, "bic"))
    graphs = naive_search.all_dags(counts.schema.names)
    best = max(sum(family(node, parents) for node, parents in enumerate(dag.parents)) for dag in graphs)
    assert hill_climb.learn(counts, criterion="bic", patience=10).score == approx(best, abs=1e-7)


def test_the_same_seed_gives_the_same_graph_and_none_is_zero():
    counts = draw(1)
    found = [hill_climb.learn(counts, random_state=seed, restarts=2, patience=5) for seed in (0, 0, None)]
    assert found[0].dag == found[1].dag == found[2].dag
    assert [s.move for s in found[0].history] == [s.move for s in found[1].history]


def test_more_patience_never_finds_less():
    counts = draw(2, n=8)
    scores = [hill_climb.learn(counts, patience=patience).score for patience in (0, 1, 3, 12)]
    assert scores == sorted(scores)


def test_a_time_limit_stops_any_search_with_the_best_so_far():
    counts = draw(3)
    for space in hill_climb.SPACES:
        found = hill_climb.learn(counts, space=space, time_limit=1e-9, restarts=3)
        assert len(found.history) <= 3
    assert hill_climb.learn(counts, time_limit=0.05).score >= hill_climb.learn(counts, **PLAIN).score - 1e-7


def test_rules_are_kept():
    counts = draw(4)
    required, forbidden = [("x1", "x3"), ("class", "x1")], [("x0", "x1"), ("x1", "x0"), ("x2", "class")]
    limits = {"max_parents": 2, "required": required, "forbidden": forbidden}
    found = hill_climb.learn(counts, criterion="bdeu", patience=6, restarts=1, **limits)
    arcs = set(found.dag.arcs())
    assert set(required) <= arcs
    assert not arcs & set(forbidden)
    assert max(map(len, found.dag.parents)) <= 2


def test_missing_values_and_the_likelihood_are_climbed_as_before():
    table = draw(0).table
    codes = table.codes.copy()
    codes[0, :20] = 255
    counts = MemoryCounts(type(table)(table.schema, codes))
    classes = hill_climb.learn(counts, criterion="bic", space="equivalence-classes")
    assert hill_climb.learn(counts, criterion="bic").dag == classes.dag
    full = hill_climb.learn(draw(0), criterion="loglik", max_parents=2)
    assert full.dag == hill_climb.learn(draw(0), criterion="loglik", max_parents=2, space="dags", tabu=10).dag


def test_other_learners_that_climb_have_it_too():
    counts = draw(2)
    for conditional in (True, False):
        plain = ban.learn(counts, conditional=conditional, **PLAIN)
        found = ban.learn(counts, conditional=conditional, time_limit=10, patience=2)
        assert found.score >= plain.score - 1e-7
        assert all(counts.schema.target in parents for parents in found.dag.parents[:-1])
    sparse = {"pair_marginals": lambda dag: 1 / 0, "measure": "gain", "n_candidates": 2}
    plain = sparse_candidate.learn(counts, **sparse)
    assert sparse_candidate.learn(counts, space="orders", **sparse).score >= plain.score - 1e-7
    assert sparse_candidate.learn(counts, time_limit=1e-9, **sparse).score is not None


@pytest.mark.parametrize("options", [{"patience": -1}, {"patience": 1.5}, {"time_limit": 0}, {"time_limit": "1"}])
def test_wrong_options_raise(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        hill_climb.learn(draw(0), **options)


def test_more_columns_than_lists_have_room_for_are_climbed_over_dags(monkeypatch):
    monkeypatch.setattr(parent_sets, "MOST_LIST_BYTES", 0)
    counts = draw(3)
    found, climbed = hill_climb.learn(counts), hill_climb.learn(counts, space="dags")
    assert found.dag == climbed.dag
    assert found.score == climbed.score


@pytest.mark.parametrize("criterion", ["bic", "bdeu", "k2", "aic"])
def test_the_score_is_that_of_counted_tables_to_the_last_digit(criterion):
    counts = draw(3)
    found = hill_climb.learn(counts, criterion=criterion)
    n = len(counts.schema.names)
    gains = Gains(counts, criterion, ess=1.0, allowed=np.zeros((n, n), bool), max_cells=1 << 20)
    assert found.score == sum(gains.family_scores(list(enumerate(found.dag.parents))))


@pytest.mark.parametrize("most", [4, 1 << 12])
def test_families_are_scored_from_rows_unless_one_is_too_large(most):
    counts = draw(1)
    rules, start = make_rules(counts, max_parents=None, required=(), forbidden=(), start=[("x0", "x1"), ("x2", "x1")])
    gains = Gains(counts, "bdeu", ess=1.0, allowed=rules.allowed, max_cells=1 << 20)
    counting, scores = climb_kernels.begin_counting(gains.counter(5)), np.zeros(len(start))
    climb_kernels.score_graph(counting, pack_parents(start), most, scores)
    if most == 4:
        assert np.isnan(scores[0])
    else:
        assert scores.tolist() == gains.family_scores(list(enumerate(parents_in(start))))


def test_a_search_that_pauses_after_every_step_finds_the_same(monkeypatch):
    counts = draw(4, n=9)
    whole = hill_climb.learn(counts, criterion="bdeu", patience=6)
    monkeypatch.setattr(anytime, "WHILE", 0)
    monkeypatch.setattr(anytime, "STEPS_AT_ONCE", 2)
    paused = hill_climb.learn(counts, criterion="bdeu", patience=6)
    assert paused.dag == whole.dag
    assert paused.score == whole.score


def test_lists_that_are_always_full_grow(monkeypatch):
    counts = draw(6, n=9)
    roomy = hill_climb.learn(counts, criterion="bdeu", patience=6)
    monkeypatch.setattr(parent_sets, "first_room", lambda n: n + 1)
    assert hill_climb.learn(counts, criterion="bdeu", patience=6).score == roomy.score
