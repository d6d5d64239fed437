"""Cross-validated scores of structures for rows that are read in passes.

All structures of a step are scored together. One pass counts the families that they need, fold by fold, as far as these
are not known; another reads each row's log-joint by its own fold's model and adds up what is right. Of the rows, only
their folds are kept here, and only counts and sums travel.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Codes, Floats
from tanbark.counts import MemoryCounts, PartitionedCounts
from tanbark.counts.column_sets import cut
from tanbark.counts.partitioned.base import Query, Result, rows_changed
from tanbark.evaluation.fold_rows import KEPT_BYTES, FeatureFamily, FoldRows, feature_families, too_large, with_folds
from tanbark.evaluation.fold_scores import SURELY_ABOVE_ZERO, best_possible, check_scoring, log_prior
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.params import Laplace
from tanbark.structure.wrapper.search import Structure
from tanbark.table import CodedTable, Column, Schema

Folds = NDArray[np.integer]

BLOCK_CELLS = 1 << 17  # rows times classes that are scored at once


class FoldPasses:
    """Score structures by cross-validation, in passes; see :class:`FoldEvaluator` for the options.

    Parameters
    ----------
    counts : PartitionedCounts
    folds : (n_rows,) array
        The fold that each row is held out in, from 0, in the order of the rows; none is empty.
    """

    def __init__(
        self, counts: PartitionedCounts, folds: Folds, *, alpha: float = 0.01, scoring: str = "accuracy",
        max_cells: int | None = None,
    ) -> None:  # fmt: skip
        check_scoring(scoring, alpha)
        self._counts, self._schema = counts, counts.schema
        self._smoothing, self._scoring, self._max_cells = Laplace(alpha), scoring, max_cells
        self._n_folds = int(folds.max()) + 1
        self._folds_by_piece = np.split(folds, np.cumsum(counts.rows_by_piece)[:-1])
        self._name = hashlib.sha256(np.ascontiguousarray(folds).tobytes()).hexdigest()
        self._cpts: OrderedDict[FeatureFamily, Floats] = OrderedDict()
        self._by_fold: NDArray[np.number] | None = None
        self._scores: dict[Structure, float] = {}
        self.settle((None,) * self._schema.target)

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""
        return best_possible(self._scoring)

    @property
    def at_once(self) -> int:
        """How many structures can be prefetched at once: they take at most an eighth of the memory."""
        return max(64, self._counts.max_memory // (8 * (8 * self._schema.target + 256)))

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones are compared with."""
        self._settled, self._families = structure, feature_families(structure)
        self._scores = {}

    def score(self, structure: Structure) -> float:
        """Return the mean score over the folds."""
        if structure not in self._scores:
            self.prefetch([structure])
        return self._scores[structure]

    def prefetch(self, structures: Sequence[Structure]) -> None:
        """Score structures together: in two passes, or one where their families are known; more where memory lacks."""
        self._scores = {}
        small = []
        for structure in structures:
            if too_large(structure, self._families, self._schema, self._max_cells):
                self._scores[structure] = -math.inf
            else:
                small.append(structure)
        for batch, needed in self._batches(small):
            self._count_new(needed)
            self._score(batch, needed)

    def _batches(self, structures: Iterable[Structure]) -> Iterator[tuple[list[Structure], set[FeatureFamily]]]:
        """Cut structures into batches, each with the families it needs, whose CPTs fit in memory."""
        settled = self._cells(self._families)
        batch: list[Structure] = []
        needed, cells = set(self._families), settled
        for structure in structures:
            new = feature_families(structure) - needed
            if batch and cells + self._cells(new) > self._counts.most_cells:
                yield batch, needed
                batch, needed, cells = [], set(self._families), settled
                new = feature_families(structure) - needed
            batch.append(structure)
            needed |= new
            cells += self._cells(new)
        if batch:
            yield batch, needed

    def _cells(self, chosen: Iterable[FeatureFamily]) -> int:
        return sum(self._n_folds * math.prod(self._shape(family)) for family in chosen)

    def _shape(self, family: FeatureFamily) -> tuple[int, ...]:
        sizes = self._schema.cardinalities
        return tuple(sizes[column] for column in (*family[1], family[0], -1))

    def _pass_over(self, query: Query, name: str) -> NDArray[np.number]:
        """Compute a sum over all rows and their folds, in one pass."""
        found, n_rows = self._counts.sum_over(query, f"{name} {self._name}", self._folds_by_piece)
        if int(n_rows[0]) != int(self._counts.rows_by_piece.sum()):
            raise rows_changed()
        return found

    # ------------------------------------------------------------------ a pass that counts

    def _count_new(self, needed: set[FeatureFamily]) -> None:
        """Count the families that are needed and not known; others are forgotten where there is no room."""
        lacking = sorted(needed - self._cpts.keys())
        excess = self._cells(self._cpts) + self._cells(lacking) - self._counts.most_cells
        for family in [known for known in self._cpts if known not in needed]:
            if excess <= 0:
                break
            excess -= self._cpts.pop(family).size
        sizes = np.array([self._cells([family]) for family in lacking], np.int64)
        stretches = list(cut(sizes, self._counts.most_cells))
        if self._by_fold is None and not stretches:
            stretches = [(0, 0)]
        for low, high in stretches:
            self._count(lacking[low:high])

    def _count(self, lacking: list[FeatureFamily]) -> None:
        """Count families by fold, and first of all the class, in one pass."""
        from tanbark.evaluation import kernels as fold_kernels

        target = self._schema.target
        sets = [(target + 1, *parents, feature, target) for feature, parents in lacking]
        if self._by_fold is None:
            sets.append((target + 1, target))
        count = _CountFolds(self._schema, self._n_folds, sets)
        flat = self._pass_over(count, f"folds {sets}")
        low = 0
        for family in lacking:
            shape = self._shape(family)
            high = low + self._n_folds * math.prod(shape)
            table = flat[low:high].reshape(self._n_folds, -1).astype(np.float64)
            fold_kernels.smooth_folds(table, shape[-2], shape[-1], float(self._smoothing.alpha))
            self._cpts[family] = table.reshape(self._n_folds, *shape)
            low = high
        if self._by_fold is None:
            self._by_fold = flat[low:].reshape(self._n_folds, -1)

    # ------------------------------------------------------------------ a pass that scores

    def _score(self, batch: list[Structure], needed: set[FeatureFamily]) -> None:
        assert self._by_fold is not None
        for family in needed:
            self._cpts.move_to_end(family)
        cpts = {family: self._cpts[family] for family in needed}
        task = _ScoreFolds(
            self._schema, log_prior(self._by_fold, self._smoothing), cpts, self._settled, batch, self._scoring,
            may_vanish=float(self._smoothing.alpha) < SURELY_ABOVE_ZERO, kept_bytes=self._counts.max_memory // 8,
        )  # fmt: skip
        sums = self._pass_over(task, f"scores {self._smoothing} {self._scoring} {self._settled} {batch}")
        weight = self._by_fold.sum(axis=1)
        for structure, found in zip(batch, sums, strict=True):
            self._scores[structure] = float((found / weight).mean())


@dataclass(frozen=True, eq=False)
class _CountFolds:
    """Contingency tables of rows and their folds; the column past the class is the fold."""

    schema: Schema
    n_folds: int
    sets: list[tuple[int, ...]]

    def __call__(self, part: MemoryCounts, folds: Folds, before: int) -> Result:
        table = part.table
        codes = with_folds(table.codes, _own(folds, before, part.n_rows), self.n_folds)
        name = max(self.schema.names, key=len) + " fold"  # none of theirs is as long
        columns = (*self.schema.columns, Column(name, "category", "number", tuple(range(self.n_folds))))
        wide = MemoryCounts(CodedTable(Schema(columns), codes, table.weights), n_jobs=part.n_jobs)
        return [np.concatenate([counts.ravel() for counts in wide.tables(self.sets)]), np.array([part.n_rows])]


@dataclass(frozen=True, eq=False)
class _ScoreFolds:
    """Scores of structures on rows, summed by fold."""

    schema: Schema
    prior: Floats
    cpts: Mapping[FeatureFamily, Floats]
    settled: Structure
    structures: list[Structure]
    scoring: str
    may_vanish: bool
    kept_bytes: int

    def __call__(self, part: MemoryCounts, folds: Folds, before: int) -> Result:
        own, table, threads = _own(folds, before, part.n_rows), part.table, thread_count(part.n_jobs)

        def work(low: int, high: int) -> Floats:
            weights = None if table.weights is None else table.weights[low:high]
            room = min(KEPT_BYTES, self.kept_bytes // threads)
            rows = _GivenModels(self, table.codes[:, low:high], own[low:high], weights, room)
            rows.settle(self.settled)
            return np.stack([rows.fold_sums(structure, self.scoring) for structure in self.structures])

        step = max(1024, BLOCK_CELLS // self.prior.shape[1])
        found = run_threads(work, blocks(part.n_rows, step), threads)
        return [np.sum(found, axis=0), np.array([part.n_rows])]


class _GivenModels(FoldRows):
    """Rows with models that come from all rows, not from these."""

    def __init__(self, task: _ScoreFolds, codes: Codes, folds: Folds, weights: Floats | None, room: int) -> None:
        self._task = task
        super().__init__(
            codes, task.schema, folds, n_folds=len(task.prior), weights=weights, may_vanish=task.may_vanish,
            kept_bytes=room,
        )  # fmt: skip

    def fold_cpts(self, family: FeatureFamily) -> Floats:
        return self._task.cpts[family]

    def _log_prior(self) -> Floats:
        return self._task.prior


def _own(folds: Folds, before: int, n_rows: int) -> Folds:
    """Return the folds of the rows of a part, from those of its piece."""
    own = folds[before : before + n_rows]
    if len(own) != n_rows:
        raise rows_changed()
    return own
