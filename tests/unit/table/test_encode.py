"""Values become codes; what the schema does not know becomes the missing code and is counted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.errors import InputError
from tanbark.table import Column, encode, learn_schema, read_table
from tanbark.table.coded import code_dtype
from tanbark.table.raw import NumberBlock, RawTable
from tanbark.table.small_numbers import scan_small_numbers

few = settings(max_examples=40)


def category(*levels, values="number"):
    return Column("x", "category", values, levels)


def codes_of(values, column, dtype=float):
    encoded = encode(read_table(np.array(values, dtype)[:, None]), (column,))
    return encoded.codes[0].tolist(), encoded.unseen


def slow_code(value, column, missing=255):
    """Code one value by the definition."""
    if value != value:
        return missing
    if column.kind == "interval":
        return sum(cut < value for cut in column.cuts)
    return column.levels.index(value) if value in column.levels else missing


whole = st.integers(-(10**6), 10**6) | st.integers(-3, 3)
reals = st.floats(-3, 3) | whole.map(float) | st.just(float("nan"))


@few
@given(st.lists(reals, min_size=1, max_size=30), st.lists(reals.filter(lambda x: x == x), max_size=20, unique=True))
def test_float_codes_equal_the_definition(values, levels):
    as_category, as_cuts = category(*levels), Column("x", "interval", "number", cuts=tuple(sorted(levels)))
    for column in (as_category, as_cuts):
        assert codes_of(values, column)[0] == [slow_code(value, column) for value in values]


@few
@given(st.lists(whole, min_size=1, max_size=30), st.lists(whole, max_size=20, unique=True))
def test_integer_codes_equal_the_definition(values, levels):
    as_category, as_cuts = category(*levels), Column("x", "interval", "number", cuts=tuple(sorted(map(float, levels))))
    for column in (as_category, as_cuts):
        assert codes_of(values, column, np.int64)[0] == [slow_code(value, column) for value in values]


@few
@given(st.integers(1, 200), st.integers(1, 5), st.integers(-300, 300), st.integers(1, 300), st.randoms())
def test_levels_in_a_row_equal_the_definition(n_rows, n_columns, base, n_levels, random):
    columns = tuple(
        Column(f"x{k}", "category", "number", tuple(range(base + k, base + k + n_levels))) for k in range(n_columns)
    )
    values = [[random.randint(base - 2, base + n_levels + 2) for _ in columns] for _ in range(n_rows)]
    encoded = encode(read_table(np.array(values)), columns)
    missing = np.iinfo(encoded.codes.dtype).max
    slow = [[slow_code(row[k], column, missing) for row in values] for k, column in enumerate(columns)]
    assert encoded.codes.tolist() == slow
    assert encoded.unseen == {c.name: n for c, row in zip(columns, slow, strict=True) if (n := row.count(missing))}


@few
@given(st.lists(st.sampled_from([True, False]), min_size=1, max_size=30))
def test_boolean_codes_equal_the_definition(values):
    for column in (category(False, True, values="boolean"), category(1, values="number")):
        assert codes_of(values, column, bool)[0] == [slow_code(value, column) for value in values]


def test_unseen_values_are_counted_and_gaps_are_not():
    codes, unseen = codes_of([1, 9, np.nan, 1.5, 2], category(1, 2))
    assert codes == [0, 255, 255, 255, 1]
    assert unseen == {"x": 2}


def test_a_fraction_next_to_a_category_is_not_that_category():
    assert codes_of([1e-20, 0.0], category(-1, 0, 1))[0] == [255, 1]


def test_a_cut_point_belongs_to_the_lower_interval():
    assert codes_of([0.0, 1.0, np.nextafter(1.0, 2)], Column("x", "interval", "number", cuts=(1.0,)))[0] == [0, 0, 1]


def test_integers_near_the_ends_of_the_type():
    ends = [np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max]
    assert codes_of(ends, category(0, 1), np.int64) == ([255, 0, 255], {"x": 2})
    assert codes_of(ends, category(*ends), np.int64) == ([0, 1, 2], {})


def test_huge_integers_are_compared_exactly():
    column = category(2**53, 2**53 + 2)
    assert codes_of([2**53, 2**53 + 1, 2**53 + 2], column, np.int64) == ([0, 255, 1], {"x": 1})
    assert codes_of([2.0**53, np.nan], column) == ([0, 255], {})


def test_numbers_and_categoricals_of_numbers_are_the_same_values():
    frame = pd.DataFrame({"x": [0.5, 2.5, None, 7.0]})
    for column in (Column("x", "interval", "number", cuts=(1.0, 3.0)), category(0.5, 7)):
        plain, typed = encode(read_table(frame), (column,)), encode(read_table(frame.astype("category")), (column,))
        assert plain.codes.tolist() == typed.codes.tolist()
        assert plain.unseen == typed.unseen


@pytest.mark.parametrize("n_states", [253, 254, 255, 300, 65534, 65535])
def test_the_missing_code_is_never_a_state(n_states):
    values = np.arange(n_states)[:, None]
    table = read_table(values)
    columns = learn_schema(table, lambda *_: np.zeros(0), categorical=np.array([True]))
    codes = encode(table, columns).codes
    assert codes.dtype == code_dtype((n_states,))
    assert codes.max() == n_states - 1 < np.iinfo(codes.dtype).max


def test_a_column_never_observed_takes_anything_as_unseen():
    empty = Column("x", "category", "text", ())
    assert codes_of([1.5, np.nan], empty) == ([255, 255], {"x": 1})
    encoded = encode(read_table(np.array([["a"], [None]], object)), (empty,))
    assert encoded.codes.tolist() == [[255, 255]]


def test_scattered_columns_are_encoded_in_place():
    table = read_table(np.array([[1, 10, 100], [2, 20, 200]])).take([2, 0, 1])
    columns = tuple(Column(f"c{k}", "category", "number", (k, 2 * k)) for k in (100, 1, 10))
    assert encode(table, columns).codes.tolist() == [[0, 1]] * 3


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (category(1, 2), ["a"], "held numbers in training and now holds strings"),
        (Column("x", "interval", "number", cuts=(1.0,)), ["a"], "held numbers in training and now holds strings"),
        (category("a", "b", values="text"), [1.0], "held strings in training and now holds numbers"),
        (category("a", "b", values="text"), [True], "held strings in training and now holds booleans"),
        (category(False, True, values="boolean"), ["a"], "held booleans in training and now holds strings"),
    ],
)
def test_another_kind_of_values_is_refused(column, values, message):
    with pytest.raises(InputError, match=f"Column 'x' {message}. Convert it, or train again"):
        encode(read_table(pd.DataFrame({"x": values})), (column,))


@pytest.mark.parametrize(
    "gaps", [[None], [np.nan], pd.Categorical([None], categories=["u"]), pd.array([None], "boolean")]
)
def test_a_column_of_missing_values_is_of_every_kind(gaps):
    for column in (category(1, 2), category("a", values="text"), Column("x", "interval", "number", cuts=(1.0,))):
        encoded = encode(read_table(pd.DataFrame({"x": gaps})), (column,))
        assert encoded.codes.tolist() == [[255]]
        assert encoded.unseen == {}


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_refused_by_name(infinity):
    column = Column("x", "interval", "number", cuts=(1.0,))
    with pytest.raises(InputError, match=r"Column 'x' holds infinity.*large number or by a missing value"):
        codes_of([1.0, infinity], column)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (40_000, 3)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    table = read_table(values)
    columns = learn_schema(table, lambda *_: np.zeros(0), n_jobs=n_jobs)
    assert columns == learn_schema(table, lambda *_: np.zeros(0), n_jobs=1)
    assert np.array_equal(encode(table, columns, n_jobs=n_jobs).codes, encode(table, columns, n_jobs=1).codes)


def no_cuts(values, observed):
    return np.zeros(0)


@few
@given(st.integers(1, 200), st.integers(1, 6), st.sampled_from([0, 1, 60]), st.integers(1, 5), st.randoms())
def test_codes_after_a_scan_equal_those_without_one(n_rows, n_columns, base, n_levels, random):
    values = np.array([[base + random.randrange(n_levels) for _ in range(n_columns)] for _ in range(n_rows)])
    before = values.copy()
    table = read_table(values)
    columns = learn_schema(table, no_cuts)
    for extra in (2, 300, 0, 2):  # what the scan has left is too narrow for 300 classes
        for small in (scan_small_numbers(table), None):
            assert columns == learn_schema(table, no_cuts, occurring=None if small is None else small.occurring)
            found = encode(table, columns, extra_states=extra, small=small)
            expected = encode(read_table(values), columns, extra_states=extra)
            assert found.codes.dtype == expected.codes.dtype
            assert np.array_equal(found.codes[:n_columns], expected.codes[:n_columns])
            assert found.codes.shape == expected.codes.shape
            assert found.unseen == expected.unseen
            found.codes[:] = 7
    assert np.array_equal(values, before)


def test_a_scan_serves_no_schema_that_knows_less():
    table = read_table(np.array([[0, 1], [1, 0], [2, 1]]))
    columns = (category(0, 1), category(0, 1))
    encoded = encode(table, columns, small=scan_small_numbers(table))
    assert encoded.codes.tolist() == [[0, 1, 255], [1, 0, 1]]
    assert encoded.unseen == {"x": 1}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_are_encoded_as_the_same_numbers_in_eight_bytes(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max + 1, (500, 3)).astype(dtype)
    levels = tuple(sorted(set(values[:300, 0].tolist())))
    columns = (
        Column("a", "category", "number", levels), Column("b", "interval", "number", cuts=(-3.5, 0.0, 60.0)),
        Column("c", "category", "number", (0, 1, 2)),
    )  # fmt: skip
    wide = RawTable(None, 500, 3, (NumberBlock((0, 1, 2), values.astype(np.int64)),), ())
    narrow = RawTable(None, 500, 3, tuple(NumberBlock((k,), values[:, [k]]) for k in range(3)), ())
    found, expected = encode(narrow, columns), encode(wide, columns)
    assert np.array_equal(found.codes, expected.codes)
    assert found.unseen == expected.unseen
    assert expected.unseen


@few
@given(st.lists(reals | st.sampled_from([1e-20, 1.5]), min_size=1, max_size=200), st.integers(-3, 3), st.integers(1, 6))
def test_floats_of_levels_in_a_row_equal_the_definition(values, base, n_levels):
    column = category(*range(base, base + n_levels))
    known = [slow_code(value, column) for value in values]
    unseen = sum(code == 255 and value == value for code, value in zip(known, values, strict=True))
    assert codes_of(values, column) == (known, {"x": unseen} if unseen else {})


def test_infinity_among_levels_in_a_row_is_an_error():
    with pytest.raises(InputError, match="infinity"):
        codes_of([0.0, -np.inf], category(0, 1))


@few
@given(st.sampled_from(["int8", "uint8"]), st.integers(1, 700), st.integers(1, 4), st.sampled_from("CF"), st.randoms())
def test_bytes_are_coded_as_wider_numbers_are(dtype, n_rows, n_columns, order, random):
    rng = np.random.default_rng(random.randrange(2**32))
    ends = np.iinfo(dtype)
    least, most = sorted(rng.integers(ends.min, ends.max + 1, 2))
    narrow = np.array(rng.integers(least, most + 1, (n_rows, n_columns)), dtype, order=order)
    tables = [read_table(values) for values in (narrow, narrow.astype(np.int64))]
    schemas = [learn_schema(table, lambda values, observed: np.array([0.5]), few=20) for table in tables]
    assert schemas[0] == schemas[1]
    others = tuple(Column(f"x{k}", "category", "number", (k, 3, -2)) for k in range(n_columns))
    for columns in (schemas[0], others):
        first, second = (encode(table, columns) for table in tables)
        assert first.codes.tolist() == second.codes.tolist()
        assert first.unseen == second.unseen
    small = [scan_small_numbers(table) for table in tables]
    assert (small[0] is None) == (small[1] is None)
    if small[0] is not None:
        assert small[0].codes[:-1].tolist() == small[1].codes[:-1].tolist() == narrow.T.tolist()
        assert small[0].occurring.tolist() == small[1].occurring.tolist()


def test_a_block_of_bytes_may_have_columns_in_any_order():
    values = np.array([[0, 1, 2], [1, 1, 0]], np.int8)
    columns = tuple(Column(f"x{k}", "category", "number", (0, 1)) for k in range(3))
    found = encode(read_table(values).take([2, 0, 1]), columns)
    assert found.codes.tolist() == [[255, 0], [0, 1], [1, 1]]
    assert found.unseen == {"x0": 1}
