"""Ensembles that learn and forget rows with held structures."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from tanbark.errors import InputError, OptionError
from tanbark.estimators.ensemble import stepwise
from tanbark.estimators.ensemble.stepwise import join_rows, take_out
from tanbark.params.hierarchical.context_tree import dense
from tanbark.table import CodedTable


def make_rows(n=160, seed=0, *, missing=0.1, words=3):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, n)
    X = pd.DataFrame({
        "number": np.round(rng.normal(place, 1.0), 2),
        "word": np.array([f"w{k}" for k in (place + rng.integers(0, words, n)) % words], object),
        "other": np.array(["x", "y", "z"], object)[(place * rng.integers(0, 2, n)) % 3],
    })  # fmt: skip
    return X.mask(rng.random(X.shape) < missing), pd.Series(np.array(["high", "low", "middle"])[place], name="y")


def slow_counts(clf, X, y):
    """Count the rows of every family of every network one by one: (states of the parents, state) to rows."""
    found = []
    raw = clf._codes(X)
    labels = np.searchsorted(clf.classes_, y)
    for member in clf.model_.members:
        merged = member.chosen(member.coarsening.apply(raw))
        sizes = [member.coarsening.schema.cardinalities[c] for c in member.columns]
        for feature, parents in enumerate(member.parents):
            rows = Counter()
            for row in range(len(X)):
                states = [int(labels[row]), *(int(merged[p, row]) for p in parents[1:])]
                limits = [3, *(sizes[p] for p in parents[1:])]
                if merged[feature, row] < sizes[feature] and all(map(int.__lt__, states, limits)):
                    rows[(*states, int(merged[feature, row]))] += 1
            found.append(rows)
    return found


def read_counts(clf):
    """Read the rows of the deepest contexts of every tree."""
    found = []
    for member in clf.model_.members:
        for tree in member.trees:
            paths, depth = {0: ()}, len(tree.states)
            for level in range(depth):
                for context in range(tree.levels[level], tree.levels[level + 1]):
                    for state in range(tree.states[level]):
                        at = tree.starts[level] + (context - tree.levels[level]) * tree.states[level] + state
                        if tree.children[at] >= 0:
                            paths[int(tree.children[at])] = (*paths[context], state)
            deepest = [(v, path) for v, path in paths.items() if len(path) == depth]
            found.append({(*path, k): n for v, path in deepest for k, n in enumerate(tree.counts[v].tolist()) if n})
    return found


def structure(clf):
    return [(m.parents, m.order, m.columns.tolist()) for m in clf.model_.members]


def test_counts_are_those_of_all_rows_in_the_held_structures():
    X, y = make_rows(400)
    clf = tb.NetworkEnsemble(3, 2).fit(X[:150], y[:150])
    before, weights = structure(clf), clf.weights_
    cuts = [[column.cuts for column in member.coarsening.schema.columns] for member in clf.model_.members]
    assert clf.partial_fit(X[150:], y[150:]) is clf
    assert structure(clf) == before
    assert np.array_equal(clf.weights_, weights)
    assert [[c.cuts for c in member.coarsening.schema.columns] for member in clf.model_.members] == cuts
    for counted, wanted in zip(read_counts(clf), slow_counts(clf, X, y), strict=True):
        totals = Counter()
        for key, rows in wanted.items():
            totals[key[:-1]] += rows
        # deepest contexts are stored from the second row on; with one parent, from the first
        stored = {key: rows for key, rows in wanted.items() if totals[key[:-1]] > 1 or len(key) == 2}
        assert {key: rows for key, rows in counted.items() if key in stored} == stored
        assert all(counted[key] == wanted[key] for key in counted)
    assert clf.model_.class_counts.tolist() == [int((y == name).sum()) for name in clf.classes_]
    assert max(counts.sum() for counts in clf.value_counts_) <= 400


def test_the_cpts_are_those_of_a_tree_of_all_rows():
    """As with structures from the first rows and counts of all, in whatever order the rows come."""
    X, y = make_rows(400)
    clf = tb.NetworkEnsemble(3, 2).fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    steps = tb.NetworkEnsemble(3, 2).fit(X[:150], y[:150])
    for start in (300, 150, 200):
        end = {300: 400, 150: 200, 200: 300}[start]
        steps.partial_fit(X[start:end], y[start:end])
    for one, other in zip(clf.model_.members, steps.model_.members, strict=True):
        for a, b in zip(one.trees, other.trees, strict=True):
            assert dense(a) == pytest.approx(dense(b), abs=1e-9)
    assert clf.predict_proba(X) == pytest.approx(steps.predict_proba(X), abs=1e-9)
    first = tb.NetworkEnsemble(3, 2).fit(X[:150], y[:150])
    assert not np.array_equal(clf.predict_proba(X), first.predict_proba(X))
    assert clf.conditional_log_likelihood(X[150:], y[150:]) > first.conditional_log_likelihood(X[150:], y[150:])


def test_forgetting_undoes_learning_exactly():
    X, y = make_rows(300)
    clf = tb.NetworkEnsemble(3).fit(X[:200], y[:200])
    before, support = clf.predict_proba(X), clf.support(X)
    clf.partial_fit(X[200:], y[200:], sample_weight=np.full(100, 2.5))
    assert not np.array_equal(clf.predict_proba(X), before)
    clf.forget(X[200:250], y[200:250], sample_weight=np.full(50, 2.5))
    clf.forget(X[200:][::-1], y[200:][::-1], sample_weight=np.r_[np.full(50, 2.5), np.zeros(50)])
    assert clf.predict_proba(X) == pytest.approx(before, abs=1e-12)
    assert np.array_equal(clf.support(X), support)
    plain = tb.NetworkEnsemble(3).fit(X[:200], y[:200]).partial_fit(X[200:], y[200:]).forget(X[200:], y[200:])
    assert np.array_equal(plain.predict_proba(X), before)
    assert plain.rows_.weights is None


def test_forgotten_rows_were_never_counted():
    X, y = make_rows(300)
    clf = tb.NetworkEnsemble(2).fit(X, y)
    held = clf.model_
    clf.forget(X[:120], y[:120])
    part = CodedTable(clf.schema_, np.ascontiguousarray(clf.rows_.codes))
    assert part.n_rows == 180
    again = stepwise.recount(held, part, n_jobs=1)
    assert np.array_equal(again.logits(clf._codes(X)), clf.model_.logits(clf._codes(X)))
    with pytest.raises(InputError, match="never learnt"):
        clf.forget(X[:1], y[:1], sample_weight=[5.0])
    assert clf.rows_.n_rows == 180
    clf.forget(X[120:], y[120:])
    assert clf.predict_proba(X)[0] == pytest.approx([1 / 3] * 3)


def test_the_first_call_is_fit():
    X, y = make_rows()
    clf, whole = tb.NetworkEnsemble(3).partial_fit(X, y), tb.NetworkEnsemble(3).fit(X, y)
    assert np.array_equal(clf.predict_proba(X), whole.predict_proba(X))
    late = tb.NetworkEnsemble(3).partial_fit(X[y != "low"], y[y != "low"], classes=["low", "high", "middle"])
    assert late.classes_.tolist() == ["high", "low", "middle"]
    late.partial_fit(X[y == "low"], y[y == "low"])
    assert (late.predict(X) == y).mean() > 0.6
    with pytest.raises(InputError):
        clf.partial_fit(X[:3], ["high", "nobody", "low"])
    assert np.array_equal(clf.predict_proba(X), whole.predict_proba(X))


def test_new_categories_are_added():
    X, y = make_rows(300)
    later, labels = make_rows(200, 1, words=5)
    clf = tb.NetworkEnsemble(3).fit(X, y)
    assert len(clf.schema_.columns[1].levels) == 3
    clf.partial_fit(later, labels)
    assert len(clf.schema_.columns[1].levels) == 5
    assert clf.encoder_.columns == clf.schema_.columns[:-1]
    assert np.isfinite(clf.predict_proba(later)).all()
    with pytest.raises(InputError, match="never saw"):
        clf.forget(later.assign(word="nobody"), labels)


def test_many_new_categories_need_wider_codes():
    X, y = make_rows(100)
    clf = tb.NetworkEnsemble(2).fit(X, y)
    assert clf.rows_.codes.dtype == np.uint8
    before = clf.rows_.codes.copy()
    many = pd.concat([X] * 6, ignore_index=True).assign(word=[f"v{k}" for k in range(600)])
    clf.partial_fit(many, pd.concat([y] * 6))
    assert clf.rows_.codes.dtype == np.uint16
    assert np.array_equal(clf.rows_.codes[:, :100] == 65535, before == 255)
    clf.forget(many, pd.concat([y] * 6))
    assert clf.rows_.n_rows == 100


def test_a_given_prior_stays():
    X, y = make_rows()
    clf = tb.NetworkEnsemble(2, class_prior=[0.2, 0.3, 0.5]).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert clf.predict_proba(pd.DataFrame({name: [None] for name in X}))[0] == pytest.approx([0.2, 0.3, 0.5])


def test_rows_that_are_not_kept_are_asked_for(tmp_path, monkeypatch):
    X, y = make_rows()
    clf = tb.NetworkEnsemble(2).fit(X, y)
    clf.save(tmp_path / "m.json")
    back = tb.load(tmp_path / "m.json")
    for method in (back.partial_fit, back.forget):
        with pytest.raises(OptionError, match=r"keeps no rows .* begin with partial_fit"):
            method(X, y)
    assert pickle.loads(pickle.dumps(clf)).forget(X[:5], y[:5]).rows_.n_rows == len(X) - 5
    monkeypatch.setattr("tanbark.estimators.models.ensemble.KEPT_BYTES", 10)
    large = tb.NetworkEnsemble(2).fit(X, y)
    assert not hasattr(large, "rows_")
    assert tb.NetworkEnsemble(2).partial_fit(X, y).partial_fit(X, y).rows_.n_rows == 2 * len(X)
    assert not hasattr(tb.Classifier(2).fit(X, y), "rows_")
    with pytest.raises(AttributeError, match=r"its correction was learnt .* NetworkEnsemble"):
        tb.Classifier(2).partial_fit(X, y)


def test_prediction_sets_need_a_new_calibration():
    X, y = make_rows()
    clf = tb.NetworkEnsemble(2).fit(X, y).calibrate_sets(X, y, cv=2).partial_fit(X, y)
    with pytest.raises(OptionError, match="calibrate_sets"):
        clf.predict_set(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_taken_out_as_a_slow_loop_does(weighted):
    rng = np.random.default_rng(5)
    schema = tb.NetworkEnsemble(2).fit(*make_rows(30)).schema_
    for _ in range(20):
        codes = rng.integers(0, 2, (4, 25)).astype(np.uint8)
        chosen = rng.permutation(25)[: rng.integers(0, 25)]
        weights = rng.integers(1, 4, 25).astype(float) if weighted else None
        gone = None if weights is None else weights[chosen]
        left = take_out(
            CodedTable(schema, codes, weights), CodedTable(schema, np.ascontiguousarray(codes[:, chosen]), gone)
        )
        wanted, found = Counter(), Counter()
        for row in range(25):
            wanted[tuple(codes[:, row])] += 1 if weights is None else weights[row]
        for row in chosen:
            wanted[tuple(codes[:, row])] -= 1 if weights is None else weights[row]
        for row in range(left.n_rows):
            found[tuple(left.codes[:, row])] += 1 if left.weights is None else left.weights[row]
        assert found == +wanted


def test_joined_rows_have_weights_if_either_has():
    clf = tb.NetworkEnsemble(2).fit(*make_rows(30))
    plain = clf.rows_
    heavy = CodedTable(plain.schema, plain.codes, np.full(30, 2.0))
    assert join_rows(plain, plain).weights is None
    assert join_rows(plain, heavy).weights.tolist() == [1.0] * 30 + [2.0] * 30
