"""Draws from the posterior of context trees."""

import numpy as np
import pytest
from scipy import stats

from tanbark.estimators.reports.uncertainty import Levels
from tanbark.params.hierarchical import drawing_kernels as kernels
from tanbark.params.hierarchical.family import context_tree


@pytest.mark.parametrize("shape", [0.02, 0.3, 1.0, 2.5, 300.0])
def test_log_gamma_variates_have_their_distribution(shape):
    state = np.array([7], np.uint64)
    drawn = np.array([kernels.log_gamma(state, shape) for _ in range(4000)])
    rng = np.random.default_rng(0)
    wanted = np.log(rng.standard_gamma(shape + 1, 4000)) - rng.standard_exponential(4000) / shape
    assert stats.ks_2samp(drawn, wanted).pvalue > 0.001


def test_uniform_variates_stay_inside():
    state = np.array([0], np.uint64)
    drawn = np.array([kernels.uniform(state) for _ in range(4000)])
    assert 0 < drawn.min() < drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 0.001


@pytest.fixture(scope="module")
def family():
    """A node with the class and two more parents, the counts of which are few, and its tree."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 7, (2, 3, 3, 2)) * rng.integers(0, 2, (2, 3, 3, 2))
    tree, order = context_tree(counts, 2)
    return counts, tree, order


def test_moments_are_those_of_whole_cpts_drawn_level_by_level(family):
    counts, tree, order = family
    rng, levels = np.random.default_rng(0), Levels([counts], [2])
    drawn = np.array([levels.draw(rng)[0] for _ in range(8000)])
    assert order[0] == 3
    for cell in np.ndindex(*counts.shape):
        codes = np.array(cell)[:, None]
        mean, variance = kernels.moments(tree, np.array(order), codes, 0, cell[3], cell[2])
        part = drawn[(slice(None), *cell)]
        assert part.mean() == pytest.approx(mean, abs=0.012)
        assert part.var() == pytest.approx(variance, rel=0.12, abs=1e-4)


def test_a_missing_parent_ends_the_context(family):
    _, tree, order = family
    codes = np.zeros((4, 1), np.int64)
    codes[order[2]] = 255
    shorter = kernels.moments(tree, np.array(order), codes, 0, 1, 2)
    context = tree.children[tree.starts[1] + (tree.children[1] - tree.levels[1]) * tree.states[1]]
    assert shorter[0] == pytest.approx(tree.probabilities[context, 2])
    codes[order[1]] = 255
    assert kernels.moments(tree, np.array(order), codes, 0, 1, 2)[0] == pytest.approx(
        tree.probabilities[tree.children[1], 2]
    )


def test_drawn_entries_are_beta_variates(family):
    _, tree, order = family
    codes = np.array([[0, 1, 0], [1, 0, 1], [2, 255, 2], [0, 0, 0]])
    out = np.zeros((3, 5000, 2))
    kernels.add_drawn(codes[2], codes, np.array(order), tree, 5, 0, 3, out)
    assert (out[1] == 0).all()  # a missing value
    assert np.array_equal(out[0], out[2])  # no row depends on others
    for label in range(2):
        mean, variance = kernels.moments(tree, np.array(order), codes, 0, label, 2)
        drawn = np.exp(out[0, :, label]) * mean
        rows = mean * (1 - mean) / variance - 1
        assert stats.kstest(drawn, stats.beta(mean * rows, (1 - mean) * rows).cdf).pvalue > 0.001
