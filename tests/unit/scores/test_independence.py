"""Statistics of independence against scipy and against their definitions."""

import numpy as np
import pytest
from scipy import stats

import naive_constraint
from tanbark.scores.independence import (
    Statistic,
    chi_square_statistic,
    g_statistic,
    log_tail,
    observed_degrees,
    shrunken_statistic,
)


@pytest.mark.parametrize("seed", range(5))
def test_statistics_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (3, 3, 4)) * (rng.random((3, 3, 4)) < 0.7)
    for statistic, power in ((g_statistic, "log-likelihood"), (chi_square_statistic, "pearson")):
        assert np.exp(log_tail(statistic(counts))) == pytest.approx(naive_constraint.p_value(counts, power))
    plain = 2 * counts.sum() * naive_constraint.shrunken_information(counts.astype(float))
    assert shrunken_statistic(counts) == pytest.approx((plain, 18.0))


def test_configurations_without_rows_may_be_left_out():
    counts = np.random.default_rng(0).integers(0, 5, (4, 2, 3))
    padded = np.concatenate([counts, np.zeros((3, 2, 3))])
    assert shrunken_statistic(counts, 7) == pytest.approx(shrunken_statistic(padded))
    assert g_statistic(padded) == pytest.approx(g_statistic(counts))
    assert observed_degrees(padded) == observed_degrees(counts)


def test_the_tail_does_not_vanish():
    for value, degrees in ((900.0, 3), (1200.0, 40), (3.0, 2)):
        assert log_tail(Statistic(value, degrees)) == pytest.approx(stats.chi2.logsf(value, degrees), rel=1e-9)
    far = [log_tail(Statistic(value, 5)) for value in (1e4, 1.1e4, 1e6)]
    assert np.isfinite(far).all()
    assert far == sorted(far, reverse=True)
    assert far[0] == pytest.approx(-5000 + 1.5 * np.log(5000) - np.log(0.75 * np.sqrt(np.pi)), abs=1e-3)
    assert log_tail(Statistic(0.0, 0)) == 0.0


def test_nothing_is_independent():
    assert g_statistic(np.zeros((2, 2, 2))).value == 0.0
    assert shrunken_statistic(np.zeros((2, 2, 2))).value == 0.0
    assert shrunken_statistic([[[1, 0], [0, 0]]]).value == 0.0
