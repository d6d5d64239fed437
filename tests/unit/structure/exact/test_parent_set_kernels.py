"""Numbers of sets, and h of many sets in their order."""

import itertools
import math

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.scores.dirichlet import make_term_cache
from tanbark.structure.exact import parent_set_kernels as kernels
from tanbark.structure.exact.subset_scores import CompleteRows


def test_sets_are_numbered_in_lexicographic_order():
    n, size = 6, 3
    binomials = np.array([[math.comb(a, b) for b in range(size + 1)] for a in range(n + 1)])
    for number, chosen in enumerate(itertools.combinations(range(n), size)):
        assert kernels.set_number(np.array(chosen), -1, binomials) == number
        without = list(itertools.combinations(range(n), size - 1)).index(chosen[1:])
        assert kernels.set_number(np.array(chosen), 0, binomials) == without


@pytest.mark.parametrize("states", [(2, 3, 2, 4, 2), (60, 50, 70, 80, 2)], ids=["dense", "observed"])
@pytest.mark.parametrize("given", [None, 4])
def test_h_and_observed_cells_of_wanted_sets(states, given):
    table = make_table(np.random.default_rng(5), states, 40)
    rows = CompleteRows.of(MemoryCounts(table)).labelled((0, 1, 2, 3), given)
    sets = list(itertools.combinations(range(4), 3))
    wanted = np.array([True, False, True, True])
    h, cells = np.full(4, np.nan), np.zeros(4, np.int32)
    kernels.h_of_sets(np.arange(3), 0, 4, wanted, rows, 1.0, make_term_cache(40), h, cells)
    for number in np.flatnonzero(wanted):
        columns = [*sets[number], *([] if given is None else [given])]
        occurring = np.unique(table.codes[columns], axis=1, return_counts=True)[1]
        size = math.prod(states[c] for c in columns)
        padded = np.zeros(size)
        padded[: len(occurring)] = occurring
        assert h[number] == pytest.approx(naive.h(padded, 1.0))
        assert cells[number] == len(occurring)
    assert np.isnan(h[1])
