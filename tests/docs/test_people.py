"""Two people who have read nothing but the README: one with a messy CSV file, one with a lecture to prepare."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import tanbark as tb
from tanbark.cli.program import app

README = Path(__file__).resolve().parents[2] / "README.md"


def section(title):
    text = README.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.search(r"```\w+\n(.*?)```", text, re.DOTALL)[1]


@pytest.fixture
def messy(tmp_path, monkeypatch):
    """Write mails with an id, missing values, money, dates, and a folder that was filled in after the class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    spam = rng.choice(["no", "yes"], 160)
    rows = pd.DataFrame({
        "id": [f"m{k:04}" for k in rng.permutation(160)],
        "word": np.where(rng.random(160) < 0.8, np.where(spam == "yes", "win", "dear"), "hello"),
        "caps": (rng.random(160) + 0.6 * (spam == "yes")).round(3),
        "links": rng.poisson(np.where(spam == "yes", 3, 1)),
        "offer": [f"${each:,.2f}" for each in np.exp(rng.normal(np.where(spam == "yes", 8, 5), 1.0))],
        "sent": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(160)],
        "folder": np.where(spam == "yes", "junk", rng.choice(["inbox", "archive"], 160)),
        "spam": spam,
    })  # fmt: skip
    rows["links"] = rows["links"].astype("Int64")
    for column in ("word", "caps", "links"):
        rows.loc[rng.random(160) < 0.15, column] = pd.NA
    rows[:120].to_csv("train.csv", index=False)
    rows[120:].drop(columns=["folder", "spam"]).to_csv("new.csv", index=False)
    return rows


def run(command):
    words = shlex.split(command.partition("#")[0])
    assert words[0] == "tanbark"
    ran = CliRunner().invoke(app, words[1:])
    assert ran.exit_code == 0, (command, ran.stderr)
    return ran


@pytest.mark.skipif("describe" not in app.commands, reason="this version has no command that describes a table")
def test_a_data_scientist_with_a_messy_file(messy):
    ran = {}
    for command in section("Without Python").splitlines():
        ran.setdefault(command.split()[1], run(command))
    assert list(ran)[:4] == ["describe", "fit", "predict", "explain"]
    told = ran["describe"].stdout
    lines = {
        name: next(line for line in told.splitlines() if re.search(rf"\b{name}\b", line)) for name in ("id", "folder")
    }
    assert "identifier" in lines["id"]
    assert "leak" in lines["folder"] or "determines" in lines["folder"]
    predicted = pd.read_csv("predicted.csv")
    truth = messy["spam"][120:].to_numpy()
    column = next(name for name in predicted.columns if predicted[name].isin(["no", "yes"]).all())
    assert len(predicted) == 40
    assert (predicted[column].to_numpy() == truth).mean() > 0.7
    used = {column.name for column in tb.load("model.json").schema_.columns}
    assert used == {"word", "caps", "links", "offer", "spam"}  # neither the id nor the dates nor the leak
    assert "Left out: 'sent', which holds dates" in ran["describe"].stderr
    assert "text such as '$1,234.5' read as numbers" in told
    assert "log-odds" in ran["explain"].stdout
    assert "SELECT" in ran["convert"].stdout


def test_a_teacher_with_a_lecture_to_prepare(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block = section("For a lecture")
    names = {"tb": tb}
    exec(compile(block, "README.md", "exec"), names)
    grass = names["grass"]
    assert grass.d_separated("rain", "sprinkler") is True
    assert grass.d_separated("rain", "sprinkler", given="wet") is False
    joint = {(r, s): (0.8, 0.2)[r] * (0.7, 0.3)[s] * ((0.0, 0.9), (0.8, 0.99))[r][s] for r in (0, 1) for s in (0, 1)}
    expected = (joint[1, 0] + joint[1, 1]) / sum(joint.values())
    assert grass.query("rain", {"wet": "yes"})["yes"] == pytest.approx(expected)
    assert f"{expected:.4f}" in capsys.readouterr().out
    page = (tmp_path / "lecture.html").read_text(encoding="utf-8")
    assert "Why is the grass wet?" in page
    assert "sprinkler" in page
    read = tb.export.read_network(tmp_path / "grass.xmlbif")
    assert sorted(read.dag.arcs()) == sorted(grass.dag.arcs())
