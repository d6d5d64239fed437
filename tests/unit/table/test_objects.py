"""The different objects of a column, by address and by value."""

import numpy as np
import pytest

from tanbark.table import kernels, objects
from tanbark.table.objects import as_objects, number_objects, number_values


def by_hand(values: list) -> tuple[list[int], list]:
    distinct: list = []
    codes = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
        codes.append(distinct.index(value))
    return codes, distinct


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare addresses also in a small table, which would not wait for the compiler."""
    monkeypatch.setattr(objects, "for_work", lambda kernel, *_: kernel)


@pytest.mark.parametrize("n_words", [1, 3, 1000, 1024, 1025, 3000])
def test_shared_and_equal_objects_are_numbered_by_first_occurrence(n_words: int) -> None:
    rng = np.random.default_rng(n_words)
    words = [f"word {k}" for k in range(n_words)]
    values = [words[k] for k in rng.integers(0, n_words, 2000)]
    values[::7] = ["".join(value) for value in values[::7]]  # equal, but other objects
    codes, distinct = number_objects(as_objects(values))
    expected = by_hand(values)
    assert (codes.tolist(), distinct) == expected
    assert [part if isinstance(part, list) else part.tolist() for part in number_values(values)] == list(expected)


def test_every_other_row_of_a_table_of_objects() -> None:
    table = np.array([["a", "b"], ["c", "a"], ["a", None], [True, 1]], object)
    codes, distinct = number_objects(table[::2, 1])
    assert (codes.tolist(), distinct) == ([0, 1], ["b", None])
    codes, distinct = number_objects(as_objects([1, True, 1.0, "1"]))
    assert (codes.tolist(), distinct) == ([0, 0, 0, 1], [1, "1"])


def test_nothing_and_what_has_no_hash() -> None:
    codes, distinct = number_objects(np.empty(0, object))
    assert (len(codes), distinct) == (0, [])
    with pytest.raises(TypeError):
        number_objects(as_objects([[1], "a"]))


def test_addresses_that_share_a_slot() -> None:
    addresses = np.array([0, 1 << 40, 2 << 40, 0, 3 << 40, 1 << 40], np.intp)
    codes, first = np.empty(6, np.int32), np.empty(4, np.int64)
    assert kernels.number_addresses(addresses, codes, first) == 4
    assert (codes.tolist(), first.tolist()) == ([0, 1, 2, 0, 3, 1], [0, 1, 2, 4])
    assert kernels.number_addresses(addresses, codes, first[:2]) == 3
