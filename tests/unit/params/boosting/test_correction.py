"""Boosted corrections against a numpy twin, numerical gradients and identities."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from tanbark.params.boosting import correction_kernels as kernels
from tanbark.params.boosting.correction import (
    LabelledRows,
    add_corrections,
    complete_fraction,
    grow_families,
    run_rounds,
    without_corrections,
)

STATES = (3, 2, 4, 2)
FAMILIES = [(0, 1, 2), (1,), (2, 3), (3, 0)]


def rows_of(seed, n=120, n_classes=3, missing=0.1):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in STATES], np.uint8)
    labels = (codes[0] + codes[1] * codes[2] + rng.integers(0, 2, n)) % n_classes
    codes[rng.random(codes.shape) < missing] = 255
    return codes, labels.astype(np.int64), rng.normal(size=(n, n_classes))


def contexts_of(codes, family, row):
    """The contexts of a row as tuples of states, up to the first missing value."""
    found = []
    for length in range(1, len(family) + 1):
        values = tuple(int(codes[column, row]) for column in family[:length])
        if values[-1] >= STATES[family[length - 1]]:
            break
        found.append(values)
    return found


def slow_rounds(codes, labels, logits, weights, n_rounds, penalty, rate):
    """One dictionary of corrections per family, a Newton step for all its contexts from one gradient."""
    n, n_classes = logits.shape
    z, deltas = logits.copy(), [{} for _ in FAMILIES]
    for _ in range(n_rounds):
        for family, delta in zip(FAMILIES, deltas, strict=True):
            p = softmax(z, axis=1)
            members = {}
            for row in range(n):
                for context in contexts_of(codes, family, row):
                    members.setdefault(context, []).append(row)
            for context, rows in members.items():
                w = weights[rows, None]
                g = (w * (np.eye(n_classes)[labels[rows]] - p[rows])).sum(axis=0)
                h = (w * p[rows] * (1 - p[rows])).sum(axis=0)
                own = delta.setdefault(context, np.zeros(n_classes))
                step = rate * np.clip((g - penalty * own) / (h + penalty), -4, 4)
                delta[context] = own + step
                z[rows] += step
    return z, deltas


def boosted(codes, labels, logits, n_rounds, weights=None, **options):
    families, contexts = grow_families(codes, FAMILIES, STATES, logits.shape[1])
    done = list(islice(run_rounds([families], [contexts], labels, logits, weights, **options), n_rounds))
    assert done == list(range(1, n_rounds + 1))
    return families, contexts, corrected(logits, families, contexts)


def corrected(logits, families, contexts):
    return logits + families.sums[contexts].sum(axis=0)


@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]))
@settings(max_examples=20)
def test_rounds_equal_a_slow_twin(seed, n_classes):
    codes, labels, logits = rows_of(seed, n_classes=n_classes)
    weights = np.random.default_rng(seed).integers(0, 3, len(labels)).astype(float)
    families, contexts, z = boosted(codes, labels, logits, 3, weights, penalty=2.0, rate=0.3)
    expected, deltas = slow_rounds(codes, labels, logits, weights, 3, 2.0, 0.3)
    np.testing.assert_allclose(z, expected, atol=1e-9)
    for f, family in enumerate(FAMILIES):
        for row in range(len(labels)):
            total = sum((deltas[f][context] for context in contexts_of(codes, family, row)), np.zeros(n_classes))
            np.testing.assert_allclose(families.sums[contexts[f, row]], total, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_added_corrections_are_those_of_training(n_classes):
    codes, labels, logits = rows_of(1, n_classes=n_classes)
    families, _, z = boosted(codes, labels, logits, 4, penalty=1.0)
    again = logits.copy()
    add_corrections(families, codes, again)
    np.testing.assert_allclose(again, z, atol=1e-9)
    add_corrections(without_corrections(families), codes, again)
    np.testing.assert_allclose(again, z, atol=1e-9)
    assert not without_corrections(families).sums.any()


def test_missing_and_unseen_contexts_read_the_longest_one():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], np.uint8)
    families, _ = grow_families(codes, FAMILIES[:1], STATES, 2)
    families.sums[1:] = np.arange(1, len(families.sums))[:, None]
    asked = np.array([[255, 0, 0, 1, 0, 2], [0, 255, 0, 1, 1, 0], [0, 0, 255, 0, 0, 0], [0] * 6], np.uint8)
    logits = np.zeros((6, 2))
    add_corrections(families, asked, logits)
    # x = 0 is context 1 and x = 1 context 2; (0, 0), (0, 1), (1, 0) are 3 to 5; (1, 1) and x = 2 were not seen
    np.testing.assert_array_equal(logits[:, 0], [0, 1, 3, 2, 7, 0])


@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
@settings(max_examples=10)
def test_the_gradient_is_numerical(seed, n_classes):
    codes, labels, logits = rows_of(seed, n=40, n_classes=n_classes)
    weights = np.random.default_rng(seed).random(len(labels))
    _, contexts = grow_families(codes, FAMILIES[:1], STATES, n_classes)
    n_outputs = 1 if n_classes == 2 else n_classes
    first = n_classes - n_outputs
    state = np.empty((len(labels), n_outputs))
    kernels.fill_posteriors(logits, state)
    p = softmax(logits, axis=1)[:, first:]
    np.testing.assert_allclose(state, p / (1 - p) if first else p, rtol=1e-12)
    shape, none = (contexts.max() + 1, n_classes), np.zeros(0, np.int32)
    gradient, curvature = np.zeros((2, shape[0], n_outputs))
    step = kernels.pass_two if first else kernels.pass_many
    rows = LabelledRows(labels, weights, state)
    step(rows, none, 0, np.zeros((0, n_outputs)), contexts[0], 0, gradient, curvature)
    numerical = np.zeros(shape)
    for v in range(1, shape[0]):
        for c in range(n_classes):
            values = []
            for move in (1e-6, -1e-6):
                z = logits.copy()
                z[contexts[0] == v, c] += move
                values.append(weights @ log_softmax(z, axis=1)[np.arange(len(labels)), labels])
            numerical[v, c] = (values[0] - values[1]) / 2e-6
    np.testing.assert_allclose(gradient[1:], numerical[1:, first:], atol=1e-6)
    second = [(weights * (contexts[0] == v)) @ (p * (1 - p)) for v in range(1, shape[0])]
    np.testing.assert_allclose(curvature[1:], second, atol=1e-9)


def penalised(families, labels, z, penalty):
    own = families.sums - families.sums[families.above]
    return log_softmax(z, axis=1)[np.arange(len(labels)), labels].sum() - penalty / 2 * (own**2).sum()


@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=20)
def test_the_penalised_likelihood_never_falls_at_a_small_rate(seed, n_classes, penalty):
    codes, labels, logits = rows_of(seed, n_classes=n_classes)
    families, contexts = grow_families(codes, FAMILIES, STATES, n_classes)
    before = -np.inf
    for _ in islice(run_rounds([families], [contexts], labels, logits, penalty=penalty, rate=0.05), 30):
        now = penalised(families, labels, corrected(logits, families, contexts), penalty)
        assert now >= before - 1e-9
        before = now


def test_weights_are_repeats():
    codes, labels, logits = rows_of(5)
    times = np.random.default_rng(5).integers(0, 4, len(labels))
    families, _, z = boosted(codes, labels, logits, 5, times, penalty=1.0)
    repeated, _, far = boosted(
        codes.repeat(times, axis=1), labels.repeat(times), logits.repeat(times, axis=0), 5, penalty=1.0
    )
    np.testing.assert_allclose(z.repeat(times, axis=0), far, atol=1e-9)
    both = logits[:3].copy(), logits[:3].copy()
    for part, out in zip((families, repeated), both, strict=True):
        add_corrections(part, codes[:, times > 0][:, :3], out)
    np.testing.assert_allclose(*both, atol=1e-9)


def test_extreme_logits_recover_and_stay_finite():
    codes, labels, logits = rows_of(6, missing=0.0)
    logits[:, 1] -= 800.0  # posteriors of zero
    _, _, z = boosted(codes, labels, logits, 200, penalty=0.01, rate=0.5)
    assert np.isfinite(z).all()
    assert log_softmax(z, axis=1)[np.arange(len(labels)), labels].mean() > -1


def test_several_sets_of_families_share_the_logits():
    codes, labels, logits = rows_of(7)
    _, _, together = boosted(codes, labels, logits, 3, penalty=1.0)
    parts = [grow_families(codes, FAMILIES[a:b], STATES, 3) for a, b in ((0, 1), (1, 4))]
    steps = run_rounds([p[0] for p in parts], [p[1] for p in parts], labels, logits, penalty=1.0)
    assert list(islice(steps, 3)) == [1, 2, 3]
    z = logits
    for part in parts:
        z = corrected(z, *part)
    np.testing.assert_allclose(z, together, atol=1e-9)


def test_the_fraction_of_complete_families():
    codes, _, _ = rows_of(9, missing=0.3)
    families, _ = grow_families(codes, FAMILIES, STATES, 3)
    expected = np.mean([(codes[list(family)] < 255).all(axis=0) for family in FAMILIES], axis=0)
    np.testing.assert_allclose(complete_fraction(families, codes), expected)
    none, _ = grow_families(codes, [], STATES, 3)
    np.testing.assert_array_equal(complete_fraction(none, codes), 1.0)


def test_no_families_change_nothing():
    codes, labels, logits = rows_of(8)
    families, contexts = grow_families(codes, [], STATES, 3)
    z = logits.copy()
    next(run_rounds([families], [contexts], labels, z, penalty=1.0))
    add_corrections(families, codes, z)
    np.testing.assert_array_equal(z, logits)


def test_short_steps_have_the_exponential_by_its_series():
    for x in np.linspace(-0.5, 0.5, 101):
        assert kernels.short_exp(x) == pytest.approx(np.exp(x), rel=1e-12)
