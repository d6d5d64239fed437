"""Layered drawings: nothing overlaps, arcs point down, trees have no crossings."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.draw.layers import Graph, crossings, sort_layers, total_crossings
from tanbark.draw.layout import layered_layout
from tanbark.graph import Dag


@st.composite
def graphs(draw, *, most=12):
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    parents = [()] * n
    for place, node in enumerate(order):
        parents[node] = tuple(draw(st.lists(st.sampled_from(order[:place]), max_size=3))) if place else ()
    names = tuple(f"{'x' * draw(st.integers(1, 30))}{node}" for node in range(n))
    return Dag(names, tuple(parents))


def naive(n):
    return Dag.augmented([*(f"x{i}" for i in range(n)), "class"], [()] * n)


@settings(max_examples=40)
@given(graphs(), st.booleans())
def test_boxes_do_not_overlap_and_arcs_point_down(dag, with_class):
    layout = layered_layout(dag, len(dag.names) - 1 if with_class else -1)
    boxes = list(zip(layout.centers, layout.widths, strict=True))
    for (a, wide), (b, broad) in combinations(boxes, 2):
        assert abs(a[1] - b[1]) >= layout.height or abs(a[0] - b[0]) >= (wide + broad) / 2
    for (x, y), width in boxes:
        assert 0 <= x - width / 2 < x + width / 2 <= layout.size[0]
        assert 0 <= y - layout.height / 2 < y + layout.height / 2 <= layout.size[1]
    arcs = {(p, c) for c, parents in enumerate(dag.parents) for p in parents}
    assert set(layout.routes) == arcs
    for (parent, child), route in layout.routes.items():
        assert route[0] == (layout.centers[parent][0], layout.centers[parent][1] + layout.height / 2)
        assert route[-1] == (layout.centers[child][0], layout.centers[child][1] - layout.height / 2)
        heights = [y for _, y in route]
        assert heights == sorted(heights)
        assert heights[0] < heights[-1]


@settings(max_examples=20)
@given(graphs())
def test_the_same_graph_is_laid_out_alike(dag):
    assert layered_layout(dag) == layered_layout(dag)


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


@pytest.mark.parametrize(("n", "drawn"), [(15, 15), (16, 0)])
def test_the_arcs_of_the_class_are_left_out_where_they_are_many(n, drawn):
    layout = layered_layout(naive(n), n)
    assert len(layout.routes) == drawn
    assert len(layout.hidden) == n - drawn
    assert len(layered_layout(naive(n), n, class_arcs=True).routes) == n
    assert not layered_layout(naive(n), n, class_arcs=False).routes


def test_a_wide_layer_is_broken():
    layout = layered_layout(naive(60), 60)
    rows = {y for _, y in layout.centers}
    assert len(rows) > 3
    assert layout.size[0] < 1500


def test_long_names_are_shortened():
    layout = layered_layout(Dag(("a name that is much too long to be drawn",), ((),)))
    assert layout.labels == ("a name that is much too…",)
