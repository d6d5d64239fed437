"""Adjusted p-values, ranks and measures against slow or other ways."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, friedmanchisquare
from scipy.stats import wilcoxon as scipy_wilcoxon
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, confusion_matrix, log_loss, roc_auc_score

import tanbark as tb
from tanbark.estimators import bayesian_signed_rank, hommel
from tanbark.estimators.catalogue import catalogue, make_classifier
from tanbark.estimators.classifier import TableClassifier
from tanbark.estimators.reports.measures import calibration, confusion, measure


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_hommel_is_the_closed_test_of_simes(p_values):
    p = np.array(p_values)
    slow = []
    for i in range(len(p)):
        sets = (s for k in range(1, len(p) + 1) for s in combinations(range(len(p)), k) if i in s)
        slow.append(max(np.min(len(s) * np.sort(p[list(s)]) / np.arange(1, len(s) + 1)) for s in sets))
    assert hommel(p) == pytest.approx(slow)


@pytest.mark.parametrize("values", [[1.2], [-0.1], [[0.1]], [np.nan]])
def test_what_is_no_p_value_is_refused(values):
    with pytest.raises(tb.errors.InputError):
        hommel(values)


def test_ranks_and_friedman():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=12) + shift for name, shift in (("a", 0), ("b", 1), ("c", 2))}
    found = tb.compare_scores(scores)
    assert found.names == ("c", "b", "a")
    assert found.friedman == pytest.approx(friedmanchisquare(*scores.values()).pvalue)
    assert found.p_values[0] == 1
    assert (found.pairwise == found.pairwise.T).all()
    lower = tb.compare_scores(scores, higher_is_better=False)
    assert lower.names == ("a", "b", "c")
    assert len(found.to_frame()) == 3


def test_folds_that_share_rows_make_the_test_more_careful():
    rng = np.random.default_rng(1)
    scores = {"a": rng.normal(size=10), "b": rng.normal(size=10) + 1}
    careful = tb.compare_scores(scores, test="resampled-t").p_values[1]
    naive = tb.compare_scores(scores, test="resampled-t", test_ratio=0.0).p_values[1]
    assert careful > naive


def test_equal_models_do_not_differ():
    same = [0.5, 0.7, 0.6]
    for test in ("wilcoxon", "resampled-t"):
        found = tb.compare_scores({"a": same, "b": same}, test=test)
        assert found.p_values.tolist() == [1, 1]
        assert found.groups() == [("a", "b")]


@pytest.mark.parametrize(
    "scores", [{}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": [np.nan], "b": [1.0]}, {"a": []}, {"a": [[1.0]]}]
)
def test_scores_that_cannot_be_compared_are_refused(scores):
    with pytest.raises(tb.errors.InputError):
        tb.compare_scores(scores)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_measures_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = np.array(list("abcd")[:n_classes])
    labels = rng.choice(classes, 60)
    proba = rng.dirichlet(np.ones(n_classes), 60).round(2)
    proba /= proba.sum(axis=1, keepdims=True)
    found = measure(labels, proba, classes)
    guess = classes[proba.argmax(axis=1)]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(labels, guess))
    assert found["log_loss"] == pytest.approx(log_loss(labels, proba, labels=classes))
    if n_classes == 2:
        assert found["brier"] == pytest.approx(brier_score_loss(labels == "b", proba[:, 1]))
        assert found["auc"] == pytest.approx(roc_auc_score(labels == "b", proba[:, 1]))
    else:
        assert found["auc"] == pytest.approx(roc_auc_score(labels, proba, multi_class="ovr"))
    assert confusion(labels, proba, classes).tolist() == confusion_matrix(labels, guess, labels=classes).tolist()
    bins = calibration(labels, proba, classes)
    assert bins.rows.sum() == 60
    assert 0 <= bins.error <= 1


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(1, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_bins_are_joined_and_their_intervals_are_those_of_scipy(n, n_bins, least, seed):
    rng = np.random.default_rng(seed)
    said = rng.beta(0.3, 0.7, n)
    proba, labels = np.column_stack([1 - said, said]), (rng.random(n) < said).astype(int)
    found = calibration(labels, proba, np.array([0, 1]), label=1, bins=n_bins, min_rows=least)
    assert found.rows.sum() == n
    assert (found.rows >= min(least, n)).all()
    low, high = found.intervals()
    for k, (start, stop) in enumerate(found.edges):
        inside = (said >= start - 1e-12) & ((said < stop - 1e-12) | (stop == 1.0))
        assert inside.sum() == found.rows[k]
        assert found.predicted[k] == pytest.approx(said[inside].mean())
        assert found.observed[k] == pytest.approx(labels[inside].mean())
        wilson = binomtest(int(labels[inside].sum()), int(inside.sum())).proportion_ci(0.95, method="wilson")
        assert (low[k], high[k]) == pytest.approx((wilson.low, wilson.high), abs=1e-9)


def test_a_comparison_names_its_metric_and_direction():
    scores = {"first <b>": [0.1, 0.2, 0.1], "second": [0.3, 0.3, 0.4]}
    lower = tb.compare_scores(scores, metric="log-loss", higher_is_better=False)
    for shown in (repr(lower), lower._repr_html_(), tb.plot.plot_comparison(lower).get_title()):
        assert "log-loss (lower is better)" in shown
    assert "first &lt;b&gt;" in lower._repr_html_()
    higher = tb.compare_scores(scores)
    assert higher.names[0] == "second"
    assert repr(higher).startswith("score (higher is better); 3 scores of each model, Wilcoxon")


def test_one_class_has_no_area():
    assert np.isnan(measure(np.array([0, 0]), np.array([[0.9, 0.1]] * 2), np.array([0, 1]))["auc"])


def test_every_classifier_is_in_the_catalogue():
    listed = {entry.estimator for entry in catalogue().values()}
    public = {name: getattr(tb, name) for name in tb.__all__}
    tables = {name for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, TableClassifier)}
    assert tables | {"ModelAveraging", "NetworkEnsemble", "Classifier"} == listed
    for name, entry in catalogue().items():
        assert entry.summary
        assert type(make_classifier(name)).__name__ == entry.estimator
        assert isinstance(entry.options, tuple)


def test_options_of_a_learner_by_name():
    assert make_classifier("selective-mml", {"alpha": 0.5}).get_params()["options"] == {"alpha": 0.5}
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'criterion'"):
        make_classifier("tan", {"criterium": "bic"})


# Demšar (2006), table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets
RANKS = {
    "C4.5": [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
    "m": [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
    "cf": [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
    "m+cf": [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
}


def test_the_worked_example_of_demsar():
    found = tb.compare_scores(RANKS, higher_is_better=False, test="friedman", control="C4.5")
    ranks = dict(zip(found.names, found.ranks, strict=True))
    assert ranks == pytest.approx({"C4.5": 3.143, "m": 2.0, "cf": 2.893, "m+cf": 1.964}, abs=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.reference == "C4.5"
    p = dict(zip(found.names, found.p_values, strict=True))
    assert p["C4.5"] == 1
    assert [p[name] for name in ("m+cf", "m", "cf")] == pytest.approx(hommel([0.0157, 0.0191, 0.6085]), abs=2e-3)
    assert "z-test of mean ranks against C4.5" in str(found)


def test_nemenyi_agrees_with_its_critical_difference():
    rng = np.random.default_rng(3)
    scores = {str(k): rng.normal(size=20) + 0.3 * k for k in range(5)}
    found = tb.compare_scores(scores, test="nemenyi")
    apart = np.abs(found.ranks[:, None] - found.ranks)
    off = ~np.eye(5, dtype=bool)
    assert np.array_equal((found.pairwise <= 0.05)[off], (apart >= found.critical_difference)[off])
    assert found.p_values == pytest.approx(found.pairwise[0])


def test_a_control_is_compared_with_all_others():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=12) + shift for name, shift in (("a", 0), ("b", 1), ("c", 2))}
    found = tb.compare_scores(scores, control="b")
    raw = [scipy_wilcoxon(scores[name], scores["b"]).pvalue for name in ("c", "a")]
    assert found.p_values == pytest.approx([hommel(raw)[0], 1.0, hommel(raw)[1]])
    with pytest.raises(tb.errors.OptionError, match="control, the name of a model"):
        tb.compare_scores(scores, control="d")


def test_the_bayesian_test_is_that_of_its_authors():
    """Probabilities that baycomp 1.0.3 gave (SignedRankTest.probs, prior strength 0.5 at 0, 50,000 draws)."""
    rng = np.random.default_rng(5)
    a, b = 0.8 + 0.05 * rng.random(15), 0.79 + 0.05 * rng.random(15)
    found = bayesian_signed_rank(a, b, rope=0.01)
    assert found == pytest.approx((0.4877, 0.5057, 0.0065), abs=0.01)
    turned = bayesian_signed_rank(b, a, rope=0.01)
    assert (turned.worse, turned.better) == pytest.approx((found.better, found.worse), abs=0.01)
    assert bayesian_signed_rank(a, a) == (0, 1, 0)
    compared = tb.compare_scores({"a": a, "b": b}, rope=0.01)
    assert compared.bayes[1] == pytest.approx(turned)
    assert "equivalent" in str(compared)
    assert list(compared.to_frame().columns[-3:]) == ["better", "equivalent", "worse"]
    with pytest.raises(tb.errors.InputError, match="same number of finite scores"):
        bayesian_signed_rank(a, b[:3])
