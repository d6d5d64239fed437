"""Parent sets that a search has scored: their scores, and what is kept of them."""

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.parent_sets import ParentSets
from tanbark.structure.rules import make_rules


@pytest.fixture(params=["bic", "bdeu", "k2"])
def gains(request):
    return open_gains(request.param)


def open_gains(criterion, seed=0, **limits):
    counts = MemoryCounts(make_table(np.random.default_rng(seed), (2, 3, 2, 3, 2), 150))
    options = {"max_parents": None, "required": (), "forbidden": (), "start": None, **limits}
    rules, _ = make_rules(counts, **options)
    return Gains(counts, criterion, ess=1.0, allowed=rules.allowed, max_cells=1 << 20), rules


def test_every_set_has_its_score_and_the_required_parents_come_last(gains):
    sets = ParentSets(*gains)
    more = sets.families(range(len(sets.score)))
    sets.expand(more, sets.score.tolist())
    families = sets.families(range(len(sets.score)))
    assert sets.score == approx(gains[0].family_scores(families), abs=1e-8)
    for y in range(5):
        mine = sets.score[sets.first[y] : sets.first[y + 1]]
        assert (np.diff(mine) <= 1e-9 * np.abs(mine[1:])).all()
        assert families[sets.first[y + 1] - 1] == (y, ())
        assert all(child == y for child, _ in families[sets.first[y] : sets.first[y + 1]])


def test_what_other_searches_counted_is_taken_over(gains):
    engine, rules = gains
    engine.toggles([(0, (1, 2)), (3, (1, 2, 4))])
    sets = ParentSets(engine, rules)
    before = len(sets.score)
    sets.absorb()
    assert sets.score == approx(engine.family_scores(sets.families(range(len(sets.score)))), abs=1e-8)
    assert len(sets.score) >= before


def test_rules_are_kept():
    limits = {"max_parents": 2, "required": [("x0", "x1")], "forbidden": [("x2", "x1"), ("x3", "class")]}
    sets = ParentSets(*open_gains("bdeu", **limits))
    for _ in range(3):
        sets.expand(sets.families(range(len(sets.score))), sets.score.tolist())
    for child, parents in sets.families(range(len(sets.score))):
        assert len(parents) <= 2
        assert child != 1 or (0 in parents and 2 not in parents)
        assert child != 4 or 3 not in parents


def test_promising_sets_rank_above_the_chosen_ones(gains):
    sets = ParentSets(*gains)
    last = sets.first[1:] - 1
    found = sets.promising(last)
    assert all(not sets.counted[row] for row in found)
    assert len({sets.child[row] for row in found}) == len(found)
    assert sets.promising(sets.first[:-1]) == []


def test_the_graph_of_chosen_sets(gains):
    sets = ParentSets(*gains)
    arcs = sets.arcs(sets.first[:-1])
    for child, parents in sets.families(sets.first[:-1].tolist()):
        assert tuple(np.flatnonzero(arcs[:, child])) == parents
