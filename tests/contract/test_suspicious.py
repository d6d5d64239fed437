"""Suspicious columns, for every classifier: left out, kept, refused and reported in the same way."""

import warnings

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import InputError, OptionError, SuspiciousColumnWarning
from tanbark.estimators import DataReport
from tanbark.estimators.catalogue import known_classifiers

N = 120
OPTIONS = {
    "FixedStructure": {"arcs": [("class", "word"), ("class", "size"), ("word", "size")]},
    "ModelAveraging": {"estimator": tb.TAN(), "n_estimators": 2, "random_state": 0},
    **{name: {"n_estimators": 2} for name in ("NetworkEnsemble", "Classifier")},
    **{name: {"cv": 2, "random_state": 0} for name in ("HillClimbTAN", "SuperParentTAN", "WrapperKDB", "FSSJ", "BSEJ")},
    "SelectiveNaiveBayes": {"cv": 2, "random_state": 0},
}  # fmt: skip
CLASSIFIERS = {name: cls for name, cls in known_classifiers().items() if name != "TextNaiveBayes"}
everyone = pytest.mark.parametrize("name", CLASSIFIERS)


def make(name, **more):
    options = dict(OPTIONS.get(name, {}))
    if name == "ModelAveraging" and more:
        return CLASSIFIERS[name](**{**options, "estimator": tb.TAN(**more)})
    return CLASSIFIERS[name](**options, **more)


def table(n=N):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({
        "id": [f"c-{k:05d}" for k in rng.permutation(10 * n)[:n]], "word": np.where(rng.random(n) < 0.8, y, 2),
        "row": np.arange(1, n + 1), "size": rng.normal(y), "flat": "x",
    })  # fmt: skip
    frame["word"] = frame["word"].map({0: "a", 1: "b", 2: "c"})
    return frame, pd.Series(y, name="class")


@pytest.fixture(scope="module")
def rows():
    return table()


@everyone
def test_a_fit_with_an_identifier_is_the_fit_without_it(name, rows, tmp_path):
    X, y = rows
    clean = X.drop(columns=["id", "row"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SuspiciousColumnWarning)
        clf = make(name).fit(X, y)
    (warning,) = told
    assert warning.filename == __file__
    assert all(part in str(warning.message) for part in ("'id'", "'row'", "suspicious='keep'"))
    plain = make(name).fit(clean, y)
    expected = plain.predict_proba(clean)
    assert np.array_equal(clf.predict_proba(X), expected)
    assert np.array_equal(clf.predict_proba(clean), expected)
    assert np.array_equal(clf.predict_proba(X[::-1][X.columns[::-1]]), expected[::-1])
    assert clf.n_features_in_ == 5
    assert clf.schema_ == plain.schema_
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), expected)
    assert np.array_equal(again.predict_proba(clean), expected)
    assert isinstance(clf.data_report_, DataReport)
    assert again.data_report_ == clf.data_report_
    assert (clf.data_report_.left_out, clf.data_report_.unused) == (["id", "row"], ["flat"])
    with pytest.raises(ValueError, match=r"lacks the columns \['word'\]"):
        clf.predict(X.drop(columns="word"))


@everyone
def test_columns_are_kept_or_refused_as_the_option_says(name, rows):
    X, y = rows
    kept = make(name, suspicious="keep").fit(X[["row", "word", "size"]], y)
    assert kept.data_report_.left_out == []
    assert kept.data_report_.suspicious == {"row": "row number"}
    assert "row" in kept.schema_.names
    with pytest.raises(InputError, match="Suspicious: 'row' numbers the rows"):
        make(name, suspicious="error").fit(X[["row", "word", "size"]], y)
    with pytest.raises(OptionError, match="suspicious must be one of"):
        make(name, suspicious="hide").fit(X, y)


@pytest.mark.parametrize("name", ["NaiveBayes", "TAN", "AODE", "NetworkEnsemble", "Classifier"])
def test_files_and_arrays_are_read_like_frames(name, rows, tmp_path):
    X, y = rows
    X.assign(**{"class": y}).to_parquet(tmp_path / "rows.parquet")
    with pytest.warns(SuspiciousColumnWarning, match="'id'.*'row'"):
        clf = make(name).fit(X, y)
    with pytest.warns(SuspiciousColumnWarning, match="'id'.*'row'"):
        streamed = make(name).fit(tb.scan(tmp_path / "rows.parquet", target="class", batch_rows=50))
    assert streamed.schema_ == clf.schema_
    assert streamed.data_report_ == clf.data_report_
    assert streamed.predict_proba(X) == pytest.approx(clf.predict_proba(X), abs=1e-7)
    assert clf.predict_file(tmp_path / "rows.parquet", tmp_path / "out.csv") == N
    array = X.to_numpy(object)
    with pytest.warns(SuspiciousColumnWarning, match="'x0'.*'x2'"):
        plain = make(name).fit(array, y)
    assert plain.schema_.names[:-1] == ("x1", "x3", "x4")
    assert np.array_equal(plain.predict_proba(array), clf.predict_proba(X))
    with pytest.raises(ValueError, match="features"):
        plain.predict(array[:, 1:])


@pytest.mark.parametrize("name", ["NaiveBayes", "TAN", "NetworkEnsemble"])
def test_the_first_partial_fit_decides(name, rows):
    X, y = rows
    clf = make(name)
    with pytest.warns(SuspiciousColumnWarning, match="'id'"):
        clf.partial_fit(X[:80], y[:80])
    clf.partial_fit(X[80:].drop(columns="id"), y[80:])
    assert clf.data_report_.rows == N
    assert list(clf.data_report_.classes.values()) == np.bincount(y).tolist()
    clf.forget(X[:10], y[:10])
    assert clf.data_report_.rows == N - 10
    assert clf.data_report_.left_out == ["id", "row"]


def test_a_named_column_is_kept(rows):
    X, y = rows
    with pytest.warns(SuspiciousColumnWarning, match="Left out: 'row'") as told:
        clf = tb.NaiveBayes(categorical_features=["id"]).fit(X, y)
    assert "'id'" not in str(told[0].message)
    assert clf.schema_.cardinalities[0] == N


def test_not_all_columns_are_left_out(rows):
    X, y = rows
    with pytest.warns(SuspiciousColumnWarning, match="Kept, but look at it: 'id'"):
        assert tb.NaiveBayes().fit(X[["id"]], y).schema_.names == ("id", "class")


def test_a_leak_is_kept_and_warned_of(rows):
    X, y = rows
    leak = X[["word", "size"]].assign(paid=np.where(y == 1, "late", "early"), code=y * 3)
    with pytest.warns(SuspiciousColumnWarning, match="'paid' determines the class.*'code' determines the class"):
        clf = tb.TAN().fit(leak, y)
    assert clf.data_report_.suspicious == {"paid": "leak", "code": "leak"}
    assert clf.score(leak, y) == 1.0
    leak.loc[5, ["paid", "code"]] = leak.loc[int((y != y[5]).argmax()), ["paid", "code"]]
    assert tb.TAN().fit(leak, y).data_report_.suspicious == {}


def test_rows_of_weight_zero_are_not_looked_at(rows):
    X, y = rows
    twice = pd.concat([X, X.assign(id="same", row=1)], ignore_index=True)
    weights = np.repeat([1.0, 0.0], N)
    with pytest.warns(SuspiciousColumnWarning, match="'id'.*'row'"):
        clf = tb.TAN().fit(twice, pd.concat([y, y]), weights)
    assert clf.data_report_.rows == N


def test_rows_that_lack_an_identifier_are_not_dropped(rows):
    X, y = rows
    X = X.assign(id=X["id"].where(np.arange(N) % 3 > 0))
    with pytest.warns(SuspiciousColumnWarning, match="'id'"):
        clf = tb.TAN(missing="drop").fit(X, y)
    assert clf.family_counts_[-1].sum() == N
