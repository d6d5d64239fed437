"""Augmented naive Bayes by hill climbing."""

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.greedy import ban


@pytest.fixture
def table():
    return make_table(np.random.default_rng(1), (2, 3, 2, 3, 2), 200)


@pytest.mark.parametrize("conditional", [True, False])
def test_the_class_is_a_parent_of_every_feature(table, conditional):
    found = ban.learn(MemoryCounts(table), criterion="bic", conditional=conditional, max_parents=1)
    assert found.dag.parents[4] == ()
    assert all(4 in parents and len(parents) <= 2 for parents in found.dag.parents[:4])
    if conditional:
        assert found.score == approx(naive_search.graph_score(table, found.dag, "bic"), abs=1e-8)


def test_no_single_move_among_the_features_improves(table):
    found = ban.learn(MemoryCounts(table), criterion="bdeu", ess=2.0)
    for _, after in naive_search.neighbours(found.dag):
        if after.parents[4] == () and all(4 in parents for parents in after.parents[:4]):
            assert naive_search.graph_score(table, after, "bdeu", ess=2.0) <= found.score + 1e-8


def test_without_the_class_the_arcs_are_those_of_the_features_alone(table):
    found = ban.learn(MemoryCounts(table), criterion="bic", conditional=False)
    inner = {(p, c) for c, parents in enumerate(found.dag.parents) for p in parents if 4 not in (p, c)}
    alone = naive_search.make_dag(table.schema.names, inner)
    assert found.score == approx(naive_search.graph_score(table, alone, "bic"), abs=1e-8)


def test_parents_of_the_class_raise(table):
    for options in ({"required": [("x0", "class")]}, {"start": [("x0", "class")]}):
        with pytest.raises(OptionError, match="class has no parents"):
            ban.learn(MemoryCounts(table), **options)
