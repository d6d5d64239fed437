"""AODE and A2DE: the worked example, the chain of fallbacks, many features, steps, files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy.special import logsumexp

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_table

NAMES = list("ABWVU")


def frame(table):
    codes = table.codes.astype(float)
    codes[codes == 255] = np.nan
    X = pd.DataFrame(
        {f"x{i}": pd.Categorical(codes[i], range(r)) for i, r in enumerate(table.schema.cardinalities[:-1])}
    )
    return X, codes[-1].astype(int)


@pytest.fixture(scope="module")
def worked():
    data = f500()
    return pd.DataFrame(data[:, 1:], columns=NAMES), data[:, 0]


def test_the_worked_example(worked):
    clf = tb.AODE().fit(*worked)
    row = pd.DataFrame([[1, 0, 1, 1, 1]], columns=NAMES)
    assert clf.predict_proba(row)[0, 1] == approx(0.612145, abs=5e-7)
    assert clf.score(*worked) == approx(0.804)
    assert clf.conditional_log_likelihood(*worked) == approx(-220.160815, abs=5e-7)


@pytest.mark.parametrize(("cls", "order"), [(tb.AODE, 1), (tb.A2DE, 2)])
@pytest.mark.parametrize("m", [0, 1, 15, 25])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_chain_of_fallbacks(cls, order, m, gaps):
    """Pairs of super-parents, then single ones, then naive Bayes, each where the one before has no model."""
    table = make_table(np.random.default_rng([m, order]), (3, 4, 2, 3, 2), 80, gaps=gaps)
    X, y = frame(table)
    found = cls(min_rows=m).fit(X, y).predict_joint_log_proba(X)
    used = set()
    for row in range(40):
        for level in range(order, -1, -1):
            expected = naive.averaged_joint(table.codes, (3, 4, 2, 3, 2), table.codes[:, row], order=level, m=m)
            if expected is not None:
                break
        used.add(level)
        assert np.exp(found[row]) == approx(expected, rel=1e-9)
    if gaps and (order, m) in ((1, 25), (2, 0)):
        assert used == set(range(order + 1))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_one_feature_is_naive_bayes(cls):
    X, y = frame(make_table(np.random.default_rng(0), (4, 3), 50))
    assert cls().fit(X, y).predict_proba(X) == approx(tb.NaiveBayes().fit(X, y).predict_proba(X), abs=1e-13)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_a_huge_threshold_is_naive_bayes(cls):
    X, y = frame(make_table(np.random.default_rng(1), (4, 2, 3, 3), 50, gaps=0.1))
    plain = tb.NaiveBayes().fit(X, y)
    for m in (51, 1e9, np.inf):
        assert np.array_equal(cls(min_rows=m).fit(X, y).predict_proba(X), plain.predict_proba(X))


def test_two_features_are_one_joint_table_for_pairs():
    table = make_table(np.random.default_rng(2), (3, 2, 2), 60)
    X, y = frame(table)
    counts = naive.table(table.codes, (3, 2, 2), (0, 1, 2))
    joint = (counts + 1) / (counts.sum(axis=(0, 1)) + 6) * naive.smoothed(np.bincount(y), 0, 1.0)
    found = np.exp(tb.A2DE(min_rows=0).fit(X, y).predict_joint_log_proba(X))
    assert found == approx(joint[table.codes[0], table.codes[1]])


def test_nothing_observed_is_the_class_distribution(worked):
    nothing = pd.DataFrame([[np.nan] * 5], columns=NAMES)
    for cls in (tb.AODE, tb.A2DE):
        clf = cls().fit(*worked)
        assert clf.predict_proba(nothing)[0] == approx([324 / 502, 178 / 502])


def test_hundreds_of_features_do_not_underflow():
    """Joints of about exp(-1000) are far below the range of floats; their logarithms are averaged exactly."""
    n, alpha = 250, 1e-4
    same, y = np.array([0, 0, 1, 1, 1, 0, 1, 0]), np.array([0, 1, 0, 1, 1, 1, 0, 1])
    X = np.repeat(same[:, None], n, axis=1)  # every feature a copy of the first
    row = np.arange(n) % 2  # and a row in which they contradict one another
    clf = tb.AODE(parameters=alpha).fit(X, y)
    found = clf.predict_joint_log_proba(row[None])[0]
    assert (found < -1000).all()
    for label in (0, 1):
        own = y == label
        models = []
        for i in range(n):
            both = own & (X[:, i] == row[i])
            alone = np.log((both.sum() + alpha) / (own.sum() + 2 * alpha))
            given = np.log(((X[both] == row).sum(axis=0) + alpha) / (both.sum() + 2 * alpha))
            models.append(np.log((own.sum() + alpha) / (len(y) + 2 * alpha)) + alone + np.delete(given, i).sum())
        assert found[label] == approx(logsumexp(models) - np.log(n), rel=1e-10)
    assert clf.predict_proba(row[None]).sum() == approx(1.0)


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize("weighted", [False, True])
def test_learning_step_by_step_is_learning_at_once(cls, weighted):
    table = make_table(np.random.default_rng(4), (3, 4, 2, 3, 2), 90, gaps=0.1, weighted=weighted)
    X, y = frame(table)
    whole = cls().fit(X, y, sample_weight=table.weights)
    steps = cls()
    for low in range(0, 90, 30):
        part = slice(low, low + 30)
        weights = None if table.weights is None else table.weights[part]
        steps.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weights)
    assert np.array_equal(steps.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))
    assert steps.n_parameters_ == whole.n_parameters_
    more = cls().fit(pd.concat([X, X[:20]]), np.concatenate([y, y[:20]]))
    if not weighted:
        more.forget(X[:20], y[:20])
        assert np.array_equal(more.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))


@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
@pytest.mark.parametrize(
    "options", [{}, {"min_rows": 3, "parameters": 0.1}, {"parameters": "bdeu", "class_prior": [0.3, 0.7]}]
)
def test_a_file_brings_it_back_to_the_last_bit(cls, options, tmp_path):
    X, y = frame(make_table(np.random.default_rng(5), (3, 4, 2, 3, 2), 90, gaps=0.1))
    clf = cls(**options).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = tb.load(tmp_path / "model.json")
    assert type(again) is cls
    assert again.get_params() == clf.get_params()
    assert np.array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert np.array_equal(again.partial_fit(X, y).predict_proba(X), clf.partial_fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    ("cls", "expected", "instead"), [(tb.AODE, 18 * 18 * 2, "TAN"), (tb.A2DE, 81 * 18 * 2, "AODE")]
)
def test_too_large_is_refused_with_what_to_do(cls, expected, instead):
    X = np.random.default_rng(0).integers(0, 9, (100, 2))
    X[:9] = np.arange(9)[:, None]
    y = X[:, 0] % 2
    assert cls(max_cells=expected).fit(X, y).score(X, y) > 0.9
    with pytest.raises(tb.errors.TableTooLargeError) as told:
        cls(max_cells=expected - 1).fit(X, y)
    assert f"needs {expected:,} cells, above max_cells={expected - 1:,}" in str(told.value)
    assert f"use {instead}, or raise max_cells" in str(told.value)
    with pytest.raises(tb.errors.TableTooLargeError):
        cls(max_cells=expected - 1).partial_fit(X, y)


@pytest.mark.parametrize("m", [-1, "1", None, True, np.nan])
@pytest.mark.parametrize("cls", [tb.AODE, tb.A2DE])
def test_a_bad_threshold_is_refused(cls, m):
    with pytest.raises(tb.errors.OptionError, match="min_rows must be a number of at least 0"):
        cls(min_rows=m).fit([[0], [1]], [0, 1])


def test_free_parameters_are_those_of_all_models():
    X, y = frame(make_table(np.random.default_rng(6), (3, 2, 4, 2), 50))
    sizes, classes = (3, 2, 4), 2
    naive_bayes = 1 + classes * sum(r - 1 for r in sizes)
    single = sum(r * classes * sum(s - 1 for j, s in enumerate(sizes) if j != i) for i, r in enumerate(sizes))
    pairs = sum(sizes[i] * sizes[j] * classes * (sizes[3 - i - j] - 1) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert tb.AODE().fit(X, y).n_parameters_ == naive_bayes + single
    assert tb.A2DE().fit(X, y).n_parameters_ == naive_bayes + single + pairs
