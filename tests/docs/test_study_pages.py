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
        from benchmarks.studies import averaging, defaults, lecture_table, random_anbs
        from benchmarks.studies.rai_anb import cells, data, leak, methods, page, plan, readings, statistics

        yield {
            "cells": cells, "data": data, "page": page, "statistics": statistics, "lecture_table": lecture_table,
            "defaults": defaults, "random_anbs": random_anbs, "leak": leak, "methods": methods, "plan": plan,
            "readings": readings, "averaging": averaging,
        }  # fmt: skip
    finally:
        sys.path.remove(str(ROOT))


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("rai_anb", "page"),
        ("lecture_table", "lecture_table"),
        ("defaults", "defaults"),
        ("random_anbs", "random_anbs"),
        ("averaging", "averaging"),
    ],
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


def test_a_cell_of_averages_measures_all_methods_and_goes_on_where_it_stopped(study, folder, tmp_path, capsys):
    averaging = study["averaging"]
    cell = averaging.run_cell("toy", 0, 2022, folder)
    assert set(cell["methods"]) == set(averaging.METHODS)
    assert all(0 <= found["correct"] <= cell["test"] for found in cell["methods"].values())
    again = averaging.run_cell("toy", 0, 2022, folder)
    assert again["methods"] == cell["methods"]
    # one graph of weight one is that graph's posterior
    table = study["data"].read(folder, "toy")
    train, test = study["data"].fold(table, 0, 2022)
    counts = study["data"].rows_of(table, train, 1)
    best, method = averaging.ranked(counts, 16)
    assert method == "dp"
    assert best.weights.sum() == pytest.approx(1)
    one = averaging.posterior([averaging.alone(best.dags[0], counts)], table.codes[:, test], averaging.BDeu(1.0))
    joint = study["cells"].predict(best.dags[0], counts, table.codes[:, test], averaging.BDeu(1.0))
    expected = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert one == pytest.approx(expected / expected.sum(axis=1, keepdims=True))
    told = averaging.measure(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0]))
    assert told == {"correct": 1, "loss": pytest.approx(-np.log(0.9) - np.log(0.2), abs=1e-6)}


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
    cell = cells.run(cells.Cell("toy", "RAI-GBN", 3, 0), folder, study["methods"].ALL)
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
    todo = [cells.Cell("toy", "Naive Bayes", fold, 0) for fold in range(3)]
    cells.append(path, {"set": "toy", "method": "Naive Bayes", "fold": 0, "seed": 0, "correct": -1})
    with path.open("a") as file:
        file.write('{"set": "toy", "met')  # where the power went
    cells.run_all(todo, path, folder, study["methods"].ALL, workers=1, seconds=1e9)
    found = cells.load(path)
    assert [found["toy", "Naive Bayes", fold, 0]["fold"] for fold in range(3)] == [0, 1, 2]
    assert found["toy", "Naive Bayes", 0, 0]["correct"] == -1
    assert "1 of 3 cells are done" in capsys.readouterr().out


def test_a_graph_of_another_shuffle_is_tested_on_its_own_rows(study, folder):
    """With the graph of the same shuffle, the prediction is that of the cell itself."""
    cells, leak = study["cells"], study["leak"]
    cell = cells.run(cells.Cell("toy", "exact-GBN", 2, 5), folder, study["methods"].ALL)
    same = leak.one(folder, cell, 2, 5)
    assert {key: same[key] for key in cells.SMOOTHINGS} == {key: cell[key] for key in cells.SMOOTHINGS}
    assert leak.one(folder, cell, 2, 6)["test"] == cell["test"]


def test_codes_are_kept_and_labels_written(study, tmp_path):
    data = study["data"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"legs": rng.integers(0, 6, 2000), "age": rng.integers(0, 50, 2000), "class": 0})
    for name in ("zoo", "mfeat-fac"):
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    assert data.read(tmp_path, "zoo").schema.cardinalities == (6, 2, 1)
    assert data.read(tmp_path, "zoo, legs cut").schema.cardinalities == (2, 2, 1)
    labels = data.read(tmp_path, "mfeat-fac, labels 100 rows off").codes[-1]
    assert labels[99] == 0
    assert labels[100] == 1
    assert labels[-1] == 0
    assert np.bincount(labels).tolist() == [200] * 10


def test_a_proportion_of_all_rows_is_known_by_its_digits(study):
    is_share = study["readings"].is_share
    for rows in (101, 148, 267):
        every = {round(k / rows, 4) for k in range(rows + 1)}
        assert all(is_share(value, rows) for value in every)
        assert not any(is_share(round(k / 10000, 4), rows) for k in range(10001) if round(k / 10000, 4) not in every)


def test_the_other_search_of_gbn_cmdl_is_the_learner(study, folder):
    """The variant with all moves and no start finds the graph of the package; the plain tree ignores the class."""
    methods, data = study["methods"], study["data"]
    counts = data.rows_of(data.read(folder, "toy"), np.arange(90), 1)
    plain = methods.learn(counts, methods.METHODS["GBN-CMDL"])
    assert methods.learn_cmdl(counts).dag == plain.dag
    tree = methods.learn_plain_tree(counts).dag
    codes = counts.table.codes.copy()
    codes[-1] = codes[-1][::-1]
    other = study["cells"].MemoryCounts(type(counts.table)(counts.schema, codes), n_jobs=1)
    assert methods.learn_plain_tree(other).dag == tree
    assert tree.n_arcs == 7


def test_random_networks_are_what_they_say(study):
    anbs = study["random_anbs"]
    rng = np.random.default_rng(3)
    dag = anbs.random_graph(6, "anb", rng)
    assert dag.parents[6] == ()
    assert all(6 in dag.parents[node] for node in range(6))
    assert max(map(len, dag.parents)) <= 3
    table, cpts = anbs.sample(dag, 40000, rng)
    for node, parents in enumerate(dag.parents):
        chosen = np.ones(table.n_rows, bool)
        for parent in parents:
            chosen &= table.codes[parent] == 1
        expected = cpts[node][(1,) * len(parents)] if parents else cpts[node]
        seen = np.bincount(table.codes[node][chosen], minlength=len(expected)) / max(chosen.sum(), 1)
        assert np.abs(seen - expected).max() < 5 * np.sqrt(0.25 / max(chosen.sum(), 1))
    assert 0.3 < anbs.true_accuracy(dag, cpts, table.codes) <= 1.0
    assert anbs.edges(dag, 6) == {frozenset((p, v)) for v in range(6) for p in dag.parents[v] if p != 6}


def test_the_plan_begins_with_what_is_cheap(study):
    tables = {
        "table_1": {"rows": [{"file": "zoo", "rows": 101}, {"file": "bank", "rows": 30488}]},
        "table_3": {"rows": [{"file": "musk2"}, {"file": None}, {"file": "madelon"}]},
    }
    plan = study["plan"]
    cells = plan.cells(tables)
    assert len(set(cells)) == len(cells)

    def shuffles(name):
        return {cell.seed for cell in cells if (cell.name, cell.method) == (name, "exact-GBN")}

    longest = [place for place, cell in enumerate(cells) if cell.name == "bank" and cell.method.startswith("exact")]
    cheapest = [place for place, cell in enumerate(cells) if cell.name == "zoo"]
    assert max(cheapest) < min(longest)
    assert (shuffles("zoo"), shuffles("bank")) == (set(plan.SEEDS), set(plan.SEEDS[:5]))
