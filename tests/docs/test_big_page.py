"""The page on large tables: its snippets run, and its numbers are those of the file of numbers."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines import mixed_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "big.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="a source package holds no documentation")


def test_the_snippets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = (
        mixed_table(rows=80).rename(columns={"text": "a", "level": "b", "number": "x"}).assign(id=np.arange(80) // 2)
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, "rows.parquet")
    pq.write_table(table.drop_columns(["class"]), "new.parquet")
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    assert len(snippets) == 3
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    assert names["model"].passes_ == 2
    assert pq.read_table("predicted.parquet").num_rows == 80
    assert names["merged"].counts_.total == 160
    assert names["rest"].counts_.total == 80
    assert list((tmp_path / "counts").glob("*.npz"))


def test_the_numbers_are_those_that_were_measured():
    spec = importlib.util.spec_from_file_location("big_page", ROOT / "scripts" / "big_page.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = json.loads((ROOT / "docs" / "numbers" / "big.json").read_text())
    assert script.page(found) in PAGE.read_text(encoding="utf-8")
    found = json.loads((ROOT / "docs" / "numbers" / "large_file.json").read_text())
    assert script.beside_boosting(found) in PAGE.read_text(encoding="utf-8")
