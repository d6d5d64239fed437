"""Weighted naive Bayes against ``wanbia.py`` beside this file, a script without Tanbark (numpy 2.4.6, scipy 1.17.1)."""

import pytest
from pytest import approx
from sklearn.datasets import load_breast_cancer

import tanbark as tb


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :10]
    return (X.median() < X).astype(int), y


def test_plain_and_optimal_weights(table):
    assert tb.NaiveBayes(parameters=1).fit(*table).conditional_log_likelihood(*table) == approx(-292.705132, abs=5e-7)
    clf = tb.NaiveBayes(parameters=tb.WANBIA(smoothing=1)).fit(*table)
    assert clf.conditional_log_likelihood(*table) == approx(-133.169987, abs=5e-7)
    assert clf.parameters_.objective_ == approx(-133.169987, abs=5e-7)
    expected = [0.3308, 1.0, 0.0, 0.5068, 0.729, 0.0, 0.4928, 0.3612, 0.3087, 0.0]
    assert list(clf.parameters_.weights_.values()) == approx(expected, abs=1e-3)


def test_renormalised_tables_keep_the_weights(table):
    """``normalize=True`` keeps the weights that are best without it; the renormalised model has better ones."""
    clf = tb.NaiveBayes(parameters=tb.WANBIA(normalize=True, smoothing=1)).fit(*table)
    assert clf.conditional_log_likelihood(*table) == approx(-136.762614, abs=2e-5)
    assert clf.conditional_log_likelihood(*table) < -134.787356
