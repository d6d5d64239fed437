"""The program as a whole: mistakes, bugs, help, pipes."""

import json
import os
import subprocess
import sys

import pytest

import tanbark as tb
from command_line import bad, good, run
from tanbark.cli.program import app

MISTAKES = {
    "command": (["fti"], "Did you mean 'fit'?"),
    "option": (["fit", "{rows}", "--clas", "spam"], "--class"),
    "class": (["fit", "{rows}", "--class", "spma", "--out", "{out}"], "Did you mean 'spam'?"),
    "learner": (["fit", "{rows}", "--class", "spam", "-l", "tam", "--out", "{out}"], "Did you mean 'tan'?"),
    "setting": (
        ["fit", "{rows}", "--class", "spam", "-l", "tan", "-o", "criterium=bic", "--out", "{out}"],
        "Did you mean 'criterion'?",
    ),
    "setting form": (["fit", "{rows}", "--class", "spam", "-o", "criterion", "--out", "{out}"], "name=value"),
    "value": (["fit", "{rows}", "--class", "spam", "-l", "tan", "-o", "parameters=-1", "--out", "{out}"], "alpha"),
    "parameters": (
        ["fit", "{rows}", "--class", "spam", "-l", "tan", "-o", "parameters=wanba", "--out", "{out}"],
        "wanbia",
    ),
    "setting of another": (["fit", "{rows}", "--class", "spam", "-o", "criterion=bic", "--out", "{out}"], "-l tan"),
    "drop": (["fit", "{rows}", "--class", "spam", "--drop", "ids", "--out", "{out}"], "Did you mean 'id'?"),
    "file": (["fit", "{rows}x", "--class", "spam", "--out", "{out}", "--format", "csv"], "Did you mean 'rows.csv'?"),
    "suffix": (["fit", "{odd}", "--class", "spam", "--out", "{out}"], "Did you mean '.csv'?"),
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
def test_mistakes_are_answered_in_one_line(folder, tmp_path, tmp_path_factory, name):
    words, hint = MISTAKES[name]
    places = {"rows": folder / "rows.csv", "model": folder / "model.json", "out": tmp_path / "m.json"}
    places["odd"] = tmp_path_factory.mktemp("odd") / "rows.csw"
    places["odd"].write_bytes(places["rows"].read_bytes())
    assert hint in bad(*(word.format(**places) for word in words))
    assert not list(tmp_path.iterdir())


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


def test_kernels_are_compiled_ahead_of_their_use():
    ran = run("warm-up", "-l", "naive")
    assert ran.exit_code == 0, ran.stderr
    assert "kernels are kept in" in ran.stderr
    assert run("warm-up", "-l", "naive", "--quiet").stderr == ""
    assert run("warm-up", "-l", "naiv").exit_code == 2
