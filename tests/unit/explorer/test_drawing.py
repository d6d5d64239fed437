"""The drawing as data: the strength of arcs against enumeration, and sizes of boxes."""

import json
import math
from itertools import product

import numpy as np
import pytest

import tanbark as tb
from networks import asia, five_nodes
from tanbark.explorer.drawing import FULL_UP_TO, MOST_DRAWN, arc_strengths, drawing
from tanbark.graph import Dag


def joint(network):
    """Every assignment of states with its probability."""
    sizes = network.schema.cardinalities
    for states in product(*map(range, sizes)):
        p = 1.0
        for node, table in enumerate(network.tables):
            p *= table[tuple(states[axis] for axis in network.axes(node))]
        yield states, p


def brute_information(network, child, parent):
    """I(child; parent | other parents) in bits, from sums over the whole joint distribution."""
    others = [p for p in network.dag.parents[child] if p != parent]
    sums = [{}, {}, {}, {}]
    for states, p in joint(network):
        rest = tuple(states[o] for o in others)
        keys = ((states[child], states[parent], rest), (states[child], rest), (states[parent], rest), rest)
        for found, key in zip(sums, keys, strict=True):
            found[key] = found.get(key, 0.0) + p
    whole, of_child, of_parent, of_rest = sums
    total = 0.0
    for (x, y, rest), p in whole.items():
        if p > 0:
            total += p * math.log2(p * of_rest[rest] / (of_child[x, rest] * of_parent[y, rest]))
    return total


@pytest.mark.parametrize("network", [asia(), five_nodes()])
def test_the_strength_of_an_arc_is_that_of_the_whole_joint_distribution(network):
    found = arc_strengths(network)
    assert [len(strengths) for strengths in found] == [len(parents) for parents in network.dag.parents]
    for child, parents in enumerate(network.dag.parents):
        for parent, bits in zip(parents, found[child], strict=True):
            assert bits == pytest.approx(brute_information(network, child, parent), rel=1e-3, abs=1e-9)


def test_the_strength_of_an_arc_of_a_classifier_is_that_of_the_whole_joint_distribution():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.integers(0, 3, 200), rng.integers(0, 2, 200) ^ y, (rng.random(200) < 0.7) ^ y])
    network = tb.KDB(2).fit(X, y).network_
    found = arc_strengths(network)
    for child, parents in enumerate(network.dag.parents):
        expected = [brute_information(network, child, parent) for parent in parents]
        assert found[child] == pytest.approx(expected, rel=1e-3, abs=1e-9)


def plain(n):
    names = tuple(f"v{k}" for k in range(n))
    schema = tb.table.Schema(tuple(tb.table.Column(name, levels=("a", "b")) for name in names), has_class=False)
    return tb.Network(schema, Dag(names, ((),) * n), (np.full(2, 0.5),) * n)


def drawn(network, names=None):
    return drawing(network, names or network.dag.names)


def test_beyond_some_hundreds_of_variables_there_is_no_drawing():
    assert drawn(plain(MOST_DRAWN + 1)) is None
    assert drawn(plain(300)) is not None


def test_few_variables_have_their_states_in_the_drawing():
    few, many = drawn(plain(FULL_UP_TO)), drawn(plain(FULL_UP_TO + 1))
    assert few["full"]
    assert not many["full"]
    assert few["boxes"][0][3] > many["boxes"][0][3] + 20


def test_boxes_are_as_wide_as_the_names_that_are_shown():
    short = drawn(plain(20))
    long = drawn(plain(20), ["a much longer name of it"] * 20)
    assert long["boxes"][0][2] > 2 * short["boxes"][0][2]
    assert long["labels"][0] == "a much longer name of it"


def test_a_drawing_of_hundreds_of_variables_is_small_in_the_page():
    n = 300
    names = tuple(f"v{k}" for k in range(n))
    parents = tuple(tuple(sorted({max(0, k - 1), max(0, k - 3)})) if k else () for k in range(n))
    schema = tb.table.Schema(tuple(tb.table.Column(name, levels=("a", "b")) for name in names), has_class=False)
    tables = tuple(np.full((2,) * (len(p) + 1), 0.5) for p in parents)
    found = drawn(tb.Network(schema, Dag(names, parents), tables))
    assert len(json.dumps(found)) < 200 * n
    assert all(isinstance(at, int) for arc in found["arcs"] for at in arc)
