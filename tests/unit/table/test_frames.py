import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tanbark.errors import MissingPackageError, OptionError
from tanbark.table.frames import make_frame


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_of_the_chosen_library(backend, kind):
    assert isinstance(make_frame({"a": [1, 2], "b": ["x", "y"]}, backend), kind)


def test_without_a_choice_it_is_pandas():
    assert make_frame({"a": [1, 2]})["a"].tolist() == [1, 2]


def test_an_unknown_library_raises_an_error():
    with pytest.raises(OptionError, match="pandas"):
        make_frame({"a": [1]}, "panda")


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="pip install polars"):
        make_frame({"a": [1]}, "polars")
