"""Enumeration of missing values: against the whole sum, and the rows that it leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from pytest import approx

import naive
from strategies import make_network, seeds
from tanbark.inference import layout, missing_kernels


def enumerate_rows(network, codes, most=1 << 14):
    out = np.zeros((codes.shape[1], network.schema.cardinalities[-1]))
    left = np.zeros(len(out), np.bool_)
    flat, logs = layout.flat_network(network), layout.flat_logarithms(network)
    missing_kernels.add_enumerated(codes, flat, logs, most, 0, len(out), out, left)
    return out, left


@given(seeds)
@settings(max_examples=60)
def test_enumeration_is_the_sum_over_all_missing_values(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=6)
    codes = np.stack([rng.integers(0, r, 8) for r in network.schema.cardinalities[:-1]]).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.5] = 255
    out, left = enumerate_rows(network, codes)
    assert not left.any()
    assert out == approx(np.log([naive.class_joint(network, row, 255) for row in codes.T]), abs=1e-10)


@pytest.mark.parametrize(("most", "expected"), [(0, True), (1, True), (2, False)])
def test_large_groups_are_left(most, expected):
    network = next(
        n for n in (make_network(np.random.default_rng(k), n_features=2, augmented=True) for k in range(50))
        if n.dag.parents[1] == (0, 2) and n.schema.cardinalities[0] == 2
    )  # fmt: skip
    out, left = enumerate_rows(network, np.array([[255], [0]], np.uint8), most)
    assert left.tolist() == [expected]
    assert (out == 0).all() == expected
    barren, left = enumerate_rows(network, np.array([[0], [255]], np.uint8), 0)
    assert not left.any()
    assert barren[0] == approx(np.log(network.tables[0][0] * network.tables[2]))


def test_zero_and_tiny_sums_are_left():
    network = make_network(np.random.default_rng(3), n_features=3, augmented=True)
    tables = [*network.tables]
    parents = next(node for node in range(3) if len(network.dag.parents[node]) > 1)
    tables[parents] = np.zeros_like(tables[parents])
    changed = type(network)(network.schema, network.dag, tuple(tables))
    codes = np.zeros((3, 1), np.uint8)
    codes[network.dag.parents[parents][0]] = 255
    assert enumerate_rows(changed, codes)[1].tolist() == [True]
