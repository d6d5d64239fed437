"""Priors of columns by name: distributions of one's own, and the rows of an expert."""

import numpy as np
import pytest

import tanbark as tb

X = [["no", "a"], ["yes", "b"], ["no", "c"], ["no", "a"], ["yes", "a"], ["no", "b"]]
Y = [0, 1, 0, 0, 1, 1]
EXPERT = {"x0": {0: {"no": 9, "yes": 1}, 1: {"no": 2, "yes": 6}}, "class": {0: 30, 1: 10}}


def test_a_distribution_of_ones_own_takes_the_place_of_the_marginal_one():
    smoothing = tb.MEstimate(4.0, distributions={"x1": {"a": 0.2, "b": 0.3, "c": 0.5}, "class": [0.9, 0.1]})
    clf, plain = (tb.NaiveBayes(parameters=p).fit(X, Y) for p in (smoothing, tb.MEstimate(4.0)))
    counts = clf.family_counts_[1]
    expected = (counts + 4 * np.array([[0.2], [0.3], [0.5]])) / (counts.sum(axis=0) + 4)
    assert clf.network_.table("x1") == pytest.approx(expected)
    assert clf.network_.table("class") == pytest.approx([(3 + 3.6) / 10, (3 + 0.4) / 10])
    assert np.array_equal(clf.network_.table("x0"), plain.network_.table("x0"))


def test_rows_of_an_expert_are_added_by_class():
    clf = tb.NaiveBayes(parameters=tb.PriorCounts(EXPERT, alpha=2.0)).fit(X, Y)
    assert clf.network_.table("x0") == pytest.approx(np.array([[12 / 13, 3 / 11], [1 / 13, 8 / 11]]))
    assert clf.network_.table("class") == pytest.approx([33 / 46, 13 / 46])
    assert clf.network_.table("x1") == pytest.approx((clf.family_counts_[1] + 2) / (3 + 6))
    listed = {"x0": [[9, 1], [2, 6]], "class": np.array([30, 10])}
    again = tb.NaiveBayes(parameters=tb.PriorCounts(listed, alpha=2.0)).fit(X, Y)
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_they_are_spread_over_other_parents_and_summed_without_the_class():
    arcs = [("class", "x1"), ("x1", "x0"), ("class", "x0")]
    clf = tb.FixedStructure(arcs, parameters=tb.PriorCounts(EXPERT)).fit(X, Y)
    counts = clf.family_counts_[0]  # x1, x0, class
    smooth = counts + np.array([[9, 2], [1, 6]]) / 3
    assert clf.network_.table("x0") == pytest.approx(smooth / smooth.sum(axis=1, keepdims=True))
    alone = tb.FixedStructure([("class", "x1")], parameters=tb.PriorCounts(EXPERT)).fit(X, Y)
    assert alone.network_.table("x0") == pytest.approx(np.array([4 + 11, 2 + 7]) / 24)


@pytest.mark.parametrize("smoothing", [tb.PriorCounts(EXPERT), tb.MEstimate(2.0, distributions={"x0": [0.5, 0.5]})])
def test_files_intervals_and_pages_know_them(smoothing, tmp_path):
    clf = tb.TAN(parameters=smoothing).fit(X, Y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.parameters == smoothing
    low, high = clf.predict_proba_interval(X, n_draws=50)
    assert ((low <= clf.predict_proba(X) + 1e-9) & (clf.predict_proba(X) <= high + 1e-9)).all()
    with pytest.raises(tb.errors.OptionError, match="Leave-one-out knows no way"):
        clf.leave_one_out_proba(X, Y)
    with pytest.raises(tb.errors.OptionError, match="AODE smooths all columns alike"):
        tb.AODE(parameters=smoothing).fit(X, Y)


def test_em_takes_the_rows_of_an_expert():
    gaps = [["no", "a"], [None, "b"], ["no", "c"], ["no", None], ["yes", "a"], ["no", "b"]]
    clf = tb.NaiveBayes(missing="em", parameters=tb.PriorCounts(EXPERT)).fit(gaps, Y)
    assert clf.predict_proba(gaps).sum(axis=1) == pytest.approx(1.0)


WRONG = {
    "no mapping": (tb.PriorCounts([1]), "counts must be a mapping from names of columns"),
    "no column": (tb.PriorCounts({"x9": {}}), "counts names 'x9', which is no column"),
    "no state": (tb.PriorCounts({"x0": {0: {"on": 1}, 1: {"no": 1}}}), "names 'on', which is none of its states"),
    "a state too few": (tb.PriorCounts({"x0": {0: {"no": 1}, 1: {"no": 1}}}), "has no value for .'yes'"),
    "a negative count": (tb.PriorCounts({"x0": [[1, -1], [1, 1]]}), "numbers of at least 0"),
    "no numbers": (tb.PriorCounts({"x0": [["a", 1], [1, 1]]}), "must be numbers of at least 0"),
    "a class too few": (tb.PriorCounts({"x0": [[1, 1]]}), "of 'class' must have a value for each of its 2 states"),
    "no distribution": (tb.MEstimate(1.0, distributions={"x0": [0.5, 0.6]}), "must add up to 1; they add up to 1.1"),
    "no pseudo-count": (tb.PriorCounts({}, alpha=-1), "alpha must be a number"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_priors_are_refused(kind):
    smoothing, message = WRONG[kind]
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.NaiveBayes(parameters=smoothing).fit(X, Y)
