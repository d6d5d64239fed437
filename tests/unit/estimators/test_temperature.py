"""The option temperature in all that a classifier of one network does."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

import tanbark as tb
from networks import asia
from tanbark.errors import OptionError
from tanbark.inference import class_log_prior


def make_rows(seed=0, n=300):
    """Copies of one column, which naive Bayes counts as often as it sees them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    X = pd.DataFrame({"a": a, "b": a, "c": rng.normal(y, 2), "d": np.where(rng.random(n) < 0.8, a, 1)}).astype(object)
    return X.mask(rng.random(X.shape) < 0.1, None), pd.Series(y, name="y")


KINDS = {
    "naive": tb.NaiveBayes(),
    "tan": tb.TAN(),
    "kdb": tb.KDB(max_parents=2),
    "class below": tb.FixedStructure([("a", "y"), ("y", "b"), ("y", "c"), ("b", "d")]),
    "hierarchical": tb.KDB(parameters="hierarchical"),
    "weighted": tb.NaiveBayes(parameters=tb.WANBIA()),
    "em": tb.TAN(parameters=tb.EM()),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_likelihood_is_raised_after_missing_values_are_summed_out(name):
    X, y = make_rows()
    plain = KINDS[name].fit(X, y)
    joint, prior = plain.predict_joint_log_proba(X), class_log_prior(plain.network_)
    clf = KINDS[name].__class__(**{**KINDS[name].get_params(deep=False), "temperature": 0.4}).fit(X, y)
    assert clf.temperature_ == 0.4
    assert clf.predict_joint_log_proba(X) == pytest.approx(joint)
    assert clf.log_likelihood(X, y) == pytest.approx(plain.log_likelihood(X, y))
    expected = log_softmax(prior + 0.4 * (joint - prior), axis=1)
    assert clf.predict_log_proba(X) == pytest.approx(expected)
    assert clf.predict_proba(X) == pytest.approx(np.exp(expected))
    assert np.array_equal(clf.predict(X), clf.classes_[expected.argmax(axis=1)])


def test_none_and_one_are_the_posterior_of_the_network():
    X, y = make_rows()
    plain, one = tb.TAN().fit(X, y), tb.TAN(temperature=1).fit(X, y)
    assert plain.temperature_ == one.temperature_ == 1.0
    assert np.array_equal(plain.predict_proba(X), one.predict_proba(X))


def test_repeated_evidence_is_toned_down():
    X, y = make_rows()
    clf = tb.NaiveBayes(temperature="auto").fit(X, y)
    assert 0.3 < clf.temperature_ < 0.9
    plain = tb.NaiveBayes().fit(X, y)
    tempered, before = (c.leave_one_out_measures(X, y)["log_loss"] for c in (clf, plain))
    assert tempered < before
    fresh, labels = make_rows(1, 3000)
    assert clf.conditional_log_likelihood(fresh, labels) > plain.conditional_log_likelihood(fresh, labels)


def test_rows_of_the_model_itself_need_no_temperature():
    rows = asia().sample(20_000, random_state=0, backend="pandas")
    clf = tb.FixedStructure(asia().dag.arcs(), temperature="auto").fit(rows.drop(columns="bronc"), rows["bronc"])
    assert clf.temperature_ == pytest.approx(1.0, abs=0.03)


def test_explanations_add_up_and_are_scaled():
    X, y = make_rows()
    X, y = X.dropna()[:20], y[X.notna().all(axis=1)][:20] > 0
    plain, clf = tb.TAN().fit(X, y), tb.TAN(temperature=0.5).fit(X, y)
    for row, other, proba in zip(
        clf.explain(X, label=True), plain.explain(X, label=True), clf.predict_proba(X), strict=True
    ):
        assert row.probability == pytest.approx(proba[1])
        assert sum(part.nats for part in row.parts) == pytest.approx(row.log_odds)
        assert [part.nats for part in row.parts[1:]] == pytest.approx([part.nats / 2 for part in other.parts[1:]])
        assert row.parts[0].nats == pytest.approx(other.parts[0].nats)


def test_intervals_are_around_the_tempered_probability():
    X, y = make_rows()
    clf = tb.NaiveBayes(temperature=0.5).fit(X, y)
    low, high = clf.predict_proba_interval(X[:20], n_draws=100)
    proba = clf.predict_proba(X[:20])
    assert ((low < proba) & (proba < high)).mean() > 0.9


@pytest.mark.parametrize("temperature", ["auto", 0.5])
def test_model_files_keep_it(tmp_path, temperature):
    X, y = make_rows()
    clf = tb.TAN(temperature=temperature).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert again.temperature_ == clf.temperature_
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_files_from_before_there_was_one_have_none(tmp_path):
    X, y = make_rows()
    clf = tb.TAN().fit(X, y)
    clf.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["options"]["temperature"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert np.array_equal(tb.load(tmp_path / "old.json").predict_proba(X), clf.predict_proba(X))


def test_damaged_or_changed_temperatures_are_errors(tmp_path):
    X, y = make_rows()
    clf = tb.TAN(temperature="auto").fit(X, y)
    clf.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "bad.json").write_text(json.dumps({**document, "temperature": -1}))
    with pytest.raises(tb.errors.ModelFileError, match="temperature is no number above 0"):
        tb.load(tmp_path / "bad.json")
    with pytest.raises(OptionError, match="changed after fit"):
        tb.TAN().fit(X, y).set_params(temperature=0.3).save(tmp_path / "other.json")


def test_files_and_memory_agree(tmp_path):
    X, y = make_rows(n=2000)
    X.assign(y=y).astype({"a": float, "b": float, "c": float, "d": float}).to_parquet(tmp_path / "rows.parquet")
    options = {"temperature": "auto", "discretize": "uniform"}
    memory = tb.KDB(**options).fit(X.astype(float), y)
    source = tb.scan(tmp_path / "rows.parquet", target="y", batch_rows=300)
    file = tb.KDB(**options).fit(source)
    assert file.temperature_ == pytest.approx(memory.temperature_, rel=1e-6)
    tb.NaiveBayes(temperature=0.5).fit(X, y).predict_file(
        tmp_path / "rows.parquet", tmp_path / "out.parquet", proba=True
    )
    written = pd.read_parquet(tmp_path / "out.parquet")
    expected = tb.NaiveBayes(temperature=0.5).fit(X, y).predict_proba(X)
    assert written["P(0)"].to_numpy() == pytest.approx(expected[:, 0])


def test_threads_and_weights_change_nothing():
    X, y = make_rows(n=500)
    one, two = (tb.TAN(temperature="auto", n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.temperature_ == two.temperature_
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = tb.TAN(temperature="auto", discretize="median").fit(X, y, weights)
    repeated = tb.TAN(temperature="auto", discretize="median").fit(X.iloc[rows], y.iloc[rows])
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-6)


def test_members_of_an_average_have_their_own():
    X, y = make_rows()
    clf = tb.ModelAveraging(tb.NaiveBayes(temperature="auto"), 3, random_state=0).fit(X, y)
    assert len({member.temperature_ for member in clf.estimators_}) == 3


@pytest.mark.parametrize("bad", ["best", 0, -1.0, float("inf"), float("nan"), True, [0.5]])
def test_bad_options_are_errors(bad):
    X, y = make_rows(n=30)
    with pytest.raises(OptionError, match="temperature"):
        tb.NaiveBayes(temperature=bad).fit(X, y)


def test_it_cannot_be_fitted_to_counts_alone():
    X, y = make_rows()
    clf = tb.NaiveBayes(temperature="auto").fit(X, y)
    with pytest.raises(AttributeError) as caught:
        clf.partial_fit(X, y)
    assert "give the temperature as a number" in str(caught.value)
    assert not hasattr(clf, "fit_counts")
    fixed = tb.NaiveBayes(temperature=clf.temperature_).fit(X, y).partial_fit(X, y)
    assert fixed.temperature_ == clf.temperature_
    with pytest.raises(OptionError, match="cannot be taken out"):
        tb.NaiveBayes(temperature="auto", parameters=tb.MANB()).fit(X, y)
    with pytest.raises(OptionError, match="cannot be taken out"):
        tb.NaiveBayes(temperature="auto", parameters=tb.WANBIA(normalize=True)).fit(X, y)
