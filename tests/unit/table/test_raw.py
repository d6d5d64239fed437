"""Reading any table gives the same codes and numbers, whatever it came in."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tanbark.errors import InputError
from tanbark.table import encode, learn_schema, read_table
from tanbark.table.objects import is_missing
from tanbark.table.raw import is_frame, read_once

ROWS = {
    "text": ["b", None, "a", "c", "b"],
    "whole": [1, None, 3, 1, 2],
    "real": [0.5, 2.5, None, -1.0, 0.5],
    "truth": [True, False, None, True, True],
}
ARROW = pa.table(ROWS)


def describe(data):
    """Give names, columns and codes: all that the rest of the library sees of a table."""
    table = read_table(data)
    columns = learn_schema(table, lambda values, observed: np.unique(values)[:-1])
    return columns, encode(table, columns).codes.tolist()


FRAMES = {
    "pandas": pd.DataFrame(ROWS),
    "pandas object": pd.DataFrame(ROWS, dtype=object),
    "pandas nullable": pd.DataFrame(ROWS).convert_dtypes(),
    "pandas arrow": ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas category": pd.DataFrame(ROWS).astype({"text": "category", "truth": "category"}),
    "pandas other index": pd.DataFrame(ROWS, index=[7, 7, 3, 1, 0]),
    "polars": pl.DataFrame(ROWS),
    "polars categorical": pl.DataFrame(ROWS).with_columns(pl.col("text").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(ROWS).with_columns(pl.col("text").cast(pl.Enum(["a", "b", "c"]))),
    "polars narrow": pl.DataFrame(ROWS).with_columns(pl.col("whole").cast(pl.UInt8), pl.col("real").cast(pl.Float32)),
    "pyarrow": ARROW,
    "pyarrow in chunks": pa.concat_tables([ARROW[:2], ARROW[2:]]),
    "pyarrow dictionary": ARROW.set_column(0, "text", ARROW["text"].dictionary_encode()),
    "pandas dictionary": ARROW.set_column(0, "text", ARROW["text"].dictionary_encode()).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_reads_the_same(kind):
    expected = [[1, 255, 0, 2, 1], [0, 255, 2, 0, 1], [1, 2, 255, 0, 1], [1, 0, 255, 1, 1]]
    columns, codes = describe(FRAMES[kind])
    assert codes == expected
    assert [column.name for column in columns] == list(ROWS)
    assert [column.values for column in columns] == ["text", "number", "number", "boolean"]
    assert columns[0].levels == ("a", "b", "c")
    assert columns[1].levels == (1, 2, 3)
    assert [type(level) for level in columns[1].levels] == [int] * 3
    assert columns[2].cuts == (-1.0, 0.5)
    assert columns[3].levels == (False, True)


def test_arrays_and_lists_of_objects_read_as_frames_do():
    rows = list(zip(*ROWS.values(), strict=True))
    columns, codes = describe(np.array(rows, dtype=object))
    assert codes == describe(FRAMES["pandas"])[1]
    assert [column.name for column in columns] == ["x0", "x1", "x2", "x3"]
    assert read_table(np.array(rows, dtype=object)).names is None


NUMBERS = np.array([[1, 200, 0], [3, 5, 1], [1, 5, 1], [0, 9, 0]])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8", ">i4", "f2", "f4", "f8", ">f8", "O"])
def test_every_number_type_reads_the_same(dtype):
    numbers = NUMBERS % 128
    assert describe(numbers.astype(dtype)) == describe(numbers)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(NUMBERS),
        np.repeat(NUMBERS, 2, axis=1)[:, ::2],
        np.repeat(NUMBERS, 3, axis=0)[1::3],
        NUMBERS[::-1][::-1],
        np.asfortranarray(NUMBERS.astype(float)),
        np.repeat(NUMBERS.astype(float), 2, axis=1)[:, ::2],
    ],
)
def test_layout_does_not_matter(array):
    assert describe(array) == describe(NUMBERS)


def test_a_read_only_array_is_enough():
    array = NUMBERS.copy()
    array.flags.writeable = False
    assert describe(array) == describe(NUMBERS)


def test_reading_copies_no_numbers_that_fit():
    for array in (NUMBERS, NUMBERS.astype(float), NUMBERS > 1):
        assert np.shares_memory(read_table(array).blocks[0].values, array)


@pytest.mark.parametrize(
    "gap",
    [None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT, decimal.Decimal("NaN"), np.datetime64("NaT", "s")],
)
def test_every_kind_of_gap_is_a_gap(gap):
    if not isinstance(gap, np.datetime64):
        assert is_missing(gap)
        assert describe(np.array([["a"], [gap], ["b"]], object))[1] == [[0, 255, 1]]
        assert describe(np.array([[1], [gap], [2]], object))[1] == [[0, 255, 1]]
    assert describe(pd.DataFrame({"x": pd.Series(["a", gap, "b"], dtype=object)}))[1] == [[0, 255, 1]]


@pytest.mark.parametrize("value", ["", "nan", "None", "NA", 0, False, -1.5])
def test_other_values_are_no_gaps(value):
    assert not is_missing(value)


def test_integers_with_gaps_stay_integers():
    for data in (
        pd.DataFrame({"x": [1, None, 7]}),
        pl.DataFrame({"x": [1, None, 7]}),
        np.array([[1.0], [np.nan], [7]]),
    ):
        levels = describe(data)[0][0].levels
        assert levels == (1, 7)
        assert [type(level) for level in levels] == [int, int]


HUGE = [2**53, 2**53 + 1, None, 2**53 + 2, 2**53 + 1]


@pytest.mark.parametrize(
    "data",
    [
        pl.DataFrame({"x": HUGE}),
        pa.table({"x": HUGE}),
        pa.table({"x": HUGE}).to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame({"x": pd.array(HUGE, dtype="Int64")}),
        pd.DataFrame({"x": pd.Series(HUGE, dtype=object)}),
        np.array(HUGE, dtype=object)[:, None],
    ],
)
def test_integers_that_floats_confuse_stay_apart_even_with_gaps(data):
    columns, codes = describe(data)
    assert columns[0].levels == (2**53, 2**53 + 1, 2**53 + 2)
    assert codes == [[0, 1, 255, 2, 1]]


@pytest.mark.parametrize("low", [2**53, 2**62, -(2**62), 2**64 - 3])
def test_huge_integers_stay_apart(low):
    array = np.array([[low], [low + 1], [low + 2], [low + 1]])
    columns, codes = describe(array)
    assert columns[0].levels == (low, low + 1, low + 2)
    assert codes == [[0, 1, 2, 1]]


def test_integers_beyond_every_machine_type():
    columns, codes = describe(pl.DataFrame({"x": pl.Series([1, 2**100, 2**100 + 1], dtype=pl.Int128)}))
    assert columns[0].levels == (1, 2**100, 2**100 + 1)
    assert codes == [[0, 1, 2]]


def test_many_huge_integers_are_cut_like_other_numbers():
    stamps = [1_700_000_000_000_000_000 + k for k in range(30)]
    columns, codes = describe(pl.DataFrame({"x": [*stamps, None]}))
    assert columns[0].kind == "interval"
    assert codes[0][-1] == 255


def test_minus_zero_is_zero():
    for order in ([0.0, -0.0, 0.5], [-0.0, 0.0, 0.5]):
        table = read_table(np.array(order)[:, None])
        (column,) = learn_schema(table, lambda *_: np.zeros(0), categorical=np.array([True]))
        assert str(column.levels) == "(0.0, 0.5)"
        assert encode(table, (column,)).codes.tolist() == [[0, 0, 1]]


def test_strings_of_numbers_are_strings():
    assert describe(pd.DataFrame({"x": ["10", "9", "10"]}))[0][0].levels == ("10", "9")


def test_strings_and_numbers_in_one_column_are_different_categories():
    columns, codes = describe(np.array([["1"], [1], [2.5], [None]], object))
    assert set(columns[0].levels) == {"1", 1, 2.5}
    assert len(set(map(tuple, zip(*codes, strict=True)))) == 4


def test_unused_levels_of_a_categorical_are_kept_in_their_order():
    values, levels = ["low", "high", None], ["low", "middle", "high"]
    category = pd.Categorical(values, categories=levels, ordered=True)
    for data in (
        pd.DataFrame({"x": category}),
        pa.Table.from_pandas(pd.DataFrame({"x": category})),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(levels))}),
    ):
        columns, codes = describe(data)
        assert columns[0].levels == tuple(levels)
        assert codes == [[0, 2, 255]]


def test_unused_levels_of_an_unordered_arrow_dictionary_are_kept_too():
    dictionary = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1]), pa.array(["z", None, "a", "m"]))
    columns, codes = describe(pa.table({"x": dictionary}))
    assert columns[0].levels == ("a", "m", "z")
    assert codes == [[0, 2, 255, 255]]


def test_categories_may_be_numbers_booleans_or_intervals():
    assert describe(pd.DataFrame({"x": pd.Categorical([10, 2, 10])}))[0][0].levels == (2, 10)
    assert describe(pd.DataFrame({"x": pd.Categorical([True, False])}))[0][0].values == "boolean"
    assert describe(pd.DataFrame({"x": pd.cut([1, 2, 3, 4], 2)}))[0][0].levels == ("(0.997, 2.5]", "(2.5, 4.0]")


def test_polars_categoricals_do_not_leak_levels_of_other_columns():
    frame = pl.DataFrame({"x": ["b", "a"], "y": ["z", "y"]}, schema={"x": pl.Categorical, "y": pl.Categorical})
    assert [column.levels for column in describe(frame)[0]] == [("a", "b"), ("y", "z")]


def test_decimals_are_numbers():
    values = [decimal.Decimal("1.5"), None, decimal.Decimal("2")]
    for data in (pd.DataFrame({"x": values}), pl.DataFrame({"x": values}), pa.table({"x": values})):
        assert describe(data)[1] == [[0, 255, 1]]


def test_sparse_pandas_columns_are_read():
    frame = pd.DataFrame({"x": pd.arrays.SparseArray([0, 0, 3])})
    assert describe(frame)[0][0].levels == (0, 3)


@pytest.mark.parametrize(
    "data", [pd.DataFrame({"x": [None, None]}), pl.DataFrame({"x": [None, None]}), pa.table({"x": [None, None]})]
)
def test_columns_without_a_type_are_gaps(data):
    with pytest.warns(UserWarning, match=r"no value in any row.*\['x'\]"):
        assert describe(data)[1] == [[255, 255]]


def test_names_need_not_be_strings():
    assert read_table(pd.DataFrame([[1, 2]])).names == ("0", "1")
    assert read_table(pd.DataFrame([[1, 2]], columns=[("a", 1), ("a", 2)])).names == ("('a', 1)", "('a', 2)")


def test_taking_columns_and_rows():
    table = read_table(FRAMES["pandas"])
    turned = table.take([3, 0]).rows(np.array([True, False, True, True, False]))
    assert (turned.names, turned.n_rows, turned.n_columns) == (("truth", "text"), 3, 2)
    assert describe(FRAMES["pandas"][["truth", "text"]].iloc[[0, 2, 3]])[0] == learn_schema(
        turned, lambda *_: np.zeros(0)
    )
    halves = read_table(NUMBERS).take([2, 0])
    assert halves.blocks[0].values.tolist() == NUMBERS[:, [0, 2]].tolist()
    assert halves.blocks[0].columns == (1, 0)


def test_asking_whether_a_lazy_frame_is_a_frame_does_no_work():
    assert is_frame(pl.LazyFrame({"x": [1]}))
    assert not is_frame(NUMBERS)
    assert not is_frame([[1]])


DAY = datetime.date(2024, 2, 29)
REFUSED = {
    "pandas dates": (pd.DataFrame({"when": [pd.Timestamp(DAY)]}), "'when' holds dates.*such as the year"),
    "pandas durations": (pd.DataFrame({"when": [pd.Timedelta("1D")]}), "'when' holds dates or times"),
    "pandas date objects": (pd.DataFrame({"when": [DAY, None]}), "'when' holds dates or times"),
    "pandas periods": (pd.DataFrame({"when": pd.period_range("2024", periods=2, freq="M")}), "'when' holds a Period"),
    "polars dates": (pl.DataFrame({"when": [DAY]}), "'when' holds dates or times"),
    "polars times": (pl.DataFrame({"when": [datetime.time(1)]}), "'when' holds dates or times"),
    "polars durations": (pl.DataFrame({"when": [datetime.timedelta(1)]}), "'when' holds dates or times"),
    "pyarrow dates": (pa.table({"when": [DAY]}), "'when' holds dates or times"),
    "numpy dates": (np.array([[DAY]], "M8[D]"), "'x0' holds dates or times"),
    "date objects": (np.array([[1, DAY]], object), "'x1' holds dates or times"),
    "polars lists": (pl.DataFrame({"many": [[1]]}), r"'many' holds List\(Int64\).*Spread it over columns"),
    "polars structs": (pl.DataFrame({"many": [{"a": 1}]}), "'many' holds Struct"),
    "pyarrow lists": (pa.table({"many": [[1]]}), "'many' holds List"),
    "pandas lists": (pd.DataFrame({"many": [[1]]}), "'many' holds lists or the like.*one plain value per row"),
    "pandas dicts": (pd.DataFrame({"many": [{"a": 1}]}), "'many' holds lists or the like"),
    "lists in an array": (np.array([[1, [2]]], object), "'x1' holds lists or the like"),
    "tuples": (pd.DataFrame({"many": [(1, 2)]}), "'many' holds a tuple"),
    "polars bytes": (pl.DataFrame({"raw": [b"a"]}), "'raw' holds bytes.*Decode it"),
    "pandas bytes": (pd.DataFrame({"raw": [b"a"]}), "'raw' holds bytes.*Decode it"),
    "numpy bytes": (np.array([[b"a"]]), "'x0' holds bytes.*Decode it"),
    "complex": (np.array([[1j]], object), "'x0' holds a complex"),
    "lazy": (pl.LazyFrame({"x": [1]}), "table in memory.*got LazyFrame. Collect"),
    "same names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"\['a'\] occur more than once. Rename"),
    "same names as strings": (pd.DataFrame([[1, 2]], columns=[1, "1"]), r"\['1'\] occur more than once"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(kind):
    data, message = REFUSED[kind]
    with pytest.raises(InputError, match=message):
        read_table(data)


def test_text_that_is_read_once_is_read_as_text_after_rows_are_chosen():
    rng = np.random.default_rng(0)
    words = np.array(["c", "a", "b", "rare", None], object)[rng.choice(5, 200, p=[0.3, 0.3, 0.3, 0.02, 0.08])]
    frame = pd.DataFrame({
        "text": words, "strings": pd.Series(words, dtype="str"), "mixed": np.array([1, "1"] * 100, object),
        "declared": pd.Categorical(words, categories=["c", "b", "a", "rare", "never"]), "number": np.arange(200.0),
    })  # fmt: skip
    once = read_once(frame)
    assert [str(dtype) for dtype in once.dtypes] == ["category", "category", "object", "category", "float64"]
    for rows in (
        np.arange(200),
        np.flatnonzero(words == "a"),
        np.flatnonzero(pd.isna(words)),
        rng.permutation(200)[:30],
    ):
        for ours, plain in zip(read_table(once.iloc[rows]).coded, read_table(frame.iloc[rows]).coded, strict=True):
            assert (ours.column, ours.levels, ours.declared) == (plain.column, plain.levels, plain.declared)
            assert ours.codes.tolist() == plain.codes.tolist()
    assert read_once(words) is words
