"""Partially directed graphs, and the recursion over them with an oracle for the tests."""

import itertools

import numpy as np
import pytest

from tanbark.graph import Dag
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint.rai import identify


def separated(parents, x, y, given):
    """Decide d-separation by moralising the graph of the ancestors."""
    inside, todo = set(), [x, y, *given]
    while todo:
        node = todo.pop()
        if node not in inside:
            inside.add(node)
            todo += parents[node]
    links = {node: set() for node in inside}
    for child in inside:
        for a, b in itertools.combinations([child, *parents[child]], 2):
            links[a].add(b)
            links[b].add(a)
    reached, todo = set(given), [x]
    while todo:
        node = todo.pop()
        if node == y:
            return False
        if node not in reached:
            reached.add(node)
            todo += links[node]
    return True


class Oracle:
    """Answers tests of independence by d-separation, one at a time."""

    def __init__(self, parents):
        self.parents = parents

    def prune_edges(self, adjacent, children, parents, order, *, both_ends):
        found, asked = [], 0
        for y, x in itertools.product(children, parents):
            if not adjacent[x, y]:
                continue
            others = [z for z in np.flatnonzero(adjacent[:, y]) if z != x]
            for chosen in itertools.combinations(others, order):
                asked += 1
                if separated(self.parents, x, y, chosen):
                    adjacent[x, y] = adjacent[y, x] = False
                    found.append([x, y, *chosen])
                    break
        return np.array(found, np.int64).reshape(-1, 2 + order), asked


def run(parents, *, strict=False, start=0):
    graph = PartialGraph(len(parents))
    return graph, identify(graph, Oracle(parents), np.arange(len(parents)), start, strict=strict)


def class_of(parents):
    """Give the completed graph of a graph's equivalence class: skeleton, colliders, then the rules."""
    n = len(parents)
    graph = PartialGraph(n)
    rows = [(x, y) for x, y in itertools.combinations(range(n), 2) if x not in parents[y] and y not in parents[x]]
    for size in range(n):
        sized = []
        for x, y in rows:
            others = [z for z in range(n) if z not in (x, y)]
            first = next(s for k in range(n) for s in itertools.combinations(others, k) if separated(parents, x, y, s))
            if len(first) == size:
                sized.append([x, y, *first])
        graph.delete(sized)
    graph.orient_colliders(np.arange(n))
    graph.orient_by_rules(np.arange(n))
    return graph.adjacent


def random_parents(rng, n):
    order = rng.permutation(n)
    parents = [()] * n
    for place, node in enumerate(order):
        parents[node] = tuple(int(p) for p in order[:place] if rng.random() < 2.0 / n)
    return parents


def test_the_decomposition_of_a_worked_example():
    """1 -> 3 <- 2, 3 -> 4, 3 -> 5, 4 -> 6 <- 5, 6 -> 7, numbered from 0."""
    parents = [(), (), (0, 1), (2,), (2,), (3, 4), (5,)]
    graph, report = run(parents)
    assert dict(report.tests) == {0: 41, 1: 49, 2: 1}
    assert (report.n_splits, report.n_substructures, report.n_calls) == (3, 7, 8)
    assert graph.extension() == (tuple(tuple(p) for p in parents), 0)
    assert graph.separator(2, 5) == (3, 4)
    assert graph.separator(0, 1) == ()
    assert graph.separator(0, 2) is None


def test_the_first_order_matters():
    collider = [(), (), (0, 1)]
    assert run(collider)[0].adjacent.sum() == 2
    graph, report = run(collider, start=1)
    assert graph.adjacent.sum() == 6
    assert (report.tests[1], report.n_splits) == (6, 0)


@pytest.mark.parametrize("seed", range(60))
def test_true_tests_recover_the_equivalence_class(seed):
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, int(rng.integers(3, 9)))
    graph, _ = run(parents, strict=True)
    assert np.array_equal(graph.adjacent, class_of(parents))
    found, broken = graph.extension()
    assert broken == 0
    assert np.array_equal(class_of(found), class_of(parents))


def edges(n, directed=(), undirected=()):
    graph = PartialGraph(n, [])
    for a, b in directed:
        graph.adjacent[a, b] = True
    for a, b in undirected:
        graph.adjacent[a, b] = graph.adjacent[b, a] = True
    return graph


def test_extensions_end_whatever_the_graph():
    assert edges(3, undirected=[(0, 1), (1, 2)]).extension() == (((1,), (2,), ()), 0)
    assert edges(4, undirected=[(0, 1), (1, 2), (2, 3), (3, 0)]).extension() == (((1, 3), (2,), (3,), ()), 1)
    assert edges(3, directed=[(0, 1), (1, 2), (2, 0)]).extension() == (((1, 2), (), (1,)), 1)


@pytest.mark.parametrize("seed", range(20))
def test_extensions_keep_the_skeleton(seed):
    rng = np.random.default_rng(seed)
    graph = PartialGraph(7)
    graph.adjacent &= rng.random((7, 7)) < 0.5
    parents, _ = graph.extension()
    Dag(tuple("ABCDEFG"), parents)
    skeleton = np.zeros((7, 7), bool)
    for child, found in enumerate(parents):
        skeleton[list(found), child] = True
    assert np.array_equal(skeleton | skeleton.T, graph.adjacent | graph.adjacent.T)


def test_the_lowest_nodes_and_the_groups():
    graph = edges(6, directed=[(0, 1), (1, 3)], undirected=[(1, 2), (3, 4)])
    nodes = np.arange(6)
    assert graph.lowest(nodes).tolist() == [False, False, False, True, True, True]
    assert [group.tolist() for group in graph.components(nodes[:3])] == [[0, 1, 2]]
    assert [group.tolist() for group in graph.components(np.array([0, 2, 5]))] == [[0], [2], [5]]
    assert graph.components(nodes[:0]) == []


def test_a_disputed_edge_stays_undirected():
    graph = edges(4, undirected=[(0, 1), (1, 2), (2, 3)])
    graph.delete([[0, 2], [1, 3], [0, 3]])
    graph.orient_colliders(np.arange(4))
    assert graph.adjacent[1, 2]
    assert graph.adjacent[2, 1]
