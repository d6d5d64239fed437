"""The classifiers inside scikit-learn: pipelines, searches, calibration, copies, options."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

import tanbark as tb

ARCS = [("class", "x0"), ("class", "x1"), ("x0", "x1"), ("class", "x2")]
MODELS = {
    "naive": tb.NaiveBayes(parameters=0.5),
    "tan": tb.TAN(criterion="bic", root=1),
    "fixed": tb.FixedStructure(ARCS, parameters="bdeu"),
    "by name": tb.BayesNetClassifier("tan", options={"criterion": "aic"}),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = np.column_stack([y ^ (rng.random(120) < 0.2), rng.normal(size=120) + y, rng.integers(0, 3, 120)]).astype(float)
    X[::11, 1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def frame(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["d"] = np.array(["red", "green", "blue"])[X[:, 2].astype(int)]
    return table, pd.Series(np.where(y, "yes", "no"), name="answer")


# ---------------------------------------------------------------------- composition


@each_model
def test_cross_validation(model, rows):
    assert cross_val_score(model, *rows, cv=3).mean() > 0.7
    assert cross_val_predict(model, *rows, cv=3, method="predict_proba").shape == (120, 2)
    scores = cross_validate(model, *rows, cv=3, scoring=["accuracy", "neg_log_loss", "roc_auc"])
    assert scores["test_roc_auc"].mean() > 0.7


def test_a_pipeline_with_a_column_transformer(frame):
    columns = ColumnTransformer(
        [
            ("fill", SimpleImputer(), ["b"]),
            ("cut", KBinsDiscretizer(2, encode="ordinal", strategy="uniform"), ["a"]),
            ("code", OrdinalEncoder(), ["d"]),
        ]
    )
    pipe = make_pipeline(columns, tb.TAN()).fit(*frame)
    assert pipe.score(*frame) > 0.7
    assert pipe[-1].schema_.names == ("x0", "x1", "x2", "answer")
    named = make_pipeline(clone(columns).set_output(transform="pandas"), tb.TAN()).fit(*frame)
    assert named[-1].feature_names_in_.tolist() == ["fill__b", "cut__a", "code__d"]
    assert (named.predict_proba(frame[0]) == pipe.predict_proba(frame[0])).all()


def test_a_pipeline_that_passes_strings_through(frame):
    pipe = make_pipeline(ColumnTransformer([("keep", "passthrough", ["d", "b"])]), tb.NaiveBayes()).fit(*frame)
    assert pipe.predict(frame[0][:3]).shape == (3,)


def test_a_pipeline_hands_weights_on(rows):
    X, y = rows
    weights = np.arange(len(y)) % 3
    pipe = make_pipeline(tb.MedianDiscretizer(), tb.NaiveBayes())
    pipe.fit(X, y, naivebayes__sample_weight=weights)
    alone = tb.NaiveBayes().fit(pipe[0].transform(X), y, sample_weight=weights)
    assert (pipe.predict_proba(X) == alone.predict_proba(pipe[0].transform(X))).all()


def test_a_grid_search_over_the_options_of_tan(rows):
    grid = {
        "criterion": ["loglik", "bic"],
        "parameters": [tb.Laplace(0.5), tb.BDeu(5.0)],
        "discretize": ["mdlp", tb.QuantileDiscretizer(3)],
    }
    search = GridSearchCV(tb.TAN(), grid, cv=2).fit(*rows)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.get_params()["criterion"] == search.best_params_["criterion"]
    assert search.score(*rows) > 0.7
    assert search.cv_results_["param_criterion"].tolist().count("bic") == 4


def test_a_grid_search_reaches_into_options(rows):
    search = GridSearchCV(
        make_pipeline(tb.BayesNetClassifier(discretize=tb.QuantileDiscretizer())),
        {
            "bayesnetclassifier__learner": ["naive", "tan"],
            "bayesnetclassifier__discretize__n_bins": [2, 4],
        },
        cv=2,
    ).fit(*rows)
    assert search.best_score_ > 0.7


@each_model
def test_calibration_and_voting(model, rows):
    X, y = rows
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    vote = VotingClassifier([("one", model), ("two", tb.NaiveBayes(parameters=3))], voting="soft").fit(X, y)
    assert vote.score(X, y) > 0.7


def test_columns_keep_their_names_through_cross_validation(frame):
    fitted = cross_validate(tb.TAN(), *frame, cv=2, return_estimator=True)["estimator"]
    assert fitted[0].feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert fitted[0].schema_.names[-1] == "answer"
    assert fitted[0].n_features_in_ == 4


# ---------------------------------------------------------------------- copies


@each_model
def test_clones_pickles_and_joblib(model, rows, tmp_path):
    X, y = rows
    assert clone(model).get_params() == model.get_params()
    fitted = clone(model).fit(X, y)
    assert not hasattr(clone(fitted), "network_")
    joblib.dump(fitted, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")):
        assert again.get_params() == model.get_params()
        assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
        assert again.dag_ == fitted.dag_
    assert pickle.loads(pickle.dumps(model)).fit(X, y).predict(X).tolist() == fitted.predict(X).tolist()


# ---------------------------------------------------------------------- options


def test_the_criterion_is_an_option_and_score_the_method(rows):
    X, y = rows
    model = tb.TAN(criterion="bic").fit(X, y)
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert model.score(X, y, sample_weight=np.arange(120)) == pytest.approx(
        np.average(model.predict(X) == y, weights=np.arange(120))
    )
    assert model.set_params(criterion="aic").get_params()["criterion"] == "aic"


def test_options_are_stored_as_given_and_checked_in_fit(rows):
    model = tb.TAN(criterion="bicc", parameters=-1)
    assert model.get_params()["parameters"] == -1
    with pytest.raises(tb.errors.OptionError, match="alpha"):
        model.fit(*rows)
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'bic'"):
        model.set_params(parameters=1).fit(*rows)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour="red")
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'tan'"):
        tb.BayesNetClassifier("tann").fit(*rows)
    with pytest.raises(tb.errors.OptionError, match="Did you mean 'criterion'"):
        tb.BayesNetClassifier("tan", options={"criterium": "bic"}).fit(*rows)
    with pytest.raises(tb.errors.InputError, match="no column"):
        tb.FixedStructure([("class", "nowhere")]).fit(*rows)


def test_the_same_learner_by_two_names(rows):
    X, y = rows
    by_name = tb.BayesNetClassifier("tan", options={"criterion": "bic", "root": 2}, parameters=2).fit(X, y)
    named = tb.TAN(criterion="bic", root=2, parameters=2).fit(X, y)
    assert (by_name.predict_proba(X) == named.predict_proba(X)).all()
    assert by_name.structure_score_ == named.structure_score_


def test_reprs():
    assert repr(tb.TAN(criterion="bic", parameters=2.0)) == "TAN(criterion='bic', parameters=2.0)"
    assert repr(tb.NaiveBayes()) == "NaiveBayes()"
    assert repr(tb.BayesNetClassifier("naive")) == "BayesNetClassifier(learner='naive')"


@each_model
def test_the_notebook_view(model, rows):
    for shown in (model, clone(model).fit(*rows)):
        html = shown._repr_html_()
        assert type(model).__name__ in html
        assert "bound method" not in html


def test_the_notebook_view_shows_the_score_option():
    assert "bic" in tb.TAN(criterion="bic")._repr_html_()


# ---------------------------------------------------------------------- metadata


@each_model
def test_weights_can_be_routed(model, rows):
    X, y = rows
    weights = np.arange(len(y)) % 4 + 0.5
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        result = cross_validate(asking, X, y, cv=2, params={"sample_weight": weights}, return_estimator=True)
        plain = cross_validate(clone(model), X, y, cv=2, params={}, return_estimator=True)
    totals = [fitted.family_counts_[-1].sum() for fitted in result["estimator"]]
    assert sum(totals) == pytest.approx(weights.sum())
    assert [fitted.family_counts_[-1].sum() for fitted in plain["estimator"]] == [60, 60]


def test_fitting_again_forgets_the_first_time(frame, rows):
    model = tb.TAN().fit(*frame)
    model.fit(*rows)
    assert not hasattr(model, "feature_names_in_")
    assert model.classes_.tolist() == [0, 1]
    assert model.partial_fit(*rows).family_counts_[-1].sum() == 240
