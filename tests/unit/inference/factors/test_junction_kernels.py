"""Propagation in a tree of two cliques, by hand."""

import numpy as np
from pytest import approx

from networks import five_nodes
from tanbark.inference.factors import junction, junction_kernels


def propagate(codes, weights):
    network = five_nodes()
    tree = junction.junction_tree(network)
    layout = tree.layout._replace(cliques=tree.layout.cliques._replace(values=tree.potentials(network)))
    out = np.zeros(layout.count_starts[-1])
    total, impossible = junction_kernels.expect_families(codes, weights, 0, codes.shape[1], layout, out)
    return total, impossible, np.split(out, layout.count_starts[1:-1])


def test_the_posterior_of_every_family():
    total, impossible, counts = propagate(np.array([[255], [255], [255], [1], [255]], np.uint8), np.array([2.0]))
    assert total == approx(2 * np.log(0.70136))
    assert impossible == 0
    assert counts[0].sum() == approx(2.0)
    by_state = counts[1].reshape(2, 2).sum(axis=0)  # (A, B)
    assert by_state[1] == approx(2 * 0.547935, abs=1e-5)


def test_impossible_rows_are_left_out():
    codes = np.array([[255, 0], [255, 0], [0, 0], [255, 0], [1, 0]], np.uint8)  # C = 0 excludes E = 1
    total, impossible, counts = propagate(codes, np.ones(2))
    assert impossible == 1
    assert counts[4].sum() == approx(1.0)
    assert total == approx(np.log(0.4 * 0.25 * 0.9 * 0.99))
