"""Junction trees and EM against enumeration, and against what must hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import tanbark as tb
from strategies import make_network, make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.graph import Dag, Network
from tanbark.inference.factors.junction import expected_counts, junction_tree, pair_marginals
from tanbark.params import Laplace, family_counts, fit
from tanbark.params.em import log_prior, maximise
from tanbark.table import CodedTable

few = settings(max_examples=30)


def completions(network, row):
    sizes = network.schema.cardinalities
    return itertools.product(*(range(r) if code >= r else [int(code)] for code, r in zip(row, sizes, strict=True)))


def slow_expectation(network, codes, weights):
    """Fill every row in every way, each weighed by its probability given the row."""
    counts = [np.zeros(table.shape) for table in network.tables]
    total = 0.0
    for row, weight in zip(codes.T, weights, strict=True):
        filled = [(states, naive.joint(network, states)) for states in completions(network, row)]
        evidence = sum(p for _, p in filled)
        total += weight * np.log(evidence)
        for states, p in filled:
            for node, table in enumerate(counts):
                table[tuple(states[a] for a in network.axes(node))] += weight * p / evidence
    return counts, total


def rows_of(network, rng, n, gaps):
    sizes = network.schema.cardinalities
    codes = np.stack([rng.integers(0, r, n) for r in sizes]).astype(np.uint8)
    codes[rng.random(codes.shape) < gaps] = 255
    return codes


@given(seeds, st.integers(1, 5), st.booleans())
@few
def test_expected_counts_are_those_of_enumeration(seed, n_features, augmented):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=n_features, augmented=augmented)
    codes = rows_of(network, rng, 12, 0.5)
    weights = rng.random(12) + 0.1
    found = expected_counts(junction_tree(network), network, codes, weights)
    counts, total = slow_expectation(network, codes, weights)
    assert found.log_likelihood == pytest.approx(total, abs=1e-9)
    assert found.impossible == 0
    for ours, theirs in zip(found.counts, counts, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-9)


@given(seeds)
@few
def test_impossible_rows_count_nothing(seed):
    rng = np.random.default_rng(seed)
    network = make_network(rng, n_features=3, zeros=True)
    codes = rows_of(network, rng, 10, 0.3)
    possible = [sum(naive.joint(network, s) for s in completions(network, row)) > 0 for row in codes.T]
    found = expected_counts(junction_tree(network), network, codes)
    assert found.impossible == 10 - sum(possible)
    assert found.counts[-1].sum() == pytest.approx(sum(possible))


@given(seeds, st.integers(1, 4))
@few
def test_pair_marginals_are_those_of_enumeration(seed, n_features):
    network = make_network(np.random.default_rng(seed), n_features=n_features)
    sizes = network.schema.cardinalities
    found = pair_marginals(network)
    joint = np.zeros(sizes)
    for states in itertools.product(*map(range, sizes)):
        joint[states] = naive.joint(network, states)
    for x, y in itertools.combinations(range(len(sizes)), 2):
        others = tuple(a for a in range(len(sizes)) if a not in (x, y))
        assert found[x][y] == pytest.approx(joint.sum(axis=others), abs=1e-12)
        assert pytest.approx(found[x][y], abs=1e-12) == found[y][x].T


def test_a_tree_that_is_too_wide_is_refused_with_its_width():
    names = tuple(f"x{i}" for i in range(26))
    schema = tb.table.Schema(tuple(tb.table.Column(n, "category", "number", (0, 1)) for n in names))
    dag = Dag(names, (*((),) * 25, tuple(range(25))))
    network = Network(schema, dag, (*(np.full(2, 0.5),) * 25, np.full((1,) * 26, 1.0)))
    with pytest.raises(tb.errors.TableTooLargeError, match="over 26 columns"):
        junction_tree(network)


def as_rows(table):
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    return codes[:-1].T, codes[-1].astype(int)


@given(seeds, st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([tb.Laplace, tb.BDeu, tb.K2]))
@few
def test_the_objective_never_falls(seed, mass, smoothing):
    table = make_table(np.random.default_rng(seed), (2, 3, 2, 2), 40, gaps=0.3, weighted=seed % 2 == 0)
    X, y = as_rows(table)
    clf = tb.TAN(
        parameters=tb.EM(tol=1e-4, max_iter=60, smoothing=smoothing() if smoothing is tb.K2 else smoothing(mass))
    )
    found = clf.fit(X, y, sample_weight=table.weights).parameters_
    rises = np.diff(found.objective_history_)
    assert (rises >= -1e-9 * abs(found.objective_history_[-1])).all()
    if mass == 0 and smoothing is not tb.K2:
        assert found.objective_history_ == found.loglik_history_
    assert found.n_iter_ == len(found.loglik_history_)


@given(seeds)
@few
def test_complete_rows_give_the_closed_form_at_once(seed):
    X, y = as_rows(make_table(np.random.default_rng(seed), (2, 3, 2, 2), 50))
    filled, plain = tb.TAN(missing="em").fit(X, y), tb.TAN(parameters="laplace").fit(X, y)
    assert filled.parameters_.n_iter_ == 1
    assert all(map(np.array_equal, filled.network_.tables, plain.network_.tables))


@given(seeds, st.sampled_from([0.0, 1.0]))
@settings(max_examples=10)
def test_em_is_the_slow_em(seed, alpha):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (2, 2, 3, 2), 30, gaps=0.3)
    schema, smoothing = table.schema, Laplace(alpha)
    dag = Dag(schema.names, ((3,), (0, 3), (0, 1, 3), ()))
    counts = family_counts(dag, MemoryCounts(table), max_cells=1000)
    start = fit(schema, dag, counts, Laplace(1.0))
    slow = start
    for _ in range(4):
        expected, _ = slow_expectation(slow, table.codes, np.ones(30))
        slow = fit(schema, dag, expected, smoothing)
    tree = junction_tree(start)
    found = maximise(
        start,
        lambda network: expected_counts(tree, network, table.codes),
        lambda tables: fit(schema, dag, tables, smoothing),
        lambda network: log_prior(network, smoothing),
        tol=1e-300,
        max_iter=4,
    )
    for ours, theirs in zip(found.network.tables, slow.tables, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_no_expected_count(n_jobs):
    rng = np.random.default_rng(5)
    network = make_network(rng, n_features=5)
    codes = rows_of(network, rng, 5000, 0.3)
    tree = junction_tree(network)
    one, many = (expected_counts(tree, network, codes, n_jobs=jobs) for jobs in (1, n_jobs))
    assert one.log_likelihood == many.log_likelihood
    assert all(map(np.array_equal, one.counts, many.counts))


def test_many_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    table = make_table(rng, (*[3] * 1500, 2), 20, gaps=0.3)
    codes = table.codes.copy()
    X, y = as_rows(CodedTable(table.schema, codes))
    clf = tb.NaiveBayes(parameters=tb.EM(max_iter=3)).fit(X, y)
    assert np.isfinite(clf.parameters_.loglik_history_).all()
