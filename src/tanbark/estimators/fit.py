"""How every classifier learns: from tables, from files, step by step, and from counts alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tanbark.arrays import Floats
from tanbark.checks import check_count
from tanbark.counts import CountEngine, MemoryCounts, PartitionedCounts, StoredCounts, stored_cells
from tanbark.errors import InputError, OptionError, TableTooLargeError, find
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder, learn_encoder, report_unseen
from tanbark.estimators.options import TableOptions
from tanbark.estimators.scan import Scan, as_scan, is_scan, note_schema, open_counts
from tanbark.params import Smoothing
from tanbark.table import CodedTable, RawTable, Schema

Method = TypeVar("Method", bound=Callable[..., Any])

KEPT_CELLS = 1 << 20  # counts of at most this many cells (8 MiB) are kept by fit, to be added to later


def _all_or_nothing(method: Method) -> Method:
    """Leave a classifier as it was where learning fails: codes must never point beyond the tables of its model."""

    @wraps(method)
    def learn(self: TableLearner, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return learn  # type: ignore[return-value]  # it has the method's signature


def _learns_from_counts(classifier: TableLearner) -> bool:
    """Allow learning step by step where the learner needs nothing but counts that can be kept."""
    if classifier._stored_order() == 0:
        msg = f"{type(classifier).__name__} with these options cannot learn from counts alone; use fit with all rows."
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

    def _learn(self, counts: CountEngine, rows: MemoryCounts | None) -> Self:
        """Learn from counts, and from rows where they are there."""
        raise AssertionError("every classifier learns")

    def _collected(self, engine: PartitionedCounts) -> MemoryCounts | None:
        """Bring rows that are read in batches into memory where learning needs them there; by default it does not."""
        return None

    def _set_aside(self, raw: RawTable, y: Any, weights: Floats | None) -> tuple[RawTable, Any, Floats | None]:
        """Return the rows and labels to learn from; a subclass may keep rows without a label for later."""
        return raw, y, weights

    def _kept_rows(self, raw: RawTable, weights: Floats | None) -> NDArray[np.bool_] | None:
        """Return which rows to learn from, None for all; those of weight zero are as if they were not there."""
        return None if weights is None or (weights > 0).all() else weights > 0

    def _mark_gaps(self, encoder: Encoder, raw: RawTable) -> Encoder:
        """Say in which columns a gap is a state of its own; by default in none."""
        return encoder

    # ------------------------------------------------------------------ learning

    @_all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn structure and parameters.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features); or a file, a lazy frame or a :func:`tanbark.scan`
            Strings, numbers, booleans and categoricals; None, NaN and NA are gaps. Files and the like are read in
            batches, as often as the learner needs (``passes_``), and need not fit in memory.
        y : array-like of shape (n_rows,)
            Labels, without gaps.
        sample_weight : array-like of shape (n_rows,), optional
            How many times each row counts; for a file, the name of the column that says it.
        target : str
            For a file and the like, the name of the column with the labels.
        """
        self._check_options()
        for name in ("passes_", "sketch_errors_"):
            self.__dict__.pop(name, None)
        if target is not None or is_scan(X):
            return self._fit_scan(as_scan(X, target, y, sample_weight))
        return self._learn_table(self._encode_training(X, y, sample_weight, None))

    def _learn_table(self, table: CodedTable) -> Self:
        """Learn from coded rows, whose schema and classes are known."""
        self.__dict__.pop("counts_", None)
        rows = MemoryCounts(table, n_jobs=self.n_jobs)
        order = self._stored_order()
        if order and stored_cells(self.schema_, order) <= KEPT_CELLS:
            self.counts_ = rows.stored(order)
            return self._learn(self.counts_, rows)
        return self._learn(rows, rows)

    def _fit_scan(self, rows: Scan) -> Self:
        """Learn from rows that are read in batches."""
        self.__dict__.pop("counts_", None)
        engine = open_counts(self, rows)
        order = self._stored_order()
        if order and stored_cells(self.schema_, order) <= KEPT_CELLS:
            self.counts_ = engine.stored(order)
        self._learn(getattr(self, "counts_", engine), self._collected(engine))
        self.passes_ = engine.passes.total
        return self

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
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
            table = self._encode_training(X, y, sample_weight, classes)
            self.counts_ = self._keep(table)
        return self._learn(self.counts_, None)

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the model again, exactly, as if they had never been learnt.

        Columns, categories and cut points stay. Rows that were never learnt are refused where the counts tell.
        """
        check_is_fitted(self)
        self._check_options()
        self.counts_ = self._stored_counts() - self._count_further(X, y, sample_weight, grow=False)
        return self._learn(self.counts_, None)

    @available_if(_learns_from_counts)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    @_all_or_nothing
    def fit_counts(self, counts: StoredCounts) -> Self:
        """Learn from counts alone: those of another model (``counts_``), or of several machines, added up.

        Parameters
        ----------
        counts : StoredCounts
            Their schema tells columns, categories and classes.
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
        return self._learn(self.counts_, None)

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
        raw = inputs.read_features(self, X)
        _, labels = inputs.read_labels(y, self.classes_)
        weights = inputs.read_weights(sample_weight, raw.n_rows)
        check_as_many(raw.n_rows, len(labels))
        raw, labels, weights = chosen_rows(self._kept_rows(raw, weights), raw, labels, weights)
        if grow:
            self.encoder_ = self.encoder_.extended(raw)
            self.schema_ = Schema((*self.encoder_.columns, self.schema_.columns[-1]))
        table = self._code(raw, labels, weights, handle_unknown="marginalize" if grow else "error")
        return self._keep(table)

    def _keep(self, table: CodedTable) -> StoredCounts:
        """Count all that learning step by step must keep, unless a table is too large."""
        order = self._stored_order()
        widest = sorted(table.schema.features, key=lambda column: -column.n_states)[:order]
        cells = math.prod(column.n_states for column in widest) * len(self.classes_)
        if cells > self.max_cells and order > 1:
            told = " and ".join(f"{column.name!r} ({column.n_states:,} states)" for column in widest)
            msg = (
                f"Learning step by step keeps a table for every {('', 'pair', 'triple')[order - 1]} of columns; that "
                f"of {told} with the class needs {cells:,} cells, above max_cells={self.max_cells:,}. Drop or group "
                "the column with most states, use fit with all rows, or raise max_cells."
            )
            raise TableTooLargeError(msg)
        return MemoryCounts(table, n_jobs=self.n_jobs).stored(order)

    def _encode_training(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> CodedTable:
        raw = inputs.read_training_features(self, X)
        known = None if classes is None else np.unique(np.asarray(classes))
        weights = inputs.read_weights(sample_weight, raw.n_rows)
        raw, told, weights = self._set_aside(raw, y, weights)
        self.classes_, labels = inputs.read_labels(told, known)
        check_as_many(raw.n_rows, len(labels))
        kept = self._kept_rows(raw, weights)
        raw, labels, weights = chosen_rows(kept, raw, labels, weights)
        if classes is None and kept is not None:
            there, labels = np.unique(labels, return_inverse=True)
            self.classes_ = self.classes_[there]
        inputs.read_class_prior(self.class_prior, self.classes_)
        self.encoder_ = learn_encoder(
            raw, labels, weights, len(self.classes_), discretize=self.discretize, n_jobs=self.n_jobs,
            categorical=inputs.categorical_mask(self.categorical_features, [raw.name(c) for c in range(raw.n_columns)]),
        )  # fmt: skip
        self.encoder_ = self._mark_gaps(self.encoder_, raw)
        names = tuple(column.name for column in self.encoder_.columns)
        self.schema_ = Schema((*self.encoder_.columns, inputs.class_column(y, self.classes_, names)))
        return replace(self._code(raw, labels, weights), kept=kept)

    def _code(
        self, raw: RawTable, labels: NDArray[Any], weights: Floats | None, *, handle_unknown: str = "marginalize"
    ) -> CodedTable:
        encoded = self.encoder_.encode(raw, n_jobs=self.n_jobs, extra_states=len(self.classes_))
        if handle_unknown == "error":
            report_unseen(encoded.unseen, raw.n_rows, handle_unknown)
        encoded.codes[-1] = labels
        return CodedTable(self.schema_, encoded.codes, weights)

    def _check_options(self) -> None:
        find("handle_unknown", self.handle_unknown, {"marginalize": None, "error": None})
        check_count("max_cells", self.max_cells, least=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_parameters_")


def chosen_rows(
    keep: NDArray[np.bool_] | None, raw: RawTable, labels: NDArray[np.int64], weights: Floats | None
) -> tuple[RawTable, NDArray[np.int64], Floats | None]:
    """Choose rows of a table, of its labels and of its weights by a mask; None keeps all."""
    if keep is None:
        return raw, labels, weights
    return raw.rows(keep), labels[keep], None if weights is None else weights[keep]


def check_as_many(n_rows: int, n_labels: int) -> None:
    """Refuse labels that are not one per row."""
    if n_labels != n_rows:
        msg = f"X has {n_rows} rows and y has {n_labels} labels; they must be as many."
        raise InputError(msg)
