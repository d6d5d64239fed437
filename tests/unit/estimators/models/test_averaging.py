"""Averages of models from subsets of the rows."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import tanbark as tb

pytestmark = pytest.mark.filterwarnings("ignore::tanbark.errors.SuspiciousColumnWarning")  # x1 is the class itself


@pytest.fixture(params=[0.0, 0.1], ids=["complete", "gaps"])
def rows(request):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 150)
    X = pd.DataFrame({f"x{k}": (y + rng.integers(0, 3, 150) * (k > 1)) % (k + 2) for k in range(5)}).astype(float)
    X["x4"] = rng.normal(y, 2.0)
    return X.mask(rng.random(X.shape) < request.param), pd.Series(y, name="kind").map(dict(enumerate("abc")))


@pytest.mark.parametrize(
    "model",
    [
        tb.TAN(), tb.AODE(), tb.RAIANB(), tb.BNC2P(parameters="bdeu"), tb.HillClimbTAN(cv=2),
        tb.NaiveBayes(parameters=tb.WANBIA()),
    ],
)  # fmt: skip
def test_the_mean_of_the_models(model, rows):
    X, y = rows
    clf = tb.ModelAveraging(model, 4, random_state=1).fit(X, y)
    single = [member.predict_proba(X) for member in clf.estimators_]
    assert clf.predict_proba(X) == pytest.approx(np.mean(single, axis=0), abs=1e-15)
    assert np.ptp(np.array(single), axis=0).max() > 1e-6  # they are different models
    assert np.array_equal(clf.predict(X), clf.classes_[np.mean(single, axis=0).argmax(axis=1)])
    assert np.exp(clf.predict_log_proba(X)) == pytest.approx(clf.predict_proba(X))
    assert {len(member.schema_.columns[0].levels) for member in clf.estimators_} == {2}


def test_a_model_is_that_of_its_rows(rows):
    """Whole samples give the model itself; subsets are learnt with the columns, categories and cuts of all rows."""
    X, y = rows
    whole = tb.ModelAveraging(tb.TAN(), 2, subsample=1.0).fit(X, y)
    assert whole.predict_proba(X) == pytest.approx(tb.TAN().fit(X, y).predict_proba(X), abs=1e-15)
    part = tb.ModelAveraging(tb.NaiveBayes(), 3, subsample=0.5, random_state=0).fit(X, y)
    assert [member.family_counts_[-1].sum() for member in part.estimators_] == [75, 75, 75]
    assert {member.schema_ for member in part.estimators_} == {tb.NaiveBayes().fit(X, y).schema_}


def test_weights(rows):
    X, y = rows
    weights = np.where(np.arange(len(X)) < 100, 2.0, 0.0)
    clf = tb.ModelAveraging(tb.TAN(), 3, subsample=1.0, random_state=0).fit(X, y, sample_weight=weights)
    expected = tb.TAN().fit(X[:100], y[:100], sample_weight=weights[:100])
    assert clf.predict_proba(X) == pytest.approx(expected.predict_proba(X))


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(rows):
    X, y = rows
    for model in (tb.TAN(), tb.HillClimbTAN(cv=2, tol=0)):
        first = tb.ModelAveraging(model, 4, random_state=3, n_jobs=1).fit(X, y).predict_proba(X)
        again = tb.ModelAveraging(model, 4, random_state=3, n_jobs=3).fit(X, y).predict_proba(X)
        assert np.array_equal(first, again)
    other = tb.ModelAveraging(tb.TAN(), 4, random_state=4).fit(X, y).predict_proba(X)
    assert not np.array_equal(other, tb.ModelAveraging(tb.TAN(), 4, random_state=3).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("model", [tb.TAN(), tb.AODE(), tb.ACLLTAN(), tb.BNC2P()])
def test_the_file_gives_everything_back(model, rows, tmp_path):
    X, y = rows
    clf = tb.ModelAveraging(model, 3, random_state=1).fit(X, y)
    clf.save(tmp_path / "model.json")
    back = tb.load(tmp_path / "model.json")
    assert np.array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert repr(back) == repr(clf)
    assert list(back.feature_names_in_) == list(X)
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X))


def test_a_damaged_file_is_refused(rows, tmp_path):
    clf = tb.ModelAveraging(tb.NaiveBayes(), 2, random_state=1).fit(*rows)
    clf.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    other = tb.ModelAveraging(tb.TAN(), 2, random_state=1).fit(*rows)
    other.save(tmp_path / "other.json")
    strange = json.loads((tmp_path / "other.json").read_text())["members"][0]
    for members, told in ((document["members"][:1], "as many"), ([document["members"][0], strange], "no NaiveBayes")):
        (tmp_path / "bad.json").write_text(json.dumps({**document, "members": members}))
        with pytest.raises(tb.errors.ModelFileError, match=told):
            tb.load(tmp_path / "bad.json")


def test_explanations_add_up(rows):
    X, y = rows
    clf = tb.ModelAveraging(tb.TAN(), 3, random_state=0).fit(X, y)
    proba = clf.predict_proba(X[:5])
    for place, row in enumerate(clf.explain(X[:5])):
        assert row.probability == pytest.approx(proba[place].max())
        assert sum(part.nats for part in row.parts) == pytest.approx(row.log_odds)


def test_ratios_of_arcs(rows):
    clf = tb.ModelAveraging(tb.TAN(), 4, random_state=0).fit(*rows)
    shares = clf.arc_frequencies()
    assert sum(shares.values()) == pytest.approx(np.mean([member.dag_.n_arcs for member in clf.estimators_]))
    assert shares["kind", "x1"] == 1.0
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    with pytest.raises(tb.errors.OptionError, match="no graph"):
        tb.ModelAveraging(tb.AODE(), 2).fit(*rows).arc_frequencies()


def test_it_is_an_estimator_like_others(rows):
    X, y = rows
    clf = tb.ModelAveraging(tb.TAN(), 2, random_state=0)
    assert repr(clf) == "ModelAveraging(estimator=TAN(), n_estimators=2, random_state=0)"
    assert clone(clf).get_params()["estimator__criterion"] == "loglik"
    search = GridSearchCV(clf, {"estimator__criterion": ["loglik", "bic"], "subsample": [0.5, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"estimator": GaussianNB()}, "estimator must be"), ({"estimator": tb.TAN}, "estimator must be"),
        ({"n_estimators": 0}, "n_estimators"), ({"n_estimators": 2.5}, "n_estimators"),
        ({"subsample": 0}, "subsample"), ({"subsample": 1.5}, "subsample"), ({"subsample": "all"}, "subsample"),
        ({"n_jobs": 0}, "n_jobs"), ({"estimator": tb.TAN(criterion="?")}, "criterion"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options, told):
    with pytest.raises(tb.errors.OptionError, match=told):
        tb.ModelAveraging(**options).fit([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 0, 1])
