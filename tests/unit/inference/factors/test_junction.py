"""Junction trees: cliques, the running intersection, and the home of every family."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from pytest import approx

from networks import asia
from strategies import make_network, make_table, seeds
from tanbark.inference.factors import junction


@given(seeds)
@settings(max_examples=60)
def test_a_tree_has_the_running_intersection_property(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=int(rng.integers(1, 9)))
    tree = junction.junction_tree(network)
    for node, home in enumerate(tree.home):
        assert set(network.axes(node)) <= set(tree.scopes[home])
    for k, above in enumerate(tree.parent):
        assert above < 0 or above > k
        assert above < 0 or not set(tree.scopes[k]) <= set(tree.scopes[above])
    for column in range(len(network.dag.names)):
        holders = [k for k, scope in enumerate(tree.scopes) if column in scope]
        assert sum(tree.parent[k] not in holders for k in holders) == 1  # they are connected


def test_the_cliques_of_the_clinic():
    """Lauritzen and Spiegelhalter (1988), figure 2: six cliques of at most three variables."""
    network = asia()
    names = network.dag.names
    found = {frozenset(names[c] for c in scope) for scope in junction.junction_tree(network).scopes}
    assert {frozenset(("asia", "tub")), frozenset(("either", "xray")), frozenset(("bronc", "dysp", "either"))} < found
    assert len(found) == 6
    assert max(map(len, found)) == 3


def test_potentials_multiply_to_the_joint():
    network = make_network(np.random.default_rng(5), n_features=4)
    tree, sizes = junction.junction_tree(network), network.schema.cardinalities
    potentials = tree.potentials(network)
    ends = np.cumsum([0, *(math.prod(sizes[c] for c in scope) for scope in tree.scopes)])
    parts = [
        potentials[low:high].reshape([sizes[c] for c in scope])
        for low, high, scope in zip(ends, ends[1:], tree.scopes, strict=False)
    ]
    total = 0.0
    for states in itertools.product(*map(range, sizes)):
        total += math.prod(
            float(part[tuple(states[c] for c in scope)]) for part, scope in zip(parts, tree.scopes, strict=True)
        )
    assert total == approx(1.0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_expectations_count_complete_rows_once(missing):
    table = make_table(np.random.default_rng(6), (2, 3, 2, 2), 60, gaps=missing, weighted=True)
    network = make_network(np.random.default_rng(7), n_features=3)
    network = type(network)(table.schema, network.dag, tuple(
        np.full([table.schema.cardinalities[a] for a in network.axes(node)], 1 / table.schema.cardinalities[node])
        for node in range(4)
    ))  # fmt: skip
    found = junction.make_expectation(network, [table], 1)(network)
    direct = junction.expected_counts(junction.junction_tree(network), network, table.codes, table.weights, n_jobs=1)
    assert found.log_likelihood == approx(direct.log_likelihood)
    for ours, theirs in zip(found.counts, direct.counts, strict=True):
        assert ours == approx(theirs)
