"""BNC-2P: conditional log-likelihood, two parents."""

import numpy as np
from pytest import approx

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.conditional import bnc2p


def test_the_first_arc_is_that_of_highest_information():
    table = make_table(np.random.default_rng(0), (2, 3, 2, 2, 3), 300)
    gains = [naive.cmi(naive.table(table.codes, table.schema.cardinalities, (x, 4))[:, :, None]) for x in range(4)]
    found = bnc2p.learn(MemoryCounts(table))
    assert found.history[1].move == f"add class -> x{int(np.argmax(gains))}"
    assert found.history[1].score - found.history[0].score == approx(300 * max(gains), abs=1e-8)


def test_there_are_two_parents_at_most():
    counts = MemoryCounts(make_table(np.random.default_rng(1), (3, 3, 3, 3, 3), 200))
    assert max(map(len, bnc2p.learn(counts).dag.parents)) == 2
    assert max(map(len, bnc2p.learn(counts, max_parents=1).dag.parents)) == 1
    assert bnc2p.learn(counts, max_cells=1).dag.n_arcs == 0
