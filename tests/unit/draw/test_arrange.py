"""Whole drawings: nothing overlaps, trees keep the order of the columns, what has no arcs is in the tray."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.draw.arrange import arrange
from tanbark.graph import Dag

SIDES = (28.0, 60.0, 131.0)


def overlap(one, other):
    return (
        one[0] < other[0] + other[2] - 1e-6
        and other[0] < one[0] + one[2] - 1e-6
        and one[1] < other[1] + other[3] - 1e-6
        and other[1] < one[1] + one[3] - 1e-6
    )


@st.composite
def networks(draw, *, most=22, feature_parents=1):
    """Graphs whose last node is a class with arcs to all, to some or to none of the others, and boxes."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    reach = draw(st.sampled_from([0.0, 0.5, 1.0]))
    parents = [()] * (n + 1)
    for place, node in enumerate(order):
        found = draw(st.lists(st.sampled_from(order[:place]), max_size=feature_parents)) if place else []
        parents[node] = (*found, *((n,) if node < reach * n else ()))
    side = st.sampled_from(SIDES)
    boxes = draw(st.lists(st.tuples(side, side), min_size=n + 1, max_size=n + 1))
    return Dag(tuple(map(str, range(n + 1))), tuple(parents)), n, boxes


def check(found, dag, target, boxes):
    """Everything is drawn once, apart from the rest and within the drawing."""
    assert sorted(found.places) == list(range(len(dag.names)))
    assert all((width, height) == boxes[node] for node, (_, _, width, height) in found.places.items())
    for one, other in combinations(found.places.values(), 2):
        assert not overlap(one, other)
    frames = [*found.places.values(), *([found.tray] if found.tray else [])]
    for x, y, width, height in frames:
        assert x >= 0
        assert y >= 0
        assert x + width <= found.size[0] + 1e-6
        assert y + height <= found.size[1] + 1e-6
    drawn = {(p, c) for c, parents in enumerate(dag.parents) for p in parents if not (found.hidden and p == target)}
    assert set(found.routes) == drawn
    linked = {node for arc in drawn for node in arc}
    assert set(found.lone) == set(range(len(dag.names))) - linked - {target}
    for node, place in found.places.items():
        assert (found.tray is not None and overlap(place, found.tray)) == (node in found.lone)


@settings(max_examples=60)
@given(networks())
def test_forests_do_not_overlap_and_keep_the_order_of_the_columns(network):
    dag, target, boxes = network
    found = arrange(dag, target, boxes)
    check(found, dag, target, boxes)
    forest = all(sum(not (found.hidden and p == target) for p in parents) <= 1 for parents in dag.parents)
    if not forest or (not found.hidden and dag.children[target]):
        return
    for node, children in enumerate(dag.children):
        if found.hidden and node == target:
            continue
        for one, other in combinations(children, 2):
            (x, y, *_), (other_x, other_y, *_) = found.places[one], found.places[other]
            if found.sideways:
                same_side = (x < found.places[node][0]) == (other_x < found.places[node][0])
                assert not same_side or y < other_y
            else:
                assert x < other_x


@settings(max_examples=40)
@given(networks(feature_parents=3, most=14))
def test_other_graphs_do_not_overlap_and_arcs_point_down(network):
    dag, target, boxes = network
    found = arrange(dag, target, boxes)
    check(found, dag, target, boxes)
    for (parent, child), route in found.routes.items():
        for (x, y), node in ((route[0], parent), (route[-1], child)):
            left, top, width, height = found.places[node]
            assert left - 1e-6 <= x <= left + width + 1e-6
            assert top - 1e-6 <= y <= top + height + 1e-6
        if not found.sideways:
            assert found.places[parent][1] + found.places[parent][3] <= found.places[child][1]


@settings(max_examples=40)
@given(networks())
def test_arcs_of_trees_pass_no_other_box(network):
    dag, target, boxes = network
    found = arrange(dag, target, boxes, class_arcs=False)
    for (parent, child), route in found.routes.items():
        others = [place for node, place in found.places.items() if node not in (parent, child)]
        for (x0, y0), (x1, y1) in pairwise(route):
            for step in range(11):
                point = (x0 + (x1 - x0) * step / 10, y0 + (y1 - y0) * step / 10, 0.0, 0.0)
                assert not any(overlap(point, place) for place in others)


def tan(n, parent_of):
    return Dag.augmented([*(f"x{i}" for i in range(n)), "class"], [parent_of(i) for i in range(n)])


@pytest.mark.parametrize("n", [100, 300])
def test_a_bushy_tree_of_many_features_does_not_become_a_thin_strip(n):
    dag = tan(n, lambda i: ((i - 1) // 3,) if i else ())
    found = arrange(dag, n, [(100.0, 28.0)] * (n + 1))
    assert found.hidden == tuple(range(n))
    assert len(found.routes) == n - 1
    assert 0.3 < found.size[0] / found.size[1] < 4.0  # downwards it would be 20 times as wide as high or more


def test_the_class_with_many_children_stands_above_the_others():
    found = arrange(tan(20, lambda i: (i - 1,) if 0 < i < 18 else ()), 20, [(80.0, 28.0)] * 21)
    assert found.places[20][1] < min(found.places[node][1] for node in range(20))
    assert found.lone == (18, 19)
    rows = [found.places[node] for node in found.lone]
    assert rows[0][1] == rows[1][1] or rows[0][0] == rows[1][0]


def test_naive_bayes_of_many_features_is_the_class_and_a_tray():
    found = arrange(tan(40, lambda _: ()), 40, [(80.0, 28.0)] * 41)
    assert found.lone == tuple(range(40))
    assert not found.routes
    few = arrange(tan(5, lambda _: ()), 5, [(80.0, 28.0)] * 6)
    assert len(few.routes) == 5
    assert few.tray is None


def test_nothing_at_all_is_drawn_as_nothing():
    assert arrange(Dag((), ()), -1, []).places == {}
    alone = arrange(Dag(("class",), ((),)), 0, [(80.0, 28.0)])
    assert alone.places == {0: (8.0, 8.0, 80.0, 28.0)}
