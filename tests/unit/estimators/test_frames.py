"""The same rows in any container give the same model and the same predictions, to the last bit."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tanbark as tb

MODELS = {"NaiveBayes": tb.NaiveBayes, "TAN": tb.TAN}


def make_rows(n=80, *, gaps=0.15):
    """Draw columns of every kind, with gaps, that depend on the class."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    columns = {
        "word": rng.choice(["red", "green", "blue"], n).tolist(),
        "whole": (rng.integers(0, 4, n) + y).tolist(),
        "real": np.round(rng.normal(y * 2.0, 1), 2).tolist(),
        "truth": ((rng.random(n) < 0.5) ^ (y == 1)).tolist(),
    }
    holes = {name: rng.random(n) < gaps for name in columns}
    rows = {
        name: [None if gap else v for v, gap in zip(column, holes[name], strict=True)]
        for name, column in columns.items()
    }
    return rows, np.array(["no", "yes"])[y]


ROWS, Y = make_rows()
LISTS = list(zip(*ROWS.values(), strict=True))
PANDAS, POLARS, ARROW = pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS)

FRAMES = {
    "pandas object": PANDAS.astype(object),
    "pandas nullable": PANDAS.convert_dtypes(),
    "pandas arrow": ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas category": PANDAS.astype({"word": "category", "whole": "category", "truth": "category"}),
    "polars": POLARS,
    "polars categorical": POLARS.with_columns(pl.col("word").cast(pl.Categorical)),
    "polars enum": POLARS.with_columns(pl.col("word").cast(pl.Enum(["blue", "green", "red"]))),
    "pyarrow": ARROW,
    "pyarrow dictionary": ARROW.set_column(0, "word", ARROW["word"].dictionary_encode()),
}
ARRAYS = {
    "lists": [list(row) for row in LISTS],
    "tuples": LISTS,
    "array": np.array(LISTS, dtype=object),
    "array by columns": np.asfortranarray(np.array(LISTS, dtype=object)),
    "array of nan": np.array([[np.nan if v is None else v for v in row] for row in LISTS], dtype=object),
    "array of NA": np.array([[pd.NA if v is None else v for v in row] for row in LISTS], dtype=object),
}


@pytest.fixture(params=MODELS, ids=list(MODELS))
def make(request):
    return MODELS[request.param]


@pytest.mark.parametrize("kind", FRAMES)
def test_training_and_prediction_from_any_frame(make, kind):
    reference = make().fit(PANDAS, Y)
    expected = reference.predict_proba(PANDAS)
    other = make().fit(FRAMES[kind], Y)
    assert other.schema_ == reference.schema_
    assert np.array_equal(other.predict_proba(FRAMES[kind]), expected)
    assert np.array_equal(other.predict_proba(PANDAS), expected)
    assert np.array_equal(reference.predict_proba(FRAMES[kind]), expected)
    assert list(other.feature_names_in_) == list(ROWS)


@pytest.mark.parametrize("kind", ARRAYS)
def test_training_and_prediction_from_any_array(make, kind):
    expected = make().fit(PANDAS, Y).predict_proba(PANDAS)
    assert np.array_equal(make().fit(ARRAYS[kind], Y).predict_proba(ARRAYS[kind]), expected)


@pytest.mark.parametrize("dtype", ["i8", "u1", "i2", "f4", "f8", "O", ">i4"])
def test_number_types_do_not_matter(make, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 6, (60, 3)), rng.integers(0, 2, 60)
    expected = make().fit(X, y).predict_proba(X)
    assert np.array_equal(make().fit(X.astype(dtype), y).predict_proba(X.astype(dtype)), expected)
    assert np.array_equal(make().fit(np.asfortranarray(X.astype(dtype)), y).predict_proba(X), expected)
    wide = np.repeat(X, 2, axis=1).astype(dtype)[:, ::2]
    assert np.array_equal(make().fit(wide, y).predict_proba(wide), expected)


def test_booleans_are_a_table_too(make):
    rng = np.random.default_rng(1)
    X, y = rng.random((50, 3)) < 0.5, rng.integers(0, 2, 50)
    clf = make().fit(X, y)
    assert clf.schema_.columns[0].values == "boolean"
    assert np.array_equal(clf.predict_proba(X), make().fit(X.astype(int), y).predict_proba(X.astype(int)))
    with_gap = X[:2].astype(object)
    with_gap[0, 1] = None
    assert clf.predict_proba(with_gap)[1] == pytest.approx(clf.predict_proba(X[:2])[1], abs=1e-14)


@pytest.mark.parametrize("frame", [PANDAS, POLARS, ARROW], ids=["pandas", "polars", "pyarrow"])
def test_columns_are_matched_by_name(make, frame):
    clf = make().fit(frame, Y)
    turned = (
        frame.select(["truth", "real", "word", "whole"]) if not isinstance(frame, pd.DataFrame) else frame.iloc[:, ::-1]
    )
    assert np.array_equal(clf.predict_proba(turned), clf.predict_proba(frame))


def test_columns_with_numbers_for_names_are_matched_too():
    rng = np.random.default_rng(3)
    X, y = pd.DataFrame(rng.integers(0, [2, 3, 9], (40, 3))), rng.integers(0, 2, 40)
    clf = tb.NaiveBayes().fit(X, y)
    assert clf.schema_.names == ("0", "1", "2", "class")
    assert np.array_equal(clf.predict_proba(X[[2, 0, 1]]), clf.predict_proba(X))
    assert np.array_equal(clf.predict_proba(X.to_numpy()), clf.predict_proba(X))


def test_an_array_after_a_frame_is_matched_by_position_with_scikit_learns_warning():
    clf = tb.NaiveBayes().fit(PANDAS, Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        proba = clf.predict_proba(ARRAYS["array"])
    assert np.array_equal(proba, clf.predict_proba(PANDAS))


def test_a_frame_after_an_array_is_matched_by_position_with_scikit_learns_warning():
    clf = tb.NaiveBayes().fit(ARRAYS["array"], Y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        proba = clf.predict_proba(PANDAS)
    assert np.array_equal(proba, clf.predict_proba(ARRAYS["array"]))


@pytest.mark.parametrize("row", range(5))
def test_one_row_at_a_time_gives_the_same(make, row):
    clf = make().fit(PANDAS, Y)
    expected = clf.predict_proba(PANDAS)[[row]]
    for frame in (PANDAS.iloc[[row]], POLARS[row : row + 1], ARROW.slice(row, 1)):
        assert clf.predict_proba(frame) == pytest.approx(expected, abs=1e-14)


def test_unused_categories_are_states_of_the_model():
    levels = ["blue", "green", "red", "violet"]
    X = pd.DataFrame({"word": pd.Categorical(PANDAS["word"], categories=levels)})
    clf = tb.NaiveBayes(parameters="laplace").fit(X, Y)
    assert clf.schema_.columns[0].levels == tuple(levels)
    violet = clf.predict_proba(pd.DataFrame({"word": ["violet"]}))  # possible, so no warning
    counts = pd.Series(Y)[PANDAS["word"].notna()].value_counts()
    prior = pd.Series(Y).value_counts() + 1.0
    expected = np.array([prior[label] / (counts[label] + 4) for label in clf.classes_])
    assert violet[0] == pytest.approx(expected / expected.sum())


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(Y), pd.Series(Y, dtype=object), pd.Series(Y, dtype="string"), pd.Series(Y, dtype="category"),
        pl.Series(Y.tolist()), pl.Series(Y.tolist(), dtype=pl.Categorical), pa.array(Y.tolist()),
        pa.chunked_array([Y[:9].tolist(), Y[9:].tolist()]), Y.tolist(), tuple(Y.tolist()), Y.astype(object),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', '')}",
)  # fmt: skip
def test_labels_from_any_container(y):
    clf = tb.NaiveBayes().fit(PANDAS, y)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(clf.predict_proba(PANDAS), tb.NaiveBayes().fit(PANDAS, Y).predict_proba(PANDAS))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([0, 1], int), ([False, True], bool), ([1.0, 2.0], float), (["a", "b"], str), ([-5, 10**12], int)],
)
@pytest.mark.parametrize("as_objects", [False, True])
def test_labels_keep_their_type(labels, kind, as_objects):
    y = np.array([labels[k] for k in (Y == "yes").astype(int)], object if as_objects else None)
    predicted = tb.NaiveBayes().fit(PANDAS, y).predict(PANDAS).tolist()
    assert {type(label) for label in predicted} == {kind}
    assert set(predicted) == set(labels)


def test_the_class_is_called_what_the_labels_are_called():
    assert tb.NaiveBayes().fit(PANDAS, pd.Series(Y, name="target")).schema_.names[-1] == "target"
    assert tb.NaiveBayes().fit(PANDAS, pl.Series("target", Y.tolist())).schema_.names[-1] == "target"
    assert tb.NaiveBayes().fit(PANDAS, pd.Series(Y, name="word")).schema_.names[-1] == "word_"
    assert tb.NaiveBayes().fit(PANDAS, Y).schema_.names[-1] == "class"
