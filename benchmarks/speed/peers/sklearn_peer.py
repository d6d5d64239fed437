"""scikit-learn's CategoricalNB, which takes the same integer array as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np

from benchmarks.speed.data import Table
from benchmarks.speed.runner import Work, timed

NAME = "scikit-learn CategoricalNB"
INSTALL = "pip install scikit-learn"


def available() -> str | None:
    return None if find_spec("sklearn") else "not installed"


def version() -> str:
    import sklearn

    return sklearn.__version__


@contextmanager
def nb_fit(table: Table) -> Iterator[Work]:
    from sklearn.naive_bayes import CategoricalNB

    yield timed(lambda: CategoricalNB().fit(table.X, table.y))


@contextmanager
def nb_predict(table: Table, X: np.ndarray) -> Iterator[Work]:
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=table.states).fit(table.X, table.y)
    yield timed(lambda: model.predict_proba(X))
