"""Small whole numbers: counted by class in one pass, as a slow loop counts them."""

import numpy as np
import pytest

from tanbark.table import read_table, small_numbers
from tanbark.table.small_numbers import count_small_numbers, scan_small_numbers

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 500)


@pytest.fixture(autouse=True)
def _count_any_table(monkeypatch):
    monkeypatch.setattr(small_numbers, "MIN_COUNTED", 0)


def count(values, labels=LABELS, **options):
    return count_small_numbers(read_table(values), labels, 3, **options)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_number_is_counted_with_its_class(dtype, n_jobs):
    values = RNG.integers(0, [2, 5, 64], (500, 3)).astype(dtype)
    found = count(values, n_jobs=n_jobs)
    for column in range(3):
        for number in range(found.rows.shape[1]):
            for label in range(3):
                expected = ((values[:, column] == number) & (label == LABELS)).sum()
                assert found.rows[column, number, label] == expected
    scanned = scan_small_numbers(read_table(values))
    assert found.occurring.tolist() == scanned.occurring.tolist()
    assert found.occurring.dtype == scanned.occurring.dtype


@pytest.mark.parametrize("other", [-1, 64, 127, -128, 2**40, -(2**40)])
def test_another_number_anywhere_is_left_to_others(other):
    dtype = np.int64 if abs(other) > 128 else np.int8
    for row in (0, 499):
        values = np.ones((500, 2), dtype)
        values[row, 1] = other
        assert count(values) is None
    assert count(np.ones((500, 2), dtype)) is not None


def test_tables_of_another_layout_are_left_to_others():
    assert count(np.asfortranarray(np.ones((500, 2), np.int8))) is None
    assert count(np.ones((500, 2))) is None
    assert count(np.ones((500, 2), bool)) is None


def test_a_table_with_many_counters_and_a_small_table_are_left_to_others(monkeypatch):
    values = RNG.integers(0, 4, (500, 10))
    monkeypatch.setattr(small_numbers, "MOST_COUNTERS", 3 * 10 * 4 - 1)
    assert count(values) is None
    monkeypatch.setattr(small_numbers, "MOST_COUNTERS", 3 * 10 * 4)
    assert count(values) is not None
    monkeypatch.setattr(small_numbers, "MIN_COUNTED", 5001)
    assert count(values) is None
