"""Hill climbing over DAGs: local optima, tabu moves, restarts, and the Markov blanket of the class."""

import itertools

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.graph import Dag
from tanbark.structure.greedy.hill_climb import GraphClimb, Walk, blanket, learn
from tanbark.structure.rules import Rules

PLAIN = {"space": "dags", "tabu": 0}


@pytest.fixture(params=range(3))
def table(request):
    return make_table(np.random.default_rng(request.param), (2, 3, 2, 3, 2), 120)


@pytest.mark.parametrize("criterion", ["bic", "bdeu", "k2"])
def test_each_step_is_the_best_and_the_end_a_local_optimum(table, criterion):
    found = learn(MemoryCounts(table), criterion=criterion, **PLAIN)
    dag = naive_search.make_dag(table.schema.names, set())
    for before, step in itertools.pairwise(found.history):
        near = dict(naive_search.neighbours(dag))
        best = max(naive_search.graph_score(table, after, criterion) for after in near.values())
        assert step.score == approx(best, abs=1e-8)
        assert step.score > before.score
        assert step.candidates == len(near)
        kind, x, _, y = step.move.split()
        move = (["add", "delete", "reverse"].index(kind), *(table.schema.names.index(name) for name in (x, y)))
        dag = near[move]
    assert found.dag.parents == dag.parents
    assert found.score == approx(naive_search.graph_score(table, dag, criterion), abs=1e-8)
    best = max(naive_search.graph_score(table, after, criterion) for _, after in naive_search.neighbours(dag))
    assert best <= found.score + 1e-8


def test_tabu_moves_and_restarts_go_on_from_a_local_optimum(table):
    counts = MemoryCounts(table)
    plain = learn(counts, criterion="bdeu", **PLAIN)
    tabu = learn(counts, criterion="bdeu", space="dags", tabu=8)
    assert [step.move for step in tabu.history[: len(plain.history)]] == [step.move for step in plain.history]
    assert len(tabu.history) >= len(plain.history) + 8
    assert tabu.score >= plain.score
    again = [learn(counts, criterion="bdeu", restarts=2, perturbation=3, random_state=4, **PLAIN) for _ in range(2)]
    assert again[0].dag == again[1].dag
    assert [step.move for step in again[0].history].count("restart") == 2
    assert again[0].score >= plain.score


def test_only_the_arcs_into_the_class_and_its_children_are_kept(table):
    counts = MemoryCounts(table)
    whole, kept = learn(counts, criterion="loglik"), learn(counts, criterion="loglik", blanket_only=True)
    target = counts.schema.target
    assert kept.dag == blanket(whole.dag, target)
    assert {c for _, c in kept.dag.arcs()} <= {"class", *(whole.dag.names[c] for c in whole.dag.children[target])}
    chain = Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d"), ("e", "d")], "abcde")
    assert blanket(chain, 2).arcs() == [("b", "c"), ("c", "d"), ("e", "d")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": "graph"}, "space must be one of"),
        ({"tabu": -1}, "tabu"),
        ({"tabu_length": 0}, "tabu_length"),
        ({"restarts": 0.5}, "restarts"),
        ({"perturbation": 0}, "perturbation"),
    ],
)
def test_wrong_options_raise(options, message):
    with pytest.raises(OptionError, match=message):
        Walk(**options)


def test_the_score_of_a_graph_is_the_same_on_every_python():
    """The builtin sum adds 0.1 ten times to 0.9999999999999999 before Python 3.12, and to 1.0 since then."""

    class Tenths:
        def toggles(self, families, likely):
            return [np.full(10, -np.inf) for _ in families]

        def family_scores(self, families):
            return [0.1 for _ in families]

    none = np.zeros((10, 10), bool)
    rules = Rules(tuple("abcdefghij"), ~np.eye(10, dtype=bool), none, 10)
    assert GraphClimb(Tenths(), rules, none).score == 1.0
