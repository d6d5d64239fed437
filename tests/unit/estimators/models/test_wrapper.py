"""Classifiers that search: folds, seeds, weights, files, and what they tell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_table
from tanbark.evaluation.folds import make_folds
from tanbark.structure.trace import History

SEARCHES = [tb.HillClimbTAN, tb.SuperParentTAN, tb.WrapperKDB, tb.FSSJ, tb.BSEJ, tb.SelectiveNaiveBayes]
everyone = pytest.mark.parametrize("cls", SEARCHES)


@pytest.fixture(scope="module")
def worked():
    data = f500()
    return pd.DataFrame(data[:, 1:], columns=list("ABWVU")), data[:, 0]


@pytest.fixture(params=[0.0, 0.15], ids=["complete", "gaps"])
def rows(request):
    table = make_table(np.random.default_rng(2), (3, 4, 2, 3, 3), 120, gaps=request.param)
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    return pd.DataFrame({f"x{i}": codes[i] for i in range(4)}), codes[-1].astype(int)


def steps(clf):
    return [(step.move, round(step.score, 12)) for step in clf.history_]


def test_the_worked_example_through_the_estimators(worked):
    X, y = worked
    folds = naive.dealt_folds(y, 5)
    assert np.bincount(folds).tolist() == [101, 101, 100, 99, 99]
    tree = tb.HillClimbTAN(cv=folds, tol=0).fit(X, y)
    assert tree.structure_score_ == approx(0.806005, abs=5e-7)
    assert [arc for arc in tree.dag_.arcs() if arc[0] != "class"] == [("A", "B"), ("B", "W"), ("W", "V"), ("A", "U")]
    selected = tb.BSEJ(cv=folds).fit(X, y)
    assert [step.candidates for step in selected.history_] == [1, 15]
    assert ("class", "V") not in selected.dag_.arcs()
    left = tb.NaiveBayes().fit(X.drop(columns="V"), y)
    assert selected.predict_proba(X) == approx(left.predict_proba(X.drop(columns="V")), abs=1e-12)


@everyone
@pytest.mark.parametrize("left_out", ["weights", "gaps", "both"])
def test_folds_by_row_are_those_of_the_rows_that_were_given(cls, left_out):
    table = make_table(np.random.default_rng(2), (3, 4, 2, 3, 3), 90, gaps=0.1)
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    X, y = pd.DataFrame({f"x{i}": codes[i] for i in range(4)}), codes[-1].astype(int)
    folds = np.random.default_rng(3).integers(0, 3, len(y))
    weights = np.arange(len(y)) % 3 if left_out != "gaps" else np.ones(len(y), int)
    missing = "available-case" if left_out == "weights" else "drop"
    keep = (weights > 0) & (~X.isna().any(axis=1).to_numpy() | (missing != "drop"))
    assert 0 < keep.sum() < len(y)
    wanted = cls(cv=folds[keep], tol=0).fit(X[keep], y[keep], weights[keep])
    scan = tb.scan(X.assign(y=y, w=weights), target="y", weight="w", batch_rows=7)
    for cv in (folds, PredefinedSplit(folds)):
        assert steps(cls(cv=cv, tol=0, missing=missing).fit(X, y, weights)) == steps(wanted)
        assert steps(cls(cv=cv, tol=0, missing=missing).fit(scan)) == steps(wanted)
    for rows in ((X, y, weights), (scan,)):
        with pytest.raises(tb.errors.OptionError, match=r"one fold per row \(90 rows\)"):
            cls(cv=folds[keep], missing=missing).fit(*rows)


def test_folds_by_row_count_rows_without_a_label_too(worked):
    X, y = worked
    labels = y.astype(object)
    labels[::7] = "?"
    known = labels != "?"
    folds = np.arange(len(y)) % 3
    ours = tb.HillClimbTAN(cv=folds, parameters=tb.EM(unlabelled="?", max_iter=1)).fit(X, labels)
    assert steps(ours) == steps(tb.HillClimbTAN(cv=folds[known]).fit(X[known], y[known]))


@everyone
def test_equal_seeds_give_equal_models(cls, rows):
    X, y = rows
    first, again = (cls(cv=4, tol=0, random_state=7).fit(X, y) for _ in range(2))
    assert first.dag_ == again.dag_
    assert steps(first) == steps(again)
    assert np.array_equal(first.predict_proba(X), again.predict_proba(X))
    other = cls(cv=4, tol=0, random_state=np.random.RandomState(7)).fit(X, y)
    assert steps(other) == steps(first)


@everyone
def test_folds_may_be_a_number_a_splitter_or_an_array(cls, rows):
    X, y = rows
    splitter = StratifiedKFold(4, shuffle=True, random_state=3)
    folds = np.empty(len(y), int)
    for fold, (_, test) in enumerate(splitter.split(X, y)):
        folds[test] = fold
    by_splitter = cls(cv=splitter, tol=0).fit(X, y)
    for cv in (folds, folds.tolist(), pd.Series(folds), [f"fold {f}" for f in folds], PredefinedSplit(folds)):
        found = cls(cv=cv, tol=0).fit(X, y)
        assert found.history_[0].score == approx(by_splitter.history_[0].score, abs=1e-12)
        assert found.dag_ == by_splitter.dag_


def test_stratified_folds_are_stratified():
    labels = np.repeat([0, 1, 2], [50, 23, 7])
    for seed in range(5):
        folds = make_folds(5, labels, seed)
        sizes = np.array([np.bincount(folds[labels == c], minlength=5) for c in range(3)])
        assert (np.ptp(sizes, axis=1) <= 1).all()
        assert np.ptp(sizes.sum(axis=0)) <= 1
    assert not np.array_equal(make_folds(5, labels, 0), make_folds(5, labels, 1))
    assert set(make_folds(80, labels, 0)) == set(range(80))


def test_empty_folds_of_a_splitter_do_not_count():
    class Odd:
        def split(self, X, y):
            for test in (np.arange(5), np.arange(0), np.arange(5, 10)):
                yield np.setdiff1d(np.arange(10), test), test

    assert make_folds(Odd(), np.arange(10) % 2, None).tolist() == [0] * 5 + [1] * 5


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be at least 2 folds; got 1"),
        (0, "cv must be at least 2 folds"),
        (True, "cv must be a number of folds, a splitter, or one fold per row"),
        (5.0, "cv must be a number of folds"),
        (None, "cv must be a number of folds"),
        ("five", "cv must be a number of folds"),
        ("x" * 20, "cv must be a number of folds"),
        ([0, 1], r"one fold per row \(20 rows\)"),
        (np.zeros(20), "at least two folds"),
        (np.zeros((20, 2)), "numbers or names without missing values"),
        ([0.0] * 19 + [np.nan], "numbers or names without missing values"),
        ([0] * 19 + [None], "numbers or names without missing values"),
        ([[0]] * 19 + [[1, 2]], "numbers or names without missing values"),
        (ShuffleSplit(3, test_size=0.5, random_state=0), "holds some out more than once"),
        (ShuffleSplit(1, test_size=0.5, random_state=0), "never holds out 10 rows"),
        (PredefinedSplit([-1] * 5 + [0] * 8 + [1] * 7), "never holds out 5 rows"),
    ],
)
def test_bad_folds_are_refused(cv, message):
    X, y = [[i % 3] for i in range(20)], [i % 2 for i in range(20)]
    with pytest.raises(tb.errors.OptionError, match=message):
        tb.HillClimbTAN(cv=cv).fit(X, y)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(tb.errors.InputError, match="cv=10 folds need at least as many rows; got n_samples=4"):
        tb.FSSJ().fit([[0], [1], [0], [1]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": -1}, "tol must be a number of at least 0"),
        ({"alpha": -1}, "alpha must be a number from 0"),
        ({"scoring": "auc"}, "scoring must be one of"),
    ],
)
@everyone
def test_bad_options_are_refused(cls, options, message, rows):
    with pytest.raises(tb.errors.OptionError, match=message):
        cls(**options).fit(*rows)


def test_a_bad_number_of_parents_is_refused(rows):
    with pytest.raises(tb.errors.OptionError, match="max_parents must be a whole number"):
        tb.WrapperKDB(max_parents=-1).fit(*rows)


@everyone
def test_a_file_brings_it_back_to_the_last_bit(cls, rows, tmp_path):
    X, y = rows
    clf = cls(cv=3, tol=0, random_state=0).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert type(again) is cls
    assert again.dag_ == clf.dag_
    assert again.structure_score_ == clf.structure_score_
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))


@pytest.mark.parametrize(
    "make", [lambda: tb.KDB(max_parents=2, min_cmi=0.001), lambda: tb.SPODE("x1"), lambda: tb.SPODE()]
)
def test_files_of_the_searches_without_folds(make, rows, tmp_path):
    X, y = rows
    clf = make().fit(X, y)
    clf.save(tmp_path / "model.json")
    assert np.array_equal(tb.load(tmp_path / "model.json").predict_joint_log_proba(X), clf.predict_joint_log_proba(X))


@everyone
def test_the_history_and_the_score(cls, rows):
    X, y = rows
    clf = cls(cv=3, tol=0, random_state=0).fit(X, y)
    assert isinstance(clf.history_, History)
    assert clf.history_[0].move == "start"
    assert clf.structure_score_ == clf.history_[-1].score
    scores = [step.score for step in clf.history_]
    assert scores == sorted(scores)


@everyone
def test_verbose_tells_every_step_and_silence_is_the_rule(cls, rows, capsys):
    X, y = rows
    cls(cv=3, random_state=0).fit(X, y)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")
    clf = cls(cv=3, random_state=0, verbose=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(clf.history_)
    assert lines[0].startswith("step 0: ")


@everyone
def test_row_weights_count_in_counts_and_scores(cls, rows):
    X, y = rows
    rng = np.random.default_rng(5)
    times = rng.integers(1, 4, len(y))
    folds = rng.permutation(np.arange(len(y)) % 3)
    weighted = cls(cv=folds, tol=0).fit(X, y, sample_weight=times)
    repeated = cls(cv=folds.repeat(times), tol=0).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert [step.move for step in weighted.history_] == [step.move for step in repeated.history_]
    assert weighted.structure_score_ == approx(repeated.structure_score_)
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@everyone
def test_one_feature_one_class_one_state(cls):
    y = np.arange(20) % 2
    assert cls(cv=2, random_state=0).fit(y[:, None], y).score(y[:, None], y) == 1.0
    single = cls(cv=2, random_state=0).fit(y[:, None], np.zeros(20))
    assert single.predict_proba(y[:, None]) == approx(1.0)
    assert len(single.history_) == 1
    constant = cls(cv=2, random_state=0, tol=0).fit(np.zeros((20, 2)), y)
    assert constant.predict_proba(np.zeros((1, 2)))[0] == approx([0.5, 0.5])


@everyone
def test_as_many_folds_as_rows(cls):
    """Leave-one-out on 300 rows: more folds than a byte holds."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([np.where(rng.random(300) < 0.8, y, 1 - y), rng.integers(0, 3, 300)])
    clf = cls(cv=np.arange(300)).fit(X, y)
    assert clf.structure_score_ == approx(np.mean(X[:, 0] == y), abs=0.02)


@everyone
def test_without_smoothing_scores_are_numbers(cls, rows):
    X, y = rows
    clf = cls(cv=KFold(4), alpha=0, tol=0).fit(X.assign(many=np.arange(120) % 17), y)
    assert 0 < clf.structure_score_ <= 1
    assert not any(np.isnan(step.score) for step in clf.history_)


def test_the_largest_table_holds_for_the_search():
    """Joining two features of two states needs eight cells; where that is too many, the search goes on without."""
    a, b = np.random.default_rng(0).integers(0, 2, (2, 100))
    X, y = np.column_stack([a, b]), a ^ b
    assert tb.BSEJ(cv=3, random_state=0, max_cells=8).fit(X, y).history_[1].move == "(x0) joined to (x1)"
    small = tb.BSEJ(cv=3, random_state=0, tol=0, max_cells=7).fit(X, y)
    assert not any("joined" in step.move for step in small.history_)


def test_by_name_with_options(worked):
    X, y = worked
    folds = naive.dealt_folds(y, 5)
    named = tb.BayesNetClassifier("tan-hc", options={"cv": folds, "tol": 0}).fit(X, y)
    assert steps(named) == steps(tb.HillClimbTAN(cv=folds, tol=0).fit(X, y))
