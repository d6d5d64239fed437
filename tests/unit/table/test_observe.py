"""Learning a schema from batches: the same columns as from the whole table, in whatever parts it comes."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.errors import InputError
from tanbark.table import learn_schema, read_table
from tanbark.table.column_view import ColumnView
from tanbark.table.discretize import CUTTERS, mdlp
from tanbark.table.observe import Observed


def table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    frame = pd.DataFrame({
        "text": rng.choice(["b", "a", "c"], rows), "few": rng.integers(0, 4, rows), "number": rng.normal(2 * y, 1),
        "truth": rng.random(rows) < 0.5,
    })  # fmt: skip
    frame.loc[::7, "number"] = None
    return frame, y


def observed(frame, labels, **forced):
    views = [ColumnView(name, forced.get(name)) for name in frame.columns]
    seen = Observed(views)
    levels, codes = np.unique(labels, return_inverse=True)
    seen.add(read_table(frame), codes, levels.tolist(), None)
    return seen


@pytest.mark.parametrize("cuts", [[300], [100, 300], [1, 2, 150, 300]])
def test_parts_give_the_schema_of_the_whole(cuts):
    frame, y = table()
    seen, low = None, 0
    for high in cuts:
        part = observed(frame.iloc[low:high], y[low:high])
        seen, low = part if seen is None else seen.merge(part), high
    whole = learn_schema(read_table(frame), lambda values, rows: mdlp(values, y[rows], 2))
    assert seen.columns(mdlp) == whole
    assert seen.classes() == [0, 1]
    assert seen.n_rows == 300
    assert seen.errors == {}


def test_missing_values_are_a_state_where_they_occur():
    seen = observed(*table())
    assert [column.missing_state for column in seen.columns(mdlp, missing_states=True)] == [False, False, True, False]
    assert not any(column.missing_state for column in seen.columns(mdlp))


def test_the_user_decides_what_is_categorical():
    frame, y = table()
    columns = observed(frame, y, few=False).columns(mdlp)
    assert columns[1].kind == "interval"
    columns = observed(frame[["few"]] * 100, y, few=True).columns(mdlp)
    assert columns[0].levels == (0, 100, 200, 300)


@pytest.mark.parametrize(("values", "kind"), [(7, "category"), (8, "interval"), (20, "interval")])
def test_the_limit_of_categories_holds_in_parts_too(values, kind):
    y = np.arange(120) % 2
    frame = pd.DataFrame({"x": np.arange(120) % values})
    whole = learn_schema(read_table(frame), lambda found, rows: mdlp(found, y[rows], 2), few=7)
    seen = observed(frame.iloc[:50], y[:50]).merge(observed(frame.iloc[50:], y[50:]))
    assert seen.columns(mdlp, few=7) == whole
    assert whole[0].kind == kind
    assert seen.columns(mdlp)[0].kind == "category"


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 600), st.lists(st.integers(0, 600), max_size=5), st.booleans())
@pytest.mark.parametrize("name", CUTTERS)
def test_any_parts_are_cut_like_the_whole(name, seed, rows, ends, weighted):
    """While every different value is kept, the cuts of batches, weighted or not, are those of the table in memory."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    frame = pd.DataFrame({
        "real": np.where(rng.random(rows) < 0.1, np.nan, np.round(rng.normal(y, 1), 2)),
        "whole": rng.integers(0, rng.integers(1, 30), rows) + y,
        "mass": np.where(rng.random(rows) < 0.9, 0.5, rng.random(rows)),
    }).assign(constant=1.5)  # fmt: skip
    frame.loc[0, "real"] = 0.25

    def cut(values, there):
        return CUTTERS[name](values, y[there], 3, None if weights is None else weights[there])

    seen = Observed([ColumnView(column) for column in frame.columns])
    bounds = [0, *sorted(min(end, rows) for end in ends), rows]
    for low, high in pairwise(bounds):
        part = None if weights is None else weights[low:high]
        seen.add(read_table(frame.iloc[low:high]), y[low:high], [0, 1, 2], part)
    assert seen.columns(CUTTERS[name], few=7) == learn_schema(read_table(frame), cut, few=7)


def test_a_column_of_two_kinds_raises_an_error():
    seen = observed(pd.DataFrame({"x": ["a", "b"]}), [0, 1])
    with pytest.raises(InputError, match="holds strings in some rows and numbers in others"):
        seen.merge(observed(pd.DataFrame({"x": [1, 2]}), [0, 1]))
