"""Discriminative CPTs against numerical gradients, logistic regression and enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

import tanbark as tb
from tanbark.inference import joint_log_proba
from tanbark.params.normalised import Objective, with_changes


def sampled(seed=0, n=400, missing=0.0, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, (3, 2, 4, 2), (n, 4))
    y = (X[:, 0] + (X[:, 1] ^ X[:, 3]) + rng.integers(0, 3, n)) % n_classes
    X = X.astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def parts_of(model, X, y):
    codes = np.vstack([model._codes(X), y.astype(np.uint8)[None]])
    return model.network_, codes, joint_log_proba(model.network_, codes[:-1])


ARCS = [("x0", "class"), ("x1", "class"), ("class", "x2"), ("x0", "x2"), ("x2", "x3")]
GRAPHS = {"naive": tb.NaiveBayes(), "kdb": tb.KDB(max_parents=2), "class with parents": tb.FixedStructure(ARCS)}


@pytest.mark.parametrize("model", list(GRAPHS.values()), ids=list(GRAPHS))
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_gradient_is_numerical(model, missing):
    X, y = sampled(missing=missing)
    network, codes, base = parts_of(model.fit(X, y), X, y)
    rng = np.random.default_rng(1)
    objective = Objective(network, codes, rng.random(len(y)), base, penalty=0.7)
    at = rng.normal(size=objective.n_changes)
    _, gradient = objective(at)
    for place in rng.choice(objective.n_changes, 25, replace=False):
        step = np.zeros(objective.n_changes)
        step[place] = 1e-5
        numerical = (objective(at + step)[0] - objective(at - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(numerical, abs=1e-5)


@pytest.mark.parametrize("model", list(GRAPHS.values()), ids=list(GRAPHS))
def test_the_value_is_that_of_the_changed_network(model):
    X, y = sampled()
    network, codes, base = parts_of(model.fit(X, y), X, y)
    objective = Objective(network, codes, None, base, penalty=0.5)
    at = np.random.default_rng(2).normal(size=objective.n_changes)
    changes = [np.zeros(0)] * len(network.tables)
    for node, change in zip(objective.nodes, objective._by_node(at), strict=True):
        changes[node] = change
    changed = with_changes(network, changes)
    for node, table in enumerate(changed.tables):
        np.testing.assert_allclose(table.sum(axis=changed.axes(node).index(node)), 1.0)
    posterior = log_softmax(joint_log_proba(changed, codes[:-1]), axis=1)
    expected = posterior[np.arange(len(y)), y].sum() - 0.25 * at @ at
    assert objective(at)[0] == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_penalty_naive_bayes_becomes_logistic_regression(n_classes):
    X, y = sampled(n=600, n_classes=n_classes)
    network, codes, base = parts_of(tb.NaiveBayes().fit(X, y), X, y)
    found = Objective(network, codes, None, base, penalty=1e-7).maximise(max_iter=2000, tol=1e-9)
    assert found.converged
    ours = log_softmax(joint_log_proba(with_changes(network, found.changes), codes[:-1]), axis=1)
    one_hot = np.hstack([X[:, [j]] == np.unique(X[:, j]) for j in range(4)]).astype(float)
    peer = LogisticRegression(C=1e7, max_iter=10_000, tol=1e-10).fit(one_hot, y)
    np.testing.assert_allclose(np.exp(ours), peer.predict_proba(one_hot), atol=2e-4)


def test_a_large_penalty_leaves_the_network_as_it_is():
    X, y = sampled()
    network, codes, base = parts_of(tb.KDB().fit(X, y), X, y)
    found = Objective(network, codes, None, base, penalty=1e9).maximise(max_iter=100, tol=1e-12)
    for before, after in zip(network.tables, with_changes(network, found.changes).tables, strict=True):
        np.testing.assert_allclose(before, after, atol=1e-6)


def test_weights_are_repeats():
    X, y = sampled(n=80)
    network, codes, base = parts_of(tb.KDB().fit(X, y), X, y)
    times = np.random.default_rng(3).integers(0, 3, len(y))
    weighted = Objective(network, codes, times.astype(float), base, penalty=1.0)
    repeated = Objective(network, codes.repeat(times, axis=1), None, base.repeat(times, axis=0), penalty=1.0)
    at = np.random.default_rng(4).normal(size=weighted.n_changes)
    for ours, theirs in zip(weighted(at), repeated(at), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_missing_values_are_summed_out_exactly():
    X, y = sampled()
    network, codes, base = parts_of(tb.KDB(max_parents=2).fit(X, y), X, y)
    found = Objective(network, codes, None, base, penalty=0.1).maximise(max_iter=50, tol=1e-6)
    changed = with_changes(network, found.changes)
    sizes = network.schema.cardinalities
    asked = np.array([[1], [255], [2], [255]], np.uint8)
    joint = np.zeros(sizes[-1])
    for b, d in product(range(sizes[1]), range(sizes[3])):
        joint += np.exp(joint_log_proba(changed, np.array([[1], [b], [2], [d]], np.uint8))[0])
    np.testing.assert_allclose(np.exp(joint_log_proba(changed, asked)[0]), joint)
