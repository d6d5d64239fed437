"""The data report: what it counts, and how it is shown."""

import json

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import SuspiciousColumnWarning
from tanbark.estimators import describe

N = 90


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, N)
    frame = pd.DataFrame({
        "<id>": [f"<{k}>" for k in range(N)], "cut": rng.normal(2 * y), "noise": rng.normal(size=N),
        "flat": 7, "word": rng.choice(["a", "b"], N), "empty": pd.Series([None] * N, dtype="Float64"),
    })  # fmt: skip
    frame.loc[::10, ["cut", "word"]] = None
    return frame.drop(columns="empty"), pd.Series(y, name="kind")


@pytest.fixture(scope="module")
def report(rows):
    return describe(*rows)


def test_it_counts_rows_classes_states_and_missing_values(rows, report):
    X, y = rows
    assert report.rows == N
    assert report.target == "kind"
    assert report.classes == dict(enumerate(np.bincount(y).tolist()))
    assert [column.missing for column in report.columns] == X.isna().sum().tolist()
    with pytest.warns(SuspiciousColumnWarning):
        clf = tb.NaiveBayes().fit(X, y)
    assert report == clf.data_report_
    states = {column.name: column.n_states for column in clf.schema_.features}
    assert {column.name: column.states for column in report.columns} == {"<id>": 0, **states}
    assert report.columns[1].cuts == clf.schema_.features[0].cuts
    assert (report.left_out, report.unused, report.used) == (["<id>"], ["noise", "flat"], ["cut", "word"])


def test_it_is_json(report):
    document = report.to_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["suspicious"] == {"<id>": "identifier"}
    assert document["columns"][0]["kind"] == "left out"
    assert sum(item["rows"] for item in document["classes"]) == N


def test_it_prints_a_line_for_every_column(report):
    lines = repr(report).splitlines()
    assert lines[0] == "90 rows, 5 columns: 2 used, 2 unused, 1 left out"
    assert len(lines) == 3 + 5
    assert lines[3].startswith("<id>")
    assert lines[5].endswith("unused: no cut")
    assert lines[6].endswith("unused: constant")


def test_as_html_it_is_escaped(report):
    html = report._repr_html_()
    assert "&lt;id&gt;" in html
    assert "<id>" not in html
    assert html.count("<tr>") == 6


def test_many_columns_are_cut_off_in_text_only():
    X = np.random.default_rng(0).integers(0, 3, (50, 80))
    report = describe(X, np.arange(50) % 2)
    assert repr(report).splitlines()[-1] == "… and 20 other columns; to_dict() has them all"
    assert report._repr_html_().count("<tr>") == 81
    assert len(report.to_dict()["columns"]) == 80


def test_a_file_is_described_without_a_model(rows, report, tmp_path):
    X, y = rows
    X.assign(kind=y).to_parquet(tmp_path / "rows.parquet")
    assert describe(tmp_path / "rows.parquet", target="kind") == report


def test_without_rows_there_is_no_report(rows):
    X, y = rows
    clf = tb.NaiveBayes(suspicious="keep").fit(X, y)
    other = tb.NaiveBayes().fit_counts(clf.counts_)
    assert not hasattr(other, "data_report_")
    with pytest.raises(AttributeError, match="has not been fitted to rows"):
        _ = other.data_report_


def test_every_column_of_many_classes_is_reported():
    report = describe(np.arange(60)[:, None] % 5, np.arange(60) % 12)
    assert report.balance().endswith("and 4 others")
