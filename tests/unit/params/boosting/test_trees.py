"""Boosted trees against a numpy twin that tries every split, and identities."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from tanbark.params.boosting.trees import BOTH, LEAF, LEFT, TreeOptions, add_trees, boost, join_trees

MISSING = 255


def rows(seed: int, n_classes: int, *, missing: float = 0.0, n: int = 400):
    rng = np.random.default_rng(seed)
    states = np.array([6, 4, 5])
    codes = np.array([rng.integers(0, size, n) for size in states]).astype(np.uint8)
    score = (codes[0] > 2) * 2.0 + (codes[1] == 2) * 1.5 - (codes[2] > 1) * (codes[0] > 3)
    labels = np.minimum((score + rng.normal(0, 0.7, n) > 1.2).astype(int) + (rng.random(n) < 0.2), n_classes - 1)
    codes[rng.random(codes.shape) < missing] = MISSING
    return codes, states, np.array([True, False, True]), labels


def softmax(logits):
    found = np.exp(logits - logits.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def gradients(logits, labels, weights):
    """The gradient and curvature of every row, of the second class alone where there are two."""
    p = softmax(logits)
    g, h = (np.eye(p.shape[1])[labels] - p) * weights[:, None], p * (1 - p) * weights[:, None]
    return (g[:, 1:], h[:, 1:]) if p.shape[1] == 2 else (g, h)


def score(g, h, rows, penalty):
    return (g[rows].sum(axis=0) ** 2 / (h[rows].sum(axis=0) + penalty)).sum()


def best_split(codes, states, ordered, g, h, weights, rows, options):
    """Try every column, threshold and side of the missing values; return (gain, rows that go left)."""
    best = (0.0, None)
    for column, size in enumerate(states):
        penalty = options.penalty + (0.0 if ordered[column] else options.category_penalty)
        seen = codes[column] < size
        order = np.arange(size)
        if not ordered[column]:
            sums = [
                (g[rows & (codes[column] == s)].sum(axis=0), h[rows & (codes[column] == s)].sum(axis=0)) for s in order
            ]
            spread = sum(G**2 / (H + 10.0) for G, H in sums)
            chosen = int(np.argmax(spread))
            order = np.argsort([G[chosen] / (H[chosen] + 10.0) for G, H in sums], kind="stable")
        absent = (rows & ~seen).any()
        for side in (True, False) if absent else (True,):
            for cut in range(0 if side and absent else 1, size):
                left = rows & np.where(seen, np.isin(codes[column], order[:cut]), side)
                right = rows & ~left
                if min(weights[left].sum(), weights[right].sum()) < options.least_rows:
                    continue
                gain = sum(score(g, h, part, penalty) for part in (left, right)) - score(g, h, rows, penalty)
                if gain > best[0] * (1 + 1e-9) + 1e-9:
                    best = (gain, left)
    return best


def slow_tree(codes, states, ordered, labels, logits, weights, options):
    """Grow a tree leaf by leaf; return what it adds to the rows."""
    g, h = gradients(logits, labels, weights)
    leaves = [np.ones(len(labels), bool)]
    while len(leaves) < options.most_leaves:
        found = [best_split(codes, states, ordered, g, h, weights, leaf, options) for leaf in leaves]
        place = int(np.argmax([gain for gain, _ in found]))
        gain, left = found[place]
        if gain <= 0.0:
            break
        leaf = leaves.pop(place)
        leaves += [left, leaf & ~left]
    out = np.zeros(logits.shape)
    for leaf in leaves:
        step = g[leaf].sum(axis=0) / (h[leaf].sum(axis=0) + options.penalty)
        out[leaf, logits.shape[1] - g.shape[1] :] = options.rate * np.clip(step, -4, 4)
    return out


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_are_those_of_a_search_through_all_splits(n_classes, missing):
    codes, states, ordered, labels = rows(n_classes, n_classes, missing=missing)
    options = TreeOptions(most_leaves=6, least_rows=15.0, rate=0.3)
    logits, expected = np.zeros((2, len(labels), n_classes))
    weights = np.random.default_rng(0).integers(1, 4, len(labels)).astype(float)
    found = boost(codes, states, ordered, labels, logits, weights, options=options)
    for _ in range(4):
        expected += slow_tree(codes, states, ordered, labels, expected, weights, options)
        next(found)
        np.testing.assert_allclose(logits, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_added_trees_are_those_of_training(n_classes, missing):
    codes, states, ordered, labels = rows(5, n_classes, missing=missing)
    logits, again = np.zeros((2, len(labels), n_classes))
    trees = list(islice(boost(codes, states, ordered, labels, logits), 7))
    add_trees(join_trees(trees, states, ordered), codes, again, n_jobs=3)
    np.testing.assert_allclose(again, logits, atol=1e-12)


def test_a_missing_value_that_was_never_seen_goes_both_ways():
    codes, states, ordered, labels = rows(1, 2)
    (tree,) = islice(boost(codes, states, ordered, labels, np.zeros((len(labels), 2)), options=TreeOptions(2)), 1)
    assert tree.features.tolist() == [0, LEAF, LEAF]
    assert tree.missing[0] == BOTH
    np.testing.assert_allclose(tree.fractions[0], (codes[0] <= tree.thresholds[0]).mean())
    asked = np.array([[MISSING], [0], [0]], np.uint8)
    out = np.zeros((1, 2))
    add_trees(join_trees([tree], states, ordered), asked, out)
    mean = tree.fractions[0] * tree.values[1, 0] + (1 - tree.fractions[0]) * tree.values[2, 0]
    np.testing.assert_allclose(out, [[0.0, mean]])


def test_a_missing_value_goes_where_training_sent_it():
    codes, states, ordered, labels = rows(1, 2)
    codes[0, labels == 1] = MISSING
    (tree,) = islice(boost(codes, states, ordered, labels, np.zeros((len(labels), 2)), options=TreeOptions(2)), 1)
    assert tree.features[0] == 0
    assert tree.missing[0] != BOTH
    out = np.zeros((1, 2))
    add_trees(join_trees([tree], states, ordered), np.array([[MISSING], [0], [0]], np.uint8), out)
    assert out[0, 1] == tree.values[1 if tree.missing[0] == LEFT else 2, 0] > 0


def test_weights_stand_for_repeated_rows():
    codes, states, ordered, labels = rows(3, 3, missing=0.1)
    times = np.random.default_rng(2).integers(1, 4, len(labels))
    one, many = np.zeros((len(labels), 3)), np.zeros((times.sum(), 3))
    repeated = np.repeat(codes, times, axis=1)
    for _ in islice(boost(codes, states, ordered, labels, one, times.astype(float)), 5):
        pass
    for _ in islice(boost(repeated, states, ordered, np.repeat(labels, times), many), 5):
        pass
    np.testing.assert_allclose(np.repeat(one, times, axis=0), many, atol=1e-9)


def test_many_states_and_classes_are_merged_and_columns_drawn(monkeypatch):
    from tanbark.params.boosting import trees

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 200, (6, 500)).astype(np.uint8)
    labels = (codes[0] > 120).astype(int) + (codes[1] > 60)
    states, ordered = np.full(6, 200), np.ones(6, bool)
    monkeypatch.setattr(trees, "MOST_ENTRIES", 7 * 51 * 4)
    logits, again = np.zeros((2, 500, 3))
    found = list(islice(boost(codes, states, ordered, labels, logits, rng=np.random.default_rng(1)), 40))
    add_trees(join_trees(found, states, ordered), codes, again)
    np.testing.assert_allclose(again, logits, atol=1e-12)
    assert (softmax(logits).argmax(axis=1) == labels).mean() > 0.97
    assert all(len(set(tree.features) - {LEAF}) <= 4 for tree in found)


def test_without_columns_a_tree_is_one_leaf():
    logits = np.zeros((9, 2))
    labels = np.array([1] * 6 + [0] * 3)
    (tree,) = islice(boost(np.zeros((0, 9), np.uint8), [], np.zeros(0, bool), labels, logits), 1)
    assert tree.features.tolist() == [LEAF]
    assert (logits[:, 1] > 0).all()
