"""The README's Python runs as it stands, on a table with the names that it uses."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = Path(__file__).parents[2] / "README.md"
DEMO = README.parent / "scripts" / "demo.py"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """A folder to write to, and the tables that the snippets speak of."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(["no", "yes"], 120) for name in ("smoker", "lungs", "a", "b", "c")})
    label = pd.Series(np.where(rng.random(120) < 0.8, table["smoker"], "no"), name="class")
    table.assign(**{"class": label}).to_parquet("rows.parquet")
    table.to_parquet("new.parquet")
    return {
        "X": table, "y": label, "X_new": table.head(9).mask(rng.random((9, 5)) < 0.2),
        "more_X": table.tail(20), "more_y": label.tail(20), "some_X": table.head(5), "some_y": label.head(5),
    }  # fmt: skip


@pytest.mark.skipif(not DEMO.exists(), reason="a source package holds no scripts")
def test_the_output_of_the_demo_is_its_output(tmp_path):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    shown = [text for language, text in blocks if not language]
    assert len(shown) == 2
    command = [sys.executable, str(DEMO)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    printed = ran.stdout.splitlines()
    for line in "".join(shown).splitlines():
        assert line.rstrip() in printed or line == "  …", f"README.md shows {line!r}; copy the output of `make demo`"
    assert (tmp_path / "demo-output" / "breast-cancer.html").stat().st_size > 50_000


def test_the_first_example_runs_as_it_stands(capsys):
    first = BLOCKS[0]
    assert len([line for line in first.splitlines() if line]) == 6
    exec(compile(first, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "log-odds" in printed
    assert "not observed: mean radius, mean texture, mean perimeter, mean area" in printed


def test_the_other_snippets_run(names, tmp_path, capsys):
    import tanbark

    assert len(BLOCKS) == 3
    names["tb"] = tanbark
    for block in BLOCKS[1:]:
        exec(compile(block, "README.md", "exec"), names)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"model.html", "model.json", "grass.xmlbif", "lecture.html", "predicted.parquet"} <= written
    assert "log-odds" in capsys.readouterr().out


def test_the_commands_come_first_and_links_lead_somewhere():
    text = README.read_text(encoding="utf-8")
    assert text.index("make demo ") < text.index("make test ") < text.index("![") < text.index("```python")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (README.parent / target).exists() or not (README.parent / "docs").exists(), target


def test_the_table_of_accuracy_has_the_numbers_of_the_study():
    import json

    found = json.loads((README.parent / "docs" / "numbers" / "accuracy.json").read_text(encoding="utf-8"))
    text = README.read_text(encoding="utf-8").partition("## How accurate")[2]
    names = {
        "**Classifier**": "Classifier", "CatBoost": "CatBoost", "Random forest": "Random forest",
        "LightGBM, with a fitted temperature": "LightGBM + temperature",
        "HistGradientBoosting, trained with missing values": "HistGradientBoosting + simulated missing",
    }  # fmt: skip
    columns = [
        ("complete", "accuracy"), ("complete", "log_loss"), ("10 % at random", "log_loss"),
        ("30 % at random", "log_loss"), ("complete", "calibration_error"),
    ]  # fmt: skip
    narrow = [name for name, about in found["sets"].items() if about["columns"] <= 62]
    assert len(narrow) == 29
    for shown, method in names.items():
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {shown} |"))
        for cell, (condition, measure) in zip(row.strip("| ").split(" | ")[1:], columns, strict=True):
            place = found["measures"].index(measure)
            mean = sum(found["means"][condition][name][method][place] for name in narrow) / 29
            assert cell == f"{mean:.3f}"[1:], (method, condition, measure)
