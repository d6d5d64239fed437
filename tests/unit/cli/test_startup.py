"""What the commands that read a saved model import, and that they answer as they do beside scikit-learn."""

import subprocess
import sys

import pytest

import tanbark as tb
from command_line import good, make_rows

HEAVY = ("sklearn", "scipy.stats", "pandas", "numba")
PROGRAM = f"""if True:
    import sys
    from tanbark.cli import main
    try:
        main()
    finally:
        print([each for each in {HEAVY} if each in sys.modules], file=sys.stderr)
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


def alone(folder, *arguments):
    """Run a command as a program of its own; return its output and the heavy modules that it loaded."""
    command = [sys.executable, "-c", PROGRAM, *(str(each) for each in arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "tan.json", "--cpt", "all"), ("show", "pool.json"), ("query", "tan.json", "-e", "word=win"),
        ("query", "tan.json", "--mpe"), ("convert", "tan.json", "--to", "bif"),
    ],
)  # fmt: skip
def test_looking_into_a_model_needs_neither_scikit_learn_nor_a_compiler(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    found, loaded = alone(folder, *arguments)
    assert loaded == "[]"
    assert found == good(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "tan.json", "rows.csv", "--proba", "--set", "0.9"), ("predict", "manb.json", "rows.csv", "--proba"),
        ("predict", "aode.json", "rows.csv", "--json"), ("predict", "pool.json", "rows.csv", "--proba"),
        ("explain", "tan.json", "rows.csv", "--row", "7"), ("ask", "tan.json"),
        ("decide", "tan.json", "rows.csv", "--cost", "yes:no=1", "--cost", "no:yes=10"),
        ("convert", "tan.json", "--to", "sql"),
    ],
)  # fmt: skip
def test_predictions_of_a_saved_model_need_no_scikit_learn(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    found, loaded = alone(folder, *arguments)
    assert loaded in ("[]", "['numba']")
    assert found == good(*arguments)


def test_a_table_of_other_columns_is_a_mistake_without_scikit_learn_too(folder):
    (folder / "other.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-m", "tanbark", "predict", "tan.json", "other.csv"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=300)
    assert ran.returncode == 2
    assert ran.stderr.startswith("tanbark: error: 'other.csv' lacks the columns")
