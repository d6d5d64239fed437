"""The pages of the studies are what their numbers say, and the studies can be trusted."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a source package holds no documentation")


@pytest.fixture(scope="module")
def study():
    """Import the study, which is no part of the package."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.studies import defaults, lecture_table
        from benchmarks.studies.rai_anb import cells, data, page, statistics

        yield {
            "cells": cells, "data": data, "page": page, "statistics": statistics, "lecture_table": lecture_table,
            "defaults": defaults,
        }  # fmt: skip
    finally:
        sys.path.remove(str(ROOT))


@pytest.mark.parametrize(
    ("name", "module"), [("rai_anb", "page"), ("lecture_table", "lecture_table"), ("defaults", "defaults")]
)
def test_the_page_is_what_the_numbers_say(study, name, module):
    numbers = json.loads((ROOT / "docs" / "numbers" / f"{name}.json").read_text())
    assert study[module].render(numbers) == (ROOT / "docs" / f"{name}.md").read_text()


def test_hommel_is_closed_testing(study):
    """A hypothesis falls if every set of hypotheses that holds it falls by Simes's test."""
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 5, 6):
        p = rng.random(size) ** 2
        expected = []
        for place in range(size):
            worst = 0.0
            for count in range(1, size + 1):
                for chosen in itertools.combinations(range(size), count):
                    if place in chosen:
                        ranked = np.sort(p[list(chosen)])
                        worst = max(worst, (count * ranked / np.arange(1, count + 1)).min())
            expected.append(min(worst, 1.0))
        assert study["statistics"].hommel(p) == pytest.approx(expected)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 120)
    frame = pd.DataFrame({
        "number": rng.normal(labels, 1.0).round(3), "few": rng.integers(0, 4, 120), "word": rng.choice(["u", "v"], 120),
        "copy": labels, "class": np.array(["p", "q", "r"])[labels],
    })  # fmt: skip
    frame["copy"] = frame["copy"].astype(str).where(rng.random(120) < 0.9, "")
    frame.to_csv(tmp_path / "toy.csv.gz", index=False)
    return tmp_path


def test_data_are_read_as_the_paper_says(study, folder):
    table = study["data"].read(folder, "toy")
    raw = pd.read_csv(folder / "toy.csv.gz", dtype=str, keep_default_na=False)
    raw = raw[raw["copy"] != ""]
    assert table.n_rows == len(raw) < 120
    assert table.schema.cardinalities == (2, 4, 2, 3, 3)
    numbers = raw["number"].astype(float)
    assert np.array_equal(table.codes[0], numbers > numbers.median())
    tested = np.concatenate([study["data"].fold(table, k, 0)[1] for k in range(10)])
    assert np.array_equal(np.sort(tested), np.arange(table.n_rows))


def test_a_cell_is_the_classifier_of_the_package(study, folder):
    import tanbark as tb

    cells, data = study["cells"], study["data"]
    cell = cells.run(cells.Cell("toy", "RAI-GBN", 3), folder, 0, cells.METHODS)
    table = data.read(folder, "toy")
    train, test = data.fold(table, 3, 0)
    X, y = pd.DataFrame(table.codes[:-1].T).astype(str), table.codes[-1]
    clf = tb.RAIGBN(categorical_features="all").fit(X.iloc[train], y[train])
    assert cell["correct"] == (clf.predict(X.iloc[test]) == y[test]).sum()
    assert cell["edges"] == clf.dag_.n_arcs
    counts = data.rows_of(table, train, 1)
    for smoothing in cells.SMOOTHINGS.values():
        dense = cells.predict(clf.dag_, counts, table.codes[:, test], smoothing)
        kept = cells.blanket(clf.dag_, table.schema.target)
        sparse = cells.predict_by_rows(kept, counts.table, table.codes[:, test], smoothing)
        assert dense - dense.max(axis=1, keepdims=True) == pytest.approx(sparse - sparse.max(axis=1, keepdims=True))


def test_a_killed_run_goes_on(study, folder, tmp_path, capsys):
    cells = study["cells"]
    path = tmp_path / "cells.jsonl"
    todo = [cells.Cell("toy", "Naive Bayes", fold) for fold in range(3)]
    methods = {"Naive Bayes": cells.METHODS["Naive Bayes"]}
    cells.append(path, {"set": "toy", "method": "Naive Bayes", "fold": 0, "correct": -1})
    with path.open("a") as file:
        file.write('{"set": "toy", "met')  # where the power went
    cells.run_all(todo, path, folder, 0, methods, workers=1, seconds=1e9)
    found = cells.load(path)
    assert [found["toy", "Naive Bayes", fold]["fold"] for fold in range(3)] == [0, 1, 2]
    assert found["toy", "Naive Bayes", 0]["correct"] == -1
    assert "1 of 3 cells are done" in capsys.readouterr().out
