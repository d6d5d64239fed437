"""CPTs of least free energy: the definition, its limits, and the choice of the temperature."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tanbark as tb
from tanbark.params import DataTemperature, Laplace, estimate
from tanbark.params.data_temperature import best_gamma

FAMILIES = arrays.arrays(np.int64, (3, 4), elements=st.integers(0, 30))


def naive(row, gamma, alpha):
    n = sum(row)
    beta = n / (n + gamma) if n else 0.0
    weights = [(each + alpha) ** beta for each in row]
    return [each / sum(weights) for each in weights]


def naive_left_out(counts, gamma, alpha):
    total = 0.0
    for row in counts.tolist():
        for state, times in enumerate(row):
            if times:
                rest = [each - (k == state) for k, each in enumerate(row)]
                total += times * math.log(naive(rest, gamma, alpha)[state])
    return total


@given(FAMILIES, st.floats(0, 50), st.floats(0.01, 3))
def test_the_definition(counts, gamma, alpha):
    found = estimate(counts, 1, DataTemperature(gamma, alpha))
    assert found == pytest.approx(np.array([naive(row, gamma, alpha) for row in counts.tolist()]), abs=1e-12)
    assert (DataTemperature(gamma, alpha).mass(counts, 1) >= 0).all()
    turned = estimate(counts.T, 0, DataTemperature(gamma, alpha))
    assert turned == pytest.approx(found.T, abs=1e-14)


@given(FAMILIES)
def test_the_free_energy_is_least(counts):
    """No distribution nearby has less expected energy less entropy over the inverse temperature."""
    row = counts[0] + 0.5
    n = counts[0].sum()
    if n == 0:
        return
    beta = n / (n + 7.0)
    theta = estimate(counts, 1, DataTemperature(7.0))[0]

    def free(p):
        return float((p * -np.log(row)).sum() + (p * np.log(p)).sum() / beta)

    rng = np.random.default_rng(0)
    for _ in range(20):
        other = theta * np.exp(rng.normal(0, 0.05, len(theta)))
        assert free(other / other.sum()) >= free(theta) - 1e-9


def test_limits_of_the_rows():
    counts = np.array([[3, 1, 0]])
    many = estimate(counts * 10**7, 1, DataTemperature())
    assert many == pytest.approx(estimate(counts, 1, Laplace(0.0)), abs=1e-5)
    assert estimate(counts * 0, 1, DataTemperature()).tolist() == [[1 / 3] * 3]
    assert estimate(counts, 1, DataTemperature(0.0, 0.5)) == pytest.approx(estimate(counts, 1, Laplace(0.5)))
    assert estimate(counts, 1, DataTemperature(0.0, 0.0)) == pytest.approx(estimate(counts, 1, Laplace(0.0)))
    assert estimate(counts, 1, DataTemperature(1e15)) == pytest.approx(np.full((1, 3), 1 / 3))
    spread = [np.ptp(estimate(np.array([[n, 0]]), 1, DataTemperature(5.0, 0.5))) for n in range(9)]
    assert spread == sorted(spread)


@given(FAMILIES)
def test_gamma_has_the_best_leave_one_out_likelihood(counts):
    gamma = best_gamma(counts.astype(float), 0.5)
    if not counts.any():
        assert gamma == 0.0
        return
    own = naive_left_out(counts, min(gamma, 1e12), 0.5)
    for other in (0.0, *np.geomspace(0.01, 1e5, 15)):
        assert own >= naive_left_out(counts, other, 0.5) - 1e-3


def test_noise_is_hot_and_laws_are_cold():
    rng = np.random.default_rng(1)
    noise = np.array([np.bincount(rng.integers(0, 2, 4), minlength=2) for _ in range(400)], float)
    assert best_gamma(noise, 0.5) > 50
    assert best_gamma(np.array([[4.0, 0.0], [0.0, 4.0]] * 50), 0.5) == 0.0
    assert best_gamma(np.array([[0.25, 0.5]]), 0.5) >= 0  # less than a row


def test_stacked_families_are_alone_in_their_temperature():
    counts = np.random.default_rng(0).integers(0, 9, (4, 3, 2, 5))
    together = estimate(counts, 3, DataTemperature(), stacked=True)
    for one, found in zip(counts, together, strict=True):
        assert np.array_equal(estimate(one, 2, DataTemperature()), found)
    for one, found in zip(counts, estimate(counts, 1, DataTemperature(), stacked=True), strict=True):
        assert np.array_equal(estimate(one, 0, DataTemperature()), found)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    return np.column_stack([(y + rng.integers(0, 2, 60)) % 3, rng.integers(0, 3, 60), rng.normal(y)]), y


def test_models_files_pages_and_sql_have_it(rows, tmp_path):
    X, y = rows
    clf = tb.TAN(parameters="data-temperature").fit(X, y)
    assert clf.smoothing_ == DataTemperature()
    expected = estimate(clf.family_counts_[0], clf.network_.axes(0).index(0), DataTemperature())
    assert np.array_equal(clf.network_.tables[0], expected)
    clf.save(tmp_path / "model.json")
    assert np.array_equal(tb.load(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))
    assert "SELECT" in tb.export.to_sql(clf, table="rows")
    assert clf.explore().html
    low, high = clf.predict_proba_interval(X[:5], n_draws=40)
    assert (low <= high).all()
    for other in (tb.AODE(parameters=DataTemperature(3.0)), tb.KBestANB(2, parameters=DataTemperature())):
        assert other.fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert tb.NaiveBayes(parameters=DataTemperature(4, 1)).get_params()["parameters__gamma"] == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"gamma": -1}, "gamma"), ({"gamma": "hot"}, "gamma"), ({"alpha": -0.1}, "alpha"), ({"alpha": 0}, "above 0"),
        ({"gamma": None}, "gamma"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options, told, rows):
    with pytest.raises(tb.errors.OptionError, match=told):
        tb.NaiveBayes(parameters=DataTemperature(**options)).fit(*rows)
