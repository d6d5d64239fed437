"""Cross-validated scores of structures: subtracted counts, scores from scratch, ties and options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
import tanbark as tb
from strategies import make_table, seeds
from tanbark.evaluation.fold_scores import FoldEvaluator


def evaluator(table, folds, **options):
    return FoldEvaluator(table.codes, table.schema, folds, weights=table.weights, **options)


def random_structure(rng, n, *, most=3, leave_out=0.2):
    """Draw parents along a random order; some features are left out."""
    order = rng.permutation(n)
    kept = [int(f) for f in order if rng.random() >= leave_out]
    structure = [None] * n
    for place, feature in enumerate(kept):
        size = min(place, int(rng.integers(0, most + 1)))
        structure[feature] = tuple(sorted(rng.choice(kept[:place], size, replace=False).tolist())) if size else ()
    return tuple(structure)


def as_dict(structure):
    return {f: parents for f, parents in enumerate(structure) if parents is not None}


def draw(rng, *, gaps=0.0, weighted=False, rows=40, states=(2, 3, 2, 3, 2, 3)):
    table = make_table(rng, states, rows, gaps=gaps, weighted=weighted)
    return table, naive.dealt_folds(rng.permutation(table.codes[-1]), int(rng.integers(2, 5)))


def recounted(table, folds, fold, family, smooth):
    feature, parents = family
    rest = folds != fold
    columns = (*parents, feature, table.schema.target)
    weights = None if table.weights is None else table.weights[rest]
    counts = naive.table(table.codes[:, rest], table.schema.cardinalities, columns, weights)
    return naive.smoothed(counts, len(parents), smooth)


@settings(max_examples=40)
@given(seeds, st.booleans(), st.sampled_from([0.0, 0.2]), st.sampled_from([0.0, 0.01, 1.0]))
def test_subtracted_counts_equal_recounted_ones(seed, weighted, gaps, smooth):
    rng = np.random.default_rng(seed)
    table, folds = draw(rng, gaps=gaps, weighted=weighted)
    evaluate = evaluator(table, folds, alpha=smooth)
    for family in ((0, ()), (1, (0,)), (3, (1, 2)), (4, (0, 2, 3))):
        found = evaluate.fold_cpts(family)
        assert len(found) == len(np.unique(folds))
        for fold in range(len(found)):
            assert np.array_equal(found[fold], recounted(table, folds, fold, family, smooth))


@settings(max_examples=25)
@given(seeds, st.booleans(), st.sampled_from([0.0, 0.25]), st.sampled_from([0.0, 0.01]))
def test_scores_after_many_steps_equal_those_from_scratch(seed, weighted, gaps, smooth):
    rng = np.random.default_rng(seed)
    table, folds = draw(rng, gaps=gaps, weighted=weighted, rows=24, states=(2, 3, 2, 2, 2))
    scoring = ("accuracy", "log-loss")[int(rng.integers(2))]
    options = {"alpha": smooth, "scoring": scoring}
    evaluate = evaluator(table, folds, **options)
    for _ in range(6):
        structure = random_structure(rng, 4)
        score = evaluate.score(structure)
        assert score == approx(evaluator(table, folds, **options).score(structure), abs=1e-9)
        if rng.random() < 0.5:
            evaluate.settle(structure)
            assert evaluate.score(structure) == approx(score, abs=1e-9)
    assert score == approx(naive.fold_score(table, folds, as_dict(structure), **options), abs=1e-9)


def test_impossible_rows_get_the_class_prior():
    """As the classifiers do: state 2 occurs in one row only, so that no fold model knows it."""
    table = make_table(np.random.default_rng(0), (3, 2), 6)
    table.codes[:] = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]], np.uint8)
    folds = np.array([0, 1, 0, 1, 0, 1])
    structure = ((),)
    assert evaluator(table, folds, alpha=0).score(structure) == naive.fold_score(
        table, folds, {0: ()}, alpha=0, scoring="accuracy"
    )
    impossible = np.isneginf(evaluator(table, folds, alpha=0).joints(structure)[0]).all(axis=1)
    assert impossible.tolist() == [False] * 5 + [True]
    assert evaluator(table, folds, alpha=0, scoring="log-loss").score((None,)) > -np.inf


def test_weights_are_repeats_within_a_fold():
    rng = np.random.default_rng(6)
    table, folds = draw(rng, gaps=0.1, rows=40)
    times = rng.integers(1, 4, 40)
    repeated = FoldEvaluator(np.repeat(table.codes, times, axis=1), table.schema, np.repeat(folds, times))
    weighted = FoldEvaluator(table.codes, table.schema, folds, weights=times.astype(float))
    for _ in range(8):
        structure = random_structure(rng, 5)
        assert weighted.score(structure) == approx(repeated.score(structure), abs=1e-12)


def test_classes_that_tie_go_to_the_first():
    codes = np.array([[0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 0, 1, 1]], np.uint8)
    table = make_table(np.random.default_rng(0), (2, 2), 8)
    table.codes[:] = codes
    assert evaluator(table, np.repeat([0, 1], 4)).score(((),)) == 0.5


@pytest.mark.parametrize("smooth", [-1, "1", None, True, float("nan"), float("inf")])
def test_a_bad_smoothing_raises_an_error(smooth):
    table, folds = draw(np.random.default_rng(0))
    with pytest.raises(tb.errors.OptionError, match="alpha must be a number"):
        evaluator(table, folds, alpha=smooth)


def test_a_bad_scoring_raises_an_error():
    table, folds = draw(np.random.default_rng(0))
    with pytest.raises(tb.errors.OptionError, match=r"scoring must be one of .*Did you mean 'log-loss'"):
        evaluator(table, folds, scoring="logloss")
