"""The page on exact search: its table is that of the file of numbers."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE, NUMBERS = ROOT / "docs" / "guides" / "exact_search.md", ROOT / "docs" / "numbers" / "speed_exact.json"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="a source package holds no documentation")


def test_the_table_is_that_of_the_numbers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.speed.exact_curve import table

    told = json.loads(NUMBERS.read_text())
    written = PAGE.read_text(encoding="utf-8").split("<!-- curve -->\n")[1].split("<!-- end of curve -->")[0]
    assert written == table(told["curve"])
    assert all(row["bound"] >= row["score"] - 1e-6 for row in told["curve"])
    assert all(row["proved"] == (row["gap"] <= 1e-6) for row in told["curve"])
