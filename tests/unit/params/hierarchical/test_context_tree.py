"""Hierarchical CPTs against identities and slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln

from tanbark.params.hierarchical import context_kernels as kernels
from tanbark.params.hierarchical.context_tree import ContextTree, cut_tree, dense, fit_tree
from tanbark.params.hierarchical.shrinkage_kernels import shrink


def rows_of(seed, n=200, states=(3, 2, 4), missing=0.0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in states], np.uint8)
    codes[0] = (codes[0] * (rng.random(n) < 0.5) + codes[1] + codes[2]) % states[0]
    codes[:, :][rng.random(codes.shape) < missing] = 255
    return codes


def slow_evidence(tree, level, c):
    """Sum the Dirichlet-multinomial evidence of a level, less the prior of the concentration."""
    total = -0.01 * c
    for v in range(tree.levels[level], tree.levels[level + 1]):
        base = c * tree.probabilities[context_above(tree, level, v)]
        n = tree.counts[v]
        total += gammaln(c) - gammaln(c + n.sum()) + (gammaln(base + n) - gammaln(base)).sum()
    return total


def context_above(tree, level, v):
    at = np.flatnonzero(tree.children[tree.starts[level - 1] : tree.starts[level]] == v)[0]
    return tree.levels[level - 1] + at // tree.states[level - 1]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2]))
@settings(max_examples=30)
def test_distributions_sum_to_one_and_follow_the_recursion(seed, missing):
    tree, _ = fit_tree(rows_of(seed, missing=missing), 0, [1, 2], (3, 2, 4))
    np.testing.assert_allclose(tree.probabilities.sum(axis=1), 1.0)
    for level in (1, 2):
        for v in range(tree.levels[level], tree.levels[level + 1]):
            c, up = tree.concentrations[level], tree.probabilities[context_above(tree, level, v)]
            expected = (tree.counts[v] + c * up) / (tree.counts[v].sum() + c)
            np.testing.assert_allclose(tree.probabilities[v], expected, rtol=1e-9)


def test_deepest_counts_are_rows_and_upper_ones_are_expected_tables():
    codes = rows_of(3)
    tree, contexts = fit_tree(codes, 0, [1, 2], (3, 2, 4))
    for v in range(tree.levels[2], tree.levels[3]):
        np.testing.assert_array_equal(tree.counts[v], np.bincount(codes[0][contexts[2] == v], minlength=3))
    for v in range(tree.levels[1], tree.levels[2]):
        below = [u for u in range(tree.levels[2], tree.levels[3]) if context_above(tree, 2, u) == v]
        a = tree.concentrations[2] * tree.probabilities[v]
        tables = sum(
            np.where(tree.counts[u] > 0, np.clip(a * (digamma(a + tree.counts[u]) - digamma(a)), 1, tree.counts[u]), 0)
            for u in below
        )
        np.testing.assert_allclose(tree.counts[v], tables, rtol=0.02)  # the last sweep moved c a little


@pytest.mark.parametrize("seed", range(4))
def test_concentrations_maximise_the_evidence(seed):
    tree, _ = fit_tree(rows_of(seed, n=400), 0, [1, 2], (3, 2, 4))
    for level in (1, 2):
        found = minimize_scalar(
            lambda u, level=level: -slow_evidence(tree, level, np.exp(u)), bounds=(-6, 9), method="bounded"
        )
        best, own = -found.fun, slow_evidence(tree, level, tree.concentrations[level])
        assert own > best - 0.05


def test_a_deterministic_node_is_hardly_shrunk_and_an_independent_one_strongly():
    rng = np.random.default_rng(0)
    parent = rng.integers(0, 3, 600)
    copied = np.array([parent, parent], np.uint8)
    noise = np.array([rng.integers(0, 3, 600), parent], np.uint8)
    sure, _ = fit_tree(copied, 0, [1], (3, 3))
    vague, _ = fit_tree(noise, 0, [1], (3, 3))
    assert dense(sure)[np.arange(3), np.arange(3)].min() > 0.99
    assert sure.concentrations[1] < 1 < 20 < vague.concentrations[1]


def test_contexts_without_rows_read_the_longest_context_seen():
    codes = np.array([[0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 1, 0]], np.uint8)
    tree, _ = fit_tree(codes, 0, [1, 2], (2, 2, 3))
    cpt = dense(tree)
    assert cpt.shape == (2, 3, 2)
    np.testing.assert_array_equal(cpt[0, 2], tree.probabilities[tree.children[0]])
    np.testing.assert_array_equal(cpt[1, 1], tree.probabilities[tree.children[1]])


def test_a_context_of_one_row_reads_the_context_above_and_changes_no_other():
    codes = np.array([[0, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 2]], np.uint8)
    tree, contexts = fit_tree(codes, 0, [1, 2], (2, 1, 3))
    assert contexts[2].tolist() == [2, 2, 3, 3, 2, -1]
    np.testing.assert_array_equal(dense(tree)[0, 2], tree.probabilities[1])
    _, _, levels, above, all_of_them = kernels.grow(codes, np.array([1, 2]), np.array([1, 3]), np.zeros(0), 1.0)
    rows = kernels.count(codes[0], 2, np.zeros(0), all_of_them, len(above))
    _, _, probabilities, _ = shrink(rows, above, levels)
    np.testing.assert_allclose(probabilities[:4], tree.probabilities, atol=2e-3)  # sweeps end at a tolerance


def test_weights_are_repeats():
    codes = rows_of(5, n=60)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    weighted, _ = fit_tree(codes, 0, [1, 2], (3, 2, 4), weights.astype(float))
    repeated, _ = fit_tree(np.repeat(codes, weights, axis=1), 0, [1, 2], (3, 2, 4))
    np.testing.assert_allclose(dense(weighted), dense(repeated), rtol=1e-9)


def test_relabelling_states_permutes_the_cpt():
    codes = rows_of(7)
    turned = codes.copy()
    turned[0], turned[2] = 2 - codes[0], 3 - codes[2]
    one, two = (dense(fit_tree(c, 0, [1, 2], (3, 2, 4))[0]) for c in (codes, turned))
    np.testing.assert_allclose(one, two[:, ::-1, ::-1], rtol=1e-9)


def held(codes, tree, row):
    """Fit again without a row, concentrations held, the tables of all contexts settled again."""
    rest = np.delete(codes, row, axis=1)
    children, starts, levels, above, contexts = kernels.grow(rest, np.array([1, 2]), np.array([2, 4]), np.zeros(0), 2.0)
    rows = kernels.count(rest[0], 3, np.zeros(0), contexts, len(above))
    c = tree.concentrations
    p = np.full(rows.shape, 1 / 3)
    for _ in range(60):
        n = rows.copy()
        for level in (2, 1):
            for v in range(levels[level], levels[level + 1]):
                a = c[level] * p[above[v]]
                n[above[v]] += [kernels.passed_on(*pair) for pair in zip(n[v], a, strict=True)]
        p[0] = (n[0] + 0.5) / (n[0].sum() + 1.5)
        for level in (1, 2):
            for v in range(levels[level], levels[level + 1]):
                p[v] = (n[v] + c[level] * p[above[v]]) / (n[v].sum() + c[level])
    return dense(ContextTree(children, starts, np.array([2, 4]), levels, n, n.sum(axis=1), p, c))


def test_leave_one_out_is_close_to_refits_with_concentrations_held():
    codes = rows_of(11, n=120)
    tree, contexts = fit_tree(codes, 0, [1, 2], (3, 2, 4))
    out = np.zeros((120, 2))
    kernels.add_left_out(codes, 0, np.array([1, 2]), np.zeros(0), tree, contexts, out)
    for row in range(0, 120, 7):
        cpt = held(codes, tree, row)
        expected = np.log(cpt[:, codes[2, row], codes[0, row]])
        np.testing.assert_allclose(out[row], expected, atol=0.02)


def test_entries_are_those_of_the_dense_cpt():
    codes = rows_of(13)
    tree, _ = fit_tree(codes, 0, [1, 2], (3, 2, 4))
    out = np.zeros((200, 2))
    kernels.add_entries(codes[0], codes, np.array([1, 2]), tree, 0, 200, out)
    expected = np.log(dense(tree)[:, codes[2], codes[0]].T)
    np.testing.assert_allclose(out, expected)


def test_a_cut_tree_has_the_distributions_of_the_shorter_contexts():
    codes = rows_of(3, n=400)
    tree, _ = fit_tree(codes, 0, [1, 2], [3, 2, 4])
    for depth in range(3):
        short = cut_tree(tree, depth)
        full = dense(short)
        assert full.shape == (*[2, 4][:depth], 3)
        children, levels = tree.children, tree.levels
        for states in np.ndindex(*full.shape[:-1]):
            v = 0
            for level, state in enumerate(states):
                deeper = children[tree.starts[level] + (v - levels[level]) * tree.states[level] + state]
                if deeper < 0:
                    break
                v = deeper
            np.testing.assert_array_equal(full[states], tree.probabilities[v])
    np.testing.assert_array_equal(dense(cut_tree(tree, 2)), dense(tree))


@given(st.floats(0.01, 40), st.floats(0.0, 1.0), st.floats(0.001, 50))
def test_what_is_no_longer_passed_on_is_the_difference(n, part, a):
    for less in (min(n, 1.0), min(n, 1.0) * part):
        expected = kernels.passed_on(n, a) - kernels.passed_on(n - less, a)
        assert kernels.no_longer_passed_on(n, less, a) == pytest.approx(expected, abs=1e-6)
    if n > 2:
        whole = float(int(n))
        expected = kernels.passed_on(whole, a) - kernels.passed_on(whole - 1.0, a)
        assert kernels.no_longer_passed_on(whole, 1.0, a) == pytest.approx(expected, abs=1e-6)
