"""Credible intervals of pooled networks."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import OptionError
from tanbark.estimators.ensemble.intervals import draw_likelihoods
from tanbark.inference import joint_log_proba, normalize

KINDS = pytest.mark.parametrize("cls", [tb.NetworkEnsemble, tb.Classifier])


def make_rows(n=240, seed=0, *, missing=0.1):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, n)
    X = pd.DataFrame({
        "number": np.round(rng.normal(place, 1.0), 2),
        "word": np.array(["a", "b", "c"])[(place + rng.integers(0, 2, n)) % 3],
        "other": np.array(["x", "y", "z"])[(place * rng.integers(0, 2, n)) % 3],
    })  # fmt: skip
    return X.mask(rng.random(X.shape) < missing), pd.Series(np.array(["high", "low", "middle"])[place], name="y")


@KINDS
def test_intervals_hold_the_prediction_and_grow_with_the_level(cls):
    X, y = make_rows()
    clf = cls(3).fit(X, y)
    proba = clf.predict_proba(X)
    narrow, wide = (clf.predict_proba_interval(X, level=level, n_draws=200) for level in (0.5, 0.95))
    assert (wide[0] <= narrow[0]).all()
    assert ((narrow[0] <= proba) & (proba <= narrow[1])).all()
    assert (narrow[1] <= wide[1]).all()
    assert ((wide[0] >= 0) & (wide[1] <= 1)).all()
    nothing = clf.predict_proba_interval(pd.DataFrame({name: [None] for name in X}))
    assert (nothing[1] - nothing[0]).max() < 0.2  # the class prior alone


@KINDS
def test_an_interval_depends_on_the_row_alone(cls, monkeypatch, tmp_path):
    X, y = make_rows()
    clf = cls(3, n_jobs=1).fit(X, y)
    whole = clf.predict_proba_interval(X, n_draws=60)
    part = clf.predict_proba_interval(X[7:9], n_draws=60)
    assert np.array_equal(part[0], whole[0][7:9])
    assert np.array_equal(clf.set_params(n_jobs=3).predict_proba_interval(X, n_draws=60)[1], whole[1])
    monkeypatch.setattr("tanbark.estimators.ensemble.intervals.KEPT", 60 * 3 * 7)
    assert np.array_equal(clf.predict_proba_interval(X, n_draws=60)[0], whole[0])
    assert not np.array_equal(clf.predict_proba_interval(X, n_draws=60, random_state=1)[0], whole[0])
    clf.save(tmp_path / "m.json")
    assert np.array_equal(tb.load(tmp_path / "m.json").predict_proba_interval(X, n_draws=60)[0], whole[0])


def test_more_rows_make_narrower_intervals():
    asked = make_rows(30, 9)[0]
    widths = []
    for n in (50, 500, 5000):
        low, high = tb.NetworkEnsemble(3).fit(*make_rows(n)).predict_proba_interval(asked, n_draws=100)
        widths.append((high - low).mean())
    assert widths[0] > 1.5 * widths[1] > 2 * widths[2]


def test_every_draw_is_one_network_with_the_weight_of_all():
    X, y = make_rows(missing=0.0)
    clf = tb.NetworkEnsemble(3).fit(X, y)
    codes, pool = clf._codes(X[:20]), clf.model_
    places = np.array([0, 2, 2, 1])
    seeds = [np.arange(len(member.trees)) for member in pool.members]
    drawn = draw_likelihoods(pool, codes, places, seeds, n_jobs=1)
    assert drawn.shape == (20, 4, 3)
    assert not np.array_equal(drawn[:, 1], drawn[:, 2])
    many = draw_likelihoods(pool, codes, np.repeat([0, 1, 2], 4000), seeds, n_jobs=1)
    for place, member in enumerate(pool.members):
        expected = np.exp(member.log_likelihoods(member.coarsening.apply(codes), n_jobs=1))
        part = np.exp(many[:, place * 4000 : (place + 1) * 4000])
        error = part.std(axis=1) / np.sqrt(4000)
        likely = expected > 1e-3  # entries are independent, so means multiply; small ones have long tails
        assert (abs(part.mean(axis=1) - expected) < 5 * error)[likely].all()
        assert likely.sum() > 20


@KINDS
def test_a_given_prior_is_not_drawn(cls):
    X, y = make_rows(60)
    clf = cls(2, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    low, high = clf.predict_proba_interval(pd.DataFrame({name: [None] for name in X}), n_draws=50)
    assert low[0] == pytest.approx([0.2, 0.3, 0.5])
    assert high[0] == pytest.approx([0.2, 0.3, 0.5])
    never = cls(2, class_prior=[0.5, 0.5, 0.0]).fit(X, y)
    low, high = never.predict_proba_interval(X, n_draws=50)
    assert (high[:, 2] == 0).all()


def test_the_correction_is_held():
    """A correction that decides alone leaves no room; without it there is some."""
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 3, (4, 400))
    y = np.minimum(parts[0], parts[1]) + np.minimum(parts[2], parts[3]) >= 2
    X = pd.DataFrame(parts.T.astype(str))
    X.columns = list("abcd")
    clf = tb.Classifier(2).fit(X, y)
    assert clf.choice_.rounds > 0
    low, high = clf.predict_proba_interval(X[:50], n_draws=100)
    proba = clf.predict_proba(X[:50])
    assert ((low <= proba) & (proba <= high)).all()
    plain, correction = clf.model_.evidence(clf._codes(X[:50]))
    tempered = clf.model_.tempered(clf._codes(X[:50]), plain[:, None, :], correction[:, None, :])
    assert tempered[:, 0] == pytest.approx(clf.model_.tempered(clf._codes(X[:50]), plain, correction))


def test_intervals_hold_the_truth_nearly_as_often_as_they_say():
    """Trees under the class with CPTs from the uniform prior; see the study of intervals for more."""
    from tanbark.graph import Dag, Network
    from tanbark.table import Column, Schema

    inside = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        columns = [Column(f"x{k}", "category", "number", (0, 1, 2)) for k in range(4)]
        schema = Schema((*columns, Column("class", "category", "number", (0, 1))))
        dag = Dag.augmented(schema.names, [(), *((int(rng.integers(k)),) for k in range(1, 4))])
        cpts = [np.moveaxis(rng.dirichlet(np.ones(3), [3] * (len(p) - 1) + [2]), -1, -2) for p in dag.parents[:-1]]
        truth = Network(schema, dag, (*cpts, rng.dirichlet([5, 5])))
        rows = truth.sample(200, random_state=rng, backend="pandas")
        asked = truth.sample(20, random_state=rng, backend="pandas").drop(columns="class")
        codes = np.ascontiguousarray(asked.to_numpy().T.astype(np.uint8))
        true = normalize(joint_log_proba(truth, codes), logs=False)[0][:, 0]
        clf = tb.NetworkEnsemble(6, categorical_features="all").fit(rows.drop(columns="class"), rows["class"])
        low, high = clf.predict_proba_interval(asked, n_draws=200)
        inside.append(((low[:, 0] <= true) & (true <= high[:, 0])).mean())
    assert 0.85 < np.mean(inside) < 0.99


@KINDS
@pytest.mark.parametrize("options", [{"level": 0}, {"level": 1.0}, {"level": "x"}, {"n_draws": 1}, {"n_draws": 2.5}])
def test_options_of_intervals_are_checked(cls, options):
    X, y = make_rows(40)
    with pytest.raises(OptionError, match=next(iter(options))):
        cls(2).fit(X, y).predict_proba_interval(X, **options)


@KINDS
def test_one_class_and_constant_columns(cls):
    X, _ = make_rows(60)
    low, high = cls(2).fit(X, np.zeros(60, int)).predict_proba_interval(X, n_draws=20)
    assert (low == 1).all()
    assert (high == 1).all()
    same = cls(2).fit(pd.DataFrame({"a": ["x"] * 60}), np.arange(60) % 2)
    low, high = same.predict_proba_interval(pd.DataFrame({"a": ["x"]}), n_draws=100)
    assert low[0, 0] < 0.5 < high[0, 0]
