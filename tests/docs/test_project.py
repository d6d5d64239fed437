"""The files around the package agree with each other."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

import tanbark as tb

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = ROOT / "pyproject.toml"


def test_the_version_stands_in_one_place():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/tanbark/__init__.py"
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line[:3] == "## "]
    assert headings[0].split()[1] == tb.__version__


@pytest.mark.skipif(not (ROOT / "scripts").exists(), reason="a source package holds no scripts")
def test_the_oldest_versions_are_those_that_are_promised():
    place = ROOT / "scripts" / "oldest_requirements.py"
    spec = importlib.util.spec_from_file_location("oldest_requirements", place)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "requirements-oldest.txt").read_text(encoding="utf-8") == script.requirements(PYPROJECT)
