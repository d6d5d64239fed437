"""Fit a method on raw columns and return a function from raw columns to probabilities of all classes."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.model_selection import StratifiedKFold

from benchmarks.studies.accuracy.data import Table, blank
from benchmarks.studies.accuracy.measures import log_proba
from benchmarks.studies.accuracy.methods import Method

Predict = Callable[[pd.DataFrame], np.ndarray]

FEW_VALUES = 5  # logistic regression takes numbers of at most as many values for categories
FOLDS = 3  # of the cross-fitted temperature
MOST_SIMULATED = 0.6  # highest fraction of simulated missing values in a row


class View:
    """What a method is given of the columns; the categories are those of the training rows.

    ``raw``: columns as they are. ``few-valued``: the same, numbers of few values being categories. ``codes``: codes of
    categories as numbers, NaN where missing or unseen. ``categories``: the categorical type of pandas. ``words``:
    missing categories are a word of their own.
    """

    def __init__(self, train: pd.DataFrame, numeric: np.ndarray, kind: str) -> None:
        if kind not in VIEWS:
            msg = f"columns must be one of {sorted(VIEWS)}; got {kind!r}."
            raise ValueError(msg)
        self.kind = kind
        if kind == "few-valued":
            numeric = numeric & np.array([train[column].nunique() > FEW_VALUES for column in train])
        categories = list(train.columns[~numeric])
        self.order = list(train.columns)
        self.categorical = [self.order.index(column) for column in categories]
        self.levels = {column: sorted(train[column].dropna().unique()) for column in categories}

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the columns as the method takes them."""
        change = VIEWS[self.kind]
        out = {column: frame[column] for column in self.order}
        if change is not None:
            out |= {column: change(frame[column], levels) for column, levels in self.levels.items()}
        return pd.DataFrame(out)


def codes(values: pd.Series, levels: list) -> pd.Series:
    places = pd.Categorical(values, categories=levels).codes.astype(float)
    return pd.Series(np.where(places < 0, np.nan, places), index=values.index)


def categories(values: pd.Series, levels: list) -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=levels), index=values.index)


def words(values: pd.Series, levels: list) -> pd.Series:
    return values.where(values.notna(), "(missing)")


VIEWS: dict[str, Callable[[pd.Series, list], pd.Series] | None] = {
    "raw": None, "few-valued": None, "codes": codes, "categories": categories, "words": words,
}  # fmt: skip


def fit(method: Method, table: Table, *, seed: int = 0) -> Predict:
    """Fit a method, in its variant, on all rows of a table."""
    if method.variant == "simulated":
        return fit_plain(method, with_missing(table, seed))
    if method.variant == "tempered":
        return fit_tempered(method, table)
    return fit_plain(method, table)


def fit_plain(method: Method, table: Table) -> Predict:
    """Fit a classifier on the classes that occur; the others have probability zero."""
    view = View(table.X, table.numeric, method.columns)
    present, labels = np.unique(table.y, return_inverse=True)
    model = method.make(view.categorical)
    model.fit(view(table.X), labels)

    def predict(frame: pd.DataFrame) -> np.ndarray:
        out = np.zeros((len(frame), table.n_classes))
        out[:, present] = model.predict_proba(view(frame))
        return out

    return predict


def fit_tempered(method: Method, table: Table) -> Predict:
    """Raise probabilities to a power, fitted on those of three folds that were each predicted from the other two."""
    P = np.zeros((len(table.y), table.n_classes))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(P, table.y):
        P[test] = fit_plain(method, rows_of(table, train))(table.X.iloc[test].reset_index(drop=True))
    power = best_power(P, table.y)
    predict = fit_plain(method, table)
    return lambda frame: temper(predict(frame), power)


def best_power(P: np.ndarray, y: np.ndarray) -> float:
    """Return the power of the probabilities, from 1/50 to 50, that minimises the log-loss."""
    rows = np.arange(len(y))

    def loss(log_power: float) -> float:
        return float(-log_proba(temper(P, np.exp(log_power)))[rows, y].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-np.log(50), np.log(50)), method="bounded").x))


def temper(P: np.ndarray, power: float) -> np.ndarray:
    """Raise probabilities, which are at least the floor, to a power and normalise them."""
    scaled = power * log_proba(P)
    out = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return out / out.sum(axis=1, keepdims=True)


def with_missing(table: Table, seed: int) -> Table:
    """Append a copy of every row from which values are removed at random, each row at a rate of its own, 0 to 60 %."""
    rng = np.random.default_rng([zlib.crc32(b"simulated"), seed])
    rates = rng.uniform(0, MOST_SIMULATED, (len(table.y), 1))
    copies = blank(table.X, rng.random(table.X.shape) < rates)
    X = pd.concat([table.X.reset_index(drop=True), copies], ignore_index=True)
    return table._replace(X=X, y=np.concatenate([table.y, table.y]))


def rows_of(table: Table, rows: np.ndarray) -> Table:
    """Choose rows of a table, numbered from 0."""
    return table._replace(X=table.X.iloc[rows].reset_index(drop=True), y=table.y[rows])
