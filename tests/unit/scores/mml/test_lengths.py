"""The lattice constants of two-part messages."""

import math

import numpy as np
import pytest
from pytest import approx

import fixtures_mml as known
from tanbark.scores import mml

fixtures = pytest.mark.parametrize(("data", "chosen", "lengths"), known.LENGTHS)
SIX = 6e-7  # the fixtures have six decimals


def test_the_lattice_constants_go_on_smoothly():
    steps = np.diff([mml.lattice(d) for d in range(30)])
    assert (steps < 0).all()
    assert abs(steps[9] - steps[10]) < 0.05
    assert mml.lattice(4) == approx(-3.138238, abs=SIX)
    smooth = -4.5 * math.log(2 * math.pi) + 0.5 * math.log(9 * math.pi) - 0.764
    assert mml.lattice(9) == approx(smooth, abs=2e-4)
    for d, moment in ((10, 0.070813), (12, 0.070100), (24, 0.065771)):  # the lattices P10c, K12 and Leech's
        assert mml.lattice(d) == approx(d / 2 * (1 + math.log(moment)), abs=0.04)


@pytest.mark.parametrize(
    ("d", "moment"),
    [(1, 1 / 12), (2, 5 / (36 * math.sqrt(3))), (3, 19 / (192 * 2 ** (1 / 3))), (4, 13 / (120 * math.sqrt(2)))],
)
def test_lattices_by_their_second_moments(d, moment):
    """Conway and Sloane (1999), table 2.3: the integers, and the lattices A2, A3* and D4."""
    assert mml.lattice(d) == approx(d / 2 * (1 + math.log(moment)), abs=1e-5)
