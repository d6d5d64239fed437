"""The rule for categories, and what a schema remembers."""

import numpy as np
import pandas as pd
import pytest

from tanbark.errors import EmptyColumnWarning, InputError
from tanbark.table import Column, learn_schema, read_table
from tanbark.table.learn_schema import FEW, FEW_ORDERED, extend_columns


def learn(data, categorical=None, few=FEW):
    mask = None if categorical is None else np.array(categorical)
    return learn_schema(
        read_table(data), lambda values, observed: np.median(values, keepdims=True), categorical=mask, few=few
    )


@pytest.mark.parametrize("offset", [0, -500, 10**6])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("few", [FEW, FEW_ORDERED])
def test_whole_numbers_with_few_values_are_categories(offset, dtype, few):
    for n_values, kind in [(few, "category"), (few + 1, "interval")]:
        values = (np.arange(3 * n_values) % n_values + offset).astype(dtype)[:, None]
        assert learn(values, few=few)[0].kind == kind


def test_twenty_are_few_and_seven_where_the_order_is_kept():
    assert (FEW, FEW_ORDERED) == (20, 7)


@pytest.mark.parametrize("few", [FEW, FEW_ORDERED])
def test_large_whole_numbers_follow_the_same_rule(few):
    """Numbers beyond the exact range of floats are read as codes."""
    for n_values, kind in [(few, "category"), (few + 1, "interval")]:
        frame = pd.DataFrame({"x": pd.Series([2**60 + 1024 * (k % n_values) for k in range(60)], dtype=object)})
        assert learn(frame, few=few)[0].kind == kind


def test_one_fraction_makes_a_column_continuous():
    assert learn(np.array([[1.0], [2.0], [2.5]]))[0].kind == "interval"
    assert learn(np.array([[1.0], [2.0], [np.nan]]))[0].levels == (1, 2)


def test_the_mask_overrides_the_rule():
    values = np.column_stack([np.arange(30) % 2, np.arange(30) / 4, np.arange(30)])
    assert [column.kind for column in learn(values, [False, True, True])] == ["interval", "category", "category"]
    assert learn(values, [False, True, True])[1].levels == tuple(np.arange(30) / 4)


def test_words_and_booleans_are_categories_whatever_the_mask():
    frame = pd.DataFrame({"word": ["a", "b"], "truth": [True, False], "gappy": [True, None]})
    assert [column.kind for column in learn(frame, [False] * 3)] == ["category"] * 3


def test_cut_points_see_observed_values_only():
    seen = []

    def cut(values, observed):
        seen.append((values.tolist(), observed.tolist()))
        return np.zeros(0)

    learn_schema(read_table(np.array([[1.5], [np.nan], [0.5]])), cut)
    assert seen == [([1.5, 0.5], [True, False, True])]


def test_a_column_without_values_is_kept_with_a_warning():
    frame = pd.DataFrame({"full": [1, 2], "empty": [np.nan, np.nan], "none": [None, None]})
    with pytest.warns(EmptyColumnWarning, match=r"no value in any row.*\['empty', 'none'\]"):
        columns = learn(frame)
    assert [column.n_states for column in columns] == [2, 1, 1]
    assert columns[1].labels() == ["(never observed)"]


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_refused_by_name(infinity):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, infinity]})
    with pytest.raises(InputError, match="Column 'b' holds infinity"):
        learn(frame)


def test_new_categories_are_appended_and_old_codes_stay():
    first = learn(pd.DataFrame({"word": ["m", "b"], "number": [5, 3], "real": [0.5, 1.5]}))
    further = read_table(pd.DataFrame({"word": ["a", "m"], "number": [4.0, np.nan], "real": [9.5, 0.5]}))
    extended = extend_columns(first, further)
    assert [column.levels for column in extended] == [("b", "m", "a"), (3, 5, 4), ()]
    assert extended[2] == first[2]


@pytest.mark.parametrize("gaps", [[None, None], [np.nan, np.nan], pd.Categorical([None, None], categories=["u"])])
def test_a_batch_of_gaps_changes_no_interval(gaps):
    first = learn(pd.DataFrame({"real": [0.5, 1.5]}))
    assert extend_columns(first, read_table(pd.DataFrame({"real": gaps}))) == first


def test_a_column_empty_at_first_learns_its_categories_later():
    with pytest.warns(EmptyColumnWarning):
        first = learn(pd.DataFrame({"x": [None, None]}))
    assert extend_columns(first, read_table(pd.DataFrame({"x": [3, 1]})))[0] == Column(
        "x", "category", "number", (1, 3)
    )


@pytest.mark.parametrize("values", [[0, 63, 5], [0, 64, 5], [-1, 63, 5], [2**40, 0, 5], [7, 7, 7]])
def test_small_whole_numbers_are_looked_at_like_others(values):
    """The quick look at 0 to 63 and the general one tell the same levels, whatever leaves that range and where."""
    table = read_table(np.array([[value, k % 4] for k, value in enumerate(values * 40)]))
    columns = learn_schema(table, lambda observed, mask: np.zeros(0), categorical=np.array([True, True]))
    assert columns[0].levels == tuple(sorted(set(values)))
    assert columns[1].levels == (0, 1, 2, 3)
