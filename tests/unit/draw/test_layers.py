"""The order within layers and the places on them."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from tanbark.draw.layers import Graph, crossings, place, sort_layers, total_crossings
from tanbark.graph import Dag


@st.composite
def graphs(draw, *, most=12):
    n = draw(st.integers(1, most))
    parents = [tuple(draw(st.lists(st.sampled_from(range(node)), max_size=3))) if node else () for node in range(n)]
    return Dag(tuple(map(str, range(n))), tuple(parents))


@settings(max_examples=40)
@given(graphs())
def test_crossings_are_those_of_all_pairs_of_arcs(dag):
    half = len(dag.names) // 2
    upper, lower = list(range(half)), list(range(half, len(dag.names)))
    down = [[c for c in dag.children[v] if c in lower] if v in upper else [] for v in range(len(dag.names))]
    arcs = [(v, lower.index(c)) for v in upper for c in down[v]]
    slow = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(arcs, 2))
    assert crossings(upper, lower, down) == slow


@settings(max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=30))
def test_a_tree_has_no_crossing(chosen):
    parents = [(), *((choice % (place + 1),) for place, choice in enumerate(chosen))]
    depth = [0] * len(parents)
    for node, found in enumerate(parents[1:], start=1):
        depth[node] = depth[found[0]] + 1
    layers = [[v for v in range(len(parents)) if depth[v] == level] for level in range(max(depth) + 1)]
    arcs = [(found[0], node) for node, found in enumerate(parents) if found]
    graph = Graph.with_bends(layers, arcs, [10.0] * len(parents), bend=1.0, gap=1.0)
    sort_layers(graph)
    assert total_crossings(graph) == 0


def test_an_arc_over_several_layers_bends_on_each():
    graph = Graph.with_bends([[0], [1], [2]], [(0, 1), (0, 2), (1, 2)], [10.0] * 3, bend=2.0, gap=1.0)
    (bend,) = graph.chains[0, 2]
    assert graph.layers == [[0], [1, bend], [2]]
    assert graph.widths[bend] == 2.0
    assert graph.up[bend] == [0]
    assert graph.down[bend] == [2]


def test_places_keep_the_order_and_the_gaps():
    graph = Graph.with_bends([[0], [1, 2, 3]], [(0, 1), (0, 2), (0, 3)], [10.0] * 4, bend=2.0, gap=5.0)
    x = place(graph)
    assert [x[2] - x[1], x[3] - x[2]] == approx([15.0, 15.0])
    assert x[0] == approx(x[2])
