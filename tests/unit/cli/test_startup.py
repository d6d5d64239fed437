"""What the commands that read a saved model import, and that they answer as they do beside scikit-learn."""

import json
import subprocess
import sys

import pytest

import tanbark as tb
from command_line import good, make_rows

HEAVY = ("sklearn", "scipy.stats", "pandas", "numba")
PROGRAM = f"""if True:
    import io, json, sys
    from contextlib import redirect_stdout
    from tanbark.cli import main
    told = []
    for words in json.loads(sys.argv[1]):
        sys.argv = ["tanbark", *words]
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)) as printed:
            try:
                main()
            except SystemExit as end:
                code = end.code
        told.append((words, code, printed.buffer.getvalue().decode(), [x for x in {HEAVY} if x in sys.modules]))
    print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("startup")
    frame = make_rows()
    frame.to_csv(folder / "rows.csv", index=False)
    X, y = frame[["word", "caps", "code"]], frame["spam"]
    tb.TAN(temperature="auto").fit(X, y).calibrate_sets(X, y).save(folder / "tan.json")
    tb.NaiveBayes(parameters=tb.MANB()).fit(X, y).save(folder / "manb.json")
    tb.AODE().fit(X, y).save(folder / "aode.json")
    tb.Classifier().fit(X, y).save(folder / "pool.json")
    return folder


def alone(folder, commands):
    """Run commands one after another in a process of their own; yield output and heavy modules loaded so far."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(commands)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    for words, code, printed, loaded in json.loads(ran.stdout):
        assert not code, (words, ran.stderr)
        yield words, printed, loaded


def test_looking_into_a_model_needs_neither_scikit_learn_nor_a_compiler(folder, monkeypatch):
    monkeypatch.chdir(folder)
    commands = [
        ("show", "tan.json", "--cpt", "all"), ("show", "pool.json"), ("query", "tan.json", "-e", "word=win"),
        ("query", "tan.json", "--mpe"), ("convert", "tan.json", "--to", "bif"),
    ]  # fmt: skip
    for words, printed, loaded in alone(folder, commands):
        assert loaded == [], words
        assert printed == good(*words), words


def test_predictions_of_a_saved_model_need_no_scikit_learn(folder, monkeypatch):
    monkeypatch.chdir(folder)
    commands = [
        ("predict", "tan.json", "rows.csv", "--proba", "--set", "0.9"), ("predict", "manb.json", "rows.csv", "--proba"),
        ("predict", "aode.json", "rows.csv", "--json"), ("predict", "pool.json", "rows.csv", "--proba"),
        ("explain", "tan.json", "rows.csv", "--row", "7"), ("ask", "tan.json"),
        ("decide", "tan.json", "rows.csv", "--cost", "yes:no=1", "--cost", "no:yes=10"),
        ("convert", "tan.json", "--to", "sql"),
    ]  # fmt: skip
    for words, printed, loaded in alone(folder, commands):
        assert set(loaded) <= {"numba"}, words
        assert printed == good(*words), words


def test_a_table_of_other_columns_is_a_mistake_without_scikit_learn_too(folder):
    (folder / "other.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-m", "tanbark", "predict", "tan.json", "other.csv"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=300)
    assert ran.returncode == 2
    assert ran.stderr.startswith("tanbark: error: 'other.csv' lacks the columns")
