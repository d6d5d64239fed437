"""Folds: stratified, of a splitter, or one per row."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError, OptionError
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.evaluation.folds import make_evaluator, make_folds

LABELS = np.array([0, 1, 1, 0, 1, 1, 0, 1, 1, 1])


def test_stratified_folds_hold_every_class_alike():
    folds = make_folds(3, LABELS, 0)
    assert np.array_equal(folds, make_folds(3, LABELS, 0))
    for label in (0, 1):
        sizes = np.bincount(folds[label == LABELS], minlength=3)
        assert sizes.max() - sizes.min() <= 1


def test_splitters_and_folds_by_row():
    assert make_folds(KFold(5), LABELS, None).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    by_name = list("abbaabbacc")
    assert make_folds(by_name, LABELS, None).tolist() == [0, 1, 1, 0, 0, 1, 1, 0, 2, 2]
    numbers = np.array([7, 7, 3, 3, 3, 7, 7, 3, 3, 3])
    assert np.array_equal(make_folds(PredefinedSplit(numbers), LABELS, None), make_folds(numbers, LABELS, None))
    kept = np.arange(12) < 10
    assert len(make_folds([0, 1] * 6, LABELS, None, lambda: kept)) == 10


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        (1, OptionError, "at least 2"),
        (11, InputError, "n_samples=10"),
        ([0, 1], OptionError, "one fold per row"),
        ("ab", OptionError, "one fold per row"),
        ([0] * 10, OptionError, "only one fold"),
        (ShuffleSplit(3, random_state=0), OptionError, "once"),
        ([0.0] * 9 + [np.nan], OptionError, "without missing values"),
    ],
)
def test_wrong_folds_raise_an_error(cv, error, message):
    with pytest.raises(error, match=message):
        make_folds(cv, LABELS, None)


def test_an_evaluator_of_rows_in_memory():
    table = make_table(np.random.default_rng(0), (2, 3, 2), 40)
    counts = MemoryCounts(table)
    found = make_evaluator(counts, counts, cv=4, alpha=0.01, scoring="accuracy", random_state=1)
    assert isinstance(found, FoldEvaluator)
    direct = FoldEvaluator(table.codes, table.schema, make_folds(4, table.codes[-1], 1))
    assert found.score(((), (0,))) == direct.score(((), (0,)))
