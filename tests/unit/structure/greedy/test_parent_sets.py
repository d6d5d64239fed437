"""Parent sets that a search has scored: their scores, and what is kept of them."""

from itertools import pairwise

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts, memory
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.kernels.set_kernels import list_promising
from tanbark.structure.greedy.parent_sets import ParentSets, pack_parents, unpack_parents
from tanbark.structure.rules import make_rules


@pytest.fixture(params=["bic", "bdeu", "k2"])
def gains(request, monkeypatch):
    """Gains of tables that are asked for, so that the lists are begun without a kernel that counts."""
    monkeypatch.setattr(memory, "MAX_PACKED", 0)
    return open_gains(request.param)


def open_gains(criterion, seed=0, **limits):
    counts = MemoryCounts(make_table(np.random.default_rng(seed), (2, 3, 2, 3, 2), 150))
    options = {"max_parents": None, "required": (), "forbidden": (), "start": None, **limits}
    rules, _ = make_rules(counts, **options)
    return Gains(counts, criterion, ess=1.0, allowed=rules.allowed, max_cells=1 << 20), rules


def families(sets):
    """List the sets of every column as (child, parents, score, counted)."""
    lists, found = sets.lists, []
    for y, size in enumerate(lists.size.tolist()):
        for row in range(size):
            parents = tuple(x for x in range(len(lists.size)) if int(lists.bits[y, row, 0]) >> x & 1)
            found.append((y, parents, float(lists.score[y, row]), bool(lists.counted[y, row])))
    return found


def expand_all(sets):
    some = families(sets)
    sets.expand([(y, parents) for y, parents, _, _ in some], [score for _, _, score, _ in some])


def agrees(sets, engine):
    found = families(sets)
    scores = engine.family_scores([(y, parents) for y, parents, _, _ in found])
    return [score for _, _, score, _ in found] == approx(scores, abs=1e-8)


def test_every_set_has_its_score_and_the_required_parents_come_last(gains):
    sets = ParentSets(*gains)
    expand_all(sets)
    assert agrees(sets, gains[0])
    for y in range(5):
        mine = [(score, parents) for child, parents, score, _ in families(sets) if child == y]
        assert all(a[0] >= b[0] - 1e-9 * abs(b[0]) for a, b in pairwise(mine))
        assert mine[-1][1] == ()


def test_what_other_searches_counted_is_taken_over(gains):
    engine, rules = gains
    engine.toggles([(0, (1, 2)), (3, (1, 2, 4))])
    sets = ParentSets(engine, rules)
    before = len(families(sets))
    sets.absorb()
    assert agrees(sets, engine)
    assert len(families(sets)) >= before


def test_rules_are_kept(monkeypatch):
    monkeypatch.setattr(memory, "MAX_PACKED", 0)
    limits = {"max_parents": 2, "required": [("x0", "x1")], "forbidden": [("x2", "x1"), ("x3", "class")]}
    sets = ParentSets(*open_gains("bdeu", **limits))
    for _ in range(3):
        expand_all(sets)
    for child, parents, _, _ in families(sets):
        assert len(parents) <= 2
        assert child != 1 or (0 in parents and 2 not in parents)
        assert child != 4 or 3 not in parents


def test_promising_sets_rank_above_the_chosen_ones(gains):
    sets = ParentSets(*gains)
    found = list_promising(sets.lists, sets.lists.size - 1)
    for y, row in enumerate(found.tolist()):
        mine = [counted for child, _, _, counted in families(sets) if child == y]
        assert row == (mine.index(False) if False in mine[:-1] else -1)
    assert (list_promising(sets.lists, np.zeros(5, np.int64)) == -1).all()


@pytest.mark.parametrize("n", [1, 5, 64, 130])
def test_the_parents_of_a_graph_are_packed_and_unpacked(n):
    arcs = np.random.default_rng(n).random((n, n)) < 0.3
    masks = pack_parents(arcs)
    for y in range(n):
        members = [x for x in range(n) if int(masks[y, x // 64]) >> x % 64 & 1]
        assert members == np.flatnonzero(arcs[:, y]).tolist()
    assert (unpack_parents(masks) == arcs).all()


def test_lists_grow(gains):
    sets = ParentSets(*gains)
    before = families(sets)
    sets.widen()
    assert families(sets) == before
