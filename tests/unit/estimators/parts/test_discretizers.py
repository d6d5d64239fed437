"""The discretisers alone, inside a classifier, and transformers that users bring."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer

import tanbark as tb
from tanbark.table.discretize import CUTTERS

OURS = {
    "mdlp": tb.MDLPDiscretizer,
    "mdlp+quantile": tb.MDLPQuantileDiscretizer,
    "median": tb.MedianDiscretizer,
    "quantile": tb.QuantileDiscretizer,
    "uniform": tb.UniformDiscretizer,
}
X, Y = load_iris(return_X_y=True)


def with_gaps(X, share=0.1):
    holes = np.random.default_rng(0).random(X.shape) < share
    return np.where(holes, np.nan, X)


def bins(**options):
    found = KBinsDiscretizer(3, encode="ordinal", **options)
    if "quantile_method" in found.get_params():  # from scikit-learn 1.7 on, where the default will change
        found.set_params(quantile_method="averaged_inverted_cdf")
    return found


def test_every_way_to_cut_is_a_transformer():
    assert set(OURS) == set(CUTTERS)


@pytest.mark.parametrize("name", OURS)
def test_transform_gives_the_position_of_the_interval(name):
    data = with_gaps(X)
    discretizer = OURS[name]().fit(data, Y)
    codes = discretizer.transform(data)
    for column, cuts, out in zip(data.T, discretizer.cut_points_, codes.T, strict=True):
        expected = [np.nan if value != value else sum(cut < value for cut in cuts) for value in column]
        assert np.array_equal(out, expected, equal_nan=True)
    assert discretizer.transform([[-1e9] * 4, [1e9] * 4]).tolist() == [
        [0] * 4,
        [len(c) for c in discretizer.cut_points_],
    ]


@pytest.mark.parametrize("name", OURS)
def test_a_discretiser_and_its_name_are_the_same_inside_a_classifier(name):
    by_name, by_object = tb.TAN(discretize=name).fit(X, Y), tb.TAN(discretize=OURS[name]()).fit(X, Y)
    assert by_name.schema_ == by_object.schema_
    cuts = [column.cuts for column in by_name.schema_.features]
    assert cuts == [tuple(c) for c in OURS[name]().fit(X, Y).cut_points_]


@pytest.mark.parametrize("name", OURS)
def test_weights_are_repeats_and_zero_weights_are_absent(name):
    data, times = with_gaps(X), np.random.default_rng(1).integers(0, 4, len(X))
    weighted = OURS[name]().fit(data, Y, sample_weight=times)
    repeated = OURS[name]().fit(np.repeat(data, times, axis=0), np.repeat(Y, times))
    for left, right in zip(weighted.cut_points_, repeated.cut_points_, strict=True):
        assert np.array_equal(left, right)


@pytest.mark.parametrize("name", OURS)
def test_rows_have_no_order(name):
    order = np.random.default_rng(2).permutation(len(X))
    straight, shuffled = OURS[name]().fit(X, Y), OURS[name]().fit(X[order], Y[order])
    assert [c.tolist() for c in straight.cut_points_] == [c.tolist() for c in shuffled.cut_points_]


@pytest.mark.parametrize("name", OURS)
def test_cut_points_come_from_training_rows_alone(name):
    clf = tb.NaiveBayes(discretize=name).fit(X[::2], Y[::2])
    before = clf.schema_
    clf.predict(X[1::2] * 100)
    assert clf.schema_ == before == tb.NaiveBayes(discretize=name).fit(X[::2], Y[::2]).schema_


@pytest.mark.parametrize("name", OURS)
def test_a_column_of_gaps_is_not_cut(name):
    data = np.column_stack([X[:, 0], np.full(len(X), np.nan)])
    discretizer = OURS[name]().fit(data, Y)
    assert discretizer.cut_points_[1].tolist() == []
    assert np.isnan(discretizer.transform(data)[:, 1]).all()


def test_names_go_through():
    frame = pd.DataFrame(X, columns=list("abcd"))
    out = tb.MDLPDiscretizer().set_output(transform="pandas").fit_transform(frame, Y)
    assert list(out.columns) == list("abcd")
    assert tb.MDLPDiscretizer().fit(frame, Y).get_feature_names_out().tolist() == list("abcd")


def test_a_discretiser_in_front_of_a_classifier():
    pipeline = make_pipeline(tb.MDLPDiscretizer(), tb.NaiveBayes())
    inside = tb.NaiveBayes().fit(X, Y)
    assert np.array_equal(pipeline.fit(X, Y).predict_proba(X), inside.predict_proba(X))


@pytest.mark.parametrize("n_bins", [1, 0, -3, 2.5, "4", True, None])
def test_wrong_numbers_of_bins_are_refused(n_bins):
    for cls in (tb.QuantileDiscretizer, tb.UniformDiscretizer, tb.MDLPQuantileDiscretizer):
        with pytest.raises(tb.errors.OptionError, match="n_bins must be a whole number of at least 2; got"):
            cls(n_bins=n_bins).fit(X, Y)
        with pytest.raises(tb.errors.OptionError, match="n_bins must be a whole number of at least 2; got"):
            tb.NaiveBayes(discretize=cls(n_bins=n_bins)).fit(X, Y)


def test_the_number_of_bins_is_heard():
    clf = tb.NaiveBayes(discretize=tb.UniformDiscretizer(n_bins=7)).fit(X, Y)
    assert [column.n_states for column in clf.schema_.features] == [7] * 4


# ------------------------------------------------------------------ the union inside a classifier


def whole_numbers(rows=400, seed=0):
    """Draw whole numbers with 2, 7, 8 and 20 different values, one with fractions, and a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    frame = pd.DataFrame({f"n{n}": (np.arange(rows) * 7 + y) % n for n in (2, 7, 8, 20)})
    return frame.assign(real=np.round(rng.normal(y, 1), 2)), pd.Series(y, name="class")


UNIONS = ["mdlp+quantile", tb.MDLPQuantileDiscretizer()]


@pytest.mark.filterwarnings("ignore::tanbark.errors.SuspiciousColumnWarning")  # n7 is the class
@pytest.mark.parametrize("union", UNIONS, ids=str)
def test_whole_numbers_with_more_than_seven_values_are_cut(union):
    frame, y = whole_numbers()
    clf = tb.TAN(discretize=union).fit(frame, y)
    assert [c.kind for c in clf.schema_.features] == ["category", "category", "interval", "interval", "interval"]
    assert clf.schema_.features[2].n_states > 4
    for other in ("mdlp", "quantile", tb.QuantileDiscretizer(8)):
        kinds = [c.kind for c in tb.TAN(discretize=other).fit(frame, y).schema_.features]
        assert kinds == ["category"] * 4 + ["interval"]


@pytest.mark.filterwarnings("ignore::tanbark.errors.SuspiciousColumnWarning")  # n7 is the class
@pytest.mark.parametrize("union", UNIONS, ids=str)
def test_the_user_decides_which_whole_numbers_are_categories(union):
    frame, y = whole_numbers()
    clf = tb.NaiveBayes(discretize=union, categorical_features=["n20", "n8"]).fit(frame, y)
    assert [c.kind for c in clf.schema_.features] == ["interval", "interval", "category", "category", "interval"]
    clf = tb.NaiveBayes(discretize=union, categorical_features="all").fit(frame, y)
    assert {c.kind for c in clf.schema_.features} == {"category"}
    declared = tb.NaiveBayes(discretize=union).fit(frame.astype({"n8": "category"}), y)
    assert declared.schema_.features[2].kind == "category"


@pytest.mark.filterwarnings("ignore::tanbark.errors.SuspiciousColumnWarning")  # n7 is the class
@pytest.mark.parametrize("union", UNIONS, ids=str)
@pytest.mark.parametrize("batch_rows", [7, 150, 1000])
def test_files_are_cut_as_tables_in_memory(union, batch_rows, tmp_path):
    frame, y = whole_numbers()
    frame.loc[::9, "real"] = np.nan
    weights = np.arange(len(frame)) % 3
    frame.assign(y=y, times=weights).to_csv(tmp_path / "rows.csv", index=False)
    rows = tb.scan(tmp_path / "rows.csv", target="y", weight="times", batch_rows=batch_rows)
    from_file = tb.NaiveBayes(discretize=union).fit(rows)
    in_memory = tb.NaiveBayes(discretize=union).fit(frame, y.rename("y"), sample_weight=weights)
    assert from_file.sketch_errors_ == {}
    assert from_file.schema_ == in_memory.schema_
    assert np.array_equal(from_file.predict_proba(frame), in_memory.predict_proba(frame))


@pytest.mark.filterwarnings("ignore::tanbark.errors.EmptyColumnWarning")
@pytest.mark.parametrize("union", UNIONS, ids=str)
def test_degenerate_columns_are_learnt_from(union, tmp_path):
    rng = np.random.default_rng(0)
    mass = np.where(np.arange(300) % 10, 0.0, rng.random(300))
    frame = pd.DataFrame({
        "constant": 1.5, "missing": np.nan, "two": np.where(np.arange(300) % 3, 0.5, 2.5), "mass": mass,
    })  # fmt: skip
    y = pd.Series(rng.integers(0, 2, 300), name="y")
    clf = tb.TAN(discretize=union).fit(frame, y)
    assert [c.cuts for c in clf.schema_.features] == [(), (), (0.5,), (0.0,)]
    assert np.isfinite(clf.predict_log_proba(frame)).all()
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    assert tb.TAN(discretize=union).fit(tmp_path / "rows.parquet", target="y").schema_ == clf.schema_


def test_the_most_quantiles_of_the_union_are_an_option():
    noise = np.arange(400)[:, None] + 0.5
    for n_bins, found in [(2, 2), (5, 5), (8, 8), (50, 8)]:
        clf = tb.NaiveBayes(discretize=tb.MDLPQuantileDiscretizer(n_bins)).fit(noise, np.arange(400) % 2)
        assert clf.schema_.features[0].n_states == found


def test_what_discretisers_refuse():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        tb.MedianDiscretizer().transform(X)
    with pytest.raises(tb.errors.InputError, match="requires y to be passed"):
        tb.MDLPDiscretizer().fit(X)
    with pytest.raises(tb.errors.InputError, match="X has 150 rows and y has 149 labels"):
        tb.MDLPDiscretizer().fit(X, Y[1:])
    with pytest.raises(tb.errors.InputError, match="Row weights must be finite"):
        tb.MedianDiscretizer().fit(X, sample_weight=np.full(len(X), -1.0))
    with pytest.raises(ValueError, match="infinity"):
        tb.MedianDiscretizer().fit([[np.inf], [1.0]])
    with pytest.raises(ValueError, match="expecting 4 features"):
        tb.MedianDiscretizer().fit(X).transform(X[:, :2])


# ------------------------------------------------------------------ transformers of the user's


def test_a_users_transformer_decides_the_states():
    transformer = bins()
    clf = tb.NaiveBayes(discretize=transformer).fit(X, Y)
    codes = bins().fit_transform(X)
    plain = tb.NaiveBayes().fit(codes, Y)
    assert np.array_equal(clf.predict_proba(X), plain.predict_proba(codes))
    assert not hasattr(transformer, "bin_edges_")  # the user's object is not touched


def test_a_users_transformer_sees_continuous_columns_only():
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(word=np.where(X[:, 2] > 3, "u", "v"), few=Y % 2)
    clf = tb.TAN(discretize=bins()).fit(frame, Y)
    assert [column.levels for column in clf.schema_.features] == [(0, 1, 2), (0, 1, 2), ("u", "v"), (0, 1)]
    assert np.array_equal(clf.predict_proba(frame[["few", "b", "word", "a"]]), clf.predict_proba(frame))


def test_gaps_pass_by_a_users_transformer():
    data = with_gaps(X)
    clf = tb.NaiveBayes(discretize=bins()).fit(data, Y)
    complete = ~np.isnan(data).any(axis=1)
    transformer = bins().fit(data[complete])
    filled = np.where(np.isnan(data), X, data)
    codes = np.where(np.isnan(data), np.nan, transformer.transform(filled))
    assert np.array_equal(clf.predict_proba(data), tb.NaiveBayes().fit(codes, Y).predict_proba(codes))
    nothing = clf.predict_proba([[None] * 4])
    assert nothing[0] == pytest.approx(clf.network_.table("class"))


def test_a_users_transformer_hears_of_weights():
    times = np.random.default_rng(3).integers(0, 4, len(X))
    weighted = tb.NaiveBayes(discretize=bins()).fit(X, Y, sample_weight=times)
    repeated = tb.NaiveBayes(discretize=bins()).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("encode", ["onehot", "onehot-dense"])
def test_one_hot_states_are_refused(encode):
    with pytest.raises(
        tb.errors.OptionError, match=r"one column of states for each of the 4 .*\(150, 12\).*encode='ordinal'"
    ):
        tb.NaiveBayes(discretize=bins().set_params(encode=encode)).fit(X, Y)


def test_states_that_are_words_are_refused():
    words = FunctionTransformer(lambda values: np.where(values > 3, "high", "low"))
    with pytest.raises(tb.errors.OptionError, match="must return numbers, one per interval"):
        tb.NaiveBayes(discretize=words).fit(X, Y)


@pytest.mark.parametrize(
    ("value", "message"),
    [("wide", "Column 'a' held numbers in training and now holds strings"), (np.inf, "Column 'a' holds infinity")],
)
def test_what_a_users_transformer_cannot_take_is_refused_by_name(value, message):
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = tb.NaiveBayes(discretize=bins()).fit(frame, Y)
    with pytest.raises(tb.errors.InputError, match=message):
        clf.predict(frame.assign(a=value))


def test_columns_of_gaps_and_categoricals_of_numbers_reach_a_users_transformer():
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = tb.NaiveBayes(discretize=bins()).fit(frame, Y)
    assert np.array_equal(clf.predict_proba(frame.assign(a=None)), clf.predict_proba(frame.assign(a=np.nan)))
    assert np.array_equal(clf.predict_proba(frame.astype({"a": "category"})), clf.predict_proba(frame))


def test_a_users_transformer_needs_a_complete_row():
    holes = np.where(np.arange(150)[:, None] % 2 == np.arange(4) % 2, np.nan, X)
    with pytest.raises(tb.errors.InputError, match="no row has a value in each continuous column to fit it on"):
        tb.NaiveBayes(discretize=bins()).fit(holes, Y)


def test_without_continuous_columns_a_transformer_is_not_needed():
    words = [["a"], ["b"], ["a"]]
    assert tb.NaiveBayes(discretize=bins()).fit(words, [0, 1, 0]).predict(words).tolist() == [0, 1, 0]
