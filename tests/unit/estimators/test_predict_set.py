"""Prediction sets: coverage, monotony, and what they are calibrated on."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import KFold

import tanbark as tb
from tanbark.errors import InputError, ModelFileError, OptionError
from tanbark.estimators import predict_set


def make_rows(seed=0, n=600):
    """Rows with so many different values that few posteriors are the same."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["high", "low", "middle"], n, p=[0.2, 0.5, 0.3])
    place = np.searchsorted(["high", "low", "middle"], y)
    X = pd.DataFrame({f"x{k}": rng.normal(place, 2.5) for k in range(8)})
    return X.mask(rng.random(X.shape) < 0.05), pd.Series(y, name="y")


MODELS = {
    "tan": tb.TAN(temperature="auto"),
    "aode": tb.AODE(),
    "averaging": tb.ModelAveraging(tb.NaiveBayes(), 3, random_state=0),
    "ensemble": tb.NetworkEnsemble(3),
    "classifier": tb.Classifier(3),
}


@pytest.fixture(scope="module", params=MODELS)
def calibrated(request):
    X, y = make_rows(n=2000)
    return MODELS[request.param].fit(X, y).calibrate_sets(X, y, cv=5)


def test_sets_hold_the_right_class_as_often_as_asked(calibrated):
    X, y = make_rows(1, 6000)
    place = np.searchsorted(calibrated.classes_, y)
    for coverage in (0.7, 0.9, 0.97):
        raw = calibrated.predict_set(X, coverage=coverage, allow_empty=True)
        error = np.sqrt(coverage * (1 - coverage) * (1 / 2000 + 1 / 6000))  # of calibration and of test rows
        assert raw.members[np.arange(6000), place].mean() == pytest.approx(coverage, abs=3.5 * error)
        full = calibrated.predict_set(X, coverage=coverage)
        assert (full.sizes >= 1).all()
        assert (full.members >= raw.members).all()


def test_a_higher_coverage_takes_no_class_out(calibrated):
    X, _ = make_rows(2, 200)
    sets = [np.asarray(calibrated.predict_set(X, coverage=c)) for c in (0.01, 0.3, 0.6, 0.8, 0.95, 0.999999)]
    assert all((a <= b).all() for a, b in pairwise(sets))
    assert sets[-1].all()
    assert np.array_equal(sets[0].argmax(axis=1), calibrated.predict_proba(X).argmax(axis=1))


def test_rows_that_training_has_not_seen_give_the_guarantee():
    """The mean over many calibrations is k / (n + 1) for the k-th score, whatever the model."""
    X, y = make_rows(3, 300)
    clf = tb.NaiveBayes(discretize="quantile").fit(X, y)
    fresh, labels = make_rows(4, 2000)
    place, found = np.searchsorted(clf.classes_, labels), []
    for seed in range(60):
        clf.calibrate_sets(*make_rows(100 + seed, 49), cv=None)
        members = np.asarray(clf.predict_set(fresh, coverage=0.8, allow_empty=True))
        found.append(members[np.arange(2000), place].mean())
    assert np.mean(found) == pytest.approx(0.8, abs=0.025)


def test_the_score_is_the_rank_of_the_log_odds():
    X, y = make_rows(5, 100)
    clf = tb.NaiveBayes().fit(X, y).calibrate_sets(X, y, cv=None)
    proba = clf.predict_proba(X)
    own = np.sort(proba[np.arange(100), np.searchsorted(clf.classes_, y)])[::-1]
    limit = own[91 - 1]  # the 91st of 100: ceil(101 x 0.9)
    assert np.array_equal(clf.predict_set(X, allow_empty=True).members, proba >= limit - 1e-12)


def test_many_scores_are_thinned_so_that_sets_only_grow(monkeypatch):
    X, y = make_rows(6, 1003)
    clf = tb.NaiveBayes().fit(X, y)
    whole = clf.calibrate_sets(X, y, cv=None).predict_set(X).members
    monkeypatch.setattr(predict_set, "MOST_KEPT", 50)
    few = clf.calibrate_sets(X, y, cv=None).predict_set(X).members
    assert len(clf.set_scores_) <= 50
    assert (few >= whole).all()
    assert few.mean() - whole.mean() < 0.1


def test_scores_are_extrapolated_quantile_by_quantile():
    """Scores fall as 1 / rows; those of more rows follow from those of two sizes."""
    rng = np.random.default_rng(0)
    draw = {n: np.sort(rng.normal(size=20_000) * 0.01 + 50.0 / n) for n in (50, 100, 125)}
    factor = (1 / 100 - 1 / 125) / (1 / 50 - 1 / 100)
    found = predict_set.extrapolate(draw[100], draw[50], factor)
    assert factor == pytest.approx(1 / 5)
    np.testing.assert_allclose(np.quantile(found, [0.1, 0.5, 0.9]), np.quantile(draw[125], [0.1, 0.5, 0.9]), atol=2e-3)
    assert (np.diff(found) >= 0).all()
    endless = np.array([0.0, 1.0, predict_set.LARGEST])
    assert predict_set.extrapolate(endless, np.array([1.0, 2.0, 3.0]), 0.5).tolist() == [-0.5, 0.5, predict_set.LARGEST]
    np.testing.assert_array_equal(predict_set.extrapolate(draw[50], draw[50], 0.5), draw[50])


def test_what_comes_back():
    X, y = make_rows(7, 200)
    sets = tb.NaiveBayes().fit(X, y).calibrate_sets(X, y, cv=KFold(3)).predict_set(X[:7], coverage=0.95)
    assert len(sets) == 7
    assert sets.labels() == list(sets) == [sets[row] for row in range(7)]
    assert [len(labels) for labels in sets] == sets.sizes.tolist()
    assert sets.to_frame(backend="pandas").to_numpy().tolist() == sets.members.tolist()
    assert "7 rows, coverage 0.95" in repr(sets)


def test_classes_that_a_fold_lacks_are_never_covered_there():
    X, y = make_rows(8, 100)
    y = y.where(y.index > 0, "once")
    clf = tb.NaiveBayes().fit(X, y).calibrate_sets(X, y)
    assert clf.set_scores_[-1] == predict_set.LARGEST
    assert clf.predict_set(X, coverage=0.999).members.all()


def test_learning_again_asks_for_a_new_calibration():
    X, y = make_rows(9, 100)
    clf = tb.NaiveBayes().fit(X, y).calibrate_sets(X, y, cv=2)
    clf.partial_fit(X, y)
    with pytest.raises(OptionError, match="call calibrate_sets"):
        clf.predict_set(X)


def test_model_files_keep_the_scores(tmp_path, calibrated):
    X, _ = make_rows(10, 200)
    calibrated.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert np.array_equal(again.set_scores_, calibrated.set_scores_)
    assert again.predict_set(X).labels() == calibrated.predict_set(X).labels()
    document = json.loads((tmp_path / "model.json").read_text())
    for bad in ([], ["a"], [2.0, 1.0]):
        (tmp_path / "bad.json").write_text(json.dumps({**document, "set_scores": bad}))
        with pytest.raises(ModelFileError, match="prediction sets"):
            tb.load(tmp_path / "bad.json")


def test_texts(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = csr_matrix(rng.poisson(1 + 0.5 * y[:, None], (300, 6)))
    clf = tb.TextNaiveBayes().fit(X, y).calibrate_sets(X, y)
    members = np.asarray(clf.predict_set(X))
    assert members[np.arange(300), y].mean() == pytest.approx(0.9, abs=0.05)
    clf.save(tmp_path / "model.json")
    assert tb.load(tmp_path / "model.json").predict_set(X).labels() == clf.predict_set(X).labels()
    clf.partial_fit(X, y)
    assert not hasattr(clf, "set_scores_")


def test_bad_options_are_errors():
    X, y = make_rows(11, 60)
    clf = tb.NaiveBayes().fit(X, y)
    for bad in (1, 0, "many", 2.5):
        with pytest.raises(OptionError, match="cv"):
            clf.calibrate_sets(X, y, cv=bad)
    with pytest.raises(InputError, match="folds"):
        clf.calibrate_sets(X, y, cv=70)
    with pytest.raises(InputError, match="must be as many"):
        clf.calibrate_sets(X, y[:5], cv=None)
    clf.calibrate_sets(X, y, cv=None)
    for bad in (0, 1, 90, "most"):
        with pytest.raises(OptionError, match="coverage"):
            clf.predict_set(X, coverage=bad)
