"""The README's Python runs as it stands, on a table with the names that it uses."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = Path(__file__).parents[2] / "README.md"
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


def test_the_snippets_run(names, tmp_path, capsys):
    assert len(BLOCKS) == 3
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"model.html", "model.json", "model.xmlbif", "predicted.parquet"} <= written
    assert "log-odds" in capsys.readouterr().out
