"""Counts that add, subtract, and travel as files."""

import numpy as np
import pytest

import tanbark as tb
from engines import mixed_table, saved_without_report


@pytest.fixture
def frame():
    return mixed_table(rows=80).drop(columns="number")


def parts(frame):
    return frame.drop(columns="class"), frame["class"]


@pytest.mark.parametrize("make", [tb.NaiveBayes, tb.TAN, tb.SPODE, tb.AODE, tb.A2DE, tb.ChowLiuTree])
def test_two_machines_give_the_model_of_all_rows(make, frame, tmp_path):
    for name, rows in (("a", frame.iloc[:13]), ("b", frame.iloc[13:])):
        make().fit(*parts(rows)).counts_.save(tmp_path / f"{name}.counts")
    both = tb.counts.load_counts(tmp_path / "a.counts") + tb.counts.load_counts(tmp_path / "b.counts")
    ours, theirs = make().fit_counts(both), make().fit(*parts(frame))
    assert saved_without_report(ours, tmp_path / "a.json") == saved_without_report(theirs, tmp_path / "b.json")
    np.testing.assert_array_equal(ours.predict_proba(parts(frame)[0]), theirs.predict_proba(parts(frame)[0]))


def test_a_row_is_unlearnt_exactly(frame, tmp_path):
    whole, row, rest = (tb.TAN().fit(*parts(rows)) for rows in (frame, frame.iloc[[5]], frame.drop(index=5)))
    left = whole.counts_ - row.counts_.aligned(whole.schema_)
    ours = tb.TAN().fit_counts(left)
    assert saved_without_report(ours, tmp_path / "a.json") == saved_without_report(rest, tmp_path / "b.json")
    with pytest.raises(tb.errors.InputError, match="never added"):
        row.counts_.aligned(whole.schema_) - whole.counts_


def test_categories_that_only_one_machine_saw_are_joined(frame):
    red = frame[frame["text"] == "red"]
    counts = tb.TAN().fit(*parts(red)).counts_ + tb.TAN().fit(*parts(frame)).counts_
    assert counts.schema == tb.TAN().fit(*parts(frame)).schema_
    assert counts.total == len(red) + len(frame)


def test_counts_of_other_cut_points_or_columns_are_refused():
    frame = mixed_table(rows=80)
    first, second = (tb.TAN().fit(*parts(rows)).counts_ for rows in (frame.iloc[:40], frame.iloc[40:]))
    with pytest.raises(tb.errors.InputError, match="'number' rest on different states"):
        first + second
    with pytest.raises(tb.errors.InputError, match="same columns"):
        first + tb.TAN().fit(*parts(frame.drop(columns="text"))).counts_
    with pytest.raises(tb.errors.InputError, match="order"):
        first + tb.NaiveBayes().fit(*parts(frame.iloc[:40])).counts_


def test_naive_bayes_learns_from_the_counts_of_a_tree(frame, tmp_path):
    ours = tb.NaiveBayes().fit_counts(tb.TAN().fit(*parts(frame)).counts_)
    theirs = tb.NaiveBayes().fit(*parts(frame))
    assert saved_without_report(ours, tmp_path / "a.json") == saved_without_report(theirs, tmp_path / "b.json")
    with pytest.raises(tb.errors.OptionError, match="order 2"):
        tb.TAN().fit_counts(theirs.counts_)
    assert not hasattr(tb.KDB(), "fit_counts")


@pytest.mark.parametrize("damage", [b"", b"no counts", None])
def test_a_damaged_file_is_refused(damage, frame, tmp_path):
    path = tmp_path / "x.counts"
    tb.TAN().fit(*parts(frame)).counts_.save(path)
    path.write_bytes(path.read_bytes()[:-30] if damage is None else damage)
    with pytest.raises(tb.errors.ModelFileError, match="no file of counts"):
        tb.counts.load_counts(path)
    np.savez(tmp_path / "other.npz", head=np.zeros(3, np.uint8), counts=np.zeros(4))
    with pytest.raises(tb.errors.ModelFileError, match="no file of counts"):
        tb.counts.load_counts(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        tb.counts.load_counts(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no directory"):
        tb.TAN().fit(*parts(frame)).counts_.save(tmp_path / "no" / "x")


@pytest.mark.parametrize("order", [1, 2])
def test_tables_of_single_features_come_first(order, frame):
    counts = tb.TAN().fit(*parts(frame)).counts_.stored(order)
    target = counts.schema.target
    expected = counts.flat_tables([(target,), *((i, target) for i in range(target))])
    np.testing.assert_array_equal(counts.feature_tables(), expected)
