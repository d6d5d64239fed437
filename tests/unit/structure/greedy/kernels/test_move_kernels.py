"""The compiled best move and the paths after it, against the matrices of all moves."""

import numpy as np
import pytest

from tanbark.structure.greedy.kernels import move_kernels as kernels
from tanbark.structure.greedy.moves import MovingGraph, best_move, reachable
from tanbark.structure.rules import Rules


@pytest.mark.parametrize("seed", range(20))
def test_the_best_move_is_that_of_all_legal_ones(seed):
    rng = np.random.default_rng(seed)
    n = 6
    arcs = np.triu(rng.random((n, n)) < 0.4, 1)
    shuffle = rng.permutation(n)
    arcs = arcs[shuffle][:, shuffle]
    allowed = (rng.random((n, n)) < 0.8) & ~np.eye(n, dtype=bool)
    fixed = arcs & (rng.random((n, n)) < 0.2)
    graph = MovingGraph(Rules(tuple("abcdef"), allowed, fixed, 3), arcs)
    toggle = rng.integers(-3, 4, (n, n)).astype(float)  # with many ties
    gains = np.where(graph.legal(), np.stack([toggle, toggle, toggle + toggle.T]), -np.inf)
    gain, kind, x, y, tried = kernels.best_graph_move(graph.arcs, graph.reach, toggle, allowed, fixed, 3)
    assert tried == (gains > -np.inf).sum()
    assert (kind, x, y) == best_move(gains)
    assert gain == gains[kind, x, y]


def test_a_graph_without_a_legal_move():
    none = np.zeros((2, 2), bool)
    assert kernels.best_graph_move(none, none, np.zeros((2, 2)), none, none, 2)[1] == -1


@pytest.mark.parametrize("seed", range(5))
def test_paths_follow_the_arcs(seed):
    rng = np.random.default_rng(seed)
    arcs = np.zeros((7, 7), bool)
    reach = arcs.copy()
    for _ in range(60):
        x, y = rng.choice(7, 2, replace=False)
        if arcs[x, y]:
            kernels.disconnect(arcs, reach, x, y)
        elif not reach[y, x]:
            kernels.connect(arcs, reach, x, y)
        assert np.array_equal(reach, reachable(arcs))
