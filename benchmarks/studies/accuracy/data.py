"""Data sets, splits, masks of missing values, and subsets of training rows: the same for every method."""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

LEFT_OUT = ("sms-spam",)  # a text corpus
MOST_ROWS = 10_000
FEWEST_OF_A_CLASS = 5
FOLDED = 1_500  # sets of at most as many rows are split into five folds
ONE_SPLIT = ("micro-mass",)  # a small set of more than a thousand columns

CONDITIONS = (("random", 0), ("random", 10), ("random", 30), ("random", 50), ("not-random", 30))
COMPLETE = CONDITIONS[0]


class Table(NamedTuple):
    """A data set: raw columns, class codes 0 to n_classes - 1, and which columns hold numbers."""

    X: pd.DataFrame
    y: np.ndarray
    numeric: np.ndarray
    n_classes: int


def names(folder: Path) -> list[str]:
    """List the data sets of a folder."""
    found = sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
    return [name for name in found if name not in LEFT_OUT]


@cache
def load(folder: Path, name: str) -> Table:
    """Read a data set: empty cells are missing, a column is numeric if all others are numbers; drop constant columns.

    Classes of fewer than five rows are dropped; of more than 10,000 rows, as many are drawn once.
    """
    frame = frequent(pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False))
    if len(frame) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame = frequent(frame.iloc[np.sort(rows)].reset_index(drop=True))
    classes, y = np.unique(frame.pop("class").to_numpy().astype(str), return_inverse=True)
    columns = {column: _column(frame[column].to_numpy().astype(object)) for column in frame}
    X = pd.DataFrame({key: values for key, values in columns.items() if values.nunique() > 1})
    numeric = np.array([values.dtype != object for _, values in X.items()])
    return Table(X, y, numeric, len(classes))


def frequent(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop the rows of classes that have fewer than five."""
    rows = frame.groupby("class")["class"].transform("size")
    return frame[rows >= FEWEST_OF_A_CLASS].reset_index(drop=True)


def _column(cells: np.ndarray) -> pd.Series:
    empty = cells == ""
    try:
        numbers = np.full(len(cells), np.nan)
        numbers[~empty] = cells[~empty].astype(float)
        return pd.Series(numbers)
    except ValueError:
        words = cells.copy()
        words[empty] = None
        return pd.Series(words, dtype=object)


def splits(name: str, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows: five stratified folds up to 1,500 rows, beyond that one split of 70 to 30."""
    rows = np.zeros(len(y))
    if len(y) > FOLDED:
        return [next(StratifiedShuffleSplit(3, test_size=0.3, random_state=0).split(rows, y))]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y))
    return folds[:1] if name in ONE_SPLIT else folds


def subset(name: str, split: int, train: np.ndarray, rows: int) -> np.ndarray:
    """Draw training rows at random, larger subsets holding the smaller ones; 0 stands for all."""
    if rows == 0:
        return train
    order = np.random.default_rng([zlib.crc32(name.encode()), split, 1]).permutation(len(train))
    return np.sort(train[order[:rows]])


def mask(name: str, split: int, condition: tuple[str, int], train: pd.DataFrame, test: pd.DataFrame) -> np.ndarray:
    """Choose the test values that are removed, a matrix of rows and columns.

    At random: each with the same probability p. Not at random: with probability 2 p r, where r in [0, 1] is the place
    of the value in the training column, numbers in rising order and categories from the most frequent to the rarest,
    so that large numbers and rare categories are missing more often and the mean probability is about p.
    """
    mechanism, percent = condition
    draws = np.random.default_rng([zlib.crc32(name.encode()), split]).random(test.shape)
    if mechanism == "random":
        return draws < percent / 100
    places = np.column_stack([place(train[column], test[column]) for column in test])
    return draws < 2 * percent / 100 * places


def place(train: pd.Series, test: pd.Series) -> np.ndarray:
    """Return the fraction of training values before each test value plus half of those equal to it (missing: 0.5).

    Numbers rank by size, categories from the most frequent to the rarest (ties: the earlier word); an unseen category
    is the rarest.

    >>> place(pd.Series([1.0, 2.0, 2.0, 4.0]), pd.Series([0.0, 2.0, 4.0, np.nan])).tolist()
    [0.0, 0.5, 0.875, 0.5]
    >>> words = pd.Series(["a", "b", "b", None], dtype=object)
    >>> place(words, pd.Series(["b", "a", "c"], dtype=object)).round(3).tolist()
    [0.333, 0.833, 1.0]
    """
    known = train.dropna().to_numpy()
    values = np.asarray(test, train.dtype)
    if train.dtype == object:
        words, counts = np.unique(known.astype(str), return_counts=True)
        rank = {word: k for k, word in enumerate(words[np.argsort(-counts, kind="stable")])}
        known = np.array([rank[str(word)] for word in known], float)
        values = np.array([np.nan if word is None else rank.get(str(word), len(rank)) for word in values], float)
    ordered = np.sort(known)
    halves = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.where(np.isnan(values), 0.5, halves / max(2 * len(ordered), 1))


def blank(X: pd.DataFrame, removed: np.ndarray) -> pd.DataFrame:
    """Return a copy of the columns without some values, numbered from row 0."""
    out = {}
    for j, column in enumerate(X):
        values = X[column].to_numpy().copy()
        values[removed[:, j]] = None if values.dtype == object else np.nan
        out[column] = pd.Series(values, dtype=values.dtype)
    return pd.DataFrame(out)


def describe(folder: Path, name: str) -> dict:
    """Return the size of a data set and what tells one version of its file from another."""
    X, y, numeric, n_classes = load(folder, name)
    code = hashlib.sha256((folder / f"{name}.csv.gz").read_bytes()).hexdigest()[:16]
    return {
        "rows": len(y), "columns": X.shape[1], "numeric": int(numeric.sum()), "classes": n_classes,
        "splits": len(splits(name, y)), "train": len(splits(name, y)[0][0]), "hash": code,
    }  # fmt: skip
