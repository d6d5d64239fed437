"""The encoding kernels against plain Python, by every method and beyond the edges of tiles."""

import bisect

import numpy as np
import pytest

from tanbark.table import kernels
from tanbark.table.encode import _number_coding
from tanbark.table.schema import Column

COLUMNS = [
    Column("lookup", "category", "number", (3, 1, 2, 9)),
    Column("levels", "category", "number", (0.5, 2, 10**7)),
    Column("cuts", "interval", "number", cuts=(-1.0, 2.0, 2.5)),
]
MISSING = 255


def expected(value, column):
    if value != value:
        return MISSING
    if column.kind == "interval":
        return bisect.bisect_left(column.cuts, value)
    return column.levels.index(value) if value in column.levels else MISSING


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("copies", [1, 11, 13])
def test_floats_and_integers(rows, copies):
    rng = np.random.default_rng(rows)
    columns = COLUMNS * copies
    pool = np.array([-2, -1, 0, 0.5, 1, 2, 2.5, 3, 9, 10, 1e7, np.nan])
    floats = rng.choice(pool, (rows, len(columns)))
    integers = rng.choice(np.array([-2, -1, 0, 1, 2, 3, 9, 10, 10**7]), (rows, len(columns)))
    coding = _number_coding(columns)
    for block in (floats, integers):
        out = np.zeros((len(columns), rows + 2), np.uint8)
        unseen, infinite = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.uint8)
        if block is floats:
            kernels.encode_floats(block, coding, MISSING, 1, out, unseen, infinite)
        else:
            kernels.encode_integers(block, coding, MISSING, 1, out, unseen)
        wanted = np.array([[expected(v, c) for v in block[:, k].tolist()] for k, c in enumerate(columns)])
        assert np.array_equal(out[:, 1:-1], wanted)
        assert not out[:, [0, -1]].any()
        assert np.array_equal(unseen, ((wanted == MISSING) & ~np.isnan(block.T.astype(float))).sum(axis=1))
        assert not infinite.any()


def test_infinite_values_are_marked():
    block = np.array([[1.0, np.inf, -np.inf]])
    unseen, infinite = np.zeros(3, np.int64), np.zeros(3, np.uint8)
    kernels.encode_floats(block, _number_coding(COLUMNS), MISSING, 0, np.zeros((3, 1), np.uint8), unseen, infinite)
    assert infinite.tolist() == [0, 1, 1]


def test_small_numbers_are_marked_and_transposed():
    block = np.random.default_rng(0).integers(0, 64, (130, 3))
    out, seen, strange = np.zeros((4, 131), np.uint8), np.zeros(3, np.uint64), np.zeros(3, np.uint64)
    kernels.look_small(block, 1, out, seen, strange)
    assert np.array_equal(out[:3, 1:], block.T)
    assert [int(word).bit_count() for word in seen] == [len(np.unique(column)) for column in block.T]
    assert not strange.any()
    for outside in (-1, 64, 2**40):
        kernels.look_small(np.full((1, 3), outside), 0, out, seen, strange)
        assert strange.all()
        strange[:] = 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_numbers_of_a_column_are_counted_by_class(dtype):
    rng = np.random.default_rng(0)
    values = np.append(rng.integers(0, 100, 300), [0, 127]).astype(dtype)
    values = values if dtype == np.uint8 else np.append(values, [-100, -1]).astype(dtype)
    labels = rng.integers(0, 3, len(values))
    low = int(values.min())
    counts = np.zeros((int(values.max()) - low + 1, 3), np.int64)
    kernels.count_numbers(values, low, labels, counts)
    expected = np.zeros_like(counts)
    np.add.at(expected, (values.astype(int) - low, labels), 1)
    np.testing.assert_array_equal(counts, expected)
