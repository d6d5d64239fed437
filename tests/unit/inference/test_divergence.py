"""Information in networks against sums over all joint states."""

import itertools
import math

import numpy as np
import pytest

import naive
import tanbark as tb
from strategies import make_network


def joint(network):
    sizes = network.schema.cardinalities
    found = np.ones(sizes)
    for states in itertools.product(*map(range, sizes)):
        for node, table in enumerate(network.tables):
            found[states] *= table[tuple(states[axis] for axis in network.axes(node))]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_divergence_is_that_of_the_joint_distributions(seed):
    first = tb.Network.random(4, kind="dag", width=2, random_state=seed)
    second = tb.Network.random(4, kind="anb", width=1, random_state=seed + 50)
    p, q = joint(first), joint(second)
    expected = float((p * np.log(p / q)).sum())
    assert first.kl_divergence(second) == pytest.approx(expected)
    assert first.kl_divergence(second, unit="bits") == pytest.approx(expected / math.log(2))
    assert first.kl_divergence(first) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_information_is_that_of_the_joint_distribution(seed):
    network = make_network(np.random.default_rng(seed), n_features=4)
    p = joint(network)
    names = network.dag.names
    pairs = np.moveaxis(p.sum(axis=4), (0, 2), (0, 1)).reshape(p.shape[0], p.shape[2], -1)
    assert network.mutual_information(names[0], names[2], [names[1], names[3]]) == pytest.approx(
        naive.cmi(pairs), abs=1e-12
    )
    plain = p.sum(axis=(1, 3, 4))[:, :, None]
    assert network.mutual_information(names[0], names[2], unit="bits") == pytest.approx(
        naive.cmi(plain) / math.log(2), abs=1e-12
    )


def test_what_cannot_be_compared_is_refused():
    small, large = tb.Network.random(2, random_state=0), tb.Network.random(3, random_state=0)
    with pytest.raises(tb.errors.InputError, match="same columns"):
        small.kl_divergence(large)
    with pytest.raises(tb.errors.InputError, match="none in common"):
        small.mutual_information("x0", "x0")
    with pytest.raises(tb.errors.OptionError, match="unit"):
        small.mutual_information("x0", "x1", unit="bans")
    sure = tb.Network.from_tables({"a": [0, 1]}, {"a": [1.0, 0.0]})
    even = tb.Network.from_tables({"a": [0, 1]}, {"a": [0.5, 0.5]})
    assert even.kl_divergence(sure) == math.inf
    assert sure.kl_divergence(even) == pytest.approx(math.log(2))
