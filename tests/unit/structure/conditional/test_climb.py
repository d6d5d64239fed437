"""The search by conditional log-likelihood, against recomputation from the rows."""

import math

import numpy as np
import pytest
from pytest import approx

import naive
import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.conditional import climb


def search(table, **options):
    options = {"penalised": False, "max_parents": 2, "required": (), "forbidden": (), "start": None, **options}
    return climb.search(MemoryCounts(table), **{"max_cells": 1 << 20, **options})


def slow_score(table, dag, penalised):
    states = table.schema.cardinalities
    free = sum((states[v] - 1) * math.prod(states[p] for p in found) for v, found in enumerate(dag.parents))
    return naive.conditional_log_likelihood(table, dag.parents) - penalised * 0.5 * math.log(table.n_rows) * free


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("penalised", [False, True])
def test_it_ends_in_a_local_optimum(gaps, penalised):
    table = make_table(np.random.default_rng(2), (2, 3, 2, 2), 60, gaps=gaps)
    found = search(table, penalised=penalised)
    assert found.score == approx(slow_score(table, found.dag, penalised), abs=1e-8)
    for _, after in naive_search.neighbours(found.dag):
        if max(map(len, after.parents)) <= 2:
            assert slow_score(table, after, penalised) <= found.score + 1e-8


def test_it_can_start_from_naive_bayes():
    table = make_table(np.random.default_rng(3), (2, 3, 1, 2), 60)
    start = naive_search.make_dag(table.schema.names, {(3, 0), (3, 1)})  # a column with one state is left out
    assert search(table, start="naive").history[0].score == approx(slow_score(table, start, False), abs=1e-8)
    with pytest.raises(OptionError, match="start must be"):
        search(table, start="tan")


def test_ties_go_to_arcs_from_the_class():
    table = make_table(np.random.default_rng(4), (2, 2, 2), 200)
    assert search(table).history[1].move.startswith("add class -> ")


def test_threads_change_nothing(monkeypatch):
    table = make_table(np.random.default_rng(5), (*[3] * 6, 3), 300, gaps=0.1)
    one = search(table)
    monkeypatch.setattr(climb, "WORTH_THREADS", 1)
    many = search(table)
    assert (one.dag, one.score) == (many.dag, many.score)
