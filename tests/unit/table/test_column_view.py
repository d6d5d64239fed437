"""The summary of one column: its kind, its categories, and what batches add to them."""

import numpy as np
import pytest

from tanbark.errors import InputError
from tanbark.table.column_view import ColumnView
from tanbark.table.discretize import mdlp
from tanbark.table.raw import CodedColumn

TEXTS = CodedColumn(0, np.array([0, 1, -1, 0]), ("b", "a"), "text")
LABELS = np.array([0, 1, 1, 0])


def view(*parts):
    """Return the view of a column after batches of numbers or of texts."""
    found = ColumnView("x")
    for part in parts:
        if isinstance(part, CodedColumn):
            found.add_coded(part, LABELS, 2, None)
        else:
            found.add_numbers(np.asarray(part), LABELS, 2, None)
    return found


def test_texts_become_sorted_categories_and_missing_values_are_counted():
    found = view(TEXTS)
    assert found.column(mdlp, np.array([0, 1]), 20).levels == ("a", "b")
    assert (found.missing, found.observed, found.has_missing) == (1, 3, True)


def test_whole_numbers_are_categories_where_they_are_few():
    found = view([3, 1, 1, 2], [2, 2, 2, 5])
    assert found.column(mdlp, np.array([0, 1]), 4).levels == (1, 2, 3, 5)
    assert found.column(mdlp, np.array([0, 1]), 3).kind == "interval"


def test_merging_parts_is_adding_batches():
    whole = view([3, 1, 1, 2], [2, 2, 2, 5])
    merged = view([3, 1, 1, 2])
    merged.merge(view([2, 2, 2, 5]), np.array([0, 1]), 2)
    order = np.array([0, 1])
    assert merged.column(mdlp, order, 20) == whole.column(mdlp, order, 20)
    assert merged.facts(2, 20) == whole.facts(2, 20)


def test_numbers_after_texts_raise_an_error():
    with pytest.raises(InputError, match="'x' holds strings in some rows and numbers in others"):
        view(TEXTS, [1, 2, 3, 4])
