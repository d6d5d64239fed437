"""Pruning and min-fill, against slow twins."""

import itertools
import math

import numpy as np
from hypothesis import given, settings

from networks import asia
from strategies import make_network, seeds
from tanbark.graph.separation import ancestors
from tanbark.inference.factors import order_kernels
from tanbark.inference.factors.order_kernels import KEPT, SEEN, SUM
from tanbark.inference.layout import flat_network


def slow_order(network):
    """Eliminate by fewest absent links, then the smaller factor, then the lower column."""
    sizes, n = network.schema.cardinalities, len(network.dag.names)
    around = {node: set() for node in range(n)}
    for node in range(n):
        for a, b in itertools.permutations(network.axes(node), 2):
            around[a].add(b)
    order = []
    while around:

        def cost(c):
            absent = sum(b not in around[a] for a, b in itertools.combinations(around[c], 2))
            return absent, math.prod(sizes[k] for k in around[c]), c

        best = min(around, key=cost)
        near = around.pop(best)
        for a in near:
            around[a] = (around[a] | near) - {a, best}
        order.append((best, sorted(near)))
    return order


@given(seeds)
@settings(max_examples=60)
def test_the_order_is_min_fill(seed):
    network = make_network(np.random.default_rng(seed), n_features=7, max_states=4)
    flat, n = flat_network(network), 8
    found = order_kernels.best_order(flat.sizes, flat.cpts, np.ones(n, np.bool_), np.zeros(n, np.int8), n)
    around = np.split(found.around, found.bounds[1:-1])
    assert [(v, near.tolist()) for v, near in zip(found.variables.tolist(), around, strict=True)] == slow_order(network)
    assert found.largest == max(1, found.entries.max())


@given(seeds)
@settings(max_examples=40)
def test_what_is_unmarked_is_barren(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=7)
    flat, marked = flat_network(network), rng.random(8) < 0.2
    expected = ancestors(network.dag, np.flatnonzero(marked).tolist())
    order_kernels.mark_ancestors(flat.cpts, flat.children_first, marked)
    assert set(np.flatnonzero(marked).tolist()) == expected


def test_parts_that_only_scale_are_left_out():
    network = asia()
    names, flat = network.dag.names, flat_network(asia())
    phase = np.full(8, SUM, np.int8)
    phase[names.index("lung")], phase[names.index("smoke")], phase[names.index("bronc")] = KEPT, SEEN, SEEN
    used = order_kernels.relevant(flat, phase, np.zeros(8, np.bool_), np.zeros(8, np.bool_))
    assert {names[k] for k in np.flatnonzero(used)} == {"lung"}
    whole = order_kernels.relevant(flat, phase, np.zeros(8, np.bool_), np.ones(8, np.bool_))
    assert {names[k] for k in np.flatnonzero(whole)} == {"lung", "smoke", "bronc"}


def test_too_many_variables_have_no_order():
    flat = flat_network(asia())
    found = order_kernels.best_order(flat.sizes, flat.cpts, np.ones(8, np.bool_), np.zeros(8, np.int8), 7)
    assert np.isinf(found.largest)
    assert len(found.variables) == 0
