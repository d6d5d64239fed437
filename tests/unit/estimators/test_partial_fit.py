"""Learning and forgetting step by step ends where learning all at once does."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb

few = settings(max_examples=15)

MODELS = {"NaiveBayes": tb.NaiveBayes, "TAN": tb.TAN, "TAN bic": lambda **options: tb.TAN(criterion="bic", **options)}


@pytest.fixture(params=MODELS, ids=list(MODELS))
def make(request):
    return MODELS[request.param]


def make_rows(seed, n=90):
    """Draw categories that depend on the class and on one another, with gaps; the later rows have more of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    word = (rng.integers(0, 3, n) + (np.arange(n) > n // 2) * 2 + y).astype(float)
    frame = pd.DataFrame(
        {"word": [f"w{int(k)}" for k in word], "number": word % 3, "other": rng.integers(0, 4, n) * 1.0}
    )
    return frame.astype({"word": object}).mask(rng.random(frame.shape) < 0.1), y, rng


def in_batches(make, X, y, ends, weights=None):
    clf, start = make(), 0
    for end in [*ends, len(X)]:
        part = None if weights is None else weights[start:end]
        clf.partial_fit(X.iloc[start:end], y[start:end], classes=[0, 1], sample_weight=part)
        start = end
    return clf


@few
@given(st.integers(0, 2**32 - 1), st.sets(st.integers(10, 80), max_size=3), st.booleans())
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::tanbark.errors.NaiveStructureWarning")  # of "TAN bic", in few rows
def test_batches_are_the_whole(name, seed, ends, weighted):
    X, y, rng = make_rows(seed)
    weights = rng.integers(1, 4, len(X)) if weighted else None
    whole = MODELS[name]().fit(X, y, sample_weight=weights)
    batches = in_batches(MODELS[name], X, y, sorted(ends), weights)
    assert [set(c.levels) for c in batches.schema_.columns] == [set(c.levels) for c in whole.schema_.columns]
    assert batches.n_parameters_ == whole.n_parameters_
    assert batches.dag_ == whole.dag_
    assert batches.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-12)


@few
@given(st.integers(0, 2**32 - 1), st.integers(20, 80))
@pytest.mark.parametrize("name", MODELS)
def test_forgotten_rows_were_never_learnt(name, seed, end):
    X, y, _ = make_rows(seed)
    X = pd.concat([X, X])  # so that no category vanishes with the rows
    y = np.tile(y, 2)
    clf = MODELS[name]().partial_fit(X, y).forget(X[:end], y[:end])
    never = MODELS[name]().fit(X[end:], y[end:])
    assert clf.dag_ == never.dag_
    assert np.array_equal(clf.predict_proba(X), never.predict_proba(X))


def test_forgetting_what_came_last_undoes_it(make):
    X, y, _ = make_rows(5)
    clf = make().fit(X, y)
    before = clf.predict_proba(X)
    clf.partial_fit(X[:30], y[:30], sample_weight=np.full(30, 2.0))
    assert not np.array_equal(clf.predict_proba(X), before)
    clf.forget(X[:30], y[:30], sample_weight=np.full(30, 2.0))
    assert np.array_equal(clf.predict_proba(X), before)


def test_fit_then_partial_fit_is_fit_on_all(make):
    X, y, _ = make_rows(6)
    clf = make().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert clf.predict_proba(X) == pytest.approx(make().fit(X, y).predict_proba(X), abs=1e-12)


def test_fit_begins_anew(make):
    X, y, _ = make_rows(7)
    clf = make().partial_fit(X, y).fit(X[:40], y[:40])
    assert np.array_equal(clf.predict_proba(X[:40]), make().fit(X[:40], y[:40]).predict_proba(X[:40]))


def test_columns_of_later_batches_are_matched_by_name(make):
    X, y, _ = make_rows(8)
    straight = make().partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    turned = make().partial_fit(X[:50], y[:50]).partial_fit(X[["other", "word", "number"]][50:], y[50:])
    assert np.array_equal(straight.predict_proba(X), turned.predict_proba(X))


def test_classes_may_come_later(make):
    X, y, _ = make_rows(9)
    clf = make().partial_fit(X[y == 1], y[y == 1], classes=[1, 0])
    assert clf.classes_.tolist() == [0, 1]
    clf.partial_fit(X[y == 0], y[y == 0])
    assert clf.predict_proba(X) == pytest.approx(make().fit(X, y).predict_proba(X), abs=1e-12)


def test_cut_points_of_the_first_batch_stay(make):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.normal(y * 3), rng.integers(0, 3, 200)])
    clf = make().partial_fit(X[:100], y[:100])
    cuts = clf.schema_.columns[0].cuts
    assert len(cuts) > 0
    clf.partial_fit(X[100:] * 2, y[100:])
    assert clf.schema_.columns[0].cuts == cuts
    assert clf.family_counts_[-1].tolist() == np.bincount(y).tolist()


@pytest.mark.parametrize("gaps", [None, np.nan])
def test_a_batch_of_gaps_leaves_a_column_as_it_was(make, gaps):
    X = pd.DataFrame({"real": np.arange(40) / 4, "word": ["a", "b"] * 20})
    y = np.repeat([0, 1], 20)
    clf = make().partial_fit(X, y)
    before = clf.schema_
    clf.partial_fit(X.assign(real=gaps), y)
    assert clf.schema_ == before
    assert clf.network_.table("class").tolist() == [0.5, 0.5]


def test_a_column_without_values_at_first(make):
    X = pd.DataFrame({"late": [None, None, None, None], "word": ["a", "b", "a", "b"]})
    y = [0, 1, 1, 0]
    with pytest.warns(tb.errors.EmptyColumnWarning, match="late"):
        clf = make().partial_fit(X, y)
    clf.partial_fit(X.assign(late=[1, 2, 1, 2]), y)
    assert clf.schema_.columns[0].levels == (1, 2)
    assert clf.predict_proba(X.assign(late=[1, 2, 1, 2])).sum(axis=1) == pytest.approx(1)


# ------------------------------------------------------------------ what is refused

X4 = pd.DataFrame({"a": list("uvuv"), "b": [1, 2, 2, 1]})
Y4 = [0, 1, 0, 1]


def test_unknown_labels_are_refused(make):
    message = r"y holds the label 2, which is none of the classes \[0, 1\].*partial_fit takes them as classes="
    with pytest.raises(tb.errors.InputError, match=message):
        make().partial_fit(X4, Y4).partial_fit(X4, [0, 1, 2, 1])
    with pytest.raises(tb.errors.InputError, match=r"the label 1, which is none of the classes \[0, 3\]"):
        make().partial_fit(X4, Y4, classes=[0, 3])


@pytest.mark.parametrize("labels", [[0], [0, 1], [0, 1, 0, 1, 0]])
def test_labels_of_another_number_are_refused_in_later_batches(make, labels):
    for learn in ("partial_fit", "forget"):
        clf = make().partial_fit(X4, Y4)
        with pytest.raises(tb.errors.InputError, match=f"X has 4 rows and y has {len(labels)} labels"):
            getattr(clf, learn)(X4, labels)


def test_rows_never_learnt_cannot_be_forgotten(make):
    clf = make().partial_fit(X4, Y4)
    before = clf.predict_proba(X4)
    with pytest.raises(tb.errors.InputError, match="rows that were never added"):
        clf.forget(pd.concat([X4, X4]), Y4 * 2)
    with pytest.raises(tb.errors.InputError, match="X holds 4 values that training never saw"):
        clf.forget(X4.assign(a="ghost"), Y4)
    assert np.array_equal(clf.predict_proba(X4), before)


def test_a_structure_drawn_by_hand_does_not_learn_in_batches():
    clf = tb.FixedStructure([("class", "a")])
    assert not hasattr(clf, "partial_fit")
    assert not hasattr(clf, "forget")
    assert hasattr(tb.TAN(), "partial_fit")
    assert not hasattr(tb.BayesNetClassifier("fixed"), "partial_fit")


def test_a_tree_without_kept_counts_says_how_to_begin():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 900, (2000, 2))
    clf = tb.TAN(categorical_features="all").fit(X, np.arange(2000) % 2)
    with pytest.raises(tb.errors.OptionError, match=r"TAN keeps no counts to add to.*begin with partial_fit"):
        clf.partial_fit(X, np.arange(2000) % 2)


BAD_BATCHES = {
    "strings for numbers": X4.assign(a="new", b="text"),
    "infinity": X4.assign(a="new", b=[1.0, np.inf, 2.0, 1.0]),
    "a lost column": X4[["a"]],
}


@pytest.mark.parametrize("kind", BAD_BATCHES)
def test_a_refused_batch_leaves_the_model_as_it_was(make, kind):
    clf = make().partial_fit(X4, Y4)
    schema, before = clf.schema_, clf.predict_proba(X4)
    with pytest.raises(tb.errors.InputError):
        clf.partial_fit(BAD_BATCHES[kind], Y4)
    assert clf.schema_ == schema
    with pytest.warns(tb.errors.UnseenCategoryWarning, match="'a': 4"):
        clf.predict_proba(X4.assign(a="new"))
    assert np.array_equal(
        clf.partial_fit(X4, Y4).predict_proba(X4), make().fit(pd.concat([X4, X4]), Y4 * 2).predict_proba(X4)
    )
    assert not np.array_equal(clf.predict_proba(X4), before)


def test_a_batch_too_large_for_max_cells_leaves_the_model_as_it_was():
    clf = tb.NaiveBayes(max_cells=10).partial_fit(X4, Y4)
    before = clf.predict_proba(X4)
    many = pd.DataFrame({"a": [f"new {k}" for k in range(8)], "b": 1})
    with pytest.raises(
        tb.errors.TableTooLargeError, match=r"'a' \(10 states\) given class \(2 states\) needs 20 cells"
    ):
        clf.partial_fit(many, [0, 1] * 4)
    assert clf.schema_ == clf.network_.schema
    assert np.array_equal(clf.predict_proba(X4), before)


def test_a_refused_fit_leaves_the_model_as_it_was():
    clf = tb.NaiveBayes(max_cells=10).fit(X4, Y4)
    before = clf.predict_proba(X4)
    many = pd.DataFrame({"a": [f"new {k}" for k in range(8)], "b": 1})
    with pytest.raises(tb.errors.TableTooLargeError):
        clf.fit(many, [0, 1] * 4)
    assert np.array_equal(clf.predict_proba(X4), before)
