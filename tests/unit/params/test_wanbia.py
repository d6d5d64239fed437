"""Weighted naive Bayes: the objective, its gradient, and the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_schema, make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag, Network
from tanbark.params import Laplace, family_counts, fit
from tanbark.params.wanbia import Objective, optimize
from tanbark.table import CodedTable

BOUNDED, OPEN = (0.0, 1.0), (None, None)


def naive_bayes(table, alpha=1.0):
    dag = Dag.augmented(table.schema.names, [()] * table.schema.target)
    tables = family_counts(dag, MemoryCounts(table), max_cells=10**6)
    return fit(table.schema, dag, tables, Laplace(alpha))


def objective(table, *, squared=False, n_jobs=1):
    return Objective(naive_bayes(table), table.codes, table.weights, squared=squared, n_jobs=n_jobs)


def best(goal, n, bounds=BOUNDED, **options):
    return optimize(goal, n, bounds=bounds, **{"max_iter": 2000, "tol": 1e-10, **options})


@pytest.fixture(scope="module")
def worked():
    data = f500()
    return CodedTable(make_schema((2, 2, 3, 2, 2, 2)), np.vstack([data[:, 1:].T, data[:, 0]]).astype(np.uint8))


def test_the_worked_example(worked):
    goal = objective(worked)
    value, gradient = goal(np.ones(5))
    assert -value == approx(262.650441, abs=5e-7)
    assert -gradient == approx([18.702587, 17.459380, 54.232672, 38.562201, -12.364392], abs=6e-7)


def test_the_optimum_of_the_worked_example(worked):
    found = best(objective(worked), 5)
    assert found.weights == approx([0.80776, 0.69792, 0.47559, 0.0, 1.0], abs=5e-6)
    assert -found.objective == approx(217.849754, abs=5e-7)
    above = best(objective(worked), 5, bounds=(0.0, None))
    assert above.weights[4] == approx(1.15472, abs=5e-6)
    assert -above.objective == approx(217.448305, abs=5e-7)


@settings(max_examples=40)
@given(seeds, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.3]), st.integers(1, 3))
def test_the_slow_twin_and_finite_differences_agree(seed, squared, weighted, gaps, classes):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (3, 2, 4, 1, classes), 25, gaps=gaps, weighted=weighted)
    network, goal = naive_bayes(table), objective(table, squared=squared)
    exponents = rng.uniform(-0.5, 1.5, 4)
    labels = table.codes[-1].astype(int)

    def slow(w):
        return naive.weighted_objective(network, table.codes, labels, w, squared=squared, weights=table.weights)

    value, gradient = goal(exponents)
    assert value == approx(slow(exponents), rel=1e-10, abs=1e-12)
    for i in range(4):
        step = np.eye(4)[i] * 1e-5
        assert gradient[i] == approx((slow(exponents + step) - slow(exponents - step)) / 2e-5, rel=1e-5, abs=1e-6)


@settings(max_examples=25)
@given(seeds, st.booleans(), st.sampled_from([0.0, 0.2]), st.sampled_from([BOUNDED, (0.0, 2.0), (0.2, 0.7)]))
def test_the_conditions_of_a_bounded_optimum(seed, weighted, gaps, bounds):
    """Inside the bounds the gradient is zero; at a bound it points outwards (Karush, Kuhn and Tucker)."""
    table = make_table(np.random.default_rng(seed), (3, 2, 4, 2, 3), 80, gaps=gaps, weighted=weighted)
    goal = objective(table)
    found = best(goal, 4, bounds=bounds)
    _, gradient = goal(found.weights)
    low, high = bounds
    slack = 1e-5 * goal.total_weight
    for weight, slope in zip(found.weights, gradient, strict=True):
        assert low <= weight <= high
        assert slope <= slack or weight == approx(high, abs=1e-9)
        assert slope >= -slack or weight == approx(low, abs=1e-9)


@settings(max_examples=12)
@given(seeds, st.booleans(), st.sampled_from([0.0, 0.2]))
def test_never_worse_than_plain_naive_bayes(seed, squared, gaps):
    table = make_table(np.random.default_rng(seed), (3, 2, 4, 2, 2), 60, gaps=gaps)
    goal = objective(table, squared=squared)
    plain = goal(np.ones(4))[0]
    for bounds in (BOUNDED, OPEN):
        assert best(goal, 4, bounds=bounds).objective >= plain - 1e-9
    assert best(goal, 4, bounds=OPEN, max_iter=1).objective >= plain - 1e-9


def test_the_log_likelihood_is_concave(worked):
    goal = objective(worked)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.uniform(-1, 2, (2, 5))
        assert goal((a + b) / 2)[0] >= (goal(a)[0] + goal(b)[0]) / 2 - 1e-9


def test_threads_change_nothing():
    table = make_table(np.random.default_rng(1), (*[3] * 12, 3), 30_000, gaps=0.05)
    weights = np.random.default_rng(2).random(12)
    one, two, five = (objective(table, n_jobs=n)(weights) for n in (1, 2, 5))
    assert one[0] == two[0] == five[0]
    assert np.array_equal(one[1], two[1])
    assert np.array_equal(one[1], five[1])


def test_weights_of_rows_are_repeats():
    rng = np.random.default_rng(3)
    table = make_table(rng, (3, 2, 3), 40, gaps=0.1)
    times = rng.integers(1, 4, 40)
    network, exponents = naive_bayes(table), np.array([0.4, 0.8])
    weighted = Objective(network, table.codes, times.astype(float), squared=False, n_jobs=1)
    repeated = Objective(network, np.repeat(table.codes, times, axis=1), None, squared=False, n_jobs=1)
    assert weighted(exponents)[0] == approx(repeated(exponents)[0])
    assert weighted(exponents)[1] == approx(repeated(exponents)[1])
    tiny = Objective(network, table.codes, times * 1e-3, squared=False, n_jobs=1)
    assert best(tiny, 2).weights == approx(best(weighted, 2).weights, abs=1e-5)


def test_certain_rows_keep_their_gradient():
    """A label whose posterior is below the range of floats still has its log-posterior, and the slope is that of it."""
    n = 300
    table = make_table(np.random.default_rng(4), (*[2] * n, 2), 2)
    table.codes[:] = 0
    table.codes[-1] = [0, 1]
    likely = np.array([[0.999, 0.001], [0.001, 0.999]])
    network = Network(table.schema, Dag.augmented(table.schema.names, [()] * n), (*[likely] * n, np.array([0.5, 0.5])))
    goal = Objective(network, table.codes, None, squared=False, n_jobs=1)
    value, gradient = goal(np.ones(n))
    assert value == approx(n * np.log(0.001 / 0.999))
    assert gradient == approx(np.full(n, np.log(0.001 / 0.999)))


def test_tables_with_zeros_are_refused():
    table = make_table(np.random.default_rng(5), (9, 2, 3), 12)
    with pytest.raises(
        tb.errors.OptionError, match=r"WANBIA needs CPTs without zeros; use smoothing=Laplace.*with alpha > 0"
    ):
        Objective(naive_bayes(table, alpha=0.0), table.codes, None, squared=False, n_jobs=1)
