"""Draws from a network and from its posterior."""

import numpy as np
import polars as pl
import pytest
from pytest import approx

import tanbark as tb
from networks import asia, five_nodes
from tanbark.inference.sampling import sample_codes


def test_samples():
    network = asia()
    drawn = network.sample(2000, {"dysp": "yes"}, random_state=7)
    assert drawn.equals(network.sample(2000, {"dysp": "yes"}, random_state=np.random.default_rng(7)))
    assert set(drawn["dysp"]) == {"yes"}
    fraction = (drawn["bronc"] == "yes").mean()
    assert fraction == approx(network.query("bronc", {"dysp": "yes"})["yes"], abs=0.04)
    assert len(network.sample(0)) == 0
    assert isinstance(network.sample(2, random_state=0, backend="polars"), pl.DataFrame)
    with pytest.raises(tb.errors.OptionError, match="number of rows"):
        network.sample(-1)
    assert network.log_likelihood(drawn) == approx(network.log_likelihood(drawn, per_row=True).sum())
    missing = drawn.assign(xray=None)
    assert network.log_likelihood(missing) == approx(network.log_likelihood(drawn.drop(columns="xray")))


def test_codes_are_drawn_from_the_joint_distribution():
    network, rng = five_nodes(), np.random.default_rng(0)
    codes = sample_codes(network, 20_000, {"D": 1}, soft={"E": [1, 3]}, rng=rng)
    assert (codes[3] == 1).all()
    expected = network.query(["A", "B"], {"D": 1}, soft={"E": [1, 3]}).values
    found = np.histogram2d(codes[0], codes[1], bins=2)[0] / codes.shape[1]
    assert found == approx(expected, abs=0.015)
