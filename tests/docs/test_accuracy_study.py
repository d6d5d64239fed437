"""The study of accuracy: its data, masks, variants, runs that go on, tests of claims, and its page."""

import itertools
import json
import os
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="a source package holds no studies")

CHEAP = ["NaiveBayes", "TAN", "Logistic regression", "Logistic regression + temperature"]


@pytest.fixture(scope="module")
def study():
    """Import the study, which is no part of the package."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.studies.accuracy import (
            __main__,
            claims,
            data,
            fitting,
            measures,
            methods,
            numbers,
            page,
            run,
            tasks,
            worker,
        )  # fmt: skip

        yield types.SimpleNamespace(
            main=__main__.main, options=__main__, claims=claims, data=data, fitting=fitting, measures=measures,
            methods=methods, numbers=numbers, page=page, run=run, tasks=tasks, worker=worker,
        )  # fmt: skip
    finally:
        sys.path.remove(str(ROOT))


def write_toy(folder, name, seed, rows=130):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, rows)
    words = np.array(["u", "v", "w"])[(labels + (rng.random(rows) < 0.3)) % 3]
    frame = pd.DataFrame({
        "number": rng.normal(labels, 1.0).round(3).astype(str), "few": rng.integers(0, 3, rows).astype(str),
        "word": words, "constant": "c", "class": np.array(["p", "q", "r"])[labels],
    })  # fmt: skip
    frame.loc[:9, "number"] = ""
    frame.loc[5:14, "word"] = ""
    frame.loc[0, "class"] = "rare"
    frame.to_csv(folder / f"{name}.csv.gz", index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("first", "second", "third")):
        write_toy(found, name, seed)
    return found


@pytest.fixture(scope="module")
def finished(study, folder, tmp_path_factory):
    """Run four cheap methods on three small sets once."""
    results = tmp_path_factory.mktemp("results")
    study.main(["run", "--data", str(folder), "--results", str(results), "--jobs", "1", "--methods", *CHEAP])
    return results


def test_data_are_raw_columns_without_rare_classes(study, folder):
    table = study.data.load(folder, "first")
    assert list(table.X) == ["number", "few", "word"]
    assert table.numeric.tolist() == [True, True, False]
    assert table.X["number"].isna().sum() == 9
    assert table.X["word"].isna().sum() == 10
    assert len(table.y) == 129
    assert table.n_classes == 3
    tested = np.concatenate([test for _, test in study.data.splits("first", table.y)])
    assert np.array_equal(np.sort(tested), np.arange(129))


def test_subsets_of_training_rows_are_nested(study):
    train = np.arange(0, 400, 2)
    small, large = (study.data.subset("any", 0, train, rows) for rows in (20, 100))
    assert (len(small), len(large)) == (20, 100)
    assert set(small) <= set(large) <= set(train)
    assert study.data.subset("any", 0, train, 0) is train


@pytest.mark.parametrize("percent", [10, 30, 50])
def test_masks_at_random_grow_and_have_their_rate(study, percent):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 5)))
    removed = study.data.mask("any", 1, ("random", percent), X, X)
    assert removed.mean() == pytest.approx(percent / 100, abs=0.02)
    assert (removed <= study.data.mask("any", 1, ("random", 60), X, X)).all()
    assert not np.array_equal(removed, study.data.mask("any", 2, ("random", percent), X, X))


def test_masks_not_at_random_remove_large_numbers_and_rare_categories(study):
    rng = np.random.default_rng(0)
    words = pd.Series(rng.choice(["often", "seldom"], 4000, p=[0.8, 0.2]), dtype=object)
    X = pd.DataFrame({"number": rng.normal(size=4000), "word": words})
    removed = study.data.mask("any", 0, ("not-random", 30), X, X)
    assert removed.mean(axis=0) == pytest.approx([0.3, 0.3], abs=0.02)
    assert removed[X["number"] > 1, 0].mean() > 0.5
    assert removed[X["number"] < -1, 0].mean() < 0.1
    assert removed[words == "often", 1].mean() == pytest.approx(0.6 * 0.4, abs=0.03)
    assert removed[words == "seldom", 1].mean() == pytest.approx(0.6 * 0.9, abs=0.04)


def test_a_removed_value_is_missing_and_the_others_stay(study, folder):
    X = study.data.load(folder, "first").X
    removed = np.random.default_rng(0).random(X.shape) < 0.4
    blank = study.data.blank(X, removed)
    assert (blank.isna().to_numpy() == (X.isna().to_numpy() | removed)).all()
    assert blank.where(~removed).equals(X.where(~removed))
    assert list(blank.dtypes) == list(X.dtypes)


def test_measures_are_those_of_scikit_learn(study):
    from sklearn.metrics import log_loss, roc_auc_score

    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    found = study.measures.measure(P, y)
    assert found["accuracy"] == (P.argmax(axis=1) == y).mean()
    assert found["log_loss"] == pytest.approx(log_loss(y, P), abs=1e-4)
    assert found["auc"] == pytest.approx(roc_auc_score(y, P, multi_class="ovr"))
    assert found["brier"] == pytest.approx(
        np.mean([((p - np.eye(3)[c]) ** 2).sum() for p, c in zip(P, y, strict=True)])
    )
    bins = np.minimum(np.floor(P.max(axis=1) * 15), 14)
    expected = 0.0
    for each in np.unique(bins):
        rows = bins == each
        expected += rows.mean() * abs(P.max(axis=1)[rows].mean() - (P.argmax(axis=1) == y)[rows].mean())
    assert found["calibration_error"] == pytest.approx(expected)


def test_a_certain_error_costs_the_floor(study):
    found = study.measures.measure(np.array([[1.0, 0.0]]), np.array([1]))
    assert found["log_loss"] == pytest.approx(-np.log(1e-6 / (1 + 1e-6)))


def test_the_temperature_undoes_a_power(study):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 20_000)
    y = (rng.random((len(P), 1)) > P.cumsum(axis=1)).sum(axis=1)
    sharp = study.fitting.temper(P, 3.0)
    assert study.fitting.best_power(P, y) == pytest.approx(1.0, abs=0.05)
    assert study.fitting.best_power(sharp, y) == pytest.approx(1 / 3, abs=0.05)


def test_a_tempered_method_predicts_a_power_of_the_plain_one(study, folder):
    table = study.data.load(folder, "first")
    methods = study.methods.METHODS
    plain = study.fitting.fit(methods["Logistic regression"], table)(table.X)
    tempered = study.fitting.fit(methods["Logistic regression + temperature"], table)(table.X)
    ratio = np.log(tempered[:, 0] / tempered[:, 1]) / np.log(plain[:, 0] / plain[:, 1])
    assert ratio == pytest.approx(ratio[0])
    assert ratio[0] != pytest.approx(1.0, abs=1e-3)


def test_simulated_missing_values_double_the_rows(study, folder):
    table = study.data.load(folder, "first")
    twice = study.fitting.with_missing(table, 0)
    n = len(table.y)
    assert twice.X.iloc[:n].equals(table.X)
    assert np.array_equal(twice.y, np.tile(table.y, 2))
    added = twice.X.iloc[n:].isna().to_numpy() & ~table.X.isna().to_numpy()
    assert 0.2 < added.mean() < 0.4


def test_classes_that_training_lacks_have_probability_zero(study, folder):
    table = study.data.load(folder, "first")
    kept = study.fitting.rows_of(table, np.flatnonzero(table.y != 1))
    P = study.fitting.fit(study.methods.METHODS["NaiveBayes"], kept)(table.X)
    assert (P[:, 1] == 0).all()
    assert P.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["raw", "few-valued", "codes", "categories", "words"])
def test_views_keep_the_columns_and_know_the_categories(study, folder, kind):
    table = study.data.load(folder, "first")
    view = study.fitting.View(table.X, table.numeric, kind)
    found = view(table.X)
    assert list(found) == list(table.X)
    assert view.categorical == ([1, 2] if kind == "few-valued" else [2])
    assert found["number"].equals(table.X["number"])
    assert found["word"].isna().sum() == (0 if kind == "words" else 10)


def test_an_unknown_view_is_an_error(study, folder):
    table = study.data.load(folder, "first")
    with pytest.raises(ValueError, match="columns must be one of"):
        study.fitting.View(table.X, table.numeric, "other")


def test_cheap_methods_run_on_all_sets_first(study):
    sets = {"a": {"rows": 100, "columns": 5, "classes": 2, "splits": 2, "train": 80},
            "letter": {"rows": 9000, "columns": 100, "classes": 2, "splits": 1, "train": 5000}}  # fmt: skip
    tasks = study.tasks.all_tasks(sets)
    methods = study.methods.METHODS
    plain = [task for task in tasks if not methods[task.method].variant and task.split == 0 and task.rows == 0]
    assert tasks[: len(plain)] == plain
    costs = [methods[task.method].cost for task in plain]
    assert costs == sorted(costs)
    assert {task.split for task in tasks[-10:]} == {1}
    assert not [task for task in tasks if task.method.startswith("EBM") and task.name == "letter"]
    assert {task.rows for task in tasks} == {0, 100, 300, 1000, 3000}
    assert len({key for task in tasks for key in task.keys}) == sum(len(task.conditions) for task in tasks)


def test_a_run_leaves_a_line_for_every_condition(study, finished):
    done = study.tasks.load(finished)
    assert len(done) == 3 * 5 * len(CHEAP) * len(study.data.CONDITIONS)
    assert not [result["error"] for result in done.values() if "error" in result]
    assert all(set(study.measures.MEASURES) <= set(result) for result in done.values())


def test_a_line_is_the_classifier_of_the_package(study, folder, finished):
    import tanbark as tb

    table = study.data.load(folder, "second")
    train, test = study.data.splits("second", table.y)[3]
    X = table.X.iloc[test].reset_index(drop=True)
    model = tb.TAN().fit(table.X.iloc[train], table.y[train])
    for condition in study.data.CONDITIONS:
        blank = study.data.blank(X, study.data.mask("second", 3, condition, table.X.iloc[train], X))
        expected = study.measures.measure(model.predict_proba(blank), table.y[test])
        found = study.tasks.load(finished)["second", 3, "TAN", 0, *condition]
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_stopped_run_goes_on(study, folder, finished, tmp_path, capsys):
    lines = (finished / "results.jsonl").read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["method"] != "TAN" or json.loads(line)["split"] != 2]
    (tmp_path / "results.jsonl").write_text("\n".join(kept) + '\n{"set": "first", "spl')  # where it was killed
    study.main(["run", "--data", str(folder), "--results", str(tmp_path), "--jobs", "1", "--methods", *CHEAP])
    told = capsys.readouterr().out
    assert "57 of 60 tasks are done" in told
    assert "0 tasks left" in told
    before, after = study.tasks.load(finished), study.tasks.load(tmp_path)
    assert before.keys() == after.keys()
    for key, result in before.items():
        assert result["log_loss"] == after[key]["log_loss"]


def test_no_task_is_begun_without_time(study, folder, tmp_path, capsys):
    words = ["run", "--data", str(folder), "--results", str(tmp_path), "--budget", "0", "--methods", "TAN"]
    study.main(words)
    assert "15 tasks left; the same command goes on with them" in capsys.readouterr().out
    assert not (tmp_path / "results.jsonl").exists()


def test_a_task_beyond_its_limit_is_stopped_and_noted(study, folder, tmp_path):
    settings = study.run.Settings(folder, tmp_path, jobs=1, limit=0.01)
    tasks = [study.tasks.Task(name, 0, "NaiveBayes", 0, (("random", 0),)) for name in ("first", "second")]
    study.run.run_all(tasks, settings, "commit")
    found = study.tasks.load(tmp_path)
    assert [result["error"] for result in found.values()] == ["stopped after 0.01 s"] * 2
    assert not study.run.todo(tasks, settings, "commit")
    assert study.run.todo(tasks, study.run.Settings(folder, tmp_path, retry=True), "commit") == tasks
    assert study.run.todo(tasks, study.run.Settings(folder, tmp_path, again=True), "other") == tasks


def test_what_was_stopped_is_not_run_in_other_splits_and_variants(study, folder, tmp_path):
    settings = study.run.Settings(folder, tmp_path, jobs=1, limit=0.01)
    plain, variant = "Logistic regression", "Logistic regression + temperature"
    asked = [("first", 0, plain), ("first", 1, plain), ("first", 0, variant)]
    study.run.run_all([study.tasks.Task(*task, 0, (("random", 0),)) for task in asked], settings, "commit")
    errors = [result["error"] for result in study.tasks.load(tmp_path).values()]
    assert errors == ["stopped after 0.01 s", *["not run: the method was stopped on this set before"] * 2]
    again = [study.tasks.Task("second", 0, plain, 0, (("random", 0),))]
    study.run.run_all(again, study.run.Settings(folder, tmp_path, jobs=1), "commit")
    assert "accuracy" in study.tasks.load(tmp_path)["second", 0, plain, 0, "random", 0]


def test_a_failure_is_noted_with_its_reason(study, folder, tmp_path):
    settings = study.run.Settings(folder, tmp_path, jobs=1)
    study.run.run_all([study.tasks.Task("absent", 0, "NaiveBayes", 0, study.data.CONDITIONS)], settings, "commit")
    found = study.tasks.load(tmp_path)
    assert len(found) == len(study.data.CONDITIONS)
    assert all("FileNotFoundError" in result["error"] for result in found.values())


def test_a_peer_that_is_not_installed_is_skipped_with_the_reason(study, folder, tmp_path, capsys):
    nowhere = str(tmp_path / "python")
    words = ["--data", str(folder), "--results", str(tmp_path), "--sets", "first", "--methods", "Khiops"]
    study.main(["run", *words, "--python", f"Khiops={nowhere}"])
    assert "Khiops is skipped: khiops is not installed for python" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--methods", "TAM"], "unknown methods"),
        (["--python", "Khiops"], "METHOD=PATH"),
        (["--only", "everything"], "invalid choice"),
    ],
)
def test_bad_options_are_errors(study, capsys, words, told):
    with pytest.raises(SystemExit):
        study.options.arguments(["run", *words])
    assert told in capsys.readouterr().err


def test_an_unknown_set_is_an_error(study, folder, tmp_path):
    with pytest.raises(SystemExit, match=r"unknown data sets \['fourth'\]"):
        study.main(["run", "--data", str(folder), "--results", str(tmp_path), "--sets", "fourth"])


def test_means_are_over_the_splits_that_all_methods_have(study):
    base = dict.fromkeys(study.measures.MEASURES, 0.0)
    good = {
        ("a", split, method, 0, "random", 0): {**base, "accuracy": value}
        for (split, method), value in {(0, "TAN"): 0.5, (1, "TAN"): 0.9, (0, "KDB"): 0.6}.items()
    }
    found = study.numbers.means(good, ("random", 0))
    assert {method: values[0] for method, values in found["a"].items()} == {"TAN": 0.5, "KDB": 0.6}


def synthetic(study, n_sets=12):
    """Numbers of a run in which TAN beats one peer on every set and another on none, and draws with itself."""
    rng = np.random.default_rng(0)
    shifts = {"TAN": 0.0, "KDB": 0.01, "XGBoost": 0.2, "CatBoost": -0.2, "CatBoost + temperature": -0.25}
    means = {}
    for condition in study.data.CONDITIONS:
        by = {}
        for k in range(n_sets):
            level = 0.5 + 0.2 * rng.random()
            by[f"s{k}"] = {
                method: [
                    round(0.9 - shift * (1 + k / 100) / 4, 5),  # no ties, which take long to test
                    round(level + shift + 0.01 * rng.random(), 5),
                    0.9,
                    0.2,
                    0.1,
                    1.5,
                    0.01,
                ]
                for method, shift in shifts.items()
            }
        means[study.numbers.label(condition)] = by
    methods = study.methods.METHODS
    about = {"rows": 1000, "columns": 9, "numeric": 3, "classes": 2, "splits": 1, "train": 700, "hash": "0"}
    points = [[100, 0.9, 0.7], [300, 0.7, 0.75], [700, 0.5, 0.8]]
    return {
        "page": "accuracy",
        "command": "", "commits": ["0123"], "versions": {"numpy": ["2.0"]}, "machine": "here",
        "methods": {name: {"group": methods[name].group, "variant": methods[name].variant} for name in shifts},
        "sets": {f"s{k}": {**about, "columns": 90 if k == n_sets - 1 else 9} for k in range(n_sets)},
        "measures": list(study.measures.MEASURES), "means": means,
        "splits": {f"s{k}": 1 + k % 2 for k in range(n_sets)},
        "curves": {"adult": {"TAN": points, "XGBoost": points}}, "failures": {"KDB": {"too large": ["s1 (complete)"]}},
    }  # fmt: skip


def test_claims_are_adjusted_together_as_closed_testing_does(study):
    from scipy.stats import wilcoxon

    found = synthetic(study)
    sets = study.claims.group(found, narrow=True)
    tested = study.claims.claims(found, "complete", "log_loss", sets)
    assert len(tested) == 2 * 3
    assert all(claim.sets == 11 for claim in tested)
    raw = []
    for claim in tested:
        a, b = ([found["means"]["complete"][s][m][1] for s in sets] for m in (claim.ours, claim.peer))
        raw.append(wilcoxon(a, b).pvalue)
        assert claim.p == pytest.approx(raw[-1])
        assert claim.difference == pytest.approx(np.mean(a) - np.mean(b))
        assert claim.verdict == ("better" if claim.peer == "XGBoost" else "worse")
    for place, claim in enumerate(tested):
        worst = 0.0
        for count in range(1, len(raw) + 1):
            for chosen in itertools.combinations(range(len(raw)), count):
                if place in chosen:
                    ordered = np.sort(np.array(raw)[list(chosen)])
                    worst = max(worst, (count * ordered / np.arange(1, count + 1)).min())
        assert claim.adjusted == pytest.approx(worst)


def test_equal_methods_are_undecided(study):
    claim = study.claims._claim("a", "b", [0.1, 0.2, 0.3], [0.1, 0.2, 0.3], "log_loss")
    assert (claim.p, claim.favours, claim.verdict) == (1.0, 0, "undecided")


def test_the_page_states_what_the_tests_show(study):
    text = study.page.render(synthetic(study))
    assert "### 11 sets of at most 62 columns" in text
    assert "### 1 sets of more than 62 columns" not in text
    assert "### 1 set of more than 62 columns" in text
    assert "- **TAN**: better than XGBoost; worse than CatBoost + temperature and CatBoost." in text
    assert "- KDB: `too large` on s1 (complete)." in text
    assert "every method has run: 1 to 2 a set." in text
    assert "{{" not in text
    assert "nan" not in text


def test_what_was_not_run_again_is_taken_from_an_earlier_page(study, tmp_path):
    earlier = synthetic(study)
    sets = {**earlier["sets"], "s2": {**earlier["sets"]["s2"], "hash": "1"}}
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    new = {"set": "s0", "split": 0, "method": "TAN", "rows": 0, "mechanism": "random", "percent": 0, "commit": "4567"}
    measured = dict.fromkeys(study.measures.MEASURES, 0.25)
    (tmp_path / "results.jsonl").write_text(json.dumps({**new, **measured}) + "\n")
    found = study.numbers.collect(tmp_path, "accuracy", earlier)
    kept = {f"s{k}" for k in range(0, 12, 2)} - {"s2"}  # s2 is another set now, and the others have two splits
    for state, means in earlier["means"].items():
        assert set(found["means"][state]) == kept
        for name in kept:
            for method, values in means[name].items():
                again = (state, name, method) == ("complete", "s0", "TAN")
                assert found["means"][state][name][method] == ([0.25] * len(measured) if again else values)
    assert found["commits"] == ["4567"]
    text = study.page.made(found)
    assert "This commit ran TAN on 1 sets." in text
    assert "earlier run on the same splits, commit 0123" in text
    assert "{{" not in study.page.render(found)


def test_a_method_that_lacks_a_set_is_starred_and_not_ranked(study):
    found = synthetic(study)
    del found["means"]["complete"]["s0"]["KDB"]
    text = study.page.render(found)
    assert "| **KDB**\\* | 10 |" in text
    ranked = study.page.comparisons(found)["ranks_log_loss"]
    assert "KDB" not in ranked.names
    assert ranked.n == 11


def test_the_page_is_written_from_a_run(study, finished, tmp_path):
    study.main(["page", "--results", str(finished), "--docs", str(tmp_path)])
    text = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "numbers" / "accuracy.json").read_text(encoding="utf-8"))
    assert study.page.render(numbers) == text
    assert "### 3 sets of at most 62 columns" in text
    for picture in ("accuracy_ranks_log_loss.svg", "accuracy_missing.svg"):
        assert (tmp_path / "figures" / picture).read_text(encoding="utf-8").lstrip().startswith("<?xml")
        assert f"figures/{picture}" in text


def test_figures_are_the_same_bytes_again(study, tmp_path):
    found = synthetic(study)
    for name in ("one", "two"):
        study.page.figures.write(
            found, tmp_path / name, study.page.comparisons(found), study.page.missing_series(found)
        )
    names = sorted(os.listdir(tmp_path / "one"))
    assert "accuracy_curves.svg" in names
    assert len(names) == 6
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.skipif(not (ROOT / "docs" / "numbers" / "accuracy.json").exists(), reason="the study has no page yet")
def test_the_page_is_what_the_numbers_say(study):
    numbers = json.loads((ROOT / "docs" / "numbers" / "accuracy.json").read_text(encoding="utf-8"))
    assert study.page.render(numbers) == (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
