import numpy as np
import pandas as pd
import pytest

from tanbark.errors import InputError
from tanbark.table import Column, Schema
from tanbark.table.files.reader import RowReader
from tanbark.table.files.sources import open_source

FRAME = pd.DataFrame({
    "x": ["a", "b", None, "a"], "n": [1, 2, 1, 2], "y": ["no", "yes", "no", "yes"], "w": [1.0, 0.0, 2.0, 0.5],
})  # fmt: skip
SCHEMA = Schema((
    Column("x", levels=("a", "b")), Column("n", "category", "number", (1, 2)), Column("y", levels=("no", "yes")),
))  # fmt: skip


def reader(frame=FRAME, **options):
    return RowReader(open_source(frame), ("x", "n"), "y", **options)


def coded(rows, schema=SCHEMA):
    return [table for piece in rows.pieces() for table in rows.coded(piece, schema)]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_rows_become_codes_in_batches(size):
    tables = coded(reader(size=size))
    assert max(table.n_rows for table in tables) <= size
    codes = np.concatenate([table.codes for table in tables], axis=1)
    assert codes.tolist() == [[0, 1, 255, 0], [0, 1, 0, 1], [0, 1, 0, 1]]


def test_rows_of_weight_zero_are_left_out():
    rows = reader(weight="w")
    assert rows.leaves_out
    (table,) = coded(rows)
    assert table.weights.tolist() == [1.0, 2.0, 0.5]
    assert rows.kept(None).tolist() == [True, False, True, True]


def test_rows_with_a_missing_value_can_be_left_out():
    rows = reader(whole_only=True)
    assert rows.kept(None).tolist() == [True, True, False, True]
    assert coded(rows)[0].n_rows == 3


def test_columns_are_observed():
    seen = reader().observe(None, [None, None])
    assert seen.n_rows == 4
    assert seen.classes() == ["no", "yes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": ["a", "c", None, "a"]}, r"holds 1 values that the schema does not know, such as \['c'\]"),
        ({"y": ["no", None, "no", "yes"]}, "'y' contains NaN or None in 1 rows"),
    ],
)
def test_values_without_a_code_raise_an_error(change, message):
    with pytest.raises(InputError, match=message):
        coded(reader(FRAME.assign(**change)))


@pytest.mark.parametrize("weights", [[1.0, -1.0, 1.0, 1.0], [1.0, np.inf, 1.0, 1.0]])
def test_weights_must_be_finite_and_not_negative(weights):
    with pytest.raises(InputError, match="column of weights, 'w'"):
        coded(reader(FRAME.assign(w=weights), weight="w"))


def test_continuous_labels_raise_an_error():
    with pytest.raises(InputError, match="is continuous"):
        reader(FRAME.assign(y=[0.5, 1.5, 2.0, 3.0])).observe(None, [None, None])
