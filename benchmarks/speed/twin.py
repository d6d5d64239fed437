"""The slow twin of the wrapper searches: every candidate is refitted from the rows, fold by fold.

It scores structures as the evaluator that subtracts counts does, with one difference: a category that only held-out
rows have is unknown to the refitted model, which takes it as missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.speed.data import Table

Structure = tuple[tuple[int, ...] | None, ...]  # the feature parents of each feature; None for one that is left out

SMOOTH = 0.01  # what the wrappers add to every cell of the fold models unless told otherwise


class RefittingEvaluator:
    """Score structures by cross-validated accuracy with a classifier fitted anew for each fold."""

    best_possible = 1.0
    at_once = 1

    def __init__(self, table: Table, folds: np.ndarray) -> None:
        self.X, self.y, self.n_classes = table.X, table.y, table.n_classes
        self.splits = [(folds != fold, folds == fold) for fold in np.unique(folds)]

    def prefetch(self, structures: Sequence[Structure]) -> None:
        """Structures are scored one by one."""

    def settle(self, structure: Structure) -> None:
        """Nothing is remembered from one structure to the next."""

    def score(self, structure: Structure) -> float:
        kept = [f for f, parents in enumerate(structure) if parents is not None]
        arcs, X = _arcs(structure, kept), self.X[:, kept]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a category that only the held-out rows have
            return float(np.mean([self._accuracy(arcs, X, *split) for split in self.splits]))

    def _accuracy(self, arcs: list[tuple[str, str]], X: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
        import tanbark as tb

        y = self.y[train]
        if not arcs:
            return float((self.y[test] == np.bincount(y, minlength=self.n_classes).argmax()).mean())
        model = tb.FixedStructure(arcs, parameters=SMOOTH).fit(X[train], y)
        return float((model.predict(X[test]) == self.y[test]).mean())


def _arcs(structure: Structure, kept: list[int]) -> list[tuple[str, str]]:
    """The arcs among the columns that are kept, by the names that columns of an array have."""
    name = {f: f"x{place}" for place, f in enumerate(kept)}
    above = [(name[p], name[f]) for f in kept for p in structure[f] or ()]
    return [*above, *(("class", name[f]) for f in kept)]


@dataclass
class Recorder:
    """An evaluator that keeps every structure it is asked about, with its score."""

    evaluator: Any
    asked: list[tuple[Structure, float]] = field(default_factory=list)

    @property
    def best_possible(self) -> float:
        return self.evaluator.best_possible

    @property
    def at_once(self) -> int:
        return self.evaluator.at_once

    def prefetch(self, structures: Sequence[Structure]) -> None:
        self.evaluator.prefetch(structures)

    def settle(self, structure: Structure) -> None:
        self.evaluator.settle(structure)

    def score(self, structure: Structure) -> float:
        value = self.evaluator.score(structure)
        self.asked.append((structure, value))
        return value


class FastSearch:
    """A search as its estimator runs it, without what a fit does before and after it."""

    def __init__(self, learner: str, table: Table, folds: np.ndarray, tol: float) -> None:
        import tanbark as tb

        gap = np.iinfo(np.uint8).max
        codes = np.column_stack([np.nan_to_num(table.X, nan=gap), table.y]).astype(np.uint8).T
        self.codes, self.folds, self.tol = np.ascontiguousarray(codes), folds, tol
        self.learn = tb.LEARNERS[learner].learn
        self.counts = SimpleNamespace(schema=tb.NaiveBayes().fit(table.X, table.y).schema_)

    def run(self) -> None:
        self.learn(self.counts, evaluate=self._evaluator(), tol=self.tol)

    def candidates(self) -> list[tuple[Structure, float]]:
        """Every structure that the search looks at, with the score it finds for it."""
        recorder = Recorder(self._evaluator())
        self.learn(self.counts, evaluate=recorder, tol=self.tol)
        return recorder.asked

    def _evaluator(self) -> Any:
        from tanbark.evaluation.fold_scores import FoldEvaluator

        return FoldEvaluator(self.codes, self.counts.schema, self.folds, alpha=SMOOTH)


def spread(asked: list[Any], most: int) -> list[Any]:
    """Take some, evenly spread from the first to the last."""
    return [asked[k] for k in np.unique(np.linspace(0, len(asked) - 1, min(most, len(asked))).round().astype(int))]
