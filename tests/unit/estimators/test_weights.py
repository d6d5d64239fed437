"""A weight is a number of repeats, exactly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb

few = settings(max_examples=15)
pytestmark = pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")  # repeats alone can call for it

MODELS = {
    "NaiveBayes": tb.NaiveBayes,
    "TAN": tb.TAN,
    "TAN bic": lambda **options: tb.TAN(criterion="bic", **options),
    "FixedStructure": lambda **options: tb.FixedStructure([("class", "a"), ("a", "b"), ("c", "b")], **options),
}


def make_rows(seed, n=60, gaps=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "a": np.array(["u", "v", "w"])[(y + rng.integers(0, 2, n)) % 3],
            "b": np.round(rng.normal(y * 3, 1), 1),
            "c": rng.integers(0, 4, n).astype(float),
        }
    ).astype({"a": object})
    return frame.mask(rng.random(frame.shape) < gaps), y, rng


@few
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("discretize", ["mdlp", "mdlp+quantile", "quantile"])
def test_weights_are_repeats(name, discretize, seed):
    X, y, rng = make_rows(seed)
    times = rng.integers(1, 4, len(X))
    weighted = MODELS[name](discretize=discretize).fit(X, y, sample_weight=times)
    repeated = MODELS[name](discretize=discretize).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert weighted.schema_ == repeated.schema_
    assert weighted.dag_ == repeated.dag_
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@few
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", MODELS)
def test_rows_of_weight_zero_are_absent(name, seed):
    X, y, rng = make_rows(seed)
    weights = rng.integers(0, 2, len(X)) * rng.choice([0.5, 1.0, 2.5], len(X))
    weights[0] = 1.0
    kept = weights > 0
    all_rows = MODELS[name]().fit(X, y, sample_weight=weights)
    fewer = MODELS[name]().fit(X[kept], y[kept], sample_weight=weights[kept])
    assert all_rows.schema_ == fewer.schema_
    assert np.array_equal(all_rows.predict_proba(X[kept]), fewer.predict_proba(X[kept]))


@few
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", MODELS)
def test_two_halves_are_a_whole(name, seed):
    X, y, _ = make_rows(seed)
    halves = MODELS[name]().fit(pd.concat([X, X]), np.tile(y, 2), sample_weight=np.full(2 * len(X), 0.5))
    whole = MODELS[name]().fit(X, y)
    assert halves.schema_ == whole.schema_
    assert np.array_equal(halves.predict_proba(X), whole.predict_proba(X))


def test_categories_and_classes_of_weight_zero_are_unknown():
    X = pd.DataFrame({"word": ["a", "b", "ghost", "a"], "real": [0.5, 1.5, np.inf, 2.5]})
    clf = tb.NaiveBayes().fit(X, ["yes", "no", "phantom", "no"], sample_weight=[1, 1, 0, 1])
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.schema_.columns[0].levels == ("a", "b")
    with pytest.warns(tb.errors.UnseenCategoryWarning, match="'word': 1"):
        clf.predict(pd.DataFrame({"word": ["ghost"], "real": [1.0]}))


def test_a_column_observed_in_rows_of_weight_zero_only_is_empty():
    X = pd.DataFrame({"a": ["u", "v", "u"], "b": [np.nan, np.nan, 5.0]})
    with pytest.warns(tb.errors.EmptyColumnWarning, match=r"\['b'\]"):
        clf = tb.NaiveBayes().fit(X, [0, 1, 0], sample_weight=[1, 1, 0])
    assert clf.schema_.cardinalities == (2, 1, 2)


def test_one_weight_for_all_rows():
    X, y, _ = make_rows(1)
    thrice = tb.NaiveBayes().fit(X, y, sample_weight=3.0)
    assert np.array_equal(
        thrice.predict_proba(X), tb.NaiveBayes().fit(X, y, sample_weight=np.full(60, 3)).predict_proba(X)
    )
    assert np.array_equal(
        tb.NaiveBayes().fit(X, y, sample_weight=1).predict_proba(X), tb.NaiveBayes().fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("measure", ["log_likelihood", "conditional_log_likelihood", "bic", "aic"])
def test_measures_count_weights_as_repeats(measure):
    X, y, rng = make_rows(2)
    times = rng.integers(0, 4, len(X))
    clf = tb.TAN().fit(X, y)
    repeated = getattr(clf, measure)(X.loc[X.index.repeat(times)], y.repeat(times))
    assert getattr(clf, measure)(X, y, sample_weight=times) == pytest.approx(repeated)
