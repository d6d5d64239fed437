"""The command line as people use it."""

import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import tanbark as tb
from tanbark.cli import fit_commands
from tanbark.cli.program import app

N = 90


def make_rows():
    rng = np.random.default_rng(5)
    spam = rng.choice(["yes", "no"], N, p=[0.4, 0.6])
    frame = pd.DataFrame(
        {
            "id": np.arange(N),
            "word": np.where(rng.random(N) < 0.8, np.where(spam == "yes", "win", "dear"), "hello"),
            "caps": (rng.random(N) + (spam == "yes")).round(3),
            "code": rng.choice([1, 2, 3], N),
            "spam": spam,
        }
    )
    frame.loc[::7, "word"] = None
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cli")
    frame = make_rows()
    frame.to_csv(place / "rows.csv", index=False)
    frame.to_csv(place / "rows.tsv", index=False, sep="\t")
    frame.to_csv(place / "rows.csv.gz", index=False)
    table = pa.Table.from_pandas(frame)
    pa.parquet.write_table(table, place / "rows.parquet")
    with pa.ipc.new_file(place / "rows.arrow", table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(place / "stream.arrow", table.schema) as file:
        file.write_table(table)
    head = "@relation spam\n% a remark\n@attribute id numeric\n@attribute word {win,dear,hello}\n"
    head += "@attribute caps REAL\n@ATTRIBUTE 'code' integer\n@attribute spam {yes, no}\n@data\n"
    (place / "rows.arff").write_text(head + frame.to_csv(index=False, header=False, na_rep="?"))
    ran = run("fit", place / "rows.csv", "--class", "spam", "--drop", "id", "--out", place / "model.json")
    assert ran.exit_code == 0, ran.stderr
    return place


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)


def good(*arguments, stdin=None):
    ran = run(*arguments, stdin=stdin)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def bad(*arguments, stdin=None):
    """Give the one line that a mistake is answered with."""
    ran = run(*arguments, stdin=stdin)
    assert ran.exit_code == 2, (ran.stdout, ran.stderr)
    lines = ran.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("tanbark: error: ")
    assert "Traceback" not in ran.output
    return lines[0]


def direct():
    frame = make_rows()
    clf = tb.TAN().fit(frame[["word", "caps", "code"]], frame["spam"])
    return clf, frame


@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet", "rows.arrow", "stream.arrow", "rows.arff"]
)
def test_every_format_gives_the_predictions_of_python(folder, tmp_path, name):
    good("fit", folder / name, "--class", "spam", "--drop", "id", "--out", tmp_path / "m.json")
    clf, frame = direct()
    told = pd.read_csv(io.StringIO(good("predict", tmp_path / "m.json", folder / name, "--proba", "--keep", "id")))
    assert list(told.columns) == ["id", "spam", "P(spam=no)", "P(spam=yes)"]
    wanted = clf.predict_proba(frame[["word", "caps", "code"]])
    assert told[["P(spam=no)", "P(spam=yes)"]].to_numpy() == pytest.approx(wanted)
    assert told["spam"].tolist() == clf.predict(frame[["word", "caps", "code"]]).tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_tables_and_models_flow_through_pipes(folder):
    content = (folder / "rows.csv").read_bytes()
    model = good("fit", "-", "--class", "spam", "--drop", "id", "--out", "-", "-q", stdin=content)
    assert json.loads(model) == json.loads((folder / "model.json").read_text())
    parquet = (folder / "rows.parquet").read_bytes()
    answers = [good("predict", folder / "model.json", "-", stdin=raw) for raw in (content, parquet)]
    assert answers[0] == answers[1]
    assert answers[0].splitlines()[0] == "spam"
    packed = good("predict", folder / "model.json", "-", stdin=gzip.compress(content))
    assert packed == answers[0]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "csv.gz"])
def test_answers_are_written_in_every_format(folder, tmp_path, suffix):
    out = tmp_path / f"answers.{suffix}"
    assert good("predict", folder / "model.json", folder / "rows.csv", "--out", out) == ""
    readers = {
        "csv": pd.read_csv,
        "csv.gz": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "parquet": pd.read_parquet,
        "arrow": pd.read_feather,
    }
    assert readers[suffix](out)["spam"].tolist() == direct()[0].predict(direct()[1][["word", "caps", "code"]]).tolist()


def test_predictions_as_json(folder):
    told = json.loads(good("predict", folder / "model.json", folder / "rows.csv", "--json", "--proba", "--keep", "id"))
    assert len(told) == N
    assert set(told[0]) == {"id", "spam", "P(spam=no)", "P(spam=yes)"}


def test_a_column_of_words_that_look_like_numbers_stays_words(tmp_path):
    (tmp_path / "train.csv").write_text("a,y\n1,p\nx,q\n2,p\nx,q\n")
    (tmp_path / "new.csv").write_text("a\n1\n2\n")
    good("fit", tmp_path / "train.csv", "--class", "y", "-l", "naive", "--out", tmp_path / "m.json")
    assert good("predict", tmp_path / "m.json", tmp_path / "new.csv").split() == ["y", "p", "p"]


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


def test_weights_count_rows(folder, tmp_path):
    good("fit", folder / "rows.csv", "--class", "spam", "--weights", "code", "--out", tmp_path / "m.json")
    clf, frame = tb.load(tmp_path / "m.json"), make_rows()
    twin = tb.TAN().fit(frame[["id", "word", "caps"]], frame["spam"], frame["code"])
    assert clf.network_.table("spam") == pytest.approx(twin.network_.table("spam"))


def test_rows_without_a_class_are_left_out_with_a_warning(folder, tmp_path):
    frame = make_rows()
    frame.loc[:4, "spam"] = None
    frame.to_csv(tmp_path / "some.csv", index=False)
    ran = run("fit", tmp_path / "some.csv", "--class", "spam", "--out", tmp_path / "m.json", "-q")
    assert ran.exit_code == 0
    assert ran.stderr == "tanbark: warning: 5 rows have no 'spam'; they are left out.\n"


def test_unseen_categories_are_told_in_one_line(folder, tmp_path):
    (tmp_path / "new.csv").write_text("word,caps,code\nstrange,0.1,1\n")
    ran = run("predict", folder / "model.json", tmp_path / "new.csv")
    assert ran.exit_code == 0
    assert ran.stderr.startswith("tanbark: warning: ")
    assert ran.stderr.count("\n") == 1


def test_evaluate(folder, tmp_path):
    ask = ("evaluate", folder / "rows.csv", "--class", "spam", "--drop", "id", "--folds", "3")
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
    ask = ("compare", folder / "rows.csv", "--class", "spam", "-l", "naive", "-l", "tan:criterion=bic", "--folds", "3")
    told = json.loads(good(*ask, "--by", "log-loss", "--json", "--plot", tmp_path / "ranks.png"))
    assert {line["learner"] for line in told["learners"]} == {"naive", "tan:criterion=bic"}
    losses = [line["measures"]["log_loss"] for line in told["learners"]]
    assert losses == sorted(losses)
    assert told["learners"][0]["p"] == 1
    frame = make_rows()
    twin = tb.cross_validate_network(
        {"naive": tb.NaiveBayes()}, frame.drop(columns="spam"), frame["spam"], cv=3, random_state=0
    )
    naive = next(line for line in told["learners"] if line["learner"] == "naive")
    assert naive["folds"]["accuracy"] == twin.scores["naive"]["accuracy"].tolist()
    assert (tmp_path / "ranks.png").read_bytes()[:4] == b"\x89PNG"
    assert good(*ask).splitlines()[0].split()[:2] == ["learner", "accuracy"]


def test_a_learner_that_fails_does_not_stop_the_others(folder):
    ran = run("compare", folder / "rows.csv", "--class", "spam", "-l", "naive", "-l", "tan:max_cells=2", "--folds", "2")
    assert ran.exit_code == 0
    assert "naive" in ran.stdout
    assert "tan:max_cells=2 could not be learnt" in ran.stderr


def test_explain(folder, tmp_path):
    told = json.loads(good("explain", folder / "model.json", folder / "rows.csv", "--row", "17", "--json"))
    clf, frame = direct()
    twin = clf.explain(frame[["word", "caps", "code"]].iloc[17:18])[0]
    assert told[0]["row"] == 17
    assert told[0]["log_odds"] == pytest.approx(twin.log_odds)
    assert sum(part["nats"] for part in told[0]["parts"]) == pytest.approx(twin.log_odds)
    text = good(
        "explain", folder / "model.json", folder / "rows.csv", "--row", "17", "--label", "yes", "--plot",
        tmp_path / "why.pdf",
    )  # fmt: skip
    assert text.startswith("row 17: P(spam = yes)")
    assert (tmp_path / "why.pdf").read_bytes()[:4] == b"%PDF"


def test_show(folder):
    text = good("show", folder / "model.json", "--cpt", "word")
    assert str(direct()[0].network_) in text
    assert "P(word | " in text
    told = json.loads(good("show", folder / "model.json", "--json"))
    assert told["class"] == "spam"
    assert [tuple(arc) for arc in told["arcs"]] == direct()[0].dag_.arcs()


def test_query_and_convert(folder, tmp_path):
    for form in ("bif", "xmlbif", "net", "dot", "svg", "uai"):
        out = tmp_path / f"m.{form}"
        good("convert", folder / "model.json", "--to", form, "--out", out)
        assert out.read_text() == good("convert", folder / "model.json", "--to", form)
    wanted = direct()[0].network_.query("word", {"spam": "yes", "caps": 0.9})
    for model in (folder / "model.json", tmp_path / "m.bif"):
        told = json.loads(good("query", model, "-e", "spam=yes", "-e", "caps=0.9", "--target", "word", "--json"))
        assert told["probabilities"] == pytest.approx(np.asarray(wanted).tolist())
    assert good("query", folder / "model.json").split()[:2] == ["spam", "probability"]
    assert "WITH tb_coded" in good("convert", folder / "model.json", "--to", "sql", "--table", "mails")
    assert '"mails"' in good("convert", folder / "model.json", "--to", "sql", "--table", "mails")
    compile(good("convert", folder / "model.json", "--to", "python"), "scorer", "exec")


def test_explore(folder, tmp_path):
    good("explore", folder / "model.json", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page == good("explore", folder / "model.json", "--out", "-")


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


def test_learners_lists_all(folder):
    told = json.loads(good("learners", "--json"))
    names = {entry["name"] for entry in told}
    assert set(tb.LEARNERS) <= names
    assert {"aode", "a2de", "model-averaging"} <= names
    assert all(entry["reference"] and entry["title"] and entry["summary"] for entry in told)
    assert all(hasattr(tb, entry["estimator"]) for entry in told)
    text = good("learners")
    assert all(entry["reference"] in text for entry in told)
    assert "Sahami (1996)" in good("learners", "kdb")


MISTAKES = {
    "command": (["fti"], "Did you mean 'fit'?"),
    "option": (["fit", "{rows}", "--clas", "spam"], "--class"),
    "class": (["fit", "{rows}", "--class", "spma", "--out", "{out}"], "Did you mean 'spam'?"),
    "learner": (["fit", "{rows}", "--class", "spam", "-l", "tam", "--out", "{out}"], "Did you mean 'tan'?"),
    "setting": (
        ["fit", "{rows}", "--class", "spam", "-o", "criterium=bic", "--out", "{out}"],
        "Did you mean 'criterion'?",
    ),
    "setting form": (["fit", "{rows}", "--class", "spam", "-o", "criterion", "--out", "{out}"], "name=value"),
    "value": (["fit", "{rows}", "--class", "spam", "-o", "parameters=-1", "--out", "{out}"], "alpha"),
    "parameters": (["fit", "{rows}", "--class", "spam", "-o", "parameters=wanba", "--out", "{out}"], "wanbia"),
    "drop": (["fit", "{rows}", "--class", "spam", "--drop", "ids", "--out", "{out}"], "Did you mean 'id'?"),
    "file": (["fit", "{rows}x", "--class", "spam", "--out", "{out}", "--format", "csv"], "Did you mean 'rows.csv'?"),
    "suffix": (["fit", "rows.csw", "--class", "spam", "--out", "{out}"], "Did you mean '.csv'?"),
    "format": (["fit", "{rows}", "--class", "spam", "--format", "cvs", "--out", "{out}"], "Did you mean 'csv'?"),
    "folder": (["fit", "{rows}", "--class", "spam", "--out", "nowhere/m.json"], "nowhere"),
    "model": (["predict", "{rows}", "{rows}"], "no model file"),
    "model pipe": (["predict", "-", "{rows}"], "read from a file"),
    "keep": (["predict", "{model}", "{rows}", "--keep", "idd"], "Did you mean 'id'?"),
    "answer": (["predict", "{model}", "{rows}", "--out", "x.arff"], "not written"),
    "row": (["explain", "{model}", "{rows}", "--row", "9999"], "90 rows"),
    "label": (["explain", "{model}", "{rows}", "--label", "yess"], "Did you mean 'yes'?"),
    "cpt": (["show", "{model}", "--cpt", "wrod"], "Did you mean 'word'?"),
    "to": (["convert", "{model}", "--to", "biff"], "Did you mean 'bif'?"),
    "evidence": (["query", "{model}", "-e", "wrod=win"], "Did you mean 'word'?"),
    "state": (["query", "{model}", "-e", "word=winn"], "Did you mean 'win'?"),
    "evidence form": (["query", "{model}", "-e", "word"], "name=state"),
    "target": (["query", "{model}", "-t", "spma"], "Did you mean 'spam'?"),
    "known learner": (["learners", "kbd"], "Did you mean 'kdb'?"),
    "by": (["compare", "{rows}", "--class", "spam", "--by", "acuracy"], "Did you mean 'accuracy'?"),
    "folds": (["evaluate", "{rows}", "--class", "spam", "--folds", "1"], "folds"),
    "too many folds": (["evaluate", "{rows}", "--class", "spam", "--folds", "80"], "folds"),
    "picture": (["explain", "{model}", "{rows}", "--plot", "why.pgn"], "Did you mean 'png'?"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_answered_in_one_line(folder, tmp_path, name):
    words, hint = MISTAKES[name]
    places = {"rows": folder / "rows.csv", "model": folder / "model.json", "out": tmp_path / "m.json"}
    assert hint in bad(*(word.format(**places) for word in words))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"", "empty"),
        (b"a,b,spam\n1,2\n", "cannot be read as CSV"),
        (b"a,a,spam\n1,2,x\n", "several columns of the name 'a'"),
        (b"spam\nx\ny\n", "no column beside the class"),
        (b"a,spam\n1,\n2,\n", "no value in any row"),
        (b"@relation x\n@attribute a {p,q}\n@attribute spam {x,y}\n@data\nr,x\n", "'r' is none of its categories"),
        (b"@relation x\n@attribute a wierd\n@data\n1\n", "line 2"),
        (b"@relation x\n@attribute a real\n@attribute spam {x,y}\n@data\n1\n", "line 5: expected 2 values, got 1"),
        (b"\x1f\x8bnonsense", "damaged"),
        (b"PAR1nonsense", "PARQUET"),
    ],
)
def test_tables_that_cannot_be_read(content, hint, tmp_path):
    assert hint in bad("fit", "-", "--class", "spam", "--out", tmp_path / "m.json", stdin=content)
    assert not list(tmp_path.iterdir())


def test_sparse_arff(tmp_path):
    text = "@relation x\n@attribute a real\n@attribute 'b c' {p,'q r'}\n@attribute spam {x,y}\n@data\n"
    (tmp_path / "t.arff").write_text(text + "{0 3.5, 2 y}\n{}\n{1 'q r'}\n{0 ?, 2 y}\n")
    from tanbark.cli.tables import read_table

    assert read_table(str(tmp_path / "t.arff")).to_pylist() == [
        {"a": 3.5, "b c": "p", "spam": "y"},
        {"a": 0.0, "b c": "p", "spam": "x"},
        {"a": 0.0, "b c": "q r", "spam": "x"},
        {"a": None, "b c": "p", "spam": "y"},
    ]


def test_a_model_that_is_no_single_network_is_told(folder, tmp_path):
    good("fit", folder / "rows.csv", "--class", "spam", "-l", "aode", "--out", tmp_path / "m.json")
    assert "AODE" in bad("show", tmp_path / "m.json")
    assert "predicts" not in good("predict", tmp_path / "m.json", folder / "rows.csv")
    good("convert", folder / "model.json", "--to", "bif", "--out", tmp_path / "m.bif")
    assert "needs a classifier" in bad("predict", tmp_path / "m.bif", folder / "rows.csv")


def test_a_bug_says_that_it_is_one(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("something is wrong inside")

    monkeypatch.setattr("tanbark.cli.models.make_model", broken)
    ran = run("fit", folder / "rows.csv", "--class", "spam", "--out", "-")
    assert ran.exit_code == 1
    assert "this is a bug in Tanbark" in ran.stderr
    assert "Traceback" in ran.stderr


def test_an_interruption_has_its_own_code(folder, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tanbark.cli.models.make_model", stopped)
    ran = run("fit", folder / "rows.csv", "--class", "spam", "--out", "-")
    assert ran.exit_code == 130
    assert ran.stderr.strip() == "tanbark: interrupted"


def test_every_command_has_help_with_an_example():
    for name, command in app.commands.items():
        text = good(name, "--help")
        assert f"tanbark {name} " in text
        assert command.short_help
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or parameter.help, (name, parameter.name)
    for name in app.commands:
        assert name in good("--help")
    assert good("--version").strip().endswith(tb.__version__)


def test_the_usual_learners_are_known():
    from tanbark.cli.models import make_model

    for text in fit_commands.USUAL:
        assert make_model(text)


def python(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "tanbark", *map(str, arguments)], timeout=300, **options)


def test_the_program_itself(folder):
    ran = python("query", folder / "model.json", "--json", capture_output=True, text=True)
    assert ran.returncode == 0
    assert sum(json.loads(ran.stdout)["probabilities"]) == pytest.approx(1)
    ran = python("show", "nothing.json", capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "tanbark: error: There is no file 'nothing.json'.\n"


def test_a_closed_pipe_is_no_error(folder):
    read, write = os.pipe()
    os.close(read)
    ran = python("learners", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert b"Traceback" not in ran.stderr
    assert ran.returncode == 141


def test_help_loads_nothing_heavy():
    code = """if True:
        import sys
        from tanbark.cli.program import app
        try:
            app.main(["fit", "--help"])
        except SystemExit:
            heavy = {"numpy", "scipy", "sklearn", "narwhals", "pandas", "pyarrow", "rich", "numba", "matplotlib"}
            print("loaded", sorted(heavy & set(sys.modules)))"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert told.stdout.splitlines()[-1] == "loaded []"
