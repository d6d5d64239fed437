"""Every example runs in a folder of its own and prints something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
ARGUMENTS = {"larger_than_memory": ["2000"]}


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(example, tmp_path):
    command = [sys.executable, "-W", "error::UserWarning", str(example), *ARGUMENTS.get(example.stem, [])]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) > 3
    if example.stem == "explain_decision":
        assert (tmp_path / "breast-cancer.html").stat().st_size > 50_000
    if example.stem == "larger_than_memory":
        assert ran.stdout.strip().endswith("in memory: True")
