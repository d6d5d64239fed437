"""Gains that kernels count on their own, against those of tables that are asked for."""

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import MemoryCounts, memory
from tanbark.structure.greedy import ban, hill_climb
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.kernels import cell_kernels, climb_kernels, family_kernels, pair_kernels
from tanbark.structure.rules import make_rules

STATES = (2, 3, 14, 4, 2, 3)
SETS = [(), (1,), (2,), (1, 4), (0, 3), (1, 2, 3), (0, 1, 3, 4)]


def draw(seed=0, rows=300, states=STATES, weighted=False):
    rng = np.random.default_rng(seed)
    table = make_table(rng, states, rows)
    codes = table.codes.copy()
    codes[1] = (codes[0] + (rng.random(rows) < 0.2)) % states[1]  # some columns depend on others
    codes[3] = (codes[1] * 2 + codes[4] + (rng.random(rows) < 0.1)) % states[3]
    weights = rng.random(rows) + 0.5 if weighted else None
    return MemoryCounts(type(table)(table.schema, codes, weights))


def open_gains(counts, criterion, max_cells=1 << 20):
    rules, _ = make_rules(counts, max_parents=None, required=(), forbidden=[("x0", "x3")], start=None)
    return Gains(counts, criterion, ess=2.0, allowed=rules.allowed, max_cells=max_cells)


def count(gains, most_bit_cells=cell_kernels.MOST_BIT_CELLS):
    counting = climb_kernels.begin_counting(gains.counter(10))
    cells = cell_kernels.make_cells(counting.data, counting.cells.buffer, most_bit_cells)
    return counting._replace(cells=cells)


def gains_by_kernel(counting, child, parents):
    out = np.empty(len(STATES))
    family_kernels.family_gains(
        counting.data, counting.scoring, counting.cells, child, np.array(parents, np.int64), counting.allowed,
        counting.max_cells, out,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic", "bdeu", "k2"])
def test_a_kernel_finds_the_gains_of_the_tables(criterion, weighted):
    for most, max_cells in ((512, 1 << 20), (4, 1 << 20), (512, 200)):  # by bits, by rows, and few cells
        gains = open_gains(draw(weighted=weighted), criterion, max_cells)
        counting = count(gains, most)
        for child in range(len(STATES)):
            for parents in (some for some in SETS if child not in some):
                (expected,) = gains.toggles([(child, parents)])
                found = gains_by_kernel(counting, child, parents)
                inside = np.isin(np.arange(len(STATES)), parents)
                exact = inside | (expected > 0)
                assert found[exact] == approx(expected[exact], abs=1e-9)
                assert ((found == -np.inf) == (expected == -np.inf)).all()
                assert (found[~exact] >= expected[~exact] - 1e-9).all()  # a bound where nothing is gained
                assert (found[~exact] <= 1e-9).all()


@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic", "bdeu", "k2"])
def test_first_parents_and_scores_of_columns(criterion):
    gains = open_gains(draw(), criterion)
    n = len(STATES)
    out, scores = np.empty((n, n)), np.empty(n)
    counting = count(gains)
    pair_kernels.pair_gains(counting.data, counting.scoring, counting.allowed, counting.max_cells, out, scores)
    assert out == approx(np.array(gains.toggles([(y, ()) for y in range(n)])), abs=1e-9)
    assert scores == approx(gains.family_scores([(y, ()) for y in range(n)]))


def learn_both(learn, counts, monkeypatch, **options):
    """Learn with kernels that count, and with tables that are asked for."""
    mine = learn(counts, **options)
    monkeypatch.setattr(memory, "MAX_PACKED", 0)
    return mine, learn(counts, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["aic", "bic", "bdeu", "k2"])
@pytest.mark.parametrize("learn", [hill_climb.learn, ban.learn])
def test_the_climb_is_that_of_the_tables(learn, criterion, weighted, monkeypatch):
    counts = draw(3, weighted=weighted)
    mine, other = learn_both(learn, counts, monkeypatch, criterion=criterion, patience=0, time_limit=600.0)
    steps = [[step.move for step in found.history if "->" in step.move] for found in (mine, other)]
    assert steps[0] == steps[1]
    assert [step.score for step in mine.history][: len(steps[0]) + 1] == approx(
        [step.score for step in other.history][: len(steps[0]) + 1]
    )


def test_a_climb_from_a_graph_with_limits(monkeypatch):
    options = {"start": [("x0", "x1"), ("x4", "x2")], "required": [("x0", "x3")], "max_parents": 2, "criterion": "bdeu"}
    mine, other = learn_both(hill_climb.learn, draw(5), monkeypatch, **options)
    assert mine.dag == other.dag
    assert ("x0", "x3") in mine.dag.arcs()
    assert max(map(len, mine.dag.parents)) <= 2


def test_more_columns_than_a_word_has_bits():
    counts = draw(1, rows=60, states=(2, 3, 2, 4, 2) + (2,) * 65)
    found = hill_climb.learn(counts, criterion="bic", patience=1)
    plain = hill_climb.learn(counts, criterion="bic", space="dags", tabu=0)
    assert found.score >= plain.score - 1e-9
