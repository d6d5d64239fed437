"""Naive Bayes as a graph."""

import numpy as np

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.fixed import naive


def test_the_class_is_the_only_parent():
    found = naive.learn(MemoryCounts(make_table(np.random.default_rng(0), (2, 1, 3, 2), 20)))
    assert found.dag.parents == ((3,), (3,), (3,), ())
    assert found.score is None
    assert found.history == ()
