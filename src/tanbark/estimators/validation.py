"""Cross-validation of several models on the same folds, with the structure learnt anew in each fold or once for all."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from tanbark.errors import OptionError
from tanbark.estimators.base import TableClassifier
from tanbark.estimators.classifiers import FixedStructure
from tanbark.estimators.network_classifier import NetworkClassifier
from tanbark.graph.frames import make_frame

MEASURES = ("accuracy", "balanced_accuracy", "log_loss", "seconds")


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The measures of every model in every fold: ``scores[model][measure]`` is an array over the folds."""

    scores: dict[str, dict[str, NDArray[np.float64]]]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Give a frame with a line per model and fold; ``backend`` is "pandas", "polars" or "pyarrow"."""
        lines = [(model, fold) for model, found in self.scores.items() for fold in range(len(found["accuracy"]))]
        data: dict[str, Any] = {"model": [model for model, _ in lines], "fold": [fold for _, fold in lines]}
        for measure in MEASURES:
            data[measure] = [float(self.scores[model][measure][fold]) for model, fold in lines]
        return make_frame(data, backend)

    def __str__(self) -> str:
        """Write a table of means, the most accurate model first."""
        width = max(len("model"), *(len(name) for name in self.scores))
        head = f"{'model':<{width}}" + "".join(f"{measure.replace('_', ' '):>20}" for measure in MEASURES)
        ranked = sorted(self.scores.items(), key=lambda item: -item[1]["accuracy"].mean())
        lines = [
            f"{name:<{width}}" + "".join(f"{found[measure].mean():>20.4f}" for measure in MEASURES)
            for name, found in ranked
        ]
        return "\n".join([head, "─" * len(head), *lines])

    def __repr__(self) -> str:
        return str(self)


def cross_validate_network(
    models: Any, X: Any, y: Any, *, relearn_structure: bool = True, cv: Any = 10, random_state: Any = None
) -> CrossValidation:
    """Cross-validate one or several classifiers on the same folds.

    Parameters
    ----------
    models : classifier, list of classifiers, or mapping from names to them
    X, y : rows and labels
    relearn_structure : bool, default True
        Whether each fold learns its own structure. With False the structure is learnt once from all rows, and only
        parameters (and cut points) are learnt in the folds: quicker, and too hopeful, since the structure has seen the
        rows that it is tested on.
    cv : int or splitter, default 10
        A number of stratified, shuffled folds, or a splitter of scikit-learn.
    random_state : int, RandomState or None

    Examples
    --------
    >>> import tanbark as tb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = tb.cross_validate_network([tb.NaiveBayes(), tb.TAN()], X, y, cv=3, random_state=0)
    >>> sorted(result.scores)
    ['NaiveBayes()', 'TAN()']
    """
    named = _named(models)
    splitter = StratifiedKFold(cv, shuffle=True, random_state=random_state) if isinstance(cv, int) else cv
    if not relearn_structure:
        named = {name: _with_structure(model, X, y) for name, model in named.items()}
    scores: dict[str, dict[str, list[float]]] = {name: {measure: [] for measure in MEASURES} for name in named}
    for train, test in splitter.split(np.zeros((len(y), 1)), np.asarray(y)):
        parts = [_take(part, rows) for rows in (train, test) for part in (X, y)]
        for name, model in named.items():
            for measure, value in _evaluate(model, *parts).items():
                scores[name][measure].append(value)
    return CrossValidation({name: {m: np.array(v) for m, v in found.items()} for name, found in scores.items()})


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        return dict(models)
    several = list(models) if isinstance(models, Sequence) else [models]
    if not several or not all(hasattr(model, "fit") and hasattr(model, "predict_proba") for model in several):
        msg = f"models must be a classifier, or a list of them, or a mapping from names to them; got {models!r:.80}."
        raise OptionError(msg)
    names = [" ".join(repr(model).split()) for model in several]
    return {
        n if names.count(n) == 1 else f"{n} #{k}": model
        for k, (n, model) in enumerate(zip(names, several, strict=True))
    }


def _take(data: Any, rows: NDArray[np.int64]) -> Any:
    """Choose rows of a frame, a series, an array or a list."""
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows, :].to_native()
    if isinstance(frame, nw.Series):
        return frame[rows].to_native()
    return data[rows] if isinstance(data, np.ndarray) else [data[row] for row in rows]


def _with_structure(model: Any, X: Any, y: Any) -> Any:
    """Give a classifier that has the structure which a model learns from all rows."""
    if not isinstance(model, NetworkClassifier):
        return model
    fitted = clone(model).fit(X, y)
    shared = {name: value for name, value in model.get_params(deep=False).items() if name in _SHARED}
    return FixedStructure(fitted.dag_.arcs(), **shared)


_SHARED = set(FixedStructure().get_params(deep=False)) - {"arcs"}


def _evaluate(model: TableClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, float]:
    begun = time.perf_counter()
    fitted = clone(model).fit(X, y)
    proba = fitted.predict_proba(X_test)
    seconds = time.perf_counter() - begun
    guess = fitted.classes_[proba.argmax(axis=1)]
    return {
        "accuracy": float(accuracy_score(y_test, guess)),
        "balanced_accuracy": float(balanced_accuracy_score(y_test, guess)),
        "log_loss": float(log_loss(y_test, proba, labels=fitted.classes_)),
        "seconds": seconds,
    }
