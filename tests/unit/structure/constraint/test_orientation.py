"""Directions of skeletons, against the rules written out, whatever the order of the nodes."""

import numpy as np
import pytest

from naive import all_dags
from tanbark.graph import Dag
from tanbark.graph.separation import reachable
from tanbark.structure.constraint.orientation import Orientation, extend


def separating_sets(dag):
    """For every two nodes without an edge, their parents: sets that d-separate them."""
    found = {}
    n = len(dag.names)
    for y in range(n):
        for x in range(y):
            if x not in dag.parents[y] and y not in dag.parents[x]:
                sets = [dag.parents[v] for v in (x, y) if {x, y} & set(dag.parents[v]) == set()]
                good = [s for s in sets if y not in reachable(dag, [x], s)]
                assert good
                found[x, y] = good[:1]
    return found


def skeleton(dag):
    arcs = dag.adjacency()
    return arcs | arcs.T


def test_right_separating_sets_give_the_equivalence_class():
    for dag in all_dags(4):
        found = Orientation(skeleton(dag), separating_sets(dag)).direct()
        assert np.array_equal(found, dag.cpdag().adjacency())
        parents, broken = extend(found, [2, 0, 3, 1])
        assert broken == 0
        assert Dag(dag.names, parents).cpdag() == dag.cpdag()


@pytest.mark.parametrize("seed", range(20))
def test_wrong_separating_sets_too_are_directed_alike_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n = 8
    upper = np.triu(rng.random((n, n)) < 0.45, 1)
    linked = upper | upper.T

    def draw(x, y):
        return tuple(z for z in range(n) if z not in (x, y) and rng.random() < 0.4)

    apart = [(x, y) for y in range(n) for x in range(y) if not linked[x, y]]
    sets = {pair: [draw(*pair) for _ in range(rng.integers(1, 3))] for pair in apart}
    plain = Orientation(linked, sets).direct()
    order = rng.permutation(n)
    place = np.argsort(order)  # node v is place[v] in the turned graph
    turned = {
        tuple(sorted((int(place[x]), int(place[y])))): [tuple(int(place[z]) for z in s) for s in found]
        for (x, y), found in sets.items()
    }
    other = Orientation(linked[np.ix_(order, order)], turned).direct()
    assert np.array_equal(other, plain[np.ix_(order, order)])
    parents, _ = extend(plain, list(range(n)))
    again, _ = extend(other, place.tolist())
    assert [tuple(sorted(int(order[p]) for p in again[place[v]])) for v in range(n)] == list(parents)


def test_disputes_and_cycles_stay_open():
    path = np.zeros((4, 4), bool)
    for a, b in ((0, 1), (1, 2), (2, 3)):
        path[a, b] = path[b, a] = True
    disputed = Orientation(path, {(0, 2): [()], (1, 3): [()], (0, 3): [()]}).direct()
    assert disputed[1, 2]
    assert disputed[2, 1]
    assert not disputed[1, 0]
    assert not disputed[2, 3]
    unsure = Orientation(path, {(0, 2): [(1,), ()], (1, 3): [(2,)], (0, 3): [(1,)]}).direct()
    assert np.array_equal(unsure, path)
    ring = np.zeros((6, 6), bool)
    for a, b in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5)):
        ring[a, b] = ring[b, a] = True
    # 2 -> 0 <- 3, 0 -> 1 <- 4 and 1 -> 2 <- 5 would be a cycle
    sets = {(2, 3): [()], (0, 4): [()], (1, 5): [()], (1, 3): [(0,)], (2, 4): [(1,)], (0, 5): [(2,)]}
    sets |= {(3, 4): [(0,)], (3, 5): [(0,)], (4, 5): [(1,)]}
    found = Orientation(ring, sets).direct()
    assert found[:3, :3].sum() == 6
    assert not found[0, 3]
