"""What takes long is said before it begins."""

import warnings

import numpy as np
import pytest

import tanbark as tb
from tanbark.errors import LongFitWarning
from tanbark.structure import LEARNERS, cost


def test_costs_are_those_of_learners_and_grow():
    assert set(cost.COSTS) <= set(LEARNERS)
    for name in cost.COSTS:
        here = cost.expected_seconds(name, 50, 2, 500)
        assert 0 < here < 2
        assert cost.expected_seconds(name, 5000, 2, 500) == pytest.approx(10_000 * here)
        assert cost.expected_seconds(name, 50, 2, 50_000) > here
    assert cost.expected_seconds("ban", 60, 500, 5000) > cost.LONG_SECONDS
    assert cost.expected_seconds("bnc2p", 60, 500, 5000) > cost.LONG_SECONDS
    for name in ("naive", "tan", "kdb", "spode", "skdb"):
        assert cost.expected_seconds(name, 5000, 500, 1e6) == 0


def test_a_long_fit_is_warned_of_before_it_begins(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 6)).astype(float), rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tb.GBN().fit(X, y)
    monkeypatch.setattr(cost, "LONG_SECONDS", 1e-9)
    with pytest.warns(LongFitWarning, match=r"'hill-climb' takes roughly .* with 6 features and 2 classes"):
        tb.GBN().fit(X, y)
    with pytest.warns(LongFitWarning, match="'ban'"):
        tb.BayesNetClassifier("ban").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tb.TAN().fit(X, y)
