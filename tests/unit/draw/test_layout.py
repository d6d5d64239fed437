"""Layered drawings: nothing overlaps, arcs point down, trees have no crossings."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
@given(graphs(), st.booleans(), st.lists(st.sampled_from([20.0, 33.0, 120.0]), min_size=24, max_size=24) | st.none())
def test_boxes_do_not_overlap_and_arcs_point_down(dag, with_class, sides):
    given = None if sides is None else list(zip(sides[:12], sides[12:], strict=True))[: len(dag.names)]
    layout = layered_layout(dag, len(dag.names) - 1 if with_class else -1, boxes=given)
    boxes = list(zip(layout.centers, layout.widths, layout.heights, strict=True))
    assert given is None or [size for _, *size in boxes] == [list(size) for size in given]
    for (a, wide, tall), (b, broad, high) in combinations(boxes, 2):
        assert abs(a[1] - b[1]) >= (tall + high) / 2 or abs(a[0] - b[0]) >= (wide + broad) / 2
    for (x, y), width, height in boxes:
        assert 0 <= x - width / 2 < x + width / 2 <= layout.size[0]
        assert 0 <= y - height / 2 < y + height / 2 <= layout.size[1]
    arcs = {(p, c) for c, parents in enumerate(dag.parents) for p in parents}
    assert set(layout.routes) == arcs
    for (parent, child), route in layout.routes.items():
        assert route[0] == (layout.centers[parent][0], layout.centers[parent][1] + layout.heights[parent] / 2)
        assert route[-1] == (layout.centers[child][0], layout.centers[child][1] - layout.heights[child] / 2)
        heights = [y for _, y in route]
        assert heights == sorted(heights)
        assert heights[0] < heights[-1]


@settings(max_examples=20)
@given(graphs())
def test_the_same_graph_is_laid_out_alike(dag):
    assert layered_layout(dag) == layered_layout(dag)


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
    assert layout.labels == ("a name that…to be drawn",)
