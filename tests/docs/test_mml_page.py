"""The page on message lengths: its examples run, and its table is the one that the study wrote."""

import doctest
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a source package holds no documentation")


def test_the_examples_run():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "mml.md"), module_relative=False, encoding="utf-8")
    assert tried > 15
    assert failed == 0


def test_the_table_is_the_one_of_the_study():
    place = ROOT / "benchmarks" / "studies" / "mml_blanket.py"
    spec = importlib.util.spec_from_file_location("mml_blanket_study", place)
    study = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = study
    spec.loader.exec_module(study)
    written = json.loads((ROOT / "docs" / "numbers" / "mml_blanket.json").read_text())
    assert study.markdown(written["cells"]) in (ROOT / "docs" / "mml.md").read_text()
    rows = study.draw_rows(study.WORLDS["B"], 50, np.random.default_rng(0))
    assert rows.codes.shape == (10, 50)
    results = np.array([study.select(study.WORLDS["C"], 100, [1], network) for network in range(3)])
    assert set(study.summary(results)) == set(study.CONTESTANTS) - {"note_nb"}


def test_the_study_agrees_with_the_other_run():
    """No line of the table is further off than one of a few hundred would be by chance."""
    written = json.loads((ROOT / "docs" / "numbers" / "mml_blanket.json").read_text())
    compared = [cell["earlier"] for cell in written["cells"]]
    assert sum(line["cells"] for line in compared) == 216
    assert sum(line["beyond_2"] for line in compared) <= 0.05 * 216
    assert min(line["chance"] for line in compared) * len(compared) > 0.05
