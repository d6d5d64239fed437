"""Smoothings: their short forms, their options, and how they go through scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tanbark as tb
from tanbark.params import as_smoothing
from tanbark.params.smoothing import SHORT_FORMS

COUNTS = np.array([[3, 0, 9], [1, 0, 2]])
X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5


def test_every_short_form_is_a_smoothing():
    found = {name: as_smoothing(name, "laplace") for name in SHORT_FORMS}
    assert found == {
        "laplace": tb.Laplace(1.0), "bdeu": tb.BDeu(1.0), "k2": tb.K2(), "m-estimate": tb.MEstimate(1.0),
        "ml": tb.Laplace(0.0), "hierarchical": tb.Hierarchical(),
            "data-temperature": tb.DataTemperature(),
    }  # fmt: skip
    assert as_smoothing(None, "bdeu") == tb.BDeu()
    assert as_smoothing(np.float32(0.5), "bdeu") == tb.Laplace(0.5)
    assert as_smoothing(2, "bdeu") == tb.Laplace(2.0)


@pytest.mark.parametrize("value", [True, [1.0], tb.BDeu, b"bdeu", {}])
def test_what_is_no_smoothing_is_an_error(value):
    with pytest.raises(ValueError, match="smoothing must be a smoothing such as"):
        as_smoothing(value, "laplace", option="smoothing")


@pytest.mark.parametrize(
    ("smoothing", "mass"),
    [
        (tb.Laplace(0.5), 0.5),
        (tb.K2(), 1.0),
        (tb.BDeu(3.0), 0.5),
        (tb.MEstimate(2.0), 2 * np.array([[5, 1, 12]]) / 18),
    ],
)
def test_the_prior_mass_is_that_of_the_formula(smoothing, mass):
    assert smoothing.mass(COUNTS, 1) == pytest.approx(mass)
    stack = np.stack([COUNTS, COUNTS])
    assert np.broadcast_to(smoothing.mass(stack, 2, stacked=True), stack.shape) == pytest.approx(
        np.broadcast_to(mass, stack.shape)
    )


def test_options_are_set_and_cloned_as_scikit_learn_does_it():
    clf = tb.TAN(parameters=tb.BDeu(2.0)).set_params(parameters__ess=5.0)
    again = clone(clf)
    assert again.get_params()["parameters__ess"] == 5.0
    assert again.parameters == clf.parameters
    assert again.parameters is not clf.parameters
    assert repr(again) == "TAN(parameters=BDeu(ess=5.0))"
    with pytest.raises(ValueError, match="an option of BDeu must be one of"):
        clf.set_params(parameters__alpha=1.0)
    found = GridSearchCV(tb.NaiveBayes(parameters=tb.Laplace()), {"parameters__alpha": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert found.best_estimator_.smoothing_.alpha in (0.1, 1.0)
    nested = tb.NaiveBayes(parameters=tb.WANBIA(smoothing=tb.Laplace(2.0)))
    assert clone(nested).set_params(parameters__smoothing__alpha=3.0).fit(X, Y).smoothing_ == tb.Laplace(3.0)


def test_options_are_checked_in_fit():
    for parameters, message in ((tb.BDeu(-1), "ess must be"), (tb.MEstimate("2"), "m must be")):
        with pytest.raises(ValueError, match=message):
            tb.AODE(parameters=parameters).fit(X, Y)


@pytest.mark.parametrize("cls", [tb.NaiveBayes, tb.TAN, tb.GBN, tb.AODE])
def test_all_forms_give_the_same_model(cls):
    for several in ((1, 1.0, "laplace", "k2", tb.Laplace(), tb.K2()), (0, "ml", tb.Laplace(0)), ("bdeu", tb.BDeu(1.0))):
        models = [cls(parameters=parameters).fit(X, Y).predict_proba(X) for parameters in several]
        assert all(np.array_equal(found, models[0]) for found in models)


def test_expectation_maximisation_takes_the_smoothing():
    rows = [[0, None], [0, 1], [1, 0], [None, 1]] * 5
    short, long = tb.TAN(missing="em", parameters=0.5), tb.TAN(parameters=tb.EM(smoothing=0.5))
    assert np.array_equal(short.fit(rows, Y).predict_proba(X), long.fit(rows, Y).predict_proba(X))
    assert short.smoothing_ == tb.Laplace(0.5)
