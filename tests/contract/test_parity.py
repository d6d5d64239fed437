"""Every classifier of tables has every method of the others, or says in a sentence why not."""

import inspect

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from strategies import make_table
from tanbark.estimators.catalogue import known_classifiers
from tanbark.estimators.classifier import Absent

OPTIONS = {
    "FixedStructure": {"arcs": [("class", "x0"), ("class", "x1")]},
    "ModelAveraging": {"estimator": tb.TAN(), "n_estimators": 3, "random_state": 0},
    **{name: {"n_estimators": 3} for name in ("NetworkEnsemble", "Classifier")},
    **{name: {"cv": 3} for name in ("HillClimbTAN", "SuperParentTAN", "WrapperKDB", "FSSJ", "BSEJ")},
    "SelectiveNaiveBayes": {"cv": 3},
}  # fmt: skip
CLASSIFIERS = known_classifiers()
METHODS = sorted(
    {
        name
        for cls in CLASSIFIERS.values()
        for base in cls.__mro__
        if base.__module__.startswith("tanbark.")
        for name, thing in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or isinstance(thing, Absent) or hasattr(thing, "check"))
    }
)


@pytest.fixture(scope="module")
def rows():
    codes = make_table(np.random.default_rng(4), (3, 2, 3, 3), 90, gaps=0.05).codes.astype(float)
    codes[codes == 255] = np.nan
    return pd.DataFrame(codes[:-1].T, columns=["x0", "x1", "x2"]), pd.Series(codes[-1].astype(int), name="class")


def points_or_reason(clf):
    """Make a scorecard, or be told in a sentence why this structure, or more than two classes, have none."""
    with pytest.raises(tb.errors.InputError) as caught:
        clf.scorecard()
    assert len(str(caught.value).split()) > 8


def calls(clf, X, y, folder):
    """Call every method in the way that its classifier takes it."""
    X.to_parquet(folder / "rows.parquet")
    return {
        "aic": lambda: clf.aic(X, y), "bic": lambda: clf.bic(X, y), "explain": lambda: clf.explain(X[:3]),
        "conditional_log_likelihood": lambda: clf.conditional_log_likelihood(X, y),
        "log_likelihood": lambda: clf.log_likelihood(X, y), "explore": lambda: clf.explore().html,
        "arc_frequencies": lambda: clf.arc_frequencies(), "fit": lambda: clf.fit(X, y),
        "fit_counts": lambda: clf.fit_counts(clf.counts_), "partial_fit": lambda: clf.partial_fit(X, y),
        "forget": lambda: clf.forget(X, y), "predict": lambda: clf.predict(X, abstain_below=0.5),
        "predict_proba": lambda: clf.predict_proba(X), "predict_log_proba": lambda: clf.predict_log_proba(X),
        "predict_joint_log_proba": lambda: clf.predict_joint_log_proba(X),
        "predict_proba_interval": lambda: clf.predict_proba_interval(X[:5], n_draws=20),
        "predict_file": lambda: clf.predict_file(folder / "rows.parquet", folder / "out.csv", proba=True),
        "leave_one_out_proba": lambda: clf.leave_one_out_proba(X, y),
        "leave_one_out_measures": lambda: clf.leave_one_out_measures(X, y),
        "calibrate_sets": lambda: clf.calibrate_sets(X, y, cv=2),
        "predict_set": lambda: clf.calibrate_sets(X, y, cv=2).predict_set(X, coverage=0.8),
        "ask_next": lambda: clf.ask_next({"x1": 1.0}), "sensitivity": lambda: clf.sensitivity({"x1": 1.0}),
        "counterfactual": lambda: clf.counterfactual(X[:1]), "surprise": lambda: clf.surprise(X[:9], n_draws=20),
        "decide": lambda: clf.decide(X, costs=1 - np.eye(3)), "scorecard": lambda: points_or_reason(clf),
        "support": lambda: clf.support(X), "save": lambda: clf.save(folder / "model.json"),
    }  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_method_works_or_says_why_it_is_absent(name, rows, tmp_path):
    X, y = rows
    clf = CLASSIFIERS[name](**OPTIONS.get(name, {})).fit(X, y)
    work = calls(clf, X, y, tmp_path)
    assert set(work) == set(METHODS)
    assert clf.feature_importances_.shape == (3,)
    for method, call in work.items():
        if hasattr(clf, method):
            call()
        else:
            with pytest.raises(AttributeError) as caught:
                getattr(clf, method)
            reason = str(caught.value.__cause__ or caught.value)  # scikit-learn's available_if raises from the reason
            assert len(reason.split()) > 8, reason


def test_what_an_average_has_is_what_its_models_have(rows):
    X, y = rows
    clf = tb.ModelAveraging(tb.NaiveBayes(), 4, subsample=1.0, random_state=0).fit(X, y)
    alone = tb.NaiveBayes().fit(X, y)
    assert clf.support(X) == pytest.approx(alone.support(X))
    assert clf.support(X, per_feature=True) == pytest.approx(alone.support(X, per_feature=True), nan_ok=True)
    assert clf.conditional_log_likelihood(X, y) == pytest.approx(alone.conditional_log_likelihood(X, y))
    told = clf.predict(X, abstain_below=0.6)
    assert np.array_equal([label is None for label in told], clf.predict_proba(X).max(axis=1) < 0.6)
    assert np.array_equal(clf.predict(X), alone.predict(X))
