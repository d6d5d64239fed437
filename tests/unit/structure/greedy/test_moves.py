"""Legal moves, reachability and ties, against all neighbours of random graphs."""

import numpy as np
import pytest

import naive_search
from tanbark.structure.greedy.moves import ADD, DELETE, REVERSE, MovingGraph, best_move, reachable
from tanbark.structure.rules import Rules, make_dag

NAMES = tuple("abcde")


def free_rules(n=5, max_parents=5, allowed=None, fixed=None):
    everything = ~np.eye(n, dtype=bool)
    nothing = np.zeros((n, n), bool)
    return Rules(
        NAMES[:n], everything if allowed is None else allowed, nothing if fixed is None else fixed, max_parents
    )


@pytest.mark.parametrize("seed", range(6))
def test_legal_moves_are_those_that_make_dags(seed):
    rng = np.random.default_rng(seed)
    graph = MovingGraph(free_rules(), np.zeros((5, 5), bool))
    for _ in range(25):
        found = {tuple(place) for place in np.argwhere(graph.legal()).tolist()}
        expected = dict(naive_search.neighbours(make_dag(NAMES, graph.arcs)))
        assert found == expected.keys()
        move = sorted(found)[rng.integers(len(found))]
        graph.move(*move)
        assert make_dag(NAMES, graph.arcs).parents == expected[move].parents
        assert np.array_equal(graph.reach, reachable(graph.arcs))


def test_rules_limit_the_moves():
    allowed, fixed = ~np.eye(3, dtype=bool), np.zeros((3, 3), bool)
    allowed[0, 2], fixed[0, 1] = False, True
    arcs = np.zeros((3, 3), bool)
    arcs[0, 1] = arcs[2, 1] = True
    legal = MovingGraph(free_rules(3, 2, allowed, fixed), arcs).legal()
    assert np.argwhere(legal[ADD]).tolist() == [[2, 0]]  # 0 -> 2 is forbidden
    assert np.argwhere(legal[DELETE]).tolist() == [[2, 1]]  # 0 -> 1 is required
    assert np.argwhere(legal[REVERSE]).tolist() == [[2, 1]]
    assert not MovingGraph(free_rules(3, 0, allowed, fixed), arcs).legal()[[ADD, REVERSE]].any()


def test_ties_go_to_additions_and_to_earlier_columns():
    moves = np.full((3, 2, 2), -np.inf)
    assert best_move(moves) is None
    moves[DELETE, 0, 1], moves[ADD, 1, 0], moves[REVERSE, 0, 0] = 1.0, 1.0 - 1e-12, 1.0 + 1e-12
    assert best_move(moves) == (ADD, 1, 0)


def test_tabu_graphs_are_passed_over():
    graph = MovingGraph(free_rules(2), np.zeros((2, 2), bool))
    gains = np.full((3, 2, 2), -np.inf)
    gains[ADD, 0, 1], gains[ADD, 1, 0] = 2.0, 1.0
    best = graph.best_move(gains, ())
    assert (best.gain, best.text, best.change) == (2.0, "add a -> b", (ADD, 0, 1))
    after = np.zeros((2, 2), bool)
    after[0, 1] = True
    second = graph.best_move(gains, [after.tobytes()])
    assert second.change == (ADD, 1, 0)
    assert graph.best_move(gains, [after.tobytes(), after.T.tobytes()]) is None
