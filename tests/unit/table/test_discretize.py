"""Cut points against slow twins, numpy, published values, and repeated rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from tanbark.errors import OptionError
from tanbark.table.discretize import (
    CUTTERS,
    LEAST_ROWS,
    mdlp,
    mdlp_quantile,
    median,
    quantile,
    random_quantile_cuts,
    uniform,
)

few = settings(max_examples=40)

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


# ------------------------------------------------------------------ the union of MDLP and quantiles


@st.composite
def many_values(draw):
    """Draw up to 800 numbers whose distribution depends on the class: continuous, rounded, or with a point mass."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_rows = draw(st.integers(1, 3)), draw(st.integers(1, 800))
    labels = rng.integers(0, n_classes, n_rows)
    values = np.round(rng.normal(labels * draw(st.sampled_from([0, 1, 4])), 1.0), draw(st.sampled_from([0, 1, 9])))
    values[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = draw(st.sampled_from([-9.0, 0.0, 9.0]))
    return values, labels, n_classes


def partition(values, cuts):
    return np.searchsorted(cuts, values, side="left").tolist()


def splits(values, cuts):
    """Return the numbers of rows at or below each cut."""
    return {int((values <= cut).sum()) for cut in cuts}


@few
@given(many_values(), st.integers(2, 12))
def test_the_union_is_that_of_mdlp_and_quantiles(rows, n_bins):
    values = rows[0]
    cuts, by_class = mdlp_quantile(*rows, n_bins=n_bins), mdlp(*rows)
    bins = min(n_bins, len(values) // LEAST_ROWS)
    by_rows = quantile(values, n_bins=bins) if bins >= 2 else NOTHING
    assert (np.diff(cuts) > 0).all()
    assert set(by_class) <= set(cuts) <= set(by_class) | set(by_rows)
    assert splits(values, cuts) == splits(values, by_class) | splits(values, by_rows)
    assert len(cuts) == len(splits(values, cuts))


@few
@given(many_values())
@pytest.mark.parametrize("move", [lambda x: 4.0 * x - 3.0, lambda x: x**3, np.exp, np.arctan])
def test_an_increasing_function_of_the_values_moves_the_cuts(move, rows):
    values, labels, n_classes = rows
    moved = move(values)
    if len(np.unique(moved)) == len(np.unique(values)):
        assert partition(moved, mdlp_quantile(moved, labels, n_classes)) == partition(values, mdlp_quantile(*rows))


@pytest.mark.parametrize(("rows", "most"), [(1, 1), (99, 1), (100, 2), (199, 3), (250, 5), (400, 8), (5000, 8)])
def test_few_rows_have_few_intervals(rows, most):
    noise = np.zeros(rows, int)
    assert len(mdlp_quantile(np.arange(float(rows)), noise, 1)) == most - 1
    assert len(mdlp_quantile(np.array([0.5]), noise[:1], 1, np.array([float(rows)]))) == 0
    assert len(mdlp_quantile(np.arange(100.0), np.zeros(100, int), 1, np.full(100, rows / 100))) == most - 1


@pytest.mark.parametrize("mass", [0.0, 0.5, 1.0])
def test_a_point_mass_is_cut_at_most_once(mass):
    rng = np.random.default_rng(0)
    values = np.where(np.arange(1000) % 10 == 0, rng.random(1000), mass)
    cuts = mdlp_quantile(values, np.zeros(1000, int), 1)
    assert cuts.tolist() == ([] if mass == 1.0 else [mass])


def test_two_values_are_parted_once():
    values = np.repeat([3.0, 4.0], [80, 70])
    assert mdlp_quantile(values, np.zeros(150, int), 1).tolist() == [3.0]
    assert mdlp_quantile(values, np.repeat([0, 1], [80, 70]), 2).tolist() == [3.5]


def test_no_values_are_not_cut():
    assert mdlp_quantile(NOTHING, np.zeros(0, int), 2).tolist() == []
    assert random_quantile_cuts(NOTHING, None, np.random.default_rng(0)).tolist() == []


# ------------------------------------------------------------------ random quantiles


@few
@given(many_values(), st.integers(2, 12), st.integers(0, 99))
def test_random_cuts_are_quantiles_of_the_rows(rows, n_bins, seed):
    values = rows[0]
    cuts = random_quantile_cuts(values, None, np.random.default_rng(seed), n_bins=n_bins)
    assert (np.diff(cuts) > 0).all()
    assert set(cuts) <= set(values) - {values.max()}
    assert len(cuts) <= max(0, min(n_bins, len(values) // LEAST_ROWS) - 1)
    again = random_quantile_cuts(values, None, np.random.default_rng(seed), n_bins=n_bins)
    assert again.tolist() == cuts.tolist()


@few
@given(many_values(), st.integers(0, 99))
def test_random_cuts_take_weights_as_repeats_and_rows_in_any_order(rows, seed):
    values, rng = rows[0], np.random.default_rng(seed)
    times, order = rng.integers(1, 4, len(values)), rng.permutation(len(values))
    repeated = random_quantile_cuts(np.repeat(values, times), None, np.random.default_rng(1))
    weighted = random_quantile_cuts(values[order], times[order].astype(float), np.random.default_rng(1))
    assert weighted.tolist() == repeated.tolist()


@few
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_random_levels_keep_their_distance(n_bins, seed):
    cuts = random_quantile_cuts(np.arange(10000.0), None, np.random.default_rng(seed), n_bins=n_bins)
    assert len(cuts) == n_bins - 1
    assert np.diff([0.0, *cuts + 1, 10000.0]).min() >= 10000 / (4 * n_bins) - 1


def test_random_levels_are_uniform_given_their_distance():
    """Compare their means with uniform draws that are rejected if two of them, or an end, are too near."""
    rng, values = np.random.default_rng(0), np.arange(2000.0)
    ours = np.array([random_quantile_cuts(values, None, rng, n_bins=4) for _ in range(4000)]) / 2000
    drawn = np.sort(rng.random((40000, 3)), axis=1)
    kept = drawn[np.diff(drawn, axis=1, prepend=0.0, append=1.0).min(axis=1) >= 1 / 16]
    assert ours.mean(axis=0) == pytest.approx([0.25, 0.5, 0.75], abs=0.01)
    assert ours.mean(axis=0) == pytest.approx(kept.mean(axis=0), abs=0.01)
    assert ours.std(axis=0) == pytest.approx(kept.std(axis=0), abs=0.01)


@pytest.mark.parametrize("n_bins", [1, 0, 2.5, "4", True, None])
def test_random_cuts_refuse_wrong_numbers_of_bins(n_bins):
    with pytest.raises(OptionError, match="n_bins must be a whole number of at least 2; got"):
        random_quantile_cuts(np.arange(9.0), None, np.random.default_rng(0), n_bins=n_bins)
