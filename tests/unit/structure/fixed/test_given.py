"""A graph given by the user."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError
from tanbark.structure.fixed import given


@pytest.fixture
def counts():
    return MemoryCounts(make_table(np.random.default_rng(0), (2, 3, 2), 20))


def test_the_arcs_are_the_graph(counts):
    assert given.learn(counts, arcs=[("class", "x0"), ("x1", "x0")]).dag.parents == ((1, 2), (), ())
    assert given.learn(counts).dag.n_arcs == 0


def test_wrong_arcs_raise(counts):
    for arcs in ("x0", iter([("x0", "x1")])):
        with pytest.raises(OptionError, match="arcs must be a list of"):
            given.learn(counts, arcs=arcs)
    with pytest.raises(InputError, match="cycle"):
        given.learn(counts, arcs=[("x0", "x1"), ("x1", "x0")])
