"""The page on the explorer: its examples run. The tables of coverage are those that the studies wrote."""

import doctest
import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a source package holds no documentation")


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = str(ROOT / "docs" / "explorer.md")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8", optionflags=flags)
    assert tried > 8
    assert failed == 0
    assert (tmp_path / "breast-cancer.html").stat().st_size > 50_000


def test_the_table_is_the_one_of_the_study():
    place = ROOT / "benchmarks" / "studies" / "intervals.py"
    spec = importlib.util.spec_from_file_location("intervals_study", place)
    study = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = study
    spec.loader.exec_module(study)
    written = json.loads((ROOT / "docs" / "numbers" / "intervals.json").read_text())
    assert study.markdown(written["cells"]) in (ROOT / "docs" / "guides" / "uncertainty.md").read_text(encoding="utf-8")
    assert set(study.measure(30, 2, 1)) == set(written["cells"][0]["models"])
    for cell in written["cells"]:
        for kind in ("whole", "gaps"):
            found = cell["models"][f"true arcs, {kind}"]
            assert abs(found["coverage"] - written["level"]) < 3 * found["coverage_error"] + 0.01


def test_the_table_of_hierarchical_intervals_is_the_one_of_the_study():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.studies import hierarchical_intervals as study
    finally:
        sys.path.remove(str(ROOT))
    written = json.loads((ROOT / "docs" / "numbers" / "hierarchical_intervals.json").read_text())
    page = (ROOT / "docs" / "guides" / "uncertainty.md").read_text(encoding="utf-8")
    assert study.markdown(written["cells"]) in page
    assert written["command"] in page
    assert set(study.measure("nested, two parents", 30, 2, 1)) == set(written["cells"][0]["models"])


def test_the_table_of_times_is_the_one_of_the_benchmark():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.explorer.__main__ import markdown
    finally:
        sys.path.remove(str(ROOT))
    written = json.loads((ROOT / "docs" / "numbers" / "explorer.json").read_text())
    assert markdown(written) in (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8")


def test_the_table_of_coverage_is_the_one_of_the_study():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.studies import coverage as study
    finally:
        sys.path.remove(str(ROOT))
    written = json.loads((ROOT / "docs" / "numbers" / "coverage.json").read_text())
    page = (ROOT / "docs" / "guides" / "calibration.md").read_text(encoding="utf-8")
    assert study.markdown(written["cells"]) in page
    assert written["command"] in page
    assert written["outside"] == {model: study.outside(written["cells"], model) for model in study.MODELS}
