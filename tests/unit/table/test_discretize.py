"""Cut points against slow twins, numpy, published values, and repeated rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from tanbark.table.discretize import CUTTERS, mdlp, median, quantile, uniform

few = settings(max_examples=40, deadline=None)

NOTHING = np.zeros(0)


def entropy(labels):
    shares = [labels.count(label) / len(labels) for label in set(labels)]
    return -sum(share * math.log2(share) for share in shares)


def slow_mdlp(values, labels):
    """Fayyad and Irani's recursion over sorted rows, from the paper's formulas."""
    rows = sorted(zip(values, labels, strict=True))
    splits = [k for k in range(1, len(rows)) if rows[k - 1][0] < rows[k][0]]
    if not splits:
        return []

    def parts(k):
        return [label for _, label in rows[:k]], [label for _, label in rows[k:]]

    def left_over(k):
        return sum(len(part) / len(rows) * entropy(part) for part in parts(k))

    best = min(splits, key=lambda k: round(left_over(k), 10))
    everything, (left, right) = [label for _, label in rows], parts(best)
    gain = entropy(everything) - left_over(best)
    told = sum(sign * len(set(part)) * entropy(part) for sign, part in [(1, everything), (-1, left), (-1, right)])
    price = (math.log2(len(rows) - 1) + math.log2(3 ** len(set(everything)) - 2) - told) / len(rows)
    if gain <= price:
        return []
    low, high = ([value for value, _ in part] for part in (rows[:best], rows[best:]))
    return [*slow_mdlp(low, left), (low[-1] + high[0]) / 2, *slow_mdlp(high, right)]


@st.composite
def labelled_values(draw):
    """Draw numbers whose distribution depends on the class, rounded so that some are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 150))
    labels = rng.integers(0, n_classes, n_rows)
    values = np.round(rng.normal(labels * draw(st.sampled_from([0, 1, 4])), 1.0), draw(st.integers(0, 2)))
    return values, labels, n_classes


@few
@given(labelled_values())
def test_mdlp_equals_the_recursion_of_the_paper(rows):
    values, labels, n_classes = rows
    expected = slow_mdlp(values.tolist(), labels.tolist())
    assert mdlp(values, labels, n_classes).tolist() == pytest.approx(expected)


def test_mdlp_finds_the_published_cut_points_of_iris():
    X, y = load_iris(return_X_y=True)
    published = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]  # near 2.45, 4.75 and 0.8, 1.75 by any program
    for column, cuts in zip(X.T, published, strict=True):
        assert mdlp(column, y, 3) == pytest.approx(cuts, abs=1e-9)


def test_mdlp_leaves_noise_alone():
    rng = np.random.default_rng(0)
    assert mdlp(rng.normal(size=500), rng.integers(0, 3, 500), 3).tolist() == []


def test_mdlp_cuts_at_the_lowest_of_equal_cuts():
    values, labels = np.arange(40.0), np.repeat([0, 1, 0, 1], 10)
    cuts = mdlp(values, labels, 2)
    assert cuts.tolist() == slow_mdlp(values.tolist(), labels.tolist())
    assert mdlp(-values, labels, 2).tolist() == slow_mdlp((-values).tolist(), labels.tolist())


def test_mdlp_with_more_classes_than_powers_of_three_fit_in_a_float():
    assert len(mdlp(np.arange(1400.0), np.arange(1400) // 2, 700)) < 1400


@few
@given(labelled_values(), st.integers(0, 99))
@pytest.mark.parametrize("name", CUTTERS)
def test_weights_are_repeats_and_rows_have_no_order(name, rows, seed):
    values, labels, n_classes = rows
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, len(values))
    repeated = CUTTERS[name](np.repeat(values, times), np.repeat(labels, times), n_classes, None)
    order = rng.permutation(len(values))
    weighted = CUTTERS[name](values[order], labels[order], n_classes, times[order].astype(float))
    assert weighted.tolist() == repeated.tolist()


@few
@given(labelled_values())
@pytest.mark.parametrize("name", CUTTERS)
def test_every_interval_holds_a_value(name, rows):
    values, labels, n_classes = rows
    cuts = CUTTERS[name](values, labels, n_classes, None)
    assert (np.diff(cuts) > 0).all()
    if len(cuts):
        assert values.min() <= cuts[0]
        assert cuts[-1] < values.max()


numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@few
@given(numbers)
def test_median_is_numpys(values):
    middle = float(np.median(values))
    expected = [middle] if middle < values.max() else []
    assert median(values).tolist() == pytest.approx(expected)


@few
@given(numbers, st.integers(2, 7))
def test_quantiles_are_numpys(values, n_bins):
    shares = np.arange(1, n_bins) / n_bins
    expected = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    assert quantile(values, n_bins=n_bins).tolist() == expected[expected < values.max()].tolist()


@few
@given(numbers, st.integers(2, 7))
def test_uniform_cuts_are_numpys(values, n_bins):
    expected = np.linspace(values.min(), values.max(), n_bins + 1)[1:-1]
    cuts = uniform(values, n_bins=n_bins)
    if values.max() - values.min() > 1e-3:
        assert cuts == pytest.approx(expected, rel=1e-9, abs=1e-6)
    else:
        assert len(cuts) <= n_bins - 1


@pytest.mark.parametrize("name", CUTTERS)
def test_a_constant_is_not_cut(name):
    assert CUTTERS[name](np.full(9, 0.1), np.arange(9) % 2, 2, None).tolist() == []


@pytest.mark.parametrize("name", CUTTERS)
@pytest.mark.parametrize("ends", [(-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2)), (0.0, 5e-324)])
def test_extreme_numbers_are_still_parted(name, ends):
    values, labels = np.repeat(ends, 20), np.repeat([0, 1], 20)
    cuts = CUTTERS[name](values, labels, 2, None)
    assert (np.searchsorted(cuts, ends[0]), np.searchsorted(cuts, ends[1])) == (0, len(cuts))
    assert len(cuts) >= 1
    assert np.isfinite(cuts).all()
