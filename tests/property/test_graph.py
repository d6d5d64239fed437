import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from tanbark.errors import InputError
from tanbark.graph import Dag, direct_forest, maximum_spanning_forest


@given(st.integers(1, 5), st.data())
@settings(max_examples=60)
def test_the_forest_is_the_heaviest_of_all(n, data):
    size = n * (n - 1) // 2
    weights = np.array(data.draw(st.lists(st.integers(-5, 9), min_size=size, max_size=size)), float)
    edges = maximum_spanning_forest(weights, n)
    place = {pair: k for k, pair in enumerate((i, j) for i in range(n) for j in range(i + 1, n))}
    assert sum(weights[place[edge]] for edge in edges) == naive.best_forest_weight(weights, n)


def test_zero_weights_are_kept_and_negative_ones_are_not():
    assert maximum_spanning_forest(np.zeros(3), 3) == [(0, 1), (0, 2)]
    assert maximum_spanning_forest(np.array([-1.0, -np.inf, -2.0]), 3) == []
    assert maximum_spanning_forest(np.zeros(0), 1) == []


def test_near_ties_go_to_the_earlier_pair():
    assert maximum_spanning_forest(np.array([1.0, 1.0 + 1e-12, 1.0 + 2e-12]), 3) == [(0, 1), (0, 2)]


@given(st.integers(2, 8), st.data())
def test_directed_forests_keep_their_edges_and_their_root(n, data):
    weights = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)))
    edges = maximum_spanning_forest(weights, n)
    root = data.draw(st.none() | st.integers(0, n - 1))
    parents = direct_forest(edges, n, root)
    assert sorted(tuple(sorted((child, p))) for child, ps in enumerate(parents) for p in ps) == edges
    assert root is None or parents[root] == ()
    Dag(tuple(map(str, range(n))), tuple(parents))


def test_cycles_and_strangers_are_refused():
    with pytest.raises(InputError, match="cycle"):
        Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "a")], "abc")
    with pytest.raises(InputError, match="cycle"):
        Dag.from_arcs([("a", "a")], "ab")
    with pytest.raises(InputError, match="Did you mean 'age'"):
        Dag.from_arcs([("agee", "sex")], ["age", "sex"])


def test_blanket_order_and_arcs():
    dag = Dag.from_arcs([("A", "C"), ("B", "C"), ("C", "D"), ("E", "D"), ("D", "F")], "ABCDEF")
    assert dag.markov_blanket("C") == ["A", "B", "D", "E"]
    assert dag.order == (0, 1, 2, 4, 3, 5)
    assert dag.arcs() == [("A", "C"), ("B", "C"), ("C", "D"), ("E", "D"), ("D", "F")]
