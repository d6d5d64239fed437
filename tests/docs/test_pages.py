"""Every page: its Python is run and prints what the page says, its commands are run, nothing is left out of it."""

import doctest
import importlib.util
import inspect
import io
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import tanbark as tb

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "generated" not in page.parts) if DOCS.exists() else []
WRITTEN = [page for page in PAGES if page.parent != DOCS or page.stem in ("start", "quickstart", "architecture")]

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="a source package holds no documentation")


def name(page):
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", [page for page in WRITTEN if ">>>" in page.read_text(encoding="utf-8")], ids=name)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples write files
    plt.switch_backend("Agg")
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    plt.close("all")
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_python_is_written_so_that_it_is_run(page):
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        assert block.startswith(">>>"), block


@pytest.fixture
def mails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    spam = rng.choice(["no", "yes"], 60)
    frame = pd.DataFrame({"id": range(60), "word": np.where(spam == "yes", "win", "dear"), "spam": spam})
    frame.loc[::5, "word"] = "hello"
    frame["caps"] = rng.random(60) + (spam == "yes")
    frame.to_csv("mails.csv", index=False)
    frame.to_parquet("mails.parquet")


@pytest.mark.usefixtures("mails")
def test_the_commands_run():
    from tanbark.cli.program import app

    text = (DOCS / "guides" / "command_line.md").read_text(encoding="utf-8")
    commands = [
        line[2:] for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]
    assert len(commands) > 9
    for command in commands:
        piped = command.startswith("cat mails.csv | ")
        words = shlex.split(command.removeprefix("cat mails.csv | ").partition(" > ")[0])
        assert words[0] == "tanbark"
        stdin = Path("mails.csv").read_bytes() if piped else None
        ran = CliRunner().invoke(app, words[1:], input=stdin)
        assert ran.exit_code == 0, (command, ran.stderr)
        assert "Traceback" not in ran.stderr
    told = {words[1] for words in map(str.split, commands) if words[0] == "tanbark"}
    assert set(app.commands) == told


def generate():
    place = DOCS / "generate.py"
    spec = importlib.util.spec_from_file_location("tanbark_docs_generate", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_learner_has_its_picture_and_every_name_its_page(tmp_path):
    with redirect_stdout(io.StringIO()):
        page = generate().learners(tmp_path)
        reference = generate().reference()
    from tanbark.estimators.catalogue import catalogue

    for learner in catalogue():
        assert f"\n## {learner}: " in page
        assert (tmp_path / f"{learner}.svg").read_text(encoding="utf-8").startswith("<svg")
    listed = re.findall(r"^   tanbark\.(\w+)$", reference, flags=re.MULTILINE)
    values = {each for each in tb.__all__ if not callable(getattr(tb, each))}
    assert sorted(listed) == sorted(set(tb.__all__) - values)


def test_what_classifiers_inherit_is_documented_once():
    page = generate().shared()
    listed = re.findall(r"^   :members: (.*)$", page, flags=re.MULTILINE)
    names = [each for line in listed for each in line.split(", ")]
    inherited = {
        each
        for cls in generate().estimators()
        if hasattr(cls, "predict_proba")
        for base in cls.__mro__[1:]
        if base.__module__.startswith("tanbark.")
        for each, thing in vars(base).items()
        if each[0] != "_" and inspect.isfunction(thing) and not re.fullmatch("set_.*_request", each)
    }
    assert inherited <= set(names)
    assert names.count("predict_proba") == 1


def test_pages_that_draw_name_their_pictures(tmp_path):
    spec = importlib.util.spec_from_file_location("tanbark_docs_live", DOCS / "live.py")
    live = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(live)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = {Path(each).name for each in re.findall(r"\]\((\S*generated/drawn/\S+?)\)", text)}
        drawn = {
            f"{page.stem}_{found[1] or found[2]}.svg"
            for line in doctest.DocTestParser().get_examples(text)
            if (found := live.DRAWING.match(line.source))
        }
        assert shown <= drawn, page
        assert not shown or name(page).removesuffix(".md") in live.PICTURED
    written = live.draw(DOCS / "gallery" / "d_separation.md", tmp_path)
    assert [path.name for path in written] == ["d_separation_svg.svg"]
    assert written[0].read_text(encoding="utf-8").startswith("<svg")


def test_the_figures_of_fifty_million_rows_are_the_measured_ones():
    lines = (DOCS / "gallery" / "fifty_million_rows.md").read_text(encoding="utf-8").splitlines()
    measured = (DOCS / "big.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.startswith("| ")]
    assert len(shown) == 6
    assert set(shown) <= set(measured)


def test_the_page_of_options_lists_each_with_its_estimators():
    page = generate().options()
    for cls in generate().estimators():
        for option in inspect.signature(cls).parameters:
            section = page.partition(f"\n## `{option}`\n")[2].partition("\n## ")[0]
            assert f"`{cls.__name__}`" in section, (cls.__name__, option)
    assert "{smoothing}" not in page
    assert ":class:" not in page


def test_every_page_is_reached():
    reached = set()
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            entries = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
            reached |= {(page.parent / f"{entry}.md").resolve() for entry in entries}
    assert set(PAGES) - {DOCS / "index.md"} <= reached
