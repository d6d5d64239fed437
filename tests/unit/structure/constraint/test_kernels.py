"""The search for a separating set, by bitsets and by keys."""

import itertools

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts.bitsets import pack
from tanbark.counts.kernels import LabelledRows
from tanbark.scores.dirichlet import make_term_cache
from tanbark.structure.constraint import kernels


def searched(table, search, *, given_class, order):
    codes, states = table.codes, np.array(table.schema.cardinalities)
    labels = codes[-1].astype(np.int64) if given_class else np.zeros(table.n_rows, np.int64)
    n_labels = int(states[-1]) if given_class else 1
    rows = LabelledRows(codes, np.zeros(0), states, labels, n_labels)
    data = kernels.TestedRows(rows, pack(codes, states, labels=labels, n_labels=n_labels), 1.0, 1e-9)
    work = kernels.make_workspace(order, data, make_term_cache(table.n_rows))
    candidates = np.array([2, 3, 4])
    chosen = np.arange(order)
    at = search(kernels.Edge(0, 1, candidates, np.zeros(3, bool)), chosen, 100, data, work)
    return at, candidates[chosen].tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("given_class", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_both_ways_find_the_first_separating_set(seed, given_class, order):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (*rng.integers(2, 4, 5), 2), 60)
    extra = (5,) if given_class else ()
    sets = list(itertools.combinations((2, 3, 4), order))
    factors = [naive.log_bayes_factor(table, 0, 1, (*chosen, *extra), 1.0) for chosen in sets]
    first = next((k for k, factor in enumerate(factors) if factor > 1e-9), -1)
    for search in (kernels.separate_by_bits, kernels.separate_by_keys, kernels.separate):
        at, chosen = searched(table, search, given_class=given_class, order=order)
        assert at == first
        if first >= 0:
            assert tuple(chosen) == sets[first]
