"""Files by their suffix: types, pieces, and errors that name the file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tanbark.errors import InputError, MissingPackageError
from tanbark.table import read_table
from tanbark.table.files import arrow_files
from tanbark.table.files.arrow_files import FileSource, arrow, cut_batches, open_files, raw_batch, read_batch, spool

FRAME = pd.DataFrame({"a": ["1", "2", "x"], "b": [1.5, None, 2.5]})


def test_row_groups_are_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_files, "PIECE_ROWS", 2)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": range(7)}), path, row_group_size=1)
    source = open_files(path, {})
    assert [groups for _, groups in source.pieces()] == [(0, 1), (2, 3), (4, 5), (6,)]
    total = sum(raw.n_rows for piece in source.pieces() for raw in source.read(piece, ["n"], 10))
    assert total == 7


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    for name in ("b.csv", "a.csv", "_hidden.csv", ".other.csv", "notes.txt"):
        FRAME.to_csv(tmp_path / name, index=False)
    assert [path[-5:] for path in open_files(tmp_path, {}).paths] == ["a.csv", "b.csv"]


def test_the_type_of_a_csv_column_can_be_set(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"zip": ["01", "02"]}).to_csv(path, index=False)
    (raw,) = open_files(path, {"zip": "string"}).read((str(path), None), ["zip"], 10)
    assert raw.coded[0].levels == ("01", "02")
    with pytest.raises(InputError, match=r"does not have: \['zap'\]"):
        assert open_files(path, {"zap": "string"}).names


def test_damage_is_reported_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1nonsense")
    with pytest.raises(InputError, match=r"rows.parquet cannot be read: .* Is it whole"):
        assert open_files(path, {}).names


@pytest.mark.parametrize(("name", "message"), [("none.csv", "no file or directory"), (".", "no file of a known kind")])
def test_paths_without_rows_raise_an_error(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        open_files(tmp_path / name, {})


def test_files_of_two_formats_raise_an_error(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="one format"):
        open_files(tmp_path, {})


def test_a_part_that_lacks_a_column_raises_an_error(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    FRAME[["a"]].to_parquet(tmp_path / "b.parquet")
    source = open_files(tmp_path, {})
    with pytest.raises(InputError, match=r"lacks the columns \['b'\]"):
        list(source.read(source.pieces()[1], ["b"], 10))
    with pytest.raises(InputError, match=r"lacks the columns \['b'\]"):
        raw_batch(FRAME[["a"]], ["a", "b"])


def test_batches_are_cut():
    table = pa.Table.from_pandas(FRAME)
    assert [part.num_rows for part in cut_batches([table], 2)] == [2, 1]
    assert [len(part) for part in cut_batches([FRAME], 2)] == [2, 1]


def test_a_spooled_reader_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = spool(iter([FRAME, FRAME]))
    assert isinstance(source, FileSource)
    assert sum(raw.n_rows for raw in source.read(source.pieces()[0], ["b"], 10)) == 6
    del source
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no rows"):
        spool(iter([]))
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r'pip install "tanbark\[big\]"'):
        arrow()


def test_a_file_that_changes_between_passes_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    source = open_files(path, {})
    assert sum(raw.n_rows for raw in source.read((str(path), None), ["a"], 10)) == 2
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(InputError, match="changed while it was being read"):
        list(source.read((str(path), None), ["a"], 10))


def test_a_record_batch_is_read_as_the_table_of_it():
    columns = {
        "byte": pa.array([1, -2, 3], pa.int8()), "word": pa.array([1, 2, 70000], pa.uint32()),
        "gaps": pa.array([1, None, 3], pa.int16()), "real": pa.array([0.5, 1.0, float("nan")], pa.float32()),
        "big": pa.array([1, 2, 2**63], pa.uint64()), "text": pa.array(["a", None, "b"]),
        "flag": pa.array([True, False, True]), "level": pa.array(["u", "v", "u"]).dictionary_encode(),
    }  # fmt: skip
    batch = pa.RecordBatch.from_pydict(columns)
    found, expected = read_batch(batch), read_table(pa.Table.from_batches([batch]))
    assert (found.names, found.n_rows, found.n_columns) == (expected.names, 3, len(columns))
    for mine, theirs in zip(found.blocks, expected.blocks, strict=True):
        assert mine.columns == theirs.columns
        assert np.array_equal(mine.values, theirs.values, equal_nan=mine.values.dtype.kind == "f")
    for ours, other in zip(found.coded, expected.coded, strict=True):
        assert (ours.column, ours.levels, ours.codes.tolist()) == (other.column, other.levels, other.codes.tolist())
