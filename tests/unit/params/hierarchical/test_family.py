"""The contexts of one family: which parent comes first, and what is learnt from its counts."""

import numpy as np

from tanbark.params.hierarchical.family import class_information, context_tree, fit_family, parent_order
from tanbark.scores import mutual_information

RNG = np.random.default_rng(0)


def family(copied):
    """Return counts (parent, parent, node, class) in which the node is nearly the parent ``copied``."""
    counts = RNG.integers(0, 3, (2, 2, 2, 2))
    for state in range(2):
        counts[(state, slice(None), state) if copied == 0 else (slice(None), state, state)] += 50
    return counts


def test_the_class_comes_first_and_then_the_parent_that_says_more():
    assert parent_order(family(0), 2) == [3, 0, 1]
    assert parent_order(family(1), 2) == [3, 1, 0]
    assert context_tree(family(1), 2).order == [3, 1, 0]


def test_with_one_other_parent_there_is_nothing_to_order():
    assert parent_order(np.ones((2, 2, 2)), 1) == [2, 0]
    assert parent_order(np.ones((2, 2)), 0) == [1]


def test_the_prior_mass_has_the_shape_of_the_family_and_is_positive():
    found, mass = fit_family(family(0), 2)
    assert found.order == [3, 0, 1]
    assert mass.shape == (2, 2, 2, 2)
    assert (mass > 0).all()


def test_the_information_on_the_class_is_that_of_the_margin():
    counts = family(0)
    assert np.isclose(class_information(counts, 2), mutual_information(counts.sum(axis=(0, 1))))
