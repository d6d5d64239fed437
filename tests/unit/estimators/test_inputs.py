"""What cannot work is refused: the message says what was expected, what came, and what to do."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import tanbark as tb
from tanbark.errors import InputError
from tanbark.estimators import inputs

X = pd.DataFrame({"word": list("abab"), "whole": [1, 2, 2, 1], "real": [0.5, 1.5, 2.5, 3.5]})
Y = ["no", "yes", "no", "yes"]
ARRAY = X[["whole", "real"]].to_numpy()


def refused(message, error=tb.errors.InputError):
    return pytest.raises(error, match=f"(?s){message}")


# ------------------------------------------------------------------ the table in training

TABLES = {
    "no rows": (X.iloc[:0], "X has no rows; at least one row.*Check how the table was read"),
    "no columns": (X[[]], r"X has no columns \(0 feature\(s\)\)"),
    "polars without rows": (pl.DataFrame({"a": []}), "X has no rows"),
    "same names": (X.set_axis(["a", "a", "b"], axis=1), r"Column names must be different; \['a'\] occur.*Rename them"),
    "dates": (X.assign(when=pd.Timestamp(0)), "Column 'when' holds dates or times.*such as the year"),
    "durations": (X.assign(when=pd.Timedelta(1)), "Column 'when' holds dates or times"),
    "nested": (pl.DataFrame({"many": [[1]] * 4}), r"Column 'many' holds List\(Int64\); .*one plain value per row"),
    "bytes": (pa.table({"raw": [b"a"] * 4}), "Column 'raw' holds bytes.*Decode it"),
    "infinity": (X.assign(real=[1.0, 2.0, np.inf, 3.0]), "Column 'real' holds infinity.*Replace it"),
    "lazy": (pl.LazyFrame({"a": [1]}), "read in batches hold their labels.*give the names.*target= in fit"),
    "dict": ({"a": [1, 2, 3, 4]}, "X must be a table; got a dict. Make a frame of it"),
    "ragged": ([[1, 2], [1], [2], [1]], "rows have different lengths; use None for a missing value"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_refused_in_training(kind):
    data, message = TABLES[kind]
    with refused(message):
        tb.NaiveBayes().fit(data, Y)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((4, 0)), "0 feature"),
        (np.zeros(4), "Expected 2D array, got 1D array"),
        (np.zeros((4, 2, 2)), "dim 3"),
        (pd.Series([1, 2, 3, 4]), "Expected 2D array, got 1D array"),
        (None, "Expected 2D array"),
        (np.ones((4, 1)) * 1j, "Complex data not supported"),
    ],
)
def test_shapes_are_refused_in_scikit_learns_words(data, message):
    with refused(message, ValueError):
        tb.NaiveBayes().fit(data, Y)


def test_sparse_and_strangely_named_tables_are_refused_in_scikit_learns_words():
    with refused("Sparse data was passed for X, but dense data is required", TypeError):
        tb.NaiveBayes().fit(csr_array(np.eye(4)), Y)
    with refused("all input features have string names", TypeError):
        tb.NaiveBayes().fit(X.rename(columns={"word": 1}), Y)


# ------------------------------------------------------------------ the table at prediction

LATER = {
    "missing": (
        X[["word", "real"]],
        r"X lacks the columns \['whole'\]. NaiveBayes needs the columns it was trained on",
    ),
    "extra": (X.assign(more=1), r"X has the columns \['more'\], which training did not have.*drop them"),
    "renamed": (
        X.rename(columns={"whole": "wole"}),
        r"lacks the columns \['whole'\] \(Did you mean 'wole'\?\) and has",
    ),
    "same names": (X.set_axis(["word", "word", "real"], axis=1), "Column names must be different"),
    "strings for numbers": (X.assign(real="1"), "Column 'real' held numbers in training and now holds strings"),
    "strings for whole numbers": (X.assign(whole="1"), "Column 'whole' held numbers in training and now holds strings"),
    "numbers for strings": (X.assign(word=1), "Column 'word' held strings in training and now holds numbers"),
    "fractions for strings": (X.assign(word=0.5), "Column 'word' held strings in training and now holds numbers"),
    "dates": (X.assign(real=pd.Timestamp(0)), "Column 'real' holds dates"),
    "infinity": (X.assign(real=-np.inf), "Column 'real' holds infinity"),
    "no rows": (X.iloc[:0], "X has no rows"),
    "lazy": (pl.from_pandas(X).lazy(), "Collect a lazy frame first"),
}


@pytest.mark.parametrize("kind", LATER)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "explain"])
def test_tables_refused_at_prediction(kind, method):
    data, message = LATER[kind]
    clf = tb.NaiveBayes().fit(X, Y)
    with refused(message):
        getattr(clf, method)(data)


def test_an_array_with_another_number_of_columns_is_refused():
    clf = tb.NaiveBayes().fit(ARRAY, Y)
    with refused("X has 3 features, but NaiveBayes is expecting 2 features", ValueError):
        clf.predict(np.ones((1, 3)))


@pytest.mark.parametrize("gaps", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("name", list(X))
def test_a_column_of_gaps_at_prediction_is_no_change_of_type(gaps, name):
    clf = tb.NaiveBayes().fit(X, Y)
    blank = X.assign(**{name: pd.Series([gaps] * 4, dtype=object)})
    others = clf.predict_joint_log_proba(blank)
    column = list(X).index(name)
    codes = clf.encoder_.encode(tb.table.read_table(X), n_jobs=1).codes[column]
    evidence = np.log(clf.network_.tables[column][codes])
    assert others + evidence == pytest.approx(clf.predict_joint_log_proba(X))


# ------------------------------------------------------------------ labels

LABELS = {
    "none": (None, "requires y to be passed"),
    "short": ([0, 1], "X has 4 rows and y has 2 labels; they must be as many"),
    "None": ([0, 1, None, 1], "y contains NaN or None in 1 rows.*Drop those rows first"),
    "NaN": ([0, np.nan, np.nan, 1], "y contains NaN or None in 2 rows"),
    "NaN among strings": (["a", "b", np.nan, "b"], "y contains NaN or None in 1 rows"),
    "NA": (pd.Series([0, 1, None, 1], dtype="Int64"), "y contains NaN or None in 1 rows"),
    "NA objects": (pd.Series([0, 1, pd.NA, 1], dtype=object), "y contains NaN or None in 1 rows"),
    "polars null": (pl.Series(["a", None, "b", "a"]), "y contains NaN or None in 1 rows"),
    "pyarrow null": (pa.array(["a", None, "b", "a"]), "y contains NaN or None in 1 rows"),
    "continuous": ([0.5, 1.5, 2.5, 3.5], r"y is continuous \(it holds 0.5\).*Cut it into classes first"),
    "infinite": ([0.0, 1.0, np.inf, 1.0], r"y is continuous \(it holds inf\)"),
    "mixed": (["a", 1, "b", 2], "y holds int and str; labels must be all strings, all whole numbers or all booleans"),
    "mixed objects": (np.array([True, "a", "b", "a"], object), "y holds bool and str"),
    "dates": (np.array(["2024-01-01"] * 4, "M8[D]"), r"y holds datetime64\[D\]; labels must be strings"),
    "date objects": ([pd.Timestamp(0)] * 4, "y holds.*; labels must be"),
    "bytes": (np.array([b"a", b"b"] * 2), r"y holds \|S1; labels must be strings.*Convert them"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_refused(kind):
    labels, message = LABELS[kind]
    with refused(message):
        tb.NaiveBayes().fit(X, labels)


def test_a_table_of_labels_is_refused_in_scikit_learns_words():
    with refused("y should be a 1d array", ValueError):
        tb.NaiveBayes().fit(X, [[0, 1]] * 4)


def test_measures_refuse_unknown_and_too_few_labels():
    clf = tb.NaiveBayes().fit(X, Y)
    with refused(r"y holds the label 'maybe', which is none of the classes \['no', 'yes'\].*train with all classes"):
        clf.log_likelihood(X, ["no", "yes", "maybe", "no"])
    with refused("X has 4 rows and y has 1 labels"):
        clf.log_likelihood(X, ["no"])


# ------------------------------------------------------------------ weights

WEIGHTS = {
    "negative": ([1, 2, -1, 1], r"at least 0; sample_weight has 1 others, the first is -1.0 in row 2"),
    "NaN": ([1, np.nan, 1, np.nan], "finite and at least 0; sample_weight has 2 others, the first is nan in row 1"),
    "infinite": ([1, 1, 1, np.inf], "the first is inf in row 3"),
    "short": ([1, 1], r"sample_weight.shape == \(2,\), expected \(4,\): one weight per row"),
    "a table": ([[1]] * 4, "Sample weights must be 1D array or scalar; got an array with 2 dimensions"),
    "zero": ([0, 0, 0, 0], "All row weights are zero, so there is nothing to learn from"),
    "words": (["a"] * 4, "sample_weight must be one number per row; got"),
    "a word": ("balanced", "sample_weight must be one number per row; got 'balanced'"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_refused(kind):
    weights, message = WEIGHTS[kind]
    with refused(message):
        tb.NaiveBayes().fit(X, Y, sample_weight=weights)


# ------------------------------------------------------------------ options

OPTIONS = [
    ({"parameters": -0.5}, "alpha must be a .*number .*0.*; got -0.5"),
    ({"parameters": np.nan}, "alpha must be a .*number .*0.*; got nan"),
    ({"parameters": [1]}, r"parameters must be a smoothing .*pseudo-counts per cell.*; got \[1\]"),
    ({"parameters": "laplase"}, r"parameters must be one of \['bdeu', .*got 'laplase'. Did you mean 'laplace'\?"),
    ({"discretize": "mdpl"}, r"discretize must be one of \['mdlp', .*got 'mdpl'. Did you mean 'mdlp'\?"),
    ({"discretize": None}, "discretize must be one of .* or a transformer; got None"),
    ({"handle_unknown": "ignore"}, r"handle_unknown must be one of \['error', 'marginalize'\]; got 'ignore'"),
    ({"class_prior": [1.0]}, r"one probability for each of the 2 classes; got shape \(1,\)"),
    ({"class_prior": [0.5, 0.6]}, r"at least 0 and sum to one; got \[0.5, 0.6\], whose sum is 1.1"),
    ({"class_prior": [-0.5, 1.5]}, r"at least 0 and sum to one; got \[-0.5, 1.5\]"),
    ({"class_prior": [np.nan, 1.0]}, "at least 0 and sum to one"),
    ({"class_prior": "uniform"}, "class_prior must be one probability per class; got 'uniform'"),
    ({"class_prior": {"no": 1.0}}, r"a probability to each of the classes \['no', 'yes'\]; got \['no'\]"),
    ({"categorical_features": ["rael"]}, r"'rael' is none of the 3 columns. Did you mean 'real'\?"),
    ({"categorical_features": [3]}, "names or positions of columns; 3 is none of the 3 columns"),
    ({"categorical_features": [-1]}, "-1 is none of the 3 columns"),
    ({"categorical_features": [True, False]}, "this mask has 2 entries for 3 columns"),
    ({"categorical_features": "none"}, r"categorical_features must be one of \['all', 'auto'\]; got 'none'"),
    ({"categorical_features": None}, "categorical_features must be 'auto', 'all', a mask, .*; got None"),
    ({"max_cells": 0}, "max_cells must be a whole number of at least 1; got 0"),
    ({"max_cells": 1.5}, "max_cells must be a whole number of at least 1; got 1.5"),
    ({"n_jobs": 0}, "n_jobs must be None, a positive number of threads, or negative.*; got 0"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=[str(options) for options, _ in OPTIONS])
@pytest.mark.parametrize("cls", [tb.NaiveBayes, tb.TAN])
def test_options_refused(cls, options, message):
    with refused(message, tb.errors.OptionError):
        cls(**options).fit(X, Y)


def test_options_of_learners_refused():
    with refused(r"criterion must be one of \['aic', 'bic', 'loglik', 'mml'\]; got 'mdl'", tb.errors.OptionError):
        tb.TAN(criterion="mdl").fit(X, Y)
    with refused(r"learner must be one of \[.*'naive', .*\]; got 'tam'. Did you mean 'tan'\?", tb.errors.OptionError):
        tb.BayesNetClassifier("tam").fit(X, Y)
    with refused("an option of learner 'tan' must be one of.*got 'scores'", tb.errors.OptionError):
        tb.BayesNetClassifier("tan", options={"scores": "bic"}).fit(X, Y)
    with refused(r"root must be the name of a feature; got 'rael'. Did you mean 'real'\?", ValueError):
        tb.TAN(root="rael").fit(X, Y)
    with refused("root must be the name of a feature or its position from 0 to 2; got 3", tb.errors.OptionError):
        tb.TAN(root=3).fit(X, Y)


def test_a_family_beyond_max_cells_is_named_with_its_cells():
    message = (
        r"The table of 'word' \(2 states\) given class \(2 states\) needs 4 cells, above max_cells=3.*raise max_cells"
    )
    with refused(message, tb.errors.TableTooLargeError):
        tb.NaiveBayes(max_cells=3).fit(X, Y)


def test_our_errors_are_value_errors_and_ours():
    for error in (tb.errors.InputError, tb.errors.OptionError, tb.errors.TableTooLargeError):
        assert issubclass(error, ValueError)
        assert issubclass(error, tb.errors.TanbarkError)


@pytest.mark.parametrize("cls", [tb.NaiveBayes, tb.TAN, tb.FixedStructure, tb.BayesNetClassifier])
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "explain"]
)
def test_an_unfitted_model_says_so(cls, method):
    with refused(f"This {cls.__name__} instance is not fitted yet. Call 'fit'", NotFittedError):
        getattr(cls(), method)(X)


# ------------------------------------------------------------------ values that training never saw

SEEN = pd.DataFrame({"word": ["a", "z", "y", None], "whole": [1.0, 2.0, 9.0, np.nan], "real": [0.5] * 4})


def test_unseen_categories_are_counted_and_marginalised():
    clf = tb.NaiveBayes().fit(X, Y)
    with pytest.warns(tb.errors.UnseenCategoryWarning, match=r"3 values in 4 rows never seen.*'word': 2, 'whole': 1"):
        proba = clf.predict_proba(SEEN)
    blank = SEEN.assign(word=["a", None, None, None], whole=[1.0, 2.0, None, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(proba, clf.predict_proba(blank))


def test_unseen_categories_are_refused_where_the_user_wants_that():
    clf = tb.NaiveBayes(handle_unknown="error").fit(X, Y)
    with refused("X holds 3 values that training never saw.*'word': 2, 'whole': 1.*handle_unknown='marginalize'"):
        clf.predict(SEEN)
    clf.predict(X.assign(word=None, whole=None))  # gaps are no surprises


# ------------------------------------------------------------------ which columns are categories

RULE = pd.DataFrame(
    {"few": np.arange(60) % 20, "many": np.arange(60) % 21, "real": np.arange(60) / 8, "word": ["a", "b"] * 30}
)
AGES = np.arange(60) % 2


@pytest.mark.parametrize(
    ("wanted", "categories"),
    [
        ("auto", ["few", "word"]),
        ("all", ["few", "many", "real", "word"]),
        ([], ["word"]),
        (["many"], ["many", "word"]),
        (("many", "real"), ["many", "real", "word"]),
        ([0, 1], ["few", "many", "word"]),
        (np.array([1]), ["many", "word"]),
        ([False, True, False, False], ["many", "word"]),
        (np.array([True, False, False, True]), ["few", "word"]),
        (pd.Index(["few", "real"]), ["few", "real", "word"]),
    ],
)
def test_categorical_features_by_rule_name_position_or_mask(wanted, categories):
    clf = tb.NaiveBayes(categorical_features=wanted).fit(RULE, AGES)
    assert [column.name for column in clf.schema_.features if column.kind == "category"] == categories


@pytest.mark.parametrize("dtype", ["str", "string", "category", object])
def test_text_labels_are_read_alike_from_every_kind_of_series(dtype):
    texts = ["b", "a", "c", "a", "b"]
    expected, codes = inputs.read_labels(texts)
    found, places = inputs.read_labels(pd.Series(texts, dtype=dtype))
    assert found.dtype == expected.dtype == object
    assert found.tolist() == ["a", "b", "c"]
    assert places.tolist() == codes.tolist()
    with pytest.raises(InputError, match="NaN or None in 1 rows"):
        inputs.read_labels(pd.Series([*texts, None], dtype=dtype))


def test_categories_that_are_numbers_stay_numbers():
    found, places = inputs.read_labels(pd.Series([3, 1, 3], dtype="category"))
    assert found.dtype == np.int64
    assert (found.tolist(), places.tolist()) == ([1, 3], [1, 0, 1])
