"""Class probabilities of training rows without themselves, as a user asks for them."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import InputError, OptionError


def make_rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    X = pd.DataFrame({"a": rng.integers(0, 3, n) + (y == "yes"), "b": rng.integers(0, 2, n)}).astype(float)
    return X.mask(rng.random(X.shape) < 0.1), pd.Series(y, name="y")


@pytest.mark.parametrize("options", [{}, {"temperature": 0.6}, {"class_prior": [0.3, 0.7]}, {"missing": "category"}])
def test_it_is_what_models_without_each_row_predict(options):
    X, y = make_rows()
    clf = tb.NaiveBayes(categorical_features="all", parameters="laplace", **options).fit(X, y)
    found = clf.leave_one_out_proba(X, y)
    for row in range(len(X)):
        weights = (np.arange(len(X)) != row).astype(float)
        weights[row] = 1e-12  # so that no category and no class is lost
        other = tb.NaiveBayes(categorical_features="all", parameters="laplace", **options).fit(X, y, weights)
        assert found[row] == pytest.approx(other.predict_proba(X.iloc[[row]])[0], rel=1e-9)


def test_rows_that_training_dropped_are_predicted_by_the_whole_model():
    X, y = make_rows()
    clf = tb.TAN(missing="drop").fit(X, y)
    found, lacking = clf.leave_one_out_proba(X, y), X.isna().any(axis=1)
    assert found[lacking] == pytest.approx(clf.predict_proba(X[lacking]))
    assert found[~lacking] == pytest.approx(clf.leave_one_out_proba(X[~lacking], y[~lacking]))


def test_measures():
    X, y = make_rows(n=200)
    clf = tb.NaiveBayes().fit(X, y)
    proba, found = clf.leave_one_out_proba(X, y), clf.leave_one_out_measures(X, y)
    right = proba[np.arange(len(y)), (y == "yes").astype(int)]
    assert found["log_loss"] == pytest.approx(-np.log(right).mean())
    assert found["accuracy"] == pytest.approx((clf.classes_[proba.argmax(axis=1)] == y).mean())
    assert set(found) == {"accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "calibration_error"}


def test_other_rows_and_other_models_are_errors():
    X, y = make_rows()
    clf = tb.TAN().fit(X[:20], y[:20])
    with pytest.raises(InputError, match="not among the rows"):
        clf.leave_one_out_proba(X, y)
    with pytest.raises(InputError, match="they must be as many"):
        clf.leave_one_out_proba(X[:20], y[:19])
    with pytest.raises(OptionError, match="cannot be taken out"):
        tb.NaiveBayes(parameters=tb.MANB()).fit(X, y).leave_one_out_proba(X, y)
