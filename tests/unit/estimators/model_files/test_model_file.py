"""The model file: everything comes back as it was, and nothing bad comes in."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

import tanbark as tb

GENERAL = [("colour", "kind"), ("size", "kind"), ("kind", "weight"), ("size", "weight"), ("colour", "on")]
MODELS = {
    "naive": tb.NaiveBayes(),
    "naive, k2": tb.NaiveBayes(handle_unknown="error", n_jobs=1, parameters="k2"),
    "maximum likelihood": tb.NaiveBayes(parameters=0),
    "tan": tb.TAN(),
    "tan, aic": tb.TAN(criterion="aic", root="weight"),
    "tan, bic": tb.TAN(criterion="bic", root=1, parameters=tb.BDeu(5)),
    "fixed": tb.FixedStructure(GENERAL, parameters=tb.MEstimate(2.5)),
    "hierarchical": tb.KDB(parameters=tb.Hierarchical()),
    "fixed, tuple": tb.FixedStructure(tuple(GENERAL)),
    "fixed, set": tb.FixedStructure(set(GENERAL)),
    "by name": tb.BayesNetClassifier("tan", options={"criterion": "bic", "root": "size"}),
    "by name, fixed": tb.BayesNetClassifier("fixed", options={"arcs": [["kind", "size"], ("kind", "on")]}),
    "prior list": tb.NaiveBayes(class_prior=[0.2, 0.3, 0.5]),
    "prior dict": tb.NaiveBayes(class_prior={"a": 0.2, "b": 0.3, "c": 0.5}),
    "acll": tb.ACLLTAN(beta=-0.2),
    "bnc2p": tb.BNC2P(required=[("kind", "size")]),
    "cmdl": tb.CMDLGBN(start="naive"),
    "rai": tb.RAIANB(max_order=2),
    "median": tb.NaiveBayes(discretize="median"),
    "our discretiser": tb.TAN(discretize=tb.QuantileDiscretizer(n_bins=3)),
    "our discretiser, mdlp": tb.NaiveBayes(discretize=tb.MDLPDiscretizer()),
    "union": tb.NaiveBayes(discretize="mdlp+quantile"),
    "our discretiser, union": tb.TAN(discretize=tb.MDLPQuantileDiscretizer(n_bins=2)),
    "named categories": tb.NaiveBayes(categorical_features=["size", "weight"]),
    "places of categories": tb.NaiveBayes(categorical_features=(1,)),
}


def make_frame(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(np.array(["red", "blue", None], object), rows),
            "size": rng.integers(0, 4, rows),
            "weight": rng.normal(size=rows),
            "on": rng.random(rows) < 0.5,
        }
    )
    frame.loc[::7, "weight"] = np.nan
    labels = pd.Series(np.array(["a", "b", "c"])[(frame["size"] + rng.integers(0, 2, rows)) % 3], name="kind")
    return frame, labels


def round_trip(model, path):
    model.save(path)
    return tb.load(path)


def options(model):
    return {name: repr(o) if hasattr(o, "get_params") else o for name, o in model.get_params().items()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_whole(name, path):
    X, y = make_frame()
    model = MODELS[name].fit(X, y)
    again = round_trip(model, path)
    assert type(again) is type(model)
    assert options(again) == options(model)
    assert (again.predict_joint_log_proba(X) == model.predict_joint_log_proba(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert again.schema_ == model.schema_
    assert again.dag_ == model.dag_
    assert again.n_parameters_ == model.n_parameters_
    assert again.n_features_in_ == 4
    assert again.feature_names_in_.tolist() == list(X)
    assert getattr(again, "structure_score_", None) == getattr(model, "structure_score_", None)
    assert all(map(np.array_equal, again.family_counts_, model.family_counts_))


def test_saving_twice_writes_the_same_file(path, tmp_path):
    round_trip(tb.TAN().fit(*make_frame()), path).save(tmp_path / "again.json")
    assert path.read_bytes() == (tmp_path / "again.json").read_bytes()


@given(
    st.lists(st.text(st.characters(exclude_categories=())) | st.just("</script>'\"\\"), min_size=1, unique=True),
    st.text(min_size=1),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(path, levels, label, y):
    X = np.array([*levels, *levels, *["é", "😀"] * 2], object)[:, None]
    labels = np.array([label, "other"], object)[np.resize(y, len(X))]
    model = tb.NaiveBayes().fit(X, labels)
    again = round_trip(model, path)
    assert again.schema_ == model.schema_
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_names_of_any_kind_survive(path):
    X = pd.DataFrame([[0, 1, 1], [1, 0, 1], [0, 0, 1]], columns=["💡 \"a\" 'b'", "</script>", "x\n\ty\\"])
    model = tb.TAN().fit(X, pd.Series([0, 1, 0], name="Kläße"))
    assert round_trip(model, path).dag_.arcs() == model.dag_.arcs()


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3, 1], [True, False, True, True], ["1", "2", "1", "1"], [1, "1", 2.5, True], [0.5, 1.5, 0.5, 0.5],
        [2**40, -1, 2**40, 5], [1.0, 2.0, None, 1.0], [2**70, 1, 1, 1],
    ],
)  # fmt: skip
def test_a_category_keeps_its_type(values, path):
    X = np.array(values, object)[:, None]
    model = tb.NaiveBayes(categorical_features="all").fit(X, [0, 1, 0, 1])
    again = round_trip(model, path)
    typed = [[(type(level), level) for level in m.schema_.columns[0].levels] for m in (model, again)]
    assert typed[0] == typed[1]
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "bool", "float64", "float32", "U3", "object", "T"])
def test_labels_keep_their_type(dtype, path):
    labels = np.array([0, 1, 1, 0])
    y = labels.astype(str).astype(object) if dtype == "object" else labels.astype(dtype)
    X = labels[:, None]
    model = tb.NaiveBayes().fit(X, y)
    again = round_trip(model, path)
    assert again.classes_.dtype == ("U1" if dtype == "U3" else model.classes_.dtype)
    assert again.predict(X).tolist() == y.tolist()


def test_intervals_come_back_to_the_last_bit(path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3)) * [1e-300, 1.0, 1e300]
    model = tb.TAN(discretize=tb.QuantileDiscretizer(np.int64(7))).fit(X, rng.integers(0, 2, 300))
    again = round_trip(model, path)
    assert [c.cuts for c in again.schema_.features] == [c.cuts for c in model.schema_.features]
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert not hasattr(again, "feature_names_in_")


@given(st.lists(st.floats(1e-9, 2e11), min_size=4, max_size=4))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_weights_come_back_to_the_last_bit(path, weights):
    X = [[0, 1], [1, 1], [1, 0], [0, 0]]
    model = tb.TAN().fit(X, [0, 1, 0, 1], sample_weight=weights)
    again = round_trip(model, path)
    assert [t.dtype for t in again.family_counts_] == [t.dtype for t in model.family_counts_]
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_arrays_and_series_are_written_as_lists(path):
    X, y = make_frame()
    mask = np.array([False, True, True, False])
    model = tb.NaiveBayes(class_prior=pd.Series([0.2, 0.3, 0.5]), categorical_features=mask, parameters=np.float32(0.5))
    again = round_trip(model.fit(X, y), path)
    assert again.get_params()["class_prior"] == [0.2, 0.3, 0.5]
    assert again.get_params()["categorical_features"] == [False, True, True, False]
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_a_loaded_model_learns_and_forgets_further(path):
    X, y = make_frame()
    whole = tb.NaiveBayes(discretize="median").fit(X[:40], y[:40])
    again = round_trip(whole, path)
    whole.partial_fit(X[40:], y[40:])
    again.partial_fit(X[40:], y[40:])
    assert (again.predict_proba(X) == whole.predict_proba(X)).all()
    assert (again.forget(X[:9], y[:9]).predict_proba(X) == whole.forget(X[:9], y[:9]).predict_proba(X)).all()


def test_one_class_one_feature_and_an_empty_column(path):
    one = tb.TAN().fit([[0], [1]], ["only", "only"])
    assert round_trip(one, path).predict([[1]]).tolist() == ["only"]
    with pytest.warns(tb.errors.EmptyColumnWarning):
        empty = tb.NaiveBayes().fit([[0, None], [1, None]], [0, 1])
    assert round_trip(empty, path).predict([[1, None]]).tolist() == [1]


def test_ten_thousand_categories_load_fast(path):
    levels = np.array([f"level {k}" for k in range(10_000)], object)
    model = tb.NaiveBayes(suspicious="keep").fit(levels[:, None], np.arange(10_000) % 3)
    model.save(path)
    start = time.process_time()
    again = tb.load(path)
    assert time.process_time() - start < 2.0
    assert (again.predict_proba(levels[:50, None]) == model.predict_proba(levels[:50, None])).all()


# ---------------------------------------------------------------------- saving


class OwnNaiveBayes(tb.NaiveBayes):
    pass


class OwnDiscretizer(tb.MedianDiscretizer):
    pass


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (tb.NaiveBayes(discretize=KBinsDiscretizer(2, encode="ordinal", strategy="uniform")), "transformer"),
        (tb.NaiveBayes(discretize=OwnDiscretizer()), "discretize=OwnDiscretizer"),
        (OwnNaiveBayes(), "pickle"),
        (tb.NaiveBayes(class_prior=[Fraction(1, 3)] * 3), "the option class_prior=Fraction"),
    ],
)
def test_what_cannot_come_back_is_not_written(model, match, path):
    model.fit(*make_frame())
    with pytest.raises(tb.errors.OptionError, match=match):
        model.save(path)
    assert not os.listdir(path.parent)


@pytest.mark.skipif(np.longdouble(0).nbytes == 8, reason="long doubles are doubles here")
def test_labels_that_json_cannot_hold_are_not_written(path):
    model = tb.NaiveBayes().fit([[0], [1]], np.array([0, 1], np.longdouble))
    with pytest.raises(tb.errors.OptionError, match="Labels of type"):
        model.save(path)


def test_options_changed_after_fit_are_not_written(path):
    X, y = make_frame()
    model = tb.NaiveBayes().fit(X, y).set_params(parameters=7.0)
    with pytest.raises(tb.errors.OptionError, match="Fit it again"):
        model.save(path)
    model.fit(X, y).save(path)


def test_an_unfitted_model_is_not_written(path):
    with pytest.raises(ValueError, match="not fitted"):
        tb.NaiveBayes().save(path)
    assert not os.listdir(path.parent)


def test_a_failing_save_leaves_the_old_file(path, monkeypatch):
    model = tb.NaiveBayes().fit([[0], [1]], [0, 1])
    model.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="full"):
            model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["model.json"]


def test_a_new_file_has_usual_permissions_and_a_save_keeps_those_of_an_old_one(path):
    model = tb.NaiveBayes().fit([[0], [1]], [0, 1])
    model.save(path)
    mask = os.umask(0o022)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.write_text("old")
    path.chmod(0o600)
    model.save(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["model.json"]


def test_wrong_places_are_named(path):
    model = tb.NaiveBayes().fit([[0], [1]], [0, 1])
    with pytest.raises(FileNotFoundError, match="no directory"):
        model.save(path.parent / "nowhere" / "model.json")
    with pytest.raises(OSError, match=path.parent.name):
        model.save(path.parent)
    with pytest.raises(FileNotFoundError, match=r"model\.json"):
        tb.load(path)
    model.save(path.parent / ("n" * 250 + ".json"))
