"""Conformal prediction sets: as many classes as it takes to hold the right one with a probability that is asked for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Floats
from tanbark.checks import check_count, check_fraction
from tanbark.errors import InputError, OptionError, UnseenCategoryWarning
from tanbark.estimators import inputs
from tanbark.estimators.scikit import check_is_fitted
from tanbark.table.frames import make_frame

MOST_KEPT = 10_000  # scores; of more, every second, every third, … is kept, which makes sets larger, never smaller
LARGEST = 1e300  # in place of an infinite score


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """A set of classes for every row; as an array, ``members``.

    Attributes
    ----------
    members : (n_rows, n_classes) array of bool
        Whether a class is in the set of a row, in the order of ``classes``.
    classes : array of the labels
    coverage : float
        The probability with which a set holds the right class.
    """

    members: Bools
    classes: NDArray[Any]
    coverage: float

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of classes in every set."""
        return np.asarray(self.members.sum(axis=1), np.int64)

    def labels(self) -> list[list[Any]]:
        """Return the labels in every set."""
        return [self[row] for row in range(len(self))]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Return a frame with a column for each class; ``backend`` is "pandas", "polars" or "pyarrow"."""
        return make_frame({str(label): self.members[:, c] for c, label in enumerate(self.classes.tolist())}, backend)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.members, dtype=dtype, copy=True if copy is None else copy)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, row: int) -> list[Any]:
        found: list[Any] = self.classes[self.members[row]].tolist()
        return found

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.labels())

    def __repr__(self) -> str:
        mean = float(self.sizes.mean()) if len(self) else math.nan
        return f"PredictionSets({len(self)} rows, coverage {self.coverage:g}, {mean:.2f} classes on average)"


class SetPrediction:
    """What lets a classifier predict sets of classes."""

    classes_: NDArray[Any]
    set_scores_: Floats

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities."""
        raise AssertionError("every classifier predicts")

    def calibrate_sets(self, X: Any, y: Any, *, cv: Any = 10, random_state: Any = 0) -> Self:
        """Find how probable a class must be to enter the sets of ``predict_set``.

        Parameters
        ----------
        X, y : the training rows and their labels, or rows that training has not seen
        cv : int or splitter, default 10; or None
            A number of stratified folds, or a splitter of scikit-learn: the model is learnt again without each fold,
            cut points and structure too, and predicts it. With None, the rows must be others than the training rows,
            and nothing is learnt.
        random_state : int or None, default 0
            How rows are dealt to folds.

        Notes
        -----
        The score of a row is the log-odds of its label. With rows that training has not seen, sets hold the right class
        with at least the probability asked for, whatever the model, if rows are exchangeable (Vovk, Gammerman and
        Shafer 2005, section 4.1). With folds, this holds nearly: the model has learnt from a few rows more than those
        that scored its rows, and its sets are rather too large than too small, the more so the fewer folds there are.
        Every row counts once.

        :class:`Classifier` calibrates its sets in ``fit``, on the rows that it holds out. Models of half as many rows
        score them as well, and every quantile of the scores is extrapolated to all rows, as if it changed as 1 / rows
        does. Calling this method replaces that by folds.
        """
        check_is_fitted(self)
        proba, codes = self._held_out(X, y) if cv is None else self._by_folds(X, y, cv, random_state)
        if not len(codes):
            msg = "There are no rows to calibrate prediction sets on."
            raise InputError(msg)
        self._keep_scores(proba, codes)
        return self

    def _keep_scores(
        self, proba: Floats, codes: NDArray[np.int64], *, fewer: Floats | None = None, factor: float = 0.0
    ) -> None:
        """Keep the scores of rows that were not learnt from: their class probabilities and labels.

        If ``fewer`` has probabilities of the same rows by models of fewer rows, every quantile of the scores is
        extrapolated: it moves by ``factor`` times its distance from the same quantile of their scores.
        """
        scores = label_scores(proba, codes)
        if fewer is not None:
            scores = extrapolate(scores, label_scores(fewer, codes), factor)
        step = -(-len(scores) // MOST_KEPT)
        self.set_scores_ = np.clip(scores[step - 1 :: step], -LARGEST, LARGEST)

    def predict_set(self, X: Any, *, coverage: float = 0.9, allow_empty: bool = False) -> PredictionSets:
        """Return a set of classes for every row that holds the right one with a probability of ``coverage``.

        :meth:`calibrate_sets` comes first. Sets are as small as the model allows: one class where it is sure, several
        where it is not. The probability is over rows, not for each row.

        Parameters
        ----------
        X : rows
        coverage : float, default 0.9
            Above 0 and below 1. A higher one never takes a class out of a set.
        allow_empty : bool, default False
            Whether a set may be empty. By default the most probable class is in every set, so that the coverage is at
            least the accuracy; with True it is close to what was asked for, and the rows of which no class is probable
            enough have none.

        Examples
        --------
        >>> import tanbark as tb
        >>> X, y = [["a"], ["b"], ["b"], ["c"]] * 25, ["yes", "yes", "no", "no"] * 25
        >>> clf = tb.NaiveBayes().fit(X, y).calibrate_sets(X, y)
        >>> clf.predict_set([["a"], ["b"]], coverage=0.9).labels()
        [['yes'], ['no', 'yes']]
        """
        check_is_fitted(self)
        wanted = check_fraction("coverage", coverage, inside=True)
        if not hasattr(self, "set_scores_"):
            msg = (
                "Prediction sets need to be calibrated once: call calibrate_sets(X, y) with the training rows, or with "
                "cv=None and labelled rows that were not used in training."
            )
            raise OptionError(msg)
        proba = self.predict_proba(X)
        rank = math.ceil((len(self.set_scores_) + 1) * wanted - 1e-9)
        limit = self.set_scores_[rank - 1] if rank <= len(self.set_scores_) else LARGEST
        members = np.clip(-_log_odds(proba), -LARGEST, LARGEST) <= limit
        if not allow_empty:
            empty = np.flatnonzero(~members.any(axis=1))
            members[empty, proba[empty].argmax(axis=1)] = True
        return PredictionSets(members, self.classes_, wanted)

    def _held_out(self, X: Any, y: Any) -> tuple[Floats, NDArray[np.int64]]:
        proba, (_, codes) = self.predict_proba(X), inputs.read_labels(y, self.classes_)
        if len(proba) != len(codes):
            msg = f"X has {len(proba)} rows and y has {len(codes)} labels; they must be as many."
            raise InputError(msg)
        return proba, codes

    def _by_folds(self, X: Any, y: Any, cv: Any, random_state: Any) -> tuple[Floats, NDArray[np.int64]]:
        from tanbark.estimators.reports.validation import cross_validate_network

        if isinstance(cv, str) or not hasattr(cv, "split"):
            check_count("cv, where it is neither None nor a splitter,", cv, least=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            warnings.filterwarnings("ignore", message="The least populated class")
            found = cross_validate_network({"model": self}, X, y, cv=cv, random_state=random_state)
        assert found.classes is not None
        proba, codes = found.probabilities["model"], np.searchsorted(found.classes, np.asarray(found.labels))
        tested = ~np.isnan(proba[:, 0])
        return proba[tested], codes[tested]


def label_scores(proba: Floats, codes: NDArray[np.int64]) -> Floats:
    """Return the negative log-odds of the labels, in rising order."""
    return np.clip(np.sort(-_log_odds(proba)[np.arange(len(codes)), codes]), -LARGEST, LARGEST)


def extrapolate(scores: Floats, fewer: Floats, factor: float) -> Floats:
    r"""Extrapolate the quantiles of scores to models of more rows: :math:`q + f (q - q')`, in rising order.

    If what a model loses for want of rows falls as 1 / rows, its scores with n rows follow from those with
    :math:`m` and :math:`m' < m` rows by :math:`f = (1/m - 1/n) / (1/m' - 1/m)`. Scores that are infinite stay.

    >>> extrapolate(np.array([-2.0, 0.0, 1.0]), np.array([-1.0, 0.0, 3.0]), 0.5).tolist()
    [-2.5, 0.0, 0.0]
    """
    known = (np.abs(scores) < LARGEST) & (np.abs(fewer) < LARGEST)
    moved = np.where(known, scores + factor * (scores - np.where(known, fewer, scores)), scores)
    return np.sort(moved)


def _log_odds(proba: Floats) -> Floats:
    """Return the log-odds of every class, (n_rows, n_classes); the odds of the most probable one without cancellation.

    >>> _log_odds(np.array([[1.0, 1e-30], [0.5, 0.5]])).round(2).tolist()
    [[69.08, -69.08], [0.0, 0.0]]
    """
    rows, top = np.arange(len(proba)), proba.argmax(axis=1)
    rest = 1.0 - proba
    others = proba.copy()
    others[rows, top] = 0.0
    rest[rows, top] = others.sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(proba) - np.log(rest))
