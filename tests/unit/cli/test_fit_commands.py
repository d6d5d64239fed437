"""Fit, predict, evaluate and compare."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from command_line import N, bad, direct, good, make_rows, run
from tanbark.cli import fit_commands


def test_predictions_as_json(folder):
    told = json.loads(good("predict", folder / "model.json", folder / "rows.csv", "--json", "--proba", "--keep", "id"))
    assert len(told) == N
    assert set(told[0]) == {"id", "spam", "P(spam=no)", "P(spam=yes)"}


def test_options_reach_the_learner(folder, tmp_path):
    out = tmp_path / "m.json"
    told = json.loads(
        good("fit", folder / "rows.csv", "--class", "spam", "-l", "naive", "-o", "parameters=wanbia:smoothing=0.5",
             "--out", out, "--json")
    )  # fmt: skip
    assert told["model"] == "NaiveBayes(parameters=WANBIA(smoothing=0.5))"
    assert tb.load(out).smoothing_ == tb.Laplace(0.5)
    arcs = json.dumps([["spam", "word"], ["word", "code"]])
    good("fit", folder / "rows.csv", "--class", "spam", "-l", "fixed", "-o", f"arcs={arcs}", "--out", out)
    assert tb.load(out).dag_.arcs() == [("spam", "word"), ("word", "code")]


def test_a_way_to_cut_is_an_option(tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "m.json"
    frame = make_rows()
    frame = frame.loc[frame.index.repeat(3)]
    frame.to_csv(rows, index=False)
    good("fit", rows, "--class", "spam", "-l", "tan", "-o", "discretize=mdlp+quantile", "--out", out)
    X, y = frame.drop(columns="spam"), frame["spam"]
    assert tb.load(out).schema_ == tb.TAN(discretize="mdlp+quantile").fit(X, y).schema_ != tb.TAN().fit(X, y).schema_
    for learner in ("tan", "classifier"):
        words = ("-l", learner, "-o", "discretize=mdlp+q")
        assert "mdlp+quantile" in bad("fit", rows, "--class", "spam", *words, "--out", out)


def test_weights_count_rows(folder, tmp_path):
    ask = ("--class", "spam", "-l", "tan", "--drop", "id", "--weights", "code")
    good("fit", folder / "rows.csv", *ask, "--out", tmp_path / "m.json")
    clf, frame = tb.load(tmp_path / "m.json"), make_rows()
    twin = tb.TAN().fit(frame[["word", "caps"]], frame["spam"], frame["code"])
    assert clf.network_.table("spam") == pytest.approx(twin.network_.table("spam"))


def test_rows_without_a_class_are_left_out_with_a_warning(folder, tmp_path):
    frame = make_rows()
    frame.loc[:4, "spam"] = None
    frame.drop(columns="id").to_csv(tmp_path / "some.csv", index=False)
    ran = run("fit", tmp_path / "some.csv", "--class", "spam", "-l", "tan", "--out", tmp_path / "m.json", "-q")
    assert ran.exit_code == 0
    assert ran.stderr == "tanbark: warning: 5 rows have no 'spam'; they are left out.\n"


def test_unseen_categories_are_told_in_one_line(folder, tmp_path):
    (tmp_path / "new.csv").write_text("word,caps,code\nstrange,0.1,1\n")
    ran = run("predict", folder / "model.json", tmp_path / "new.csv")
    assert ran.exit_code == 0
    assert ran.stderr.startswith("tanbark: warning: ")
    assert ran.stderr.count("\n") == 1


def test_evaluate(folder, tmp_path):
    ask = ("evaluate", folder / "rows.csv", "--class", "spam", "--drop", "id", "-l", "tan", "--folds", "3")
    told = json.loads(good(*ask, "--json"))
    assert set(told["measures"]) == {"accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "seconds"}
    assert np.sum(told["confusion"]) == N
    assert sum(told["calibration"]["rows"]) == N
    right = sum(told["confusion"][k][k] for k in range(2)) / N
    assert told["measures"]["accuracy"]["mean"] == pytest.approx(right, abs=0.02)
    text = good(*ask, "--plot", tmp_path / "curve.svg")
    assert "balanced accuracy" in text
    assert "confusion" in text
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")


def test_evaluate_a_saved_model(folder):
    told = json.loads(
        good("evaluate", folder / "rows.csv", "--class", "spam", "--model", folder / "model.json", "--json")
    )
    clf, frame = direct()
    assert told["measures"]["accuracy"]["mean"] == clf.score(frame[["word", "caps", "code"]], frame["spam"])
    assert told["folds"] == 1


def test_compare(folder, tmp_path):
    ask = ("compare", folder / "rows.csv", "--class", "spam", "--drop", "id", "-l", "naive", "-l", "tan:criterion=bic")
    ask = (*ask, "--folds", "3")
    told = json.loads(good(*ask, "--by", "log-loss", "--json", "--plot", tmp_path / "ranks.png"))
    assert {line["learner"] for line in told["learners"]} == {"naive", "tan:criterion=bic"}
    losses = [line["measures"]["log_loss"] for line in told["learners"]]
    assert losses == sorted(losses)
    assert told["learners"][0]["p"] == 1
    frame = make_rows()
    twin = tb.cross_validate_network(
        {"naive": tb.NaiveBayes()}, frame.drop(columns=["id", "spam"]), frame["spam"], cv=3, random_state=0
    )
    naive = next(line for line in told["learners"] if line["learner"] == "naive")
    assert naive["folds"]["accuracy"] == twin.scores["naive"]["accuracy"].tolist()
    assert (tmp_path / "ranks.png").read_bytes()[:4] == b"\x89PNG"
    lines = good(*ask, "--by", "log-loss").splitlines()
    assert lines[0].split()[:2] == ["learner", "accuracy"]
    assert lines[-1] == "ordered by log-loss, the lowest first; means over 3 folds"


def test_a_learner_that_fails_does_not_stop_the_others(folder):
    ran = run("compare", folder / "rows.csv", "--class", "spam", "-l", "naive", "-l", "tan:max_cells=2", "--folds", "2")
    assert ran.exit_code == 0
    assert "naive" in ran.stdout
    assert "tan:max_cells=2 could not be learnt" in ran.stderr


def test_an_average_of_models(folder, tmp_path):
    out = tmp_path / "m.json"
    words = (
        "-l",
        "model-averaging",
        "-o",
        "estimator=tan:criterion=bic",
        "-o",
        "n_estimators=3",
        "-o",
        "random_state=0",
    )
    told = json.loads(good("fit", folder / "rows.csv", "--class", "spam", *words, "--out", out, "--json"))
    assert "TAN(criterion='bic')" in told["model"]
    assert good("predict", out, folder / "rows.csv").splitlines()[0] == "spam"
    assert good("explain", out, folder / "rows.csv").startswith("row 0: P(spam")
    assert "ModelAveraging" in bad("show", out)


def test_what_a_prediction_is_worth(folder):
    clf, frame = direct()
    X = frame[["word", "caps", "code"]]
    words = ("predict", folder / "model.json", folder / "rows.csv")
    told = pd.read_csv(
        io.StringIO(good(*words, "--abstain-below", "0.9", "--interval", "--support", "--surprise", "--keep", "id"))
    )
    expected = clf.predict(X, abstain_below=0.9)
    assert [None if label != label else label for label in told["spam"]] == expected.tolist()
    low, high = clf.predict_proba_interval(X)
    assert told["low P(spam=yes)"].to_numpy() == pytest.approx(low[:, 1])
    assert told["high P(spam=no)"].to_numpy() == pytest.approx(high[:, 0])
    assert told["support"].to_numpy() == pytest.approx(clf.support(X))
    odd = clf.surprise(X)
    assert told["surprise"].to_numpy() == pytest.approx(odd.fractions)
    assert told["oddest"].tolist() == odd.oddest
    wider = json.loads(good(*words, "--interval", "0.99", "--abstain-below", "1", "--json"))
    assert wider[0]["low P(spam=yes)"] <= low[0, 1]
    assert wider[0]["spam"] is None
    assert "from 0 to 1" in bad(*words, "--abstain-below", "2")
    assert "between 0 and 1" in bad(*words, "--interval", "1")


def test_what_a_model_cannot_say_is_a_mistake_in_one_line(folder, tmp_path):
    out = tmp_path / "aode.json"
    good("fit", folder / "rows.csv", "--class", "spam", "--drop", "id", "-l", "aode", "--out", out)
    assert "--surprise: AODE does not have this method" in bad("predict", out, folder / "rows.csv", "--surprise")
    assert "--interval: AODE does not have this method" in bad("predict", out, folder / "rows.csv", "--interval")


# a classifier of few rows learns no correction for each of the folds
@pytest.mark.parametrize(("learner", "n_rows"), [(("-l", "tan", "-o", "temperature=auto"), N), ((), 40)])
def test_prediction_sets(learner, n_rows, folder, tmp_path):
    out, few = tmp_path / "m.json", tmp_path / "few.csv"
    make_rows()[:n_rows].to_csv(few, index=False)
    good("fit", few, "--class", "spam", *learner, "--sets", "--out", out)
    told = json.loads(good("predict", out, folder / "rows.csv", "--set", "0.8", "--json"))
    assert all(row["spam"] in row["spam set"] for row in told)
    model, frame = tb.load(out), make_rows()
    wanted = model.predict_set(frame[["id", "word", "caps", "code"]], coverage=0.8).labels()
    assert [row["spam set"] for row in told] == wanted
    lines = good("predict", out, folder / "rows.csv", "--set", "0.8").splitlines()
    assert lines[0] == "spam,spam set"
    assert "calibrate_sets" in bad("predict", folder / "model.json", folder / "rows.csv", "--set", "0.8")
    assert "coverage" in bad("predict", out, folder / "rows.csv", "--set", "90")


def test_the_usual_learners_are_known():
    from tanbark.cli.models import make_model

    for text in fit_commands.USUAL:
        assert make_model(text)


def test_the_default_is_the_classifier_and_its_choice_is_shown(pooled, folder):
    ran, out = pooled
    assert ran.exit_code == 0, ran.stderr
    frame = make_rows()
    twin = tb.Classifier().fit(frame[["word", "caps", "code"]], frame["spam"])
    assert isinstance(tb.load(out), tb.Classifier)
    assert ran.stderr.startswith("Classifier(): 90 rows, 3 features, 2 classes")
    assert ran.stderr.endswith(f"\n{twin.choice_}\n")
    told = json.loads(good("predict", out, folder / "rows.csv", "--proba", "--json"))
    assert [row["P(spam=yes)"] for row in told] == twin.predict_proba(frame[["word", "caps", "code"]])[:, 1].tolist()
    told = json.loads(good("evaluate", folder / "rows.csv", "--class", "spam", "--model", out, "--json"))
    assert told["measures"]["accuracy"]["mean"] == twin.score(frame[["word", "caps", "code"]], frame["spam"])


def test_evaluate_and_fit_have_the_same_default():
    defaults = {
        command.name: next(p.default for p in command.params if p.name == "learner")
        for command in (fit_commands.fit, fit_commands.evaluate)
    }
    assert defaults == {"fit": "classifier", "evaluate": "classifier"}


def test_the_choice_as_json(folder, tmp_path):
    rows, out = folder / "rows.csv", tmp_path / "m.json"
    told = json.loads(good("fit", rows, "--class", "spam", "-o", "n_estimators=2", "--out", out, "--json"))
    assert told["model"] == "Classifier(n_estimators=2)"
    choice = tb.load(out).choice_
    assert told["choice"] == {name: getattr(choice, name) for name in fit_commands.CHOSEN}
    assert "choice" not in json.loads(good("fit", rows, "--class", "spam", "-l", "naive", "--out", out, "--json"))


def test_steps_are_reported_on_a_terminal_only(folder, monkeypatch, capsys):
    from tanbark.cli.models import reporting

    model = tb.Classifier(n_estimators=2)
    frame = make_rows()
    with reporting(model, quiet=False) as shown:
        assert not shown
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with reporting(model, quiet=True) as shown:
        assert not shown
    with reporting(tb.TAN(), quiet=False) as shown:
        assert not shown
    with reporting(model, quiet=False) as shown:
        model.fit(frame[["word", "caps"]], frame["spam"])
    assert shown
    assert not model.verbose
    assert "Classifier: fold 1 of 5: log-loss " in capsys.readouterr().err
