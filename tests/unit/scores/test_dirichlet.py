"""h(S) and what derives from it, in numpy and compiled."""

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.scores import bdeu
from tanbark.scores import dirichlet_kernels as kernels
from tanbark.scores.dirichlet import h, log_bayes_factor, make_term_cache


@pytest.fixture
def counts():
    return np.random.default_rng(4).integers(0, 5, (6, 3))


@pytest.mark.parametrize("ess", [0.2, 1.0, 9.0])
def test_h_is_a_product_of_rising_factorials(counts, ess):
    expected = naive.h(counts, ess)
    assert h(counts, counts.size, ess) == pytest.approx(expected)
    for most in (100, 2):  # with a cache that holds all counts, and one that does not
        found, observed = kernels.h_of_counts(counts.ravel(), 18.0, ess, True, make_term_cache(most, 4))
        assert (found, observed) == (pytest.approx(expected), (counts > 0).sum())
    assert kernels.h_of_counts(counts.ravel() * 1.0, 18.0, ess, False, make_term_cache(9))[0] == pytest.approx(expected)


def test_bdeu_is_a_difference_of_h(counts):
    assert bdeu(counts, ess=3.0) == pytest.approx(h(counts, 18, 3.0) - h(counts.sum(axis=1), 6, 3.0))


@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
def test_bayes_factors_of_cells_and_of_tables(given):
    table = make_table(np.random.default_rng(2), (2, 3, 2, 4), 80)
    states = table.schema.cardinalities
    columns = (*given, 0, 1)
    joint = naive.table(table.codes, states, columns).astype(np.int64)
    expected = naive.log_bayes_factor(table, 0, 1, given, 1.5)
    cells = np.argwhere(joint)
    shape = [states[c] for c in columns]
    assert log_bayes_factor(cells, joint[tuple(cells.T)], shape, 1.5) == pytest.approx(expected)
    n_z = int(np.prod(shape[:-2]))
    for flat, whole in ((joint.ravel(), True), (joint.ravel().astype(float), False)):
        found = kernels.factor_of_table(flat, n_z, 2, 3, 1, float(n_z), 1.5, whole, make_term_cache(100))
        assert found == pytest.approx(expected)
