"""Every estimator: unchanged after a failed refit, and within bounds for weights of any size."""

import pickle
import time
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tanbark as tb
from tanbark.errors import InputError

ESTIMATORS = [
    getattr(tb, name) for name in tb.__all__
    if isinstance(getattr(tb, name), type) and hasattr(getattr(tb, name), "fit")
    and getattr(tb, name).__module__.startswith("tanbark.")
]  # fmt: skip
WEIGHTED = [cls for cls in ESTIMATORS if "sample_weight" in signature(cls.fit).parameters]
QUICK = {tb.NaiveBayes, tb.TAN, tb.AODE, tb.GBN}  # learners that see every size of weights; the others see the extremes
SCALES = {1e-300, 1e-40, 1e-25, 1e-9, 1e6, 1e10, 1e16, 1e100, 1e308}
EXTREMES = {1e-300, 1e-25, 1e10, 1e308}
rng = np.random.default_rng(0)
X = rng.integers(0, 3, (60, 4)).astype(float)
Y = ((X[:, 0] + X[:, 1] + rng.integers(0, 2, 60)) > 2).astype(int)
WEIGHTS = rng.random(60) + 0.5


def wrong_refits(estimator):
    """Calls that fail early and late, with rows of another width and labels of other classes."""
    other, labels = np.column_stack([X, X[:, :2]]), np.array(["a", "b", "c"], object)[X[:, 2].astype(int)]
    yield lambda: estimator.fit(other, labels[:-1])
    yield lambda: estimator.fit(other, labels, sample_weight=-WEIGHTS)
    yield lambda: estimator.fit(other, np.where(labels == "a", None, labels))
    yield lambda: estimator.fit(np.where(other == 2, np.inf, other), labels)


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_a_failed_refit_changes_nothing(cls):
    estimator = cls()
    estimator.fit(X, Y)
    before = pickle.dumps(sorted(estimator.__dict__))
    values = {name: id(value) for name, value in estimator.__dict__.items()}
    failed = 0
    for refit in wrong_refits(estimator):
        try:
            refit()
        except Exception:
            failed += 1
        else:  # a discretiser needs no labels, and none fails for all of these
            estimator = clone(estimator).fit(X, Y)
            values = {name: id(value) for name, value in estimator.__dict__.items()}
            before = pickle.dumps(sorted(estimator.__dict__))
        assert pickle.dumps(sorted(estimator.__dict__)) == before
        assert {name: id(value) for name, value in estimator.__dict__.items()} == values
    assert failed


@pytest.mark.filterwarnings("ignore::tanbark.errors.TanbarkWarning")
@pytest.mark.parametrize(
    ("cls", "scale"),
    [(cls, scale) for cls in WEIGHTED for scale in sorted(SCALES if cls in QUICK else EXTREMES)],
    ids=lambda each: each.__name__ if isinstance(each, type) else f"{each:g}",
)
def test_weights_of_any_size_are_learnt_in_time_or_refused(cls, scale):
    before = time.process_time()
    if 1e-30 < scale < 1e11:  # 60 rows
        model = cls().fit(X, Y, sample_weight=scale * WEIGHTS)
        if hasattr(model, "predict_proba"):
            assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    else:
        with pytest.raises(InputError, match=r"constant|finite"), np.errstate(over="ignore"):
            cls().fit(X, Y, sample_weight=scale * WEIGHTS)
    assert time.process_time() - before < 60  # a search that does not end, or memory that grows, takes more


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e6, 1e9])
@pytest.mark.parametrize("make", [tb.NaiveBayes, tb.TAN, tb.ACLLTAN])
def test_rows_are_forgotten_whatever_the_size_of_their_weights(make, scale):
    weights = scale * WEIGHTS
    model = make().partial_fit(X, Y, sample_weight=weights)
    model.forget(X[:20], Y[:20], sample_weight=weights[:20])
    alone = make().partial_fit(X, Y, sample_weight=np.r_[np.zeros(20), weights[20:]])
    assert model.counts_.flat == pytest.approx(alone.counts_.flat, rel=1e-6, abs=1e-9 * scale)
    with pytest.raises(InputError, match="never added"):
        model.forget(X[:20], 1 - Y[:20], sample_weight=10 * weights[:20])


def test_rows_of_weight_zero_do_not_count_whatever_their_label():
    labels, weights = np.array(["no", "yes"], object)[Y], np.r_[np.zeros(5), WEIGHTS[5:]]
    labels[:5] = "neither"
    whole = tb.NaiveBayes().fit(X, labels, sample_weight=weights)
    steps = tb.NaiveBayes().partial_fit(X[5:30], labels[5:30], ["no", "yes"], weights[5:30])
    rest = np.r_[:5, 30:60]
    steps.partial_fit(X[rest], labels[rest], sample_weight=weights[rest])
    assert steps.classes_.tolist() == whole.classes_.tolist() == ["no", "yes"]
    assert steps.predict_proba(X) == pytest.approx(whole.predict_proba(X))


def test_infinity_is_no_category():
    frame = pd.DataFrame({"a": pd.Categorical([1.0, np.inf] * 20)})
    with pytest.raises(InputError, match="infinity"):
        tb.NaiveBayes().fit(frame, [0, 1] * 20)
