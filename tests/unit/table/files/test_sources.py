"""Sources: one interface to files, datasets, lazy frames, readers, functions and frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tanbark.errors import InputError
from tanbark.table.files.sources import open_source, slices

FRAME = pd.DataFrame({"n": [1, 2, 3, 4, 5], "t": ["a", "b", "a", None, "b"]})
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


def read_all(source, columns, size=2):
    return [raw for piece in source.pieces() for raw in source.read(piece, columns, size)]


@pytest.fixture(
    params=["parquet", "csv", "arrow", "dataset", "lazy", "frame", "table", "function", "reader", "iterator"]
)
def source(request, tmp_path):
    path = tmp_path / "rows"
    if request.param in ("parquet", "dataset"):
        pq.write_table(TABLE, path.with_suffix(".parquet"))
    FRAME.to_csv(path.with_suffix(".csv"), index=False)
    with pa.ipc.new_file(path.with_suffix(".arrow"), TABLE.schema) as file:
        file.write_table(TABLE)
    makers = {
        "dataset": lambda: ds.dataset(path.with_suffix(".parquet")),
        "lazy": lambda: pl.from_arrow(TABLE).lazy(),
        "frame": lambda: FRAME,
        "table": lambda: TABLE,
        "function": lambda: lambda: TABLE.to_batches(max_chunksize=3),
        "reader": lambda: TABLE.to_reader(),
        "iterator": lambda: iter(TABLE.to_batches()),
    }
    return open_source(makers[request.param]() if request.param in makers else path.with_suffix(f".{request.param}"))


def test_columns_types_and_batches(source):
    assert source.names == ("n", "t")
    assert source.label_type("n") == np.int64
    assert source.label_type("t").kind == "O"
    for _ in range(2):  # it can be read again
        batches = read_all(source, ["t", "n"])
        assert max(raw.n_rows for raw in batches) <= 2
        assert all(raw.names == ("t", "n") for raw in batches)
        numbers = np.concatenate([raw.blocks[0].values.ravel() for raw in batches])
        assert numbers.tolist() == [1, 2, 3, 4, 5]
        assert sum(int(raw.missing_mask()[0].sum()) for raw in batches) == 1


def test_a_file_that_changes_has_another_fingerprint(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    before = open_source(path).fingerprint()
    assert open_source(path).fingerprint() == before
    FRAME.head(3).to_csv(path, index=False)
    assert open_source(path).fingerprint() != before
    assert open_source(FRAME).fingerprint() == ""


def test_slices_of_a_frame():
    assert [len(part) for part in slices(FRAME, ["n"], 2)] == [2, 2, 1]


@pytest.mark.parametrize("data", [3, None, {"a": [1]}])
def test_what_is_no_source_raises_an_error(data):
    with pytest.raises(InputError, match="Rows must be a path"):
        open_source(data)


def test_types_are_for_csv_only():
    with pytest.raises(InputError, match="types is for CSV files"):
        open_source(FRAME, types={"n": "string"})


def test_a_function_without_rows_raises_an_error():
    with pytest.raises(InputError, match="no rows to read"):
        assert open_source(list).names
