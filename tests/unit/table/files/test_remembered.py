"""Rows that are parsed once for two readings."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import tanbark as tb
from tanbark.table.files.remembered import RememberedSource
from tanbark.table.files.sources import open_source


class Counted:
    """A source that counts its readings."""

    def __init__(self, source):
        self.source, self.n_read = source, 0

    def __getattr__(self, name):
        return getattr(self.source, name)

    def read(self, *args):
        self.n_read += 1
        return self.source.read(*args)


@pytest.fixture
def file(tmp_path):
    numbers = np.r_[np.arange(-3, 47), 10_000, np.arange(9)]  # the last batch but one does not fit into bytes
    table = pa.table({
        "a": numbers, "b": [None if k % 7 == 0 else k % 3 for k in range(60)], "f": np.arange(60) / 3,
        "class": ["x", "y", "x"] * 20,
    })  # fmt: skip
    csv.write_csv(table, tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def values(tables):
    """The numbers of every column, and the codes and levels of the others; NaN compares as text."""
    found = []
    for table in tables:
        numbers = {block.columns: repr(block.values.astype(float).tolist()) for block in table.blocks}
        found.append((numbers, {item.column: (item.codes.tolist(), item.levels) for item in table.coded}))
    return found


@pytest.mark.parametrize("columns", [["a", "b", "f", "class"], ["f", "a", "class"]])
def test_the_second_reading_is_that_of_the_source(file, columns):
    plain = Counted(open_source(file))
    source = RememberedSource(plain, 1 << 20)
    assert source.names == ("a", "b", "f", "class")
    assert source.fingerprint() == plain.source.fingerprint()
    (piece,) = source.pieces()
    first = list(source.read(piece, ["a", "b", "f", "class"], 16))
    assert {block.values.dtype for block in first[0].blocks if block.columns == (0,)} == {np.dtype(np.int8)}
    expected = list(plain.source.read(piece, columns, 16))
    assert values(source.read(piece, columns, 16)) == values(expected)
    assert plain.n_read == 1
    assert values(source.read(piece, columns, 16)) == values(expected)  # forgotten by now
    assert plain.n_read == 2


def test_what_does_not_fit_is_read_again(file):
    plain = Counted(open_source(file))
    source = RememberedSource(plain, 100)
    (piece,) = source.pieces()
    for _ in range(2):
        assert values(source.read(piece, ["a", "class"], 16)) == values(plain.source.read(piece, ["a", "class"], 16))
    assert plain.n_read == 2


@pytest.mark.parametrize("memory", [1 << 20, 1 << 29])
def test_models_do_not_depend_on_it(file, memory, monkeypatch):
    from tanbark.estimators.files import scan

    found = tb.TAN().fit(tb.scan(file, target="class", max_memory=memory))
    monkeypatch.setattr(scan, "REMEMBERED", 1 << 40)
    plain = tb.TAN().fit(tb.scan(file, target="class", max_memory=memory))
    assert repr(found.network_.schema) == repr(plain.network_.schema)
    for a, b in zip(found.network_.tables, plain.network_.tables, strict=True):
        assert np.array_equal(a, b)
