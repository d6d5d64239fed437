"""Prediction with context trees against dense networks and enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.inference import sparse_kernels, sparse_network
from tanbark.params.hierarchical.context_tree import dense, fit_tree


def model(seed, n_features=5, n_parents=2, n_classes=3, n_rows=80, sizes=None):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, n_features).tolist() if sizes is None else sizes
    states = [*sizes, n_classes]
    codes = np.array([rng.integers(0, size, n_rows) for size in states], np.uint8)
    order = rng.permutation(n_features).tolist()
    parents, trees = [()] * n_features, [None] * n_features
    for place, f in enumerate(order):
        chosen = rng.permutation(order[:place])[:n_parents].tolist()
        parents[f] = (n_features, *chosen)
        trees[f] = fit_tree(codes, f, parents[f], states)[0]
    return sparse_network.lay_out_trees(trees, parents, states, order), trees, parents, states, codes


def enumerated(trees, parents, states, row, n_classes):
    """Sum the product of dense CPTs over all states of the missing features."""
    n = len(trees)
    cpts = [dense(tree) for tree in trees]
    ranges = [range(states[f]) if row[f] >= states[f] else [int(row[f])] for f in range(n)]
    total = np.zeros(n_classes)
    for full in itertools.product(*ranges):
        for c in range(n_classes):
            p = 1.0
            for f in range(n):
                p *= cpts[f][(c, *(full[q] for q in parents[f][1:]), full[f])]
            total[c] += p
    return np.log(total)


@given(st.integers(0, 10_000), st.integers(0, 3), st.sampled_from([0.0, 0.3, 0.7]))
@settings(max_examples=40)
def test_missing_values_are_summed_out_exactly(seed, n_parents, rate):
    network, trees, parents, states, codes = model(seed, n_parents=n_parents)
    rng = np.random.default_rng(seed)
    rows = codes[:5, :6].copy()
    rows[rng.random(rows.shape) < rate] = 255
    found = sparse_network.log_likelihoods(network, rows)
    for row in range(6):
        np.testing.assert_allclose(
            found[row], enumerated(trees, parents, states, rows[:, row], 3), rtol=1e-9, atol=1e-12
        )


def test_a_row_without_values_has_probability_one():
    network, *_ = model(1)
    np.testing.assert_allclose(sparse_network.log_likelihoods(network, np.full((5, 2), 255, np.uint8)), 0.0, atol=1e-12)


def test_results_do_not_depend_on_threads_or_blocks():
    network, *_, codes = model(2, n_features=8, n_rows=900)
    rows = codes[:8].copy()
    rows[np.random.default_rng(0).random(rows.shape) < 0.3] = 255
    one, two = (sparse_network.log_likelihoods(network, rows, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def reduced(network, codes, most_entries, most_summed=48):
    out = np.zeros((codes.shape[1], 3))
    left = np.zeros(len(out), np.bool_)
    sparse_kernels.add_complete(codes, network, 0, len(out), out, left)
    rows = np.flatnonzero(left)
    sparse_kernels.add_incomplete(codes, network, most_entries, most_summed, np.empty(1 << 12), rows, out)
    return out


@pytest.mark.parametrize("limits", [(1, 48), (1 << 14, 0)])
def test_beyond_the_limit_missing_parents_are_left_out(limits):
    network, trees, parents, _states, codes = model(3, n_features=6, n_parents=3)
    rows = codes[:6, :20].copy()
    rows[np.random.default_rng(1).random(rows.shape) < 0.4] = 255
    found = reduced(network, rows, *limits)
    for row in range(20):
        expected = np.zeros(3)
        for f, tree in enumerate(trees):
            if rows[f, row] == 255:
                continue
            for c in range(3):
                v, level = 0, 0
                while level < len(parents[f]):
                    state = c if level == 0 else rows[parents[f][level], row]
                    if state == 255:
                        break
                    deeper = tree.children[tree.starts[level] + (v - tree.levels[level]) * tree.states[level] + state]
                    if deeper < 0:
                        break
                    v, level = deeper, level + 1
                expected[c] += np.log(tree.probabilities[v, rows[f, row]])
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-12)


def test_a_limit_in_between_stays_close_to_the_exact_sum():
    network, *_, codes = model(4, n_features=10, n_parents=3, n_rows=400)
    rows = codes[:10, :60].copy()
    rows[np.random.default_rng(1).random(rows.shape) < 0.3] = 255
    exact, close, far = (reduced(network, rows, most) for most in (1 << 14, 60, 1))
    assert np.abs(close - exact).mean() < np.abs(far - exact).mean()
