"""Cross-validation of several models on the same folds, with the structure learnt anew in each fold or once for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tanbark.display import html_table, text_table
from tanbark.errors import InputError, OptionError
from tanbark.estimators.classifier import TableClassifier
from tanbark.estimators.models.fixed import FixedStructure
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.reports.comparison import Comparison, compare_scores
from tanbark.estimators.reports.measures import measure
from tanbark.estimators.scikit import clone, is_sparse
from tanbark.table.frames import make_frame
from tanbark.table.raw import read_once

MEASURES = ("accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "seconds")
METRICS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "log_loss": "log-loss, nats per row",
    "brier": "Brier score", "auc": "area under the ROC curve", "seconds": "seconds to fit and predict",
}  # fmt: skip
BETTER_LOWER = ("log_loss", "brier", "seconds")


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The measures of every model in every fold: ``scores[model][measure]`` is an array over the folds.

    ``probabilities[model]`` holds the class probabilities of every row from the fold that tested it (the mean of
    several, NaN where none did), with the columns of ``classes``; ``labels`` are the rows' own.
    """

    scores: dict[str, dict[str, NDArray[np.float64]]]
    probabilities: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    classes: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    test_ratio: float = 1.0

    def compare(self, measure: str = "accuracy", *, significance: float = 0.05) -> Comparison:
        """Rank the models and test their differences, allowing for folds that share their training rows."""
        if measure not in MEASURES:
            msg = f"measure must be one of {list(MEASURES)}; got {measure!r}."
            raise OptionError(msg)
        return compare_scores(
            {name: found[measure] for name, found in self.scores.items()}, test="resampled-t",
            significance=significance, higher_is_better=measure not in BETTER_LOWER, test_ratio=self.test_ratio,
            metric=METRICS[measure],
        )  # fmt: skip

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a line per model and fold; ``backend`` is "pandas", "polars" or "pyarrow"."""
        lines = [(model, fold) for model, found in self.scores.items() for fold in range(len(found["accuracy"]))]
        data: dict[str, Any] = {"model": [model for model, _ in lines], "fold": [fold for _, fold in lines]}
        for key in MEASURES:
            data[key] = [float(self.scores[model][key][fold]) for model, fold in lines]
        return make_frame(data, backend)

    def __str__(self) -> str:
        """Write a table of means, the most accurate model first; arrows point to where a measure is better."""
        heads, lines = self._cells()
        return text_table(heads, lines, most=len(lines))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        ranked = sorted(self.scores.items(), key=lambda item: -item[1]["accuracy"].mean())
        lines = [[name, *(f"{found[measure].mean():.4f}" for measure in MEASURES)] for name, found in ranked]
        return ["model", *map(_title, MEASURES)], lines

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads, lines = self._cells()
        folds = len(next(iter(self.scores.values()))["accuracy"])
        title = f"Means over {folds} folds; ↑ higher is better, ↓ lower is better"
        return html_table(title, heads, lines, most=len(lines))


def _title(measure: str) -> str:
    return f"{measure.replace('_', ' ')} {'↓' if measure in BETTER_LOWER else '↑'}"


def cross_validate_network(
    models: Any, X: Any, y: Any, *, relearn_structure: bool = True, cv: Any = 10, random_state: Any = None,
    progress: Callable[[str], object] | None = None,
) -> CrossValidation:  # fmt: skip
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
    progress : callable, optional
        Called with the name of a model after each of its folds.

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
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(cv, shuffle=True, random_state=random_state) if isinstance(cv, int) else cv
    if not relearn_structure:
        named = {name: _with_structure(model, X, y) for name, model in named.items()}
    if all(isinstance(model, TableClassifier) for model in named.values()):
        X = read_once(X)
    labels = np.asarray(y)
    try:
        splits = [(train, test) for train, test in splitter.split(np.zeros((len(labels), 1)), labels)]
    except ValueError as error:
        msg = f"The rows cannot be dealt out to the folds: {error}"
        raise InputError(msg) from None
    classes = np.unique(labels)
    scores: dict[str, dict[str, list[float]]] = {name: {measure: [] for measure in MEASURES} for name in named}
    sums = {name: np.zeros((len(labels), len(classes))) for name in named}
    times = np.zeros((len(labels), 1))
    for train, test in splits:
        X_train, y_train, X_test = _take(X, train), _take(y, train), _take(X, test)
        times[test] += 1
        for name, model in named.items():
            proba, seconds = _predict(model, X_train, y_train, X_test, classes)
            sums[name][test] += proba
            for key, value in {**measure(labels[test], proba, classes), "seconds": seconds}.items():
                scores[name][key].append(value)
            if progress is not None:
                progress(name)
    with np.errstate(invalid="ignore"):
        means = {name: total / times for name, total in sums.items()}
    return CrossValidation(
        {name: {m: np.array(v) for m, v in found.items()} for name, found in scores.items()}, means, classes, labels,
        float(np.mean([len(test) / len(train) for train, test in splits])),
    )  # fmt: skip


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
    """Choose rows of a frame, a series, an array, a sparse matrix or a list."""
    if nw.dependencies.is_pandas_dataframe(data) or nw.dependencies.is_pandas_series(data):
        return data.take(rows)
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows, :].to_native()
    if isinstance(frame, nw.Series):
        return frame[rows].to_native()
    return data[rows] if isinstance(data, np.ndarray) or is_sparse(data) else [data[row] for row in rows]


def _with_structure(model: Any, X: Any, y: Any) -> Any:
    """Return a classifier that has the structure which a model learns from all rows."""
    if not isinstance(model, NetworkClassifier):
        return model
    fitted = clone(model).fit(X, y)
    shared = {name: value for name, value in model.get_params(deep=False).items() if name in _SHARED}
    return FixedStructure(fitted.dag_.arcs(), **shared)


_SHARED = set(FixedStructure().get_params(deep=False)) - {"arcs"}


def _predict(
    model: TableClassifier, X: Any, y: Any, X_test: Any, classes: NDArray[Any]
) -> tuple[NDArray[np.float64], float]:
    """Fit and predict; a class that a fold does not have gets probability zero there."""
    begun = time.perf_counter()
    fitted = clone(model).fit(X, y)
    found = fitted.predict_proba(X_test)
    seconds = time.perf_counter() - begun
    proba = np.zeros((len(found), len(classes)))
    proba[:, np.searchsorted(classes, fitted.classes_)] = found
    return proba, seconds
