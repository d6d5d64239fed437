"""How every classifier learns: from tables, from files, step by step, and from counts alone."""

from __future__ import annotations

import math
from typing import Any, Self

from numpy.typing import NDArray

from tanbark.checks import check_count
from tanbark.counts import CountEngine, MemoryCounts, PartitionedCounts, StoredCounts, stored_cells
from tanbark.errors import OptionError, TableTooLargeError, find
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder
from tanbark.estimators.files.scan import as_scan, is_scan, note_schema, open_counts
from tanbark.estimators.options import TableOptions
from tanbark.estimators.reports.suspicious import check_choice
from tanbark.estimators.scikit import BaseEstimator, available_if, check_is_fitted
from tanbark.estimators.training import code_further, encode_training, read_training
from tanbark.params import Smoothing
from tanbark.table import CodedTable, Schema

KEPT_CELLS = 1 << 20  # counts of at most this many cells (8 MiB) are kept by fit, to be added to later


def _learns_from_counts(classifier: TableLearner) -> bool:
    """Allow learning step by step where the learner needs nothing but counts that can be kept."""
    if classifier._stored_order() == 0:
        msg = f"{type(classifier).__name__} with these options cannot learn from counts alone; use fit with all rows."
        raise AttributeError(msg)
    if classifier._fits_to_rows():
        msg = (
            f"{type(classifier).__name__} with temperature='auto' needs the rows; use fit with all of them, or give "
            "the temperature as a number, such as the temperature_ of a fitted model."
        )
        raise AttributeError(msg)
    return True


class TableLearner(TableOptions, BaseEstimator):
    """The learning half of a classifier: it reads rows, codes and counts them; a subclass turns counts into a model."""

    classes_: NDArray[Any]
    schema_: Schema
    encoder_: Encoder
    counts_: StoredCounts
    smoothing_: Smoothing
    n_parameters_: int

    # ------------------------------------------------------------------ what a subclass adds

    def _stored_order(self) -> int:
        """Return which counts suffice to learn without rows (see ``StoredCounts``); 0 for none."""
        raise AssertionError("every classifier says what it learns from")

    def _learn_structure(self, counts: CountEngine, rows: MemoryCounts | None) -> None:
        """Learn the structure from counts, and from rows if they are in memory; note the counts of its families."""
        raise AssertionError("every classifier learns")

    def _estimate(self, rows: MemoryCounts | None = None) -> Self:
        """Estimate the CPTs from the counts of the families, and from rows if they are in memory."""
        raise AssertionError("every classifier estimates")

    def _collects_rows(self, engine: PartitionedCounts) -> bool:
        """Return whether rows that are read in batches are to be brought into memory, because learning needs them."""
        return False

    def _fits_to_rows(self) -> bool:
        """Return whether a part of the model is fitted to the rows once the CPTs are there."""
        return False

    def _fit_to_rows(self, rows: MemoryCounts | PartitionedCounts) -> None:
        """Fit what needs a pass over the rows once the CPTs are there."""

    # ------------------------------------------------------------------ learning

    @inputs.all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features); or a file, a lazy frame or a :func:`tanbark.scan`
            Strings, numbers, booleans and categoricals; None, NaN and NA are missing values. Files and the like are
            read in batches, as often as the learner needs (``passes_``), and need not fit in memory.
        y : array-like of shape (n_rows,)
            Labels, none missing.
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts; for a file, the name of the column that says it.
        target : str
            For a file and the like, the name of the column with the labels.
        """
        self._check_options()
        for name in ("passes_", "sketch_errors_"):
            self.__dict__.pop(name, None)
        if target is None and not is_scan(X):
            by_feature = self._stored_order() == 1 and not self._fits_to_rows()
            found = read_training(self, X, y, sample_weight, by_feature=by_feature)
            return self._fit_table(found) if isinstance(found, CodedTable) else self._fit_stored(found)
        engine = open_counts(self, as_scan(X, target, y, sample_weight))
        counts = self._count(engine)
        self._fit_counts(counts, engine.collected() if self._collects_rows(engine) else None)
        self._fit_to_rows(engine)
        self.passes_ = engine.passes.total
        return self

    def _fit_stored(self, counts: StoredCounts) -> Self:
        """Learn from counts that suffice, and keep them."""
        self.counts_ = counts
        return self._fit_counts(counts)

    def _fit_table(self, table: CodedTable) -> Self:
        """Count coded rows, whose schema and classes are known, and learn from them."""
        rows = MemoryCounts(table, n_jobs=self.n_jobs)
        self._fit_counts(self._count(rows), rows)
        self._fit_to_rows(rows)
        return self

    def _count(self, engine: MemoryCounts | PartitionedCounts) -> CountEngine:
        """Return the counts that suffice to learn, kept in ``counts_``, if they are few; otherwise the engine."""
        self.__dict__.pop("counts_", None)
        order = self._stored_order()
        if order == 0 or stored_cells(self.schema_, order) > KEPT_CELLS:
            return engine
        self.counts_ = engine.stored(order)
        return self.counts_

    def _fit_counts(self, counts: CountEngine, rows: MemoryCounts | None = None) -> Self:
        """Learn the structure, then estimate its CPTs; prediction sets need a new calibration."""
        self.__dict__.pop("set_scores_", None)
        self._learn_structure(counts, rows)
        return self._estimate(rows)

    @available_if(_learns_from_counts)
    @inputs.all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows, without the earlier ones.

        The first call settles the columns, the cut points of continuous columns and the classes (give ``classes`` where
        the first rows may lack some); later calls add counts, and categories that are new.
        """
        self._check_options()
        if self.__sklearn_is_fitted__():
            earlier = self._stored_counts()
            further = self._count_further(X, y, sample_weight, grow=True)
            self.counts_ = earlier.grown(self.schema_) + further
        else:
            table = encode_training(self, X, y, sample_weight, classes)
            self.counts_ = self._keep(table)
        return self._fit_counts(self.counts_)

    @available_if(_learns_from_counts)
    @inputs.all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the model again, exactly, as if they had never been learnt.

        Columns, categories and cut points stay. Rows that were never learnt raise an error where the counts show it.
        """
        check_is_fitted(self)
        self._check_options()
        self.counts_ = self._stored_counts() - self._count_further(X, y, sample_weight, grow=False)
        return self._fit_counts(self.counts_)

    @available_if(_learns_from_counts)
    @inputs.all_or_nothing
    def fit_counts(self, counts: StoredCounts) -> Self:
        """Learn from counts alone: those of another model (``counts_``), or of several machines, added up.

        Parameters
        ----------
        counts : StoredCounts
            Their schema holds the columns, categories and classes.
        """
        self._check_options()
        if not isinstance(counts, StoredCounts) or counts.order < self._stored_order():
            have = f"counts of order {counts.order}" if isinstance(counts, StoredCounts) else type(counts).__name__
            msg = (
                f"{type(self).__name__} learns from StoredCounts of order {self._stored_order()}, such as the counts_ "
                f"of a model of its kind; got {have}."
            )
            raise OptionError(msg)
        self.counts_ = counts.stored(self._stored_order())
        note_schema(self, counts.schema)
        inputs.read_class_prior(self.class_prior, self.classes_)
        return self._fit_counts(self.counts_)

    def _stored_counts(self) -> StoredCounts:
        if not hasattr(self, "counts_"):
            msg = (
                f"This {type(self).__name__} keeps no counts to add to or to take from: it was loaded from a file, or "
                f"fit found more than {KEPT_CELLS:,} cells. To learn or forget step by step, begin with partial_fit."
            )
            raise OptionError(msg)
        if self.counts_.order != self._stored_order():
            msg = "The learner was changed after fit and asks for other counts. Call fit again."
            raise OptionError(msg)
        return self.counts_

    def _count_further(self, X: Any, y: Any, sample_weight: Any, *, grow: bool) -> StoredCounts:
        return self._keep(code_further(self, X, y, sample_weight, grow=grow))

    def _keep(self, table: CodedTable) -> StoredCounts:
        """Count all that learning step by step must keep, unless a table is too large."""
        order = self._stored_order()
        widest = sorted(table.schema.features, key=lambda column: -column.n_states)[:order]
        cells = math.prod(column.n_states for column in widest) * len(self.classes_)
        if cells > self.max_cells and order > 1:
            named = " and ".join(f"{column.name!r} ({column.n_states:,} states)" for column in widest)
            msg = (
                f"Learning step by step keeps a table for every {('', 'pair', 'triple')[order - 1]} of columns; that "
                f"of {named} with the class needs {cells:,} cells, above max_cells={self.max_cells:,}. Drop or group "
                "the column with most states, use fit with all rows, or raise max_cells."
            )
            raise TableTooLargeError(msg)
        return MemoryCounts(table, n_jobs=self.n_jobs).stored(order)

    def _check_options(self) -> None:
        find("handle_unknown", self.handle_unknown, {"marginalize": None, "error": None})
        check_choice(self.suspicious)
        check_count("max_cells", self.max_cells, least=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_parameters_")
