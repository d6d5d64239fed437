"""Tables at the edge of what makes sense still work sensibly."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import tanbark as tb

MODELS = {
    "NaiveBayes": tb.NaiveBayes,
    "TAN": tb.TAN,
    "TAN bic": lambda **options: tb.TAN(criterion="bic", **options),
    "FixedStructure": lambda **options: tb.FixedStructure([("class", "x0")], **options),
    "BayesNetClassifier": tb.BayesNetClassifier,
}


@pytest.fixture(params=MODELS, ids=list(MODELS))
def make(request):
    return MODELS[request.param]


def test_one_feature(make):
    clf = make(parameters="laplace").fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
    assert clf.predict([["a"], ["b"]]).tolist() == [0, 1]
    assert clf.predict_proba([["a"]])[0] == pytest.approx([0.75, 0.25])


def test_one_row(make):
    clf = make().fit([["a", 1.5]], ["only"])
    assert clf.predict([["a", 1.5], [None, None]]).tolist() == ["only", "only"]


def test_a_constant_feature_tells_nothing(make):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    with_constant = make().fit(np.column_stack([X, np.full(60, 7)]), y)
    assert with_constant.schema_.cardinalities[2] == 1
    proba = with_constant.predict_proba(np.column_stack([X, np.full(60, 7)]))
    assert proba == pytest.approx(make().fit(X, y).predict_proba(X), abs=1e-12)


def test_a_constant_continuous_feature_tells_nothing(make):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    with_constant = np.column_stack([X, np.full(60, 0.5)])
    assert make().fit(with_constant, y).predict_proba(with_constant) == pytest.approx(make().fit(X, y).predict_proba(X))


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_column_without_values_is_kept_and_tells_nothing(make, gap):
    X = pd.DataFrame({"x0": list("abab"), "x1": [1, 2, 2, 1], "empty": [gap] * 4})
    y = [0, 1, 0, 1]
    with pytest.warns(
        tb.errors.EmptyColumnWarning, match=r"no value in any row and carry no information about the class: \['empty'\]"
    ):
        clf = make().fit(X, y)
    assert clf.n_features_in_ == 3
    assert clf.schema_.names == ("x0", "x1", "empty", "class")
    assert clf.predict_proba(X) == pytest.approx(make().fit(X[["x0", "x1"]], y).predict_proba(X[["x0", "x1"]]))
    with pytest.warns(tb.errors.UnseenCategoryWarning, match="'empty': 4"):
        assert clf.predict_proba(X.assign(empty=5)) == pytest.approx(clf.predict_proba(X))


def test_a_single_class_is_always_predicted(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    clf = make().fit(X, ["sure"] * 30)
    assert set(clf.predict(X)) == {"sure"}
    assert clf.predict_proba(X).tolist() == [[1.0]] * 30
    assert clf.predict_log_proba([[None, None, None]]).tolist() == [[0.0]]


def test_a_class_with_one_row(make):
    X = [["a", 0]] * 20 + [["b", 1]]
    clf = make().fit(X, ["often"] * 20 + ["once"])
    assert clf.predict([["a", 0], ["b", 1]]).tolist() == ["often", "once"]
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_as_many_classes_as_rows(make):
    X = np.arange(30)[:, None]
    clf = make(categorical_features="all", suspicious="keep").fit(X, np.arange(30))
    assert clf.predict(X).tolist() == list(range(30))


def test_ten_thousand_categories():
    X = pd.DataFrame({"many": [f"item {k}" for k in range(10_000)] * 2, "few": ["a", "b"] * 10_000})
    y = np.repeat([0, 1], 10_000)
    y[::7] = 1
    for cls in (tb.NaiveBayes, tb.TAN):
        clf = cls().fit(X, y)
        assert clf.schema_.cardinalities == (10_000, 2, 2)
        assert clf.predict_proba(X[:100]).sum(axis=1) == pytest.approx(1)


def test_two_columns_of_ten_thousand_categories_in_a_tree_are_refused_by_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"left": np.arange(10_000), "right": rng.permutation(10_000)})
    y = rng.integers(0, 2, 10_000)
    tracemalloc.start()
    message = (
        r"'right' \(10,000 states\) given left \(10,000 states\), class \(2 states\) needs 200,000,000 cells, above max"
    )
    with pytest.raises(tb.errors.TableTooLargeError, match=message):
        tb.TAN(categorical_features="all", suspicious="keep").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # bytes: the table itself would need 1.6e9
    assert tb.NaiveBayes(categorical_features="all", suspicious="keep").fit(X, y).n_features_in_ == 2


def test_two_columns_of_ten_thousand_categories_are_refused_in_batches_too():
    X = np.column_stack([np.arange(10_000), np.arange(10_000)])
    tracemalloc.start()
    with pytest.raises(tb.errors.TableTooLargeError, match=r"'x0' \(10,000 states\).*200,000,000 cells"):
        tb.TAN(categorical_features="all", suspicious="keep").partial_fit(X, np.arange(10_000) % 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize("n_states", [254, 255, 256, 300, 1000])
def test_more_states_than_a_byte_holds(make, n_states):
    rng = np.random.default_rng(n_states)
    X = np.column_stack([np.tile(np.arange(n_states), 2), rng.integers(0, 2, 2 * n_states)])
    y = np.arange(2 * n_states) % n_states % 2
    clf = make(categorical_features="all", suspicious="keep").fit(X, y)
    assert clf.schema_.cardinalities[0] == n_states
    assert clf.family_counts_[0].sum() == 2 * n_states
    last = clf.predict_proba([[n_states - 1, None], [n_states - 2, None], [None, None]])
    assert last[0].argmax() == (n_states - 1) % 2
    assert last[1].argmax() == n_states % 2
    assert last.sum(axis=1) == pytest.approx(1)


def test_three_hundred_classes(make):
    X = np.column_stack([np.arange(600) % 300, np.arange(600) % 7])
    clf = make(categorical_features="all", suspicious="keep", parameters=0.01).fit(X, np.arange(600) % 300)
    assert clf.predict(X).tolist() == (np.arange(600) % 300).tolist()


@pytest.mark.parametrize("class_prior", [None, [0.1, 0.2, 0.7]])
@pytest.mark.parametrize("name", ["NaiveBayes", "TAN", "TAN bic"])
def test_rows_of_gaps_give_the_class_prior(name, class_prior):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    X = pd.DataFrame({"a": rng.choice(["u", "v"], 100), "b": rng.normal(y), "c": rng.integers(0, 3, 100)})
    clf = MODELS[name](class_prior=class_prior, parameters="laplace").fit(X, y)
    expected = class_prior or ((np.bincount(y) + 1) / 103).tolist()
    nothing = pd.DataFrame({"a": [None, np.nan], "b": [np.nan, None], "c": [pd.NA, None]})
    assert clf.predict_proba(nothing) == pytest.approx(np.array([expected, expected]), abs=1e-15)


def test_rows_of_unseen_values_give_the_class_prior():
    clf = tb.TAN(parameters="laplace").fit([["a", 1], ["b", 2], ["a", 1]], [0, 1, 0])
    with pytest.warns(tb.errors.UnseenCategoryWarning, match="2 values in 1 rows"):
        assert clf.predict_proba([["z", 9]])[0] == pytest.approx([3 / 5, 2 / 5], abs=1e-15)


def test_training_rows_of_gaps_only_move_the_class_prior():
    X, y = [["a", 1], ["b", 2], ["a", 2]], [0, 1, 0]
    clf = tb.NaiveBayes().fit([*X, [None, None]], [*y, 1])
    assert clf.network_.table("class") == pytest.approx([0.5, 0.5])
    assert clf.network_.table("x0") == pytest.approx(tb.NaiveBayes().fit(X, y).network_.table("x0"))


def test_the_callers_table_is_never_written_to(make):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 3, (40, 2)), rng.normal(size=(40, 2)), rng.integers(0, 3, (40, 2)).astype(object)]
    y, weights = rng.integers(0, 2, 40), rng.integers(0, 3, 40).astype(float)
    for X in arrays:
        before = X.copy(), y.copy(), weights.copy()
        make().fit(X, y, sample_weight=weights).predict_proba(X)
        for now, then in zip((X, y, weights), before, strict=True):
            assert np.array_equal(now, then)


def test_many_columns_that_never_vary():
    """Families with one state cost no entries when tables are joined, and an array has at most 64 axes."""
    y = np.arange(40) % 2
    X = np.column_stack([y, *[np.zeros(40, int)] * 150])
    clf = tb.NaiveBayes().fit(X, y)
    assert clf.predict_proba(X) == pytest.approx(tb.NaiveBayes().fit(X[:, :1], y).predict_proba(X[:, :1]))
