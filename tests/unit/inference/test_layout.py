"""One layout for all kernels: every entry of a factor is found by its strides."""

import itertools

import numpy as np
from hypothesis import given, settings

from strategies import make_network, seeds
from tanbark.graph import Network
from tanbark.inference import layout


def entry(factors, values, f, states, target):
    """Read factor f at some states, as the kernels do."""
    place = factors.starts[f]
    for at in range(factors.bounds[f], factors.bounds[f + 1]):
        column = factors.columns[at]
        assert column != target or (factors.strides[at] == 1 and at == factors.bounds[f + 1] - 1)
        place += states[column] * factors.strides[at]
    return values[place]


@given(seeds)
@settings(max_examples=30)
def test_entries_are_those_of_the_network(seed):
    network = make_network(np.random.default_rng(seed), n_features=4, zeros=True)
    sizes, target = network.schema.cardinalities, network.target
    flat, logs, merged = (
        layout.flat_network(network),
        layout.flat_logarithms(network),
        layout.merged_logarithms(network),
    )
    for states in itertools.product(*map(range, sizes)):
        total = 0.0
        for node, table in enumerate(network.tables):
            value = table[tuple(states[axis] for axis in network.axes(node))]
            assert entry(flat.cpts, flat.cpts.values, node, states, target) == value
            with np.errstate(divide="ignore"):
                total += np.log(value)
            assert flat.cpts.with_class[node] == (target in network.axes(node))
        assert np.isclose(sum(entry(flat.cpts, logs, node, states, target) for node in range(len(sizes))), total)
        found = sum(entry(merged, merged.values, f, states, target) for f in range(len(merged.with_class)))
        assert np.isclose(found, total)
    assert flat.zeros.tolist() == [bool((table == 0).any()) for table in network.tables]


def test_children_come_before_their_parents():
    network = make_network(np.random.default_rng(1), n_features=8)
    place = {node: k for k, node in enumerate(layout.flat_network(network).children_first.tolist())}
    assert all(place[child] < place[p] for child, parents in enumerate(network.dag.parents) for p in parents)


def test_a_layout_is_made_once_and_forgotten_with_its_network():
    made = []

    @layout.once_per_network
    def count(network):
        made.append(network.dag)
        return len(made)

    network = make_network(np.random.default_rng(2), n_features=2)
    assert count(network) == count(network) == 1
    again = Network(network.schema, network.dag, network.tables)
    assert count(again) == 2
    assert layout.flat_network(network) is layout.flat_network(network)


def test_only_trees_given_the_class_are_forests():
    rng = np.random.default_rng(3)
    tree = make_network(rng, n_features=6, max_parents=1, augmented=True)
    found = layout.forest(tree)
    above = [[p for p in parents if p != 6] for parents in tree.dag.parents[:6]]
    assert found.parent.tolist() == [parents[0] if parents else -1 for parents in above]
    inner = {p for parents in above for p in parents}
    assert set(found.inner.tolist()) == inner
    assert found.message_starts[-1] == sum(tree.schema.cardinalities[i] for i in inner) * tree.schema.cardinalities[6]
    weighted = Network(tree.schema, tree.dag, tree.tables, exponents=(1.0,) * 7)
    assert (layout.forest(weighted) is None) == any(above)
    drawn = (make_network(rng, n_features=6, augmented=True) for _ in range(20))
    general = next(network for network in drawn if any(len(parents) > 2 for parents in network.dag.parents))
    assert layout.forest(general) is None


def test_strides_and_ends():
    assert layout.strides_of((2, 0, 1), (2, 3, 4)) == {2: 6, 0: 3, 1: 1}
    assert layout.ends_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert layout.spread((2, 0), np.zeros((4, 2)), (0, 1, 2)).shape == (2, 1, 4)
