"""Tidy trees: no overlap, the order of children, centred parents, equal subtrees drawn alike."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from tanbark.draw.tree import tidy_tree

GAP = 6.0


@st.composite
def trees(draw, *, most=25):
    """Children by node, root 0, and a breadth for every box."""
    chosen = draw(st.lists(st.integers(0, 100), max_size=most))
    children = [[] for _ in range(len(chosen) + 1)]
    for node, choice in enumerate(chosen, start=1):
        children[choice % node].append(node)
    breadths = draw(st.lists(st.sampled_from([10.0, 17.0, 40.0]), min_size=len(children), max_size=len(children)))
    return children, breadths


@settings(max_examples=60)
@given(trees())
def test_boxes_of_a_level_keep_their_order_and_the_gap(tree):
    children, breadths = tree
    places, levels = tidy_tree(children, 0, breadths, gap=GAP)
    assert sorted(node for level in levels for node in level) == list(range(len(children)))
    for level, below in pairwise(levels):
        assert [child for node in level for child in children[node]] == below
    for level in levels:
        for left, right in pairwise(level):
            assert places[right] - places[left] >= (breadths[left] + breadths[right]) / 2 + GAP - 1e-9


@settings(max_examples=60)
@given(trees())
def test_parents_are_centred_and_the_tree_begins_at_zero(tree):
    children, breadths = tree
    places, _ = tidy_tree(children, 0, breadths, gap=GAP)
    for node, found in enumerate(children):
        if found:
            assert places[node] == approx((places[found[0]] + places[found[-1]]) / 2)
    assert min(places[node] - breadths[node] / 2 for node in places) == approx(0.0)


@settings(max_examples=40)
@given(trees(most=15))
def test_the_mirror_image_of_a_tree_is_drawn_as_its_mirror_image(tree):
    children, breadths = tree
    places, _ = tidy_tree(children, 0, breadths, gap=GAP)
    turned, _ = tidy_tree([found[::-1] for found in children], 0, breadths, gap=GAP)
    width = max(places[node] + breadths[node] / 2 for node in places)
    assert [turned[node] for node in places] == approx([width - places[node] for node in places])


@settings(max_examples=40)
@given(trees(most=10))
def test_equal_subtrees_are_drawn_alike(tree):
    children, breadths = tree
    n = len(children)
    twice = [[1, n + 1], *([child + 1 for child in found] for found in children)]
    twice += [[child + n + 1 for child in found] for found in children]
    places, _ = tidy_tree(twice, 0, [30.0, *breadths, *breadths], gap=GAP)
    shift = places[n + 1] - places[1]
    assert [places[node + n + 1] for node in range(n)] == approx([places[node + 1] + shift for node in range(n)])


def test_small_subtrees_stand_in_the_middle_between_large_ones():
    children = [[1, 2, 3], [4, 5, 6, 7], [], [8, 9, 10, 11], *[[]] * 8]
    places, _ = tidy_tree(children, 0, [10.0] * 12, gap=GAP)
    assert places[2] - places[1] == approx(places[3] - places[2])
    assert places[3] - places[1] == approx(4 * 16.0)


def test_a_chain_of_thousands_is_no_trouble():
    n = 2000
    places, levels = tidy_tree([[k + 1] for k in range(n - 1)] + [[]], 0, [10.0] * n, gap=GAP)
    assert len(levels) == n
    assert set(places.values()) == {5.0}
