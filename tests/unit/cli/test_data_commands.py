"""What the command line says of tables, files that are not there, and what was learnt."""

import json
import os
import subprocess
import sys

import pytest

from command_line import N, bad, good, make_rows, run
from tanbark.estimators import describe


def test_a_table_is_described(folder):
    told = json.loads(good("describe", folder / "rows.csv", "--class", "spam", "--json"))
    frame = make_rows()
    assert told == describe(frame.drop(columns="spam"), frame["spam"]).to_dict()
    assert told["left_out"] == ["id"]
    lines = good("describe", folder / "rows.csv", "--class", "spam", "--drop", "id").splitlines()
    assert lines[0] == f"{N} rows, 3 columns: 3 used, 0 unused, 0 left out"
    assert lines[1].startswith("spam: no ")
    assert [line.split()[0] for line in lines[5:]] == ["word", "caps", "code"]


def test_fit_ends_with_what_was_learnt(folder, tmp_path):
    ask = ("fit", folder / "rows.csv", "--class", "spam", "-l", "tan", "--folds", "2", "--out", tmp_path / "m.json")
    lines = run(*ask).stderr.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("tanbark: warning: Left out: 'id' numbers the rows.")  # once, whatever the folds
    assert lines[1].startswith(f"TAN(): {N} rows, 4 features, 2 classes")
    assert lines[2] == "features    3 used; 1 left out (id)"
    assert lines[3].startswith("structure   5 arcs, 2 between features; ")
    assert lines[4].startswith("accuracy    0.")
    assert lines[5] == f"next        tanbark explain {tmp_path / 'm.json'} {folder / 'rows.csv'} --row 0"
    told = json.loads(good(*ask, "--json"))
    assert told["left_out"] == ["id"]
    assert told["accuracy"]["folds"] == 2
    assert run(*ask[:-4], "--drop", "id", "--out", tmp_path / "m.json", "-q").stderr == ""


@pytest.mark.parametrize("learner", ["aode", "network-ensemble", "model-averaging"])
def test_what_is_no_network_says_what_it_is(learner, folder, tmp_path):
    ask = ("fit", folder / "rows.csv", "--class", "spam", "-l", learner, "--drop", "id", "--out", tmp_path / "m.json")
    said = {"aode": "3 super-parent models averaged", "network-ensemble": "12 networks pooled"}
    assert said.get(learner, "10 models averaged") in run(*ask).stderr


def test_a_missing_file_is_answered_with_a_similar_one(folder, tmp_path):
    (tmp_path / "model.json").write_text("{}")
    assert bad("show", tmp_path / "modle.json").endswith("Did you mean 'model.json'?")
    assert "Did you mean 'rows.csv'?" in bad("fit", folder / "row.csv", "--class", "y", "--out", tmp_path / "m.json")
    assert "no folder" in bad("fit", folder / "rows.csv", "--class", "spam", "--out", tmp_path / "none" / "m.json")
    assert "There is no file" in bad("evaluate", folder / "rows.csv", "--class", "y", "--model", tmp_path / "m.json")


@pytest.mark.parametrize(
    "words",
    [
        ["show", "none.json"], ["query", "none.json"], ["convert", "none.json", "--to", "bif"],
        ["explore", "none.json", "--out", "page.html"], ["describe", "none.csv", "--class", "y"],
        ["fit", "none.csv", "--class", "y", "--out", "m.json"], ["compare", "none.csv", "--class", "y"],
        ["evaluate", "none.csv", "--class", "y"], ["predict", "none.json", "none.csv"],
        ["explain", "none.json", "none.csv"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_nothing_is_imported_before_a_file_is_there(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "tanbark.cli.models", None)
    assert "There is no file 'none" in bad(*words)


def test_a_missing_file_is_cheap(tmp_path):
    code = f"""if True:
        import sys
        sys.argv = ["tanbark", "fit", {str(tmp_path / "none.csv")!r}, "--class", "y", "--out", "m.json"]
        from tanbark.cli import main
        try:
            main()
        finally:
            print(sorted({{"numpy", "sklearn", "pandas", "rich", "pyarrow"}} & set(sys.modules)))"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 2
    assert ran.stdout.strip() == "[]"


def test_the_shell_completes(tmp_path):
    words = {"_TANBARK_COMPLETE": "bash_complete", "COMP_WORDS": "tanbark des", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['tanbark']; from tanbark.cli import main; main()"
    environment = {**os.environ, **words}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "plain,describe")
    assert "_TANBARK_COMPLETE" in good("--help")
