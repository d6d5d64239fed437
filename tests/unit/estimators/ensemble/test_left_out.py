"""Training rows without their own counts, in pooled networks."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import tanbark as tb
from tanbark.estimators.ensemble.pooled import Plan, learn_pooled
from tanbark.estimators.parts.discretizers import find_cutter
from tanbark.structure.rules import generator


def make_rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = pd.DataFrame({
        "number": np.round(rng.normal(y, 1.0), 2),
        "word": np.array(["a", "b", "c"])[(y + rng.integers(0, 2, n)) % 3],
        "other": np.array(["x", "y", "z"])[(y * rng.integers(0, 2, n)) % 3],
    })  # fmt: skip
    return X.mask(rng.random(X.shape) < 0.1), pd.Series(y, name="y")


@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_what_the_weights_were_learnt_from(weighted):
    X, y = make_rows()
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    clf = tb.NetworkEnsemble(3).fit(X, y, sample_weight=weights)
    seed = int(generator(0).integers(2**31 - 1))
    training = learn_pooled(clf.rows_, Plan(3, 3, find_cutter(clf.discretize)[0], seed))
    found = clf.leave_one_out_proba(X, y, sample_weight=weights)
    assert found == pytest.approx(softmax(training.left_out, axis=1), abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1.0)


def test_they_are_less_sure_of_their_own_labels():
    X, y = make_rows()
    clf = tb.NetworkEnsemble(3).fit(X, y)
    found, counted = clf.leave_one_out_proba(X, y), clf.predict_proba(X)
    own = np.arange(len(X)), y.to_numpy()
    assert (found[own] < counted[own]).mean() > 0.9
    measures = clf.leave_one_out_measures(X, y)
    assert measures["log_loss"] == pytest.approx(-np.log(found[own]).mean())
    assert measures["accuracy"] == pytest.approx((found.argmax(axis=1) == y).mean())
    assert measures["log_loss"] > -np.log(counted[own]).mean()


def test_a_given_prior_and_a_model_file(tmp_path):
    X, y = make_rows()
    clf = tb.NetworkEnsemble(3, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    nothing = pd.DataFrame({name: [None] * 3 for name in X})
    assert clf.leave_one_out_proba(nothing, [0, 1, 2]) == pytest.approx(np.tile([0.2, 0.3, 0.5], (3, 1)))
    clf.save(tmp_path / "m.json")
    assert np.array_equal(tb.load(tmp_path / "m.json").leave_one_out_proba(X, y), clf.leave_one_out_proba(X, y))


def test_rows_of_weight_zero_are_in_no_count():
    X, y = make_rows()
    weights = np.where(np.arange(len(X)) % 2, 1.0, 0.0)
    clf = tb.NetworkEnsemble(2).fit(X, y, sample_weight=weights)
    complete = X.notna().all(axis=1).to_numpy() & (weights == 0)
    found = clf.leave_one_out_proba(X, y, sample_weight=weights)
    assert found[complete] == pytest.approx(clf.predict_proba(X)[complete], abs=1e-9)
