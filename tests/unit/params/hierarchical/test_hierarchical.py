"""Hierarchical smoothing: against context trees, by symmetries, and through everything that reads CPTs."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import tanbark as tb
from tanbark.errors import OptionError
from tanbark.export import to_python, to_sql
from tanbark.kernel import interpreted
from tanbark.params import Hierarchical, estimate
from tanbark.params.hierarchical import hierarchical_kernels
from tanbark.params.hierarchical.context_tree import dense, fit_tree
from tanbark.scores import conditional_mutual_information

SHAPES = [(4, 3), (3, 2, 4), (3, 4, 3, 2), (2, 3, 2, 4, 2)]


def counts_of(seed, shape, rows=300):
    """Draw counts whose node, the last axis but one, depends on some of the others."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, rows) for size in shape])
    at = max(0, len(shape) - 2)
    mixed = codes.sum(axis=0) - codes[at] + (codes[0] if len(shape) > 2 else 0)
    codes[at] = np.where(rng.random(rows) < 0.6, mixed % shape[at], codes[at])
    table = np.zeros(shape, np.int64)
    np.add.at(table, tuple(codes), 1)
    return table


def slow_cpt(counts, node):
    """Estimate a CPT from its rows one by one, in the order of the parents that the definition asks for."""
    rows = np.repeat(np.argwhere(counts > 0), counts[counts > 0], axis=0).T.astype(np.uint8)
    others, given_class = list(range(node)), list(range(node + 1, counts.ndim))

    def information(parent):
        axes = tuple(a for a in others if a != parent)
        return conditional_mutual_information(
            counts.sum(axis=axes).reshape(counts.shape[parent], counts.shape[node], -1)
        )

    order = given_class + sorted(others, key=lambda parent: (-round(information(parent), 9), parent))
    tree, _ = fit_tree(np.ascontiguousarray(rows), node, order, counts.shape, least_rows=0)
    return np.transpose(dense(tree), np.argsort([*order, node]))


@given(st.integers(0, 10_000), st.sampled_from(SHAPES), st.sampled_from([5, 60, 1000]))
@settings(max_examples=40)
def test_the_cpt_is_that_of_the_context_tree_of_the_rows(seed, shape, rows):
    counts = counts_of(seed, shape, rows)
    for node in {max(0, len(shape) - 2), len(shape) - 1}:  # with and without the class among the parents
        found = estimate(counts, node, Hierarchical())
        np.testing.assert_allclose(found, slow_cpt(counts, node), rtol=1e-7)
        np.testing.assert_allclose(found.sum(axis=node), 1.0)
        assert (found > 0).all()


def test_a_node_without_parents_gets_half_a_row_per_state():
    assert estimate(np.array([3, 0, 1]), 0, Hierarchical()) == approx(np.array([3.5, 0.5, 1.5]) / 5.5)
    assert estimate(np.array([[3, 0, 1], [0, 0, 0]]), 1, Hierarchical(), stacked=True)[1] == approx(1 / 3)


def test_no_rows_at_all_are_uniform():
    assert estimate(np.zeros((2, 3, 4, 2), int), 2, Hierarchical()) == approx(1 / 4)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_relabelling_states_and_permuting_parents_changes_nothing(seed):
    counts = counts_of(seed, (3, 4, 3, 2))
    found = estimate(counts, 2, Hierarchical())
    turned = estimate(counts[::-1, :, ::-1, ::-1], 2, Hierarchical())
    np.testing.assert_allclose(turned, found[::-1, :, ::-1, ::-1], rtol=1e-7)
    np.testing.assert_allclose(estimate(counts.swapaxes(0, 1), 2, Hierarchical()), found.swapaxes(0, 1), rtol=1e-7)


def test_copies_of_a_parent_may_change_places_and_a_configuration_not_seen_reads_the_first():
    single = counts_of(3, (3, 4, 2))
    twice = np.zeros((3, 3, 4, 2), int)
    twice[np.arange(3), np.arange(3)] = single
    found, other = estimate(twice, 2, Hierarchical()), estimate(twice.swapaxes(0, 1), 2, Hierarchical())
    np.testing.assert_array_equal(found, other)
    np.testing.assert_array_equal(found[0, 1], found[0, 2])
    assert np.abs(found[0, 1] - found[1, 0]).max() > 0.01


def test_stacked_families_are_those_one_by_one():
    stack = np.stack([counts_of(seed, (3, 4, 3, 2)) for seed in range(4)])
    found = estimate(stack, 3, Hierarchical(), stacked=True)
    for family, alone in zip(found, stack, strict=True):
        np.testing.assert_array_equal(family, estimate(alone, 2, Hierarchical()))


def test_many_rows_leave_the_frequencies_and_noise_parents_are_ignored():
    counts = counts_of(1, (3, 4, 2)) * 100_000 + 1
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(estimate(counts, 1, Hierarchical()), frequencies, atol=1e-4)
    rng = np.random.default_rng(0)
    noise = rng.multinomial(500, np.full(3 * 20 * 2, 1 / 120)).reshape(20, 3, 2)
    shrunk, plain = (estimate(noise, 1, smoothing) for smoothing in (Hierarchical(), tb.Laplace()))
    assert np.abs(shrunk - 1 / 3).max() < 0.5 * np.abs(plain - 1 / 3).max()


def sampled_tables(rng, n, a):
    """Seat n customers one by one: the first sits at a new table, another with probability a / (a + seated)."""
    return sum(rng.random() < a / (a + seated) for seated in range(int(n)))


@pytest.mark.parametrize("seed", range(3))
def test_a_gibbs_sampler_of_the_tables_agrees(seed):
    """Given the concentration, draw tables and the distribution above in turns, and average the CPT."""
    counts = counts_of(seed, (3, 4), 40)
    concentration = float(Hierarchical().mass(counts, 0).sum(axis=0)[0])
    rng, draws = np.random.default_rng(seed), []
    above = np.full(3, 1 / 3)
    for _ in range(1500):
        tables = [
            sum(sampled_tables(rng, n, concentration * p) for n in row) for row, p in zip(counts, above, strict=True)
        ]
        above = rng.dirichlet(np.array(tables) + 0.5)
        draws.append((counts + concentration * above[:, None]) / (counts.sum(axis=0) + concentration))
    found = estimate(counts, 0, Hierarchical())
    assert found == approx(np.mean(draws[100:], axis=0), abs=0.015)


# ---------------------------------------------------------------------- through the classifiers


def frame(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    a = np.where(rng.random(rows) < 0.6, y, rng.integers(0, 3, rows))
    b = np.where(rng.random(rows) < 0.5, a, rng.integers(0, 4, rows))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 2, rows), "d": (b + y) % 3}).astype(str)
    return X, pd.Series(np.array(["no", "yes"])[y], name="y")


def test_the_short_form_goes_through_all_structures():
    X, y = frame()
    for cls in (tb.NaiveBayes, tb.TAN, tb.KDB, tb.GBN, tb.AODE, tb.A2DE, tb.RAIANB, tb.ChowLiuTree):
        clf = cls(parameters="hierarchical").fit(X, y)
        assert clf.smoothing_ == Hierarchical()
        proba = clf.predict_proba(X.mask(np.random.default_rng(1).random(X.shape) < 0.3))
        assert proba.sum(axis=1) == approx(1.0)
    general = tb.FixedStructure([("a", "y"), ("d", "y"), ("y", "b"), ("a", "b"), ("a", "c"), ("b", "c")])
    network = general.set_params(parameters=Hierarchical()).fit(X, y).network_
    for node, counts in enumerate(general.family_counts_):
        axis = network.axes(node).index(node)
        np.testing.assert_allclose(network.tables[node], slow_cpt(counts, axis), rtol=1e-7)


@pytest.mark.parametrize("cls", [tb.NaiveBayes, tb.TAN, tb.SPODE])
def test_learning_in_steps_and_forgetting_is_learning_at_once(cls):
    X, y = frame()
    whole = cls(parameters="hierarchical").fit(X, y).predict_proba(X)
    steps = cls(parameters="hierarchical", categorical_features="all")
    steps.partial_fit(X[:100], y[:100], classes=["no", "yes"]).partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(steps.predict_proba(X), whole, rtol=1e-12)
    steps.partial_fit(X[:50], y[:50]).forget(X[:50], y[:50])
    np.testing.assert_allclose(steps.predict_proba(X), whole, rtol=1e-12)


def test_rows_in_a_file_and_the_model_file(tmp_path):
    X, y = frame()
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    memory = tb.KDB(parameters="hierarchical", categorical_features="all").fit(X, y)
    words = dict.fromkeys(X.columns, "string")
    scanned = tb.KDB(parameters="hierarchical").fit(tb.scan(tmp_path / "rows.csv", target="y", types=words))
    np.testing.assert_array_equal(scanned.predict_proba(X), memory.predict_proba(X))
    memory.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), memory.predict_proba(X))
    assert again.smoothing_ == Hierarchical()
    assert memory.set_params(parameters=Hierarchical()).fit(X, y).get_params()["parameters"] == Hierarchical()


def test_weights_are_repeats():
    X, y = frame(80)
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = tb.KDB(parameters="hierarchical").fit(X, y, sample_weight=weights)
    repeated = tb.KDB(parameters="hierarchical").fit(X.loc[X.index.repeat(weights)], np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_sql_and_python_read_the_cpts():
    X, y = frame(60)
    clf = tb.TAN(parameters="hierarchical", categorical_features="all").fit(X, y)
    with closing(sqlite3.connect(":memory:")) as base:
        X.to_sql("rows", base, index=False)
        found = pd.read_sql(to_sql(clf), base)
    np.testing.assert_allclose(found["P(y=yes)"], clf.predict_proba(X)[:, 1], rtol=1e-9)
    scorer = {}
    exec(to_python(clf), scorer)
    one = scorer["predict_proba"](X.iloc[0].to_dict())
    assert one["yes"] == approx(clf.predict_proba(X)[0, 1])


def test_intervals_and_the_page_know_it():
    X, y = frame()
    clf = tb.KDB(parameters="hierarchical").fit(X, y)
    low, high = clf.predict_proba_interval(X, level=0.99, n_draws=200)
    proba = clf.predict_proba(X)
    assert ((low - 1e-9 <= proba) & (proba <= high + 1e-9)).mean() > 0.99
    assert "KDB" in repr(clf.explore().html)


def test_what_needs_another_prior_says_so():
    X, y = frame(40)
    with pytest.raises(OptionError, match="EM needs a prior that does not depend on the counts"):
        tb.TAN(parameters=tb.EM(smoothing="hierarchical")).fit(X, y)
    with pytest.raises(OptionError, match="MANB needs smoothing=Laplace"):
        tb.NaiveBayes(parameters=tb.MANB(smoothing="hierarchical")).fit(X, y)
    for part in (tb.WANBIA(smoothing="hierarchical"), tb.AWNB(smoothing="hierarchical", random_state=0)):
        assert tb.NaiveBayes(parameters=part).fit(X, y).smoothing_ == Hierarchical()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_small_tables_have_the_same_bits_without_a_compiler(shape, weighted):
    counts = counts_of(11, shape).astype(float) * (0.37 if weighted else 1.0)
    node = len(shape) - 2
    compiled, in_python = np.empty((1, counts.size)), np.empty((1, counts.size))
    hierarchical_kernels.prior_masses(counts.reshape(1, -1), np.array(shape), node, compiled)
    plain = interpreted(hierarchical_kernels.prior_masses)
    plain(counts.reshape(1, -1), np.array(shape), node, in_python)
    assert in_python.tobytes() == compiled.tobytes()
