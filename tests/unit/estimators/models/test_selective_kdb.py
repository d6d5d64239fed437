"""Selective k-dependence classifiers: what is chosen, and that sources, weights and threads do not change it."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import OptionError, ReducedModelWarning
from tanbark.structure.fixed import selective_kdb


def make_rows(n=3000, *, seed=0, missing=0.0):
    """Two features that decide the class together, two weak ones and four of noise."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, n), rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.85, np.where(a == 2, 1 - b, b), rng.integers(0, 2, n))
    weak = [np.where(rng.random(n) < 0.3, y, rng.integers(0, 2, n)) for _ in range(2)]
    X = pd.DataFrame({"a": a, "b": b, "c": weak[0], "d": weak[1], **{f"e{i}": rng.integers(0, 6, n) for i in range(4)}})
    X = X.astype(float).mask(rng.random(X.shape) < missing)
    return X, pd.Series(y, name="y")


def loss(clf, X, y):
    return -np.log(clf.predict_proba(X)[np.arange(len(y)), y]).mean()


def test_it_takes_what_helps_and_leaves_noise_out():
    X, y = make_rows()
    clf = tb.SelectiveKDB().fit(X, y)
    assert set(clf.report_.chosen) == {"a", "b", "c", "d"}
    assert {child for parent, child in clf.dag_.arcs() if parent == "y"} == {"a", "b", "c", "d"}
    assert clf.report_.n_parents >= 1
    new = make_rows(seed=1)
    assert loss(clf, *new) < min(loss(tb.KDB(k).fit(X, y), *new) for k in range(4))


def test_the_report_has_the_loss_that_leave_one_out_has():
    X, y = make_rows(n=400)
    clf = tb.SelectiveKDB(2).fit(X, y)
    report = clf.report_
    assert report.log_loss.shape == report.rmse.shape == (3, 9)
    assert report.log_loss.min() == report.log_loss[report.n_parents, report.n_features]
    found = clf.leave_one_out_measures(X, y)
    assert found["log_loss"] == pytest.approx(report.log_loss.min(), abs=1e-9)
    right = clf.leave_one_out_proba(X, y)[np.arange(len(y)), y]
    assert np.sqrt(np.mean((1 - right) ** 2)) == pytest.approx(report.rmse[report.n_parents, report.n_features])
    frame = report.to_frame("pandas")
    assert len(frame) == 27
    row = frame[(frame.n_parents == 2) & (frame.n_features == 3)].iloc[0]
    assert (row.log_loss, row.added) == (report.log_loss[2, 3], report.features[2])
    assert repr(report).startswith(
        f"<Selection: {report.n_features} of 8 features, k = {report.n_parents} of 2; leave-one-out log_loss"
    )


def test_the_criterion_decides():
    X, y = make_rows(n=60, seed=4)
    by_loss, by_error = tb.SelectiveKDB().fit(X, y).report_, tb.SelectiveKDB(criterion="rmse").fit(X, y).report_
    assert by_error.rmse[by_error.n_parents, by_error.n_features] == by_error.rmse.min()
    assert np.array_equal(by_loss.rmse, by_error.rmse)
    assert "rmse" in repr(by_error)


def test_zero_parents_select_features_of_naive_bayes():
    X, y = make_rows(n=500)
    clf = tb.SelectiveKDB(0).fit(X, y)
    assert clf.report_.n_parents == 0
    assert all(parent == "y" for parent, _ in clf.dag_.arcs())


def test_features_that_the_class_does_not_depend_on_leave_the_prior():
    X, y = np.array([*np.ndindex(4, 3, 2)] * 10), np.repeat([0, 1] * 5, 24)
    clf = tb.SelectiveKDB(1).fit(X, y)
    assert clf.report_.n_features == 0
    assert np.ptp(clf.predict_proba(X), axis=0).max() == 0.0


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("options", [{}, {"temperature": "auto"}, {"parameters": "laplace"}], ids=str)
def test_files_and_memory_agree(tmp_path, options, missing):
    X, y = make_rows(40_000, missing=missing)
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    memory = tb.SelectiveKDB(2, **options).fit(X, y)
    source = tb.scan(tmp_path / "rows.parquet", target="y", batch_rows=3000, max_memory=1 << 20)
    file = tb.SelectiveKDB(2, **options).fit(source)
    assert file.passes_ == 4  # the schema, pairs, families, losses
    assert np.array_equal(file.report_.log_loss, memory.report_.log_loss)
    assert file.temperature_ == memory.temperature_
    assert np.array_equal(file.predict_proba(X), memory.predict_proba(X))


def test_weights_are_repeats():
    X, y = make_rows(n=600, missing=0.1)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = tb.SelectiveKDB(temperature="auto").fit(X, y, weights)
    repeated = tb.SelectiveKDB(temperature="auto").fit(X.iloc[rows], y.iloc[rows])
    assert weighted.dag_ == repeated.dag_
    assert weighted.report_.log_loss == pytest.approx(repeated.report_.log_loss, abs=1e-9)
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-6)


def test_threads_change_nothing():
    X, y = make_rows(n=30_000, missing=0.05)
    one, two = (tb.SelectiveKDB(n_jobs=n, temperature="auto").fit(X, y) for n in (1, 2))
    assert np.array_equal(one.report_.log_loss, two.report_.log_loss)
    assert np.array_equal(one.report_.rmse, two.report_.rmse)
    assert (one.dag_, one.temperature_) == (two.dag_, two.temperature_)


def test_the_temperature_is_that_of_the_chosen_network():
    X, y = make_rows(n=1000)
    clf = tb.SelectiveKDB(temperature="auto").fit(X, y)
    same = tb.FixedStructure(clf.dag_.arcs(), temperature="auto").fit(X, y)
    assert clf.temperature_ == same.temperature_
    assert not hasattr(clf, "_sample")
    assert tb.SelectiveKDB(temperature=0.5).fit(X, y).temperature_ == 0.5


def test_progress_is_reported_where_it_is_asked_for(capsys):
    X, y = make_rows(n=300)
    tb.SelectiveKDB().fit(X, y)
    assert capsys.readouterr().err == ""
    tb.SelectiveKDB(verbose=True).fit(X, y)
    text = capsys.readouterr().err
    assert "scoring 33 nested models" in text
    assert "leave-one-out log_loss" in text


def test_models_load_again(tmp_path):
    X, y = make_rows(n=300)
    clf = tb.SelectiveKDB(temperature="auto").fit(X, y)
    clf.save(tmp_path / "model.json")
    assert np.array_equal(tb.load(tmp_path / "model.json").predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_parents": -1}, "max_parents must be a whole number of at least 0; got -1"),
        ({"max_parents": 1.5}, "max_parents must be a whole number of at least 0; got 1.5"),
        ({"criterion": "log-loss"}, "criterion must be one of .*got 'log-loss'. Did you mean 'log_loss'"),
        ({"verbose": "yes"}, "verbose must be True or False; got 'yes'"),
        ({"temperature": "best"}, "temperature"),
    ],
)  # fmt: skip
def test_bad_options_are_errors(options, message):
    X, y = make_rows(n=50)
    with pytest.raises(OptionError, match=message):
        tb.SelectiveKDB(**options).fit(X, y)


@pytest.mark.parametrize(("name", "most"), [("MOST_ENTRIES", 2000), ("MOST_CELLS", 1000)])
def test_families_that_take_too_much_memory_are_not_tried(name, most, monkeypatch):
    X, y = make_rows(n=500)
    monkeypatch.setattr(selective_kdb, name, most)
    with pytest.warns(ReducedModelWarning, match="fewer than max_parents parents for . of 8 features"):
        clf = tb.SelectiveKDB().fit(X, y)
    assert sum(table.size for table in clf.family_counts_) < 1000


def test_no_cpt_has_more_than_max_cells():
    X, y = make_rows()
    with pytest.warns(ReducedModelWarning, match="no CPT has more than 60 cells"):
        clf = tb.SelectiveKDB(max_cells=60).fit(X, y)
    assert max(table.size for table in clf.family_counts_) <= 60
