"""NetworkEnsemble and Classifier: options, sources of rows, priors, and tables at the edge."""

import time
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tanbark as tb
from tanbark.errors import EmptyColumnWarning, InputError, OptionError, UnseenCategoryWarning
from tanbark.inference import joint_log_proba

KINDS = pytest.mark.parametrize("cls", [tb.NetworkEnsemble, tb.Classifier])


def make_rows(n=240, seed=0, *, missing=0.1):
    rng = np.random.default_rng(seed)
    y = rng.choice(["high", "low", "middle"], n)
    place = np.searchsorted(["high", "low", "middle"], y)
    X = pd.DataFrame({
        "number": np.round(rng.normal(place, 1.0), 2),
        "whole": rng.integers(0, 12, n) + place,
        "word": np.array(["a", "b", "c"])[(place + rng.integers(0, 2, n)) % 3],
        "noise": np.array(["x", "y", "z"])[rng.integers(0, 3, n)],
    })  # fmt: skip
    return X.mask(rng.random(X.shape) < missing), pd.Series(y, name="y")


@cache
def fit_once(cls):
    """Return a model that several tests look at; none of them changes it."""
    return cls(3).fit(*make_rows())


@cache
def fit_weighted(cls):
    X, y = make_rows()
    return cls(3).fit(X, y, sample_weight=np.arange(len(X)) % 3)


@KINDS
def test_one_member_is_one_tempered_network(cls):
    """The posterior of one network: the prior, and the exact likelihood raised to its weight."""
    X, y = make_rows(45)  # too few for a correction
    clf = cls(1, 1).fit(X, y)
    (network,) = clf.networks_
    codes = clf.model_.members[0].coarsening.apply(clf._codes(X))
    joint = joint_log_proba(network, codes)
    prior = clf.model_.log_prior
    wanted = prior + clf.weights_[0] * (joint - prior)
    wanted -= np.logaddexp.reduce(wanted, axis=1, keepdims=True)
    assert clf.predict_log_proba(X) == pytest.approx(wanted, abs=1e-9)
    structure = tb.KDB(max_parents=1, discretize=clf.discretize).fit(X, y).dag_
    assert [arc for arc in network.dag.arcs() if "y" not in arc] == [arc for arc in structure.arcs() if "y" not in arc]


@KINDS
def test_the_same_seed_has_the_same_bytes(cls, tmp_path):
    X, y = make_rows()
    cls(3, n_jobs=1, random_state=4).fit(X, y).save(tmp_path / "a.json")
    for n_jobs in (1, 2, 3):
        again = cls(3, n_jobs=n_jobs, random_state=4).fit(X, y).set_params(n_jobs=1)
        again.save(tmp_path / "b.json")
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    other = cls(3, random_state=5).fit(X, y)
    assert not np.array_equal(other.predict_proba(X), again.predict_proba(X))
    drawn = cls(3, random_state=np.random.default_rng(4)).fit(X, y)
    assert np.isfinite(drawn.predict_proba(X)).all()


@KINDS
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_learnt_like_rows_in_memory(cls, kind, tmp_path):
    X, y = make_rows()
    path = tmp_path / f"rows.{kind}"
    frame = X.assign(y=y, times=np.arange(len(X)) % 3)
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    model = cls(3).fit(path, sample_weight="times", target="y")
    memory = fit_weighted(cls)
    assert model.schema_ == memory.schema_
    assert model.predict_proba(X) == pytest.approx(memory.predict_proba(X), abs=1e-7)
    assert model.passes_ >= 1


@KINDS
def test_the_class_prior_replaces_the_frequencies(cls):
    X, y = make_rows()
    prior = {"low": 0.5, "high": 0.2, "middle": 0.3}
    plain, clf = fit_once(cls), cls(3, class_prior=prior).fit(X, y)
    nothing = pd.DataFrame({name: [None] for name in X})
    assert clf.predict_proba(nothing)[0] == pytest.approx([0.2, 0.5, 0.3])
    moved = plain.predict_proba(X) * np.array([0.2, 0.5, 0.3]) / np.exp(plain.model_.log_prior)
    assert clf.predict_proba(X) == pytest.approx(moved / moved.sum(axis=1, keepdims=True), abs=1e-9)
    never = cls(3, class_prior=[0.5, 0.5, 0.0]).fit(X, y)
    assert (never.predict_proba(X)[:, 2] == 0).all()
    if cls is tb.Classifier:
        assert clf.network_.table("y") == pytest.approx([0.2, 0.5, 0.3])
        assert not np.array_equal(clf.set_scores_, plain.set_scores_)
    with pytest.raises((OptionError, InputError), match="class_prior"):
        cls(3, class_prior=[0.5, 0.5]).fit(X, y)


@KINDS
def test_categories_that_training_has_not_seen(cls):
    X, y = make_rows()
    clf = fit_once(cls)
    row = X.dropna()[:1]
    with pytest.warns(UnseenCategoryWarning):
        found = clf.predict_proba(row.assign(word="never"))
    assert np.array_equal(found, clf.predict_proba(row.assign(word=None)))
    with pytest.raises(InputError, match="never"):
        clone(clf).set_params(handle_unknown="error").fit(X, y).predict(row.assign(word="never"))


@KINDS
def test_learning_again_forgets_the_first_time(cls):
    X, y = make_rows()
    clf = cls(2).fit(X, y).calibrate_sets(X, y, cv=2)
    few = X[["number", "whole"]].to_numpy()[:60]
    clf.fit(few, y[:60])
    assert not hasattr(clf, "feature_names_in_")
    assert clf.n_features_in_ == 2
    assert not hasattr(clf, "set_scores_")
    assert np.array_equal(clf.predict_proba(few), cls(2).fit(few, y[:60]).predict_proba(few))
    with pytest.raises(InputError):
        clf.fit(np.full((5, 2), np.inf), [0, 1, 0, 1, 0])
    assert clf.predict_proba(few).shape == (60, 3)  # what failed has changed nothing


@KINDS
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_estimators": 0}, "n_estimators must be .*; got 0"),
        ({"n_estimators": 2.5}, "n_estimators must be .*; got 2.5"),
        ({"max_parents": -1}, "max_parents must be .*; got -1"),
        ({"max_parents": "two"}, "max_parents must be .*; got 'two'"),
        ({"max_parents": None}, "max_parents must be .*; got None"),
        ({"discretize": "uniform"}, "discretize must be one of .*'mdlp'.* merge intervals .*; got 'uniform'"),
        ({"discretize": tb.MDLPDiscretizer()}, "discretize must be one of"),
        ({"discretize": np.arange(3)}, "discretize must be one of"),
        ({"handle_unknown": "ignore"}, "handle_unknown must be one of .*'marginalize'.*; got 'ignore'"),
        ({"random_state": "seed"}, "random_state must be .*; got 'seed'"),
        ({"random_state": -1}, "random_state must be .*; got -1"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"categorical_features": ["nobody"]}, "nobody"),
    ],
)
def test_bad_options_are_explained(cls, options, said):
    X, y = make_rows()
    with pytest.raises((OptionError, InputError, ValueError), match=said):
        cls(**{"n_estimators": 2, **options}).fit(X, y)


@pytest.mark.parametrize("budget", [0, -1.0, "soon", float("nan"), True])
def test_a_bad_time_budget_is_explained(budget):
    X, y = make_rows()
    with pytest.raises(OptionError, match="time_budget must be a number of seconds above 0, or None for no limit; got"):
        tb.Classifier(2, time_budget=budget).fit(X, y)


def test_a_time_budget_ends_the_search_for_corrections():
    X, y = make_rows()
    began = time.process_time()
    clf = tb.Classifier(3, time_budget=1e-6).fit(X, y)
    assert time.process_time() - began < 60
    assert clf.choice_.rounds == 0
    assert list(clf.choice_.log_losses) == [(0.0, 0)]
    wide = tb.Classifier(3, time_budget=1e6).fit(X, y)
    assert np.array_equal(wide.predict_proba(X), fit_once(tb.Classifier).predict_proba(X))


def test_few_rows_choose_nothing_and_many_calibrate_sets():
    X, y = make_rows(300)
    few = tb.Classifier(2).fit(X[:40], y[:40])
    assert few.choice_ is None
    with pytest.raises(OptionError, match="calibrate_sets"):
        few.predict_set(X)
    some = tb.Classifier(2).fit(X[:80], y[:80])
    assert some.choice_ is not None
    assert not hasattr(some, "set_scores_")
    clf = tb.Classifier(2).fit(X, y)
    assert len(clf.set_scores_) == 300
    hasty = tb.Classifier(2, time_budget=1e-9).fit(X, y)  # no time to extrapolate
    held_out = np.exp(hasty.choice_.held_out[np.arange(300), np.searchsorted(hasty.classes_, y)])
    assert np.sort(np.log(held_out) - np.log1p(-held_out))[::-1] == pytest.approx(-hasty.set_scores_, abs=1e-6)
    assert clf.set_scores_.mean() < hasty.set_scores_.mean()
    assert tb.NetworkEnsemble(2).fit(X, y).calibrate_sets(X, y, cv=2).predict_set(X).members.shape == (300, 3)


def test_sets_straight_after_fit_have_the_coverage():
    X, y = make_rows(3000, 1)
    fresh, labels = make_rows(4000, 2)
    clf = tb.Classifier(2).fit(X, y)
    for coverage in (0.8, 0.9):
        members = clf.predict_set(fresh, coverage=coverage, allow_empty=True).members
        held = members[np.arange(4000), np.searchsorted(clf.classes_, labels)].mean()
        assert held == pytest.approx(coverage, abs=0.035)


def test_rows_of_weight_zero_were_not_held_out():
    X, y = make_rows(300)
    weights = np.where(np.arange(300) % 4 == 0, 0.0, 1.0)
    clf = tb.Classifier(2).fit(X, y, sample_weight=weights)
    assert clf.choice_.held_out.shape == (300, 3)
    assert np.array_equal(np.isnan(clf.choice_.held_out[:, 0]), weights == 0)
    part = tb.Classifier(2).fit(X[weights > 0], y[weights > 0])
    assert clf.predict_proba(X) == pytest.approx(part.predict_proba(X), abs=1e-7)


def test_a_quantile_discretizer_can_still_be_saved(tmp_path):
    X, y = make_rows()
    clf = tb.NaiveBayes(discretize=tb.QuantileDiscretizer(4)).fit(X, y)
    clf.save(tmp_path / "m.json")
    assert np.array_equal(tb.load(tmp_path / "m.json").predict_proba(X), clf.predict_proba(X))


# ---------------------------------------------------------------------- at the edge


def checked(cls, X, y, **options):
    """Fit, predict, and compare with the model from its file's content."""
    clf = cls(3, **options).fit(X, y)
    proba = clf.predict_proba(X)
    assert np.isfinite(proba).all()
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert clf.support(X).shape == (len(X),)
    return clf


@KINDS
def test_one_class_one_column_constants_and_few_rows(cls, tmp_path):
    X, y = make_rows()
    one = checked(cls, X, np.zeros(len(X), int))
    assert (one.predict_proba(X) == 1).all()
    checked(cls, X[["number"]], y)
    checked(cls, X, y, max_parents=0)
    same = checked(cls, pd.DataFrame({"a": np.ones(100), "b": ["x"] * 100}), ["no", "yes"] * 50)
    assert same.predict_proba(pd.DataFrame({"a": [1.0], "b": ["x"]}))[0] == pytest.approx([0.5, 0.5])
    for rows in (1, 2):
        few = checked(cls, X[:rows], y[:rows])
        few.save(tmp_path / "m.json")
        assert np.array_equal(tb.load(tmp_path / "m.json").predict_proba(X[:rows]), few.predict_proba(X[:rows]))


@KINDS
def test_columns_without_any_value(cls):
    X, y = make_rows()
    with pytest.warns(EmptyColumnWarning):
        clf = checked(cls, X.assign(empty=np.nan), y)
    if cls is tb.NetworkEnsemble:  # the folds of Classifier depend on all columns
        assert clf.predict_proba(X.assign(empty=np.nan)) == pytest.approx(fit_once(cls).predict_proba(X), abs=1e-7)
    with pytest.warns(EmptyColumnWarning):
        nothing = checked(cls, np.full((60, 2), np.nan), np.arange(60) % 2)
    assert nothing.predict_proba(np.full((1, 2), np.nan))[0] == pytest.approx([0.5, 0.5])


@KINDS
def test_many_classes(cls):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(520, 2)), rng.integers(0, 9, 520)])
    X[rng.random(X.shape) < 0.05] = np.nan
    clf = checked(cls, X, np.arange(520) % 260)
    assert clf.predict_proba(X).shape == (520, 260)


@KINDS
def test_many_categories(cls):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"many": np.arange(6000) % 5000, "few": rng.integers(0, 3, 6000)}).astype(str)
    y = rng.integers(0, 2, 6000)
    clf = checked(cls, X, y)
    assert len(clf.schema_.columns[0].levels) == 5000
    holes = X[:300].mask(rng.random((300, 2)) < 0.3)
    assert np.isfinite(clf.predict_proba(holes)).all()


@KINDS
def test_many_columns(cls):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.integers(0, 3, (80, 300)).astype(float)
    X[:, 7] = y
    X[rng.random(X.shape) < 0.05] = np.nan
    clf = checked(cls, X, y)
    assert max(len(member.columns) for member in clf.model_.members) == 100
    assert (clf.predict(X) == y).mean() > 0.9


def test_one_network_is_the_model_where_it_is_chosen(monkeypatch):
    from dataclasses import replace

    from tanbark.estimators.models import ensemble

    X, y = make_rows(300)
    choose = ensemble.choose

    def single(*args, **options):
        found = choose(*args, **options)
        return found._replace(choice=replace(found.choice, single=True, leaves=0, rounds=0, plain_temperature=0.7))

    monkeypatch.setattr(ensemble, "choose", single)
    clf = tb.Classifier().fit(X, y)
    assert len(clf.model_.members) == len(clf.weights_) == 1
    prior = clf.model_.log_prior
    joint = joint_log_proba(clf.network_, clf.model_.members[0].coarsening.apply(clf._codes(X)))
    wanted = prior + 0.7 * (joint - prior)
    assert clf.predict_log_proba(X) == pytest.approx(wanted - np.logaddexp.reduce(wanted, axis=1, keepdims=True))
    assert "its own, tempered" in clf._repr_html_()
