import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tanbark.errors import OptionError
from tanbark.table import read_table
from tanbark.table.files.writer import NoRowsError, chosen_values, column_values, write_batches

READERS = {"parquet": pd.read_parquet, "csv": pd.read_csv, "arrow": pd.read_feather, "feather": pd.read_feather}


@pytest.mark.parametrize("suffix", READERS)
def test_batches_follow_each_other(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    batches = [{"n": np.arange(3), "t": ["a", None, "b"]}, {"n": np.arange(3, 5), "t": ["c", "d"]}]
    assert write_batches(path, iter(batches)) == 5
    found = READERS[suffix](path)
    assert found["n"].tolist() == [0, 1, 2, 3, 4]
    assert found["t"].fillna("?").tolist() == ["a", "?", "b", "c", "d"]
    assert list(tmp_path.iterdir()) == [path]


def test_without_rows_nothing_is_written(tmp_path):
    with pytest.raises(NoRowsError, match="no rows"):
        write_batches(tmp_path / "rows.csv", iter([]))
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_batch_leaves_the_previous_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("before")

    def batches():
        yield {"n": [1]}
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        write_batches(path, batches())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_suffix_raises_an_error(tmp_path):
    with pytest.raises(OptionError, match="ending of the file"):
        write_batches(tmp_path / "rows.xls", iter([{"n": [1]}]))


def test_columns_are_returned_as_they_came():
    raw = read_table(pd.DataFrame({"n": [1, 2], "t": ["a", None]}))
    assert column_values(raw, 0).tolist() == [1, 2]
    assert column_values(raw, 1) == ["a", None]


@pytest.mark.parametrize("values", [["no", "yes", "so"], [3, 1, 2], [True, False, True], [0.5, 1.5, 2.5]])
def test_chosen_values_have_the_type_of_a_column_of_them(values):
    array, places = np.array(values, object if isinstance(values[0], str) else None), np.array([2, 0, 0, 1])
    found = chosen_values(array, places)
    assert found.to_pylist() == [values[place] for place in places]
    assert found.type == pa.array(array[places].tolist()).type
