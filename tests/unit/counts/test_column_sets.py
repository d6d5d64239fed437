"""Sets of columns: their layout, their numbers, and cutting them into batches."""

import itertools

import numpy as np
import pytest

from tanbark.counts import kernels
from tanbark.counts.column_sets import ColumnSets, combination_at, cut


def test_sets_that_are_laid_out_are_the_sets():
    given = [(3, 1), (), (2,), (0, 1, 2)]
    sets = ColumnSets.of(given)
    assert list(sets) == given
    assert (sets[-1], sets[1:3]) == ((0, 1, 2), [(), (2,)])
    assert ColumnSets.of(sets) is sets
    with pytest.raises(IndexError):
        sets[4]
    sizes, highest = sets.measure(np.array([2, 3, 5, 4]))
    assert (sizes.tolist(), highest.tolist()) == ([12, 1, 5, 30], [4, 1, 5, 5])


def test_combinations_come_in_lexicographic_order():
    combinations = list(itertools.combinations(range(6), 3))
    assert [tuple(combination_at(rank, 6, 3)) for rank in range(20)] == combinations
    chosen = np.arange(3)
    walked = [tuple(chosen)]
    while kernels.next_combination(chosen, 6) >= 0:
        walked.append(tuple(chosen))
    assert walked == combinations


@pytest.mark.parametrize("seed", range(5))
def test_runs_are_as_long_as_they_may_be(seed):
    sizes, most = np.random.default_rng(seed).integers(1, 9, 30), 12
    runs = list(cut(sizes, most))
    assert [k for low, high in runs for k in range(low, high)] == list(range(30))
    for low, high in runs:
        assert sizes[low:high].sum() <= most or high == low + 1
        assert high == 30 or sizes[low : high + 1].sum() > most
    assert list(cut(np.zeros(0), 5)) == []
