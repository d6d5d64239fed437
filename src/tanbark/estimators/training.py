"""From training rows to a coded table: the first step of every fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats
from tanbark.counts import StoredCounts
from tanbark.errors import InputError
from tanbark.estimators import inputs
from tanbark.estimators.encoding import Encoder, learn_encoder, report_unseen
from tanbark.estimators.parts.discretizers import Discretizer
from tanbark.estimators.reports import suspicious
from tanbark.table import CodedTable, RawTable, Schema, missing_code
from tanbark.table.small_numbers import CountedNumbers, SmallNumbers, count_small_numbers, scan_small_numbers
from tanbark.table.written import read_written

Labels = NDArray[Any]


def encode_training(model: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> CodedTable:
    """Learn the classes, the categories and the cut points of an estimator from rows, and code the rows.

    See :func:`read_training`.
    """
    table = read_training(model, X, y, sample_weight, classes)
    assert isinstance(table, CodedTable)
    return table


def read_training(
    model: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, by_feature: bool = False
) -> CodedTable | StoredCounts:
    """Learn the classes, the categories and the cut points of an estimator from rows, and code the rows.

    The options of the estimator that count here are ``discretize``, ``categorical_features``, ``suspicious``,
    ``class_prior``, ``missing`` and, with :class:`EM`, the label of rows that have none; these rows are ``unlabelled``
    in the result. What was seen in the columns is noted on the estimator, and warned of.

    With ``by_feature`` the counts of the features by class are as good as the rows: where one pass finds them without
    codes, they are returned instead.
    """
    raw = inputs.read_training_features(model, X)
    weights = inputs.read_weights(sample_weight, raw.n_rows)
    labelled = _labelled_rows(model, y, raw.n_rows)
    counted = kept_rows(model, raw, weights)
    raw = _read_written(model, raw, counted)
    seen = suspicious.look(model, raw if counted is None else raw.rows(counted))
    raw = suspicious.without(raw, seen)
    whole, whole_weights = raw, weights
    y_column = y
    if labelled is not None:
        raw, y = raw.rows(labelled), np.asarray(y, object if isinstance(y, (list, tuple)) else None)[labelled]
        weights = None if weights is None else weights[labelled]
    model.classes_, labels = inputs.read_labels(y, None if classes is None else np.unique(np.asarray(classes)))
    check_same_length(raw.n_rows, len(labels))
    kept = kept_rows(model, raw, weights)
    raw, labels, weights = chosen_rows(kept, raw, labels, weights)
    if classes is None and kept is not None:
        present, labels = np.unique(labels, return_inverse=True)
        model.classes_ = model.classes_[present]
    inputs.read_class_prior(getattr(model, "class_prior", None), model.classes_)
    scanned = _scan(model, raw, labels, by_feature=by_feature and weights is None and labelled is None)
    categorical = inputs.categorical_mask(model.categorical_features, seen.names)
    learnt = learn_encoder(
        raw, labels, weights, len(model.classes_), discretize=model.discretize, n_jobs=model.n_jobs,
        occurring=None if scanned is None else scanned.occurring,
        categorical=None if categorical is None else np.delete(categorical, seen.left_out),
    )  # fmt: skip
    model.encoder_ = replace(learnt, left_out=seen.left_out)
    if getattr(model, "missing", None) == "category":
        model.encoder_ = _with_missing_states(model.encoder_, raw)
    names = [column.name for column in model.encoder_.columns]
    model.schema_ = Schema((*model.encoder_.columns, inputs.class_column(y_column, model.classes_, tuple(names))))
    seen = suspicious.count_classes(seen, labels, len(model.classes_))
    counts = _stored_counts(model.schema_, scanned)
    if counts is not None:
        suspicious.report(model, suspicious.leaks_in(seen, counts))
        return counts
    small = scanned if isinstance(scanned, SmallNumbers) else None
    table = replace(code_rows(model, raw, labels, weights, small=small), kept=kept)
    suspicious.report(model, suspicious.leaks_of(seen, table))
    if labelled is None:
        return table
    given = labelled.copy()
    given[labelled] = True if kept is None else kept
    rest = None if whole_weights is None else whole_weights[~labelled]
    return replace(table, kept=given, unlabelled=code_rows(model, whole.rows(~labelled), None, rest))


def _read_written(model: Any, raw: RawTable, counted: NDArray[np.bool_] | None) -> RawTable:
    """Read numbers that are written as text, but in columns that the user names as categories."""
    if not isinstance(model.discretize, (str, Discretizer)):  # another's transformer sees what the user gives it
        return raw
    names = [raw.name(column) for column in range(raw.n_columns)]
    return read_written(raw, counted, inputs.categorical_mask(model.categorical_features, names))


def _scan(model: Any, raw: RawTable, labels: Labels, *, by_feature: bool) -> SmallNumbers | CountedNumbers | None:
    """Scan small whole numbers, and count them by class if that is all that is needed; None for other tables."""
    counted = count_small_numbers(raw, labels, len(model.classes_), model.n_jobs) if by_feature else None
    return counted or scan_small_numbers(raw, model.n_jobs)


def _stored_counts(schema: Schema, counted: SmallNumbers | CountedNumbers | None) -> StoredCounts | None:
    """Return the counts of features by class, where they were counted and the states of all features are numbers."""
    if not isinstance(counted, CountedNumbers) or any(column.kind != "category" for column in schema.features):
        return None
    tables = [rows[list(column.levels)].ravel() for rows, column in zip(counted.rows, schema.features, strict=True)]
    return StoredCounts(schema, 1, np.concatenate([counted.rows[0].sum(axis=0), *tables]))


def code_rows(
    model: Any, raw: RawTable, labels: Labels | None, weights: Floats | None, *, handle_unknown: str = "marginalize",
    small: SmallNumbers | None = None,
) -> CodedTable:  # fmt: skip
    """Code rows with the columns that an estimator knows; without labels, their class is missing."""
    encoded = model.encoder_.encode(raw, n_jobs=model.n_jobs, extra_states=len(model.classes_), small=small)
    if handle_unknown == "error":
        report_unseen(encoded.unseen, raw.n_rows, handle_unknown)
    encoded.codes[-1] = missing_code(encoded.codes) if labels is None else labels
    return CodedTable(model.schema_, encoded.codes, weights)


def code_further(model: Any, X: Any, y: Any, sample_weight: Any, *, grow: bool) -> CodedTable:
    """Code rows that come after the first ones; with ``grow`` their new categories are added to the estimator."""
    raw = inputs.read_features(model, X)
    weights = inputs.read_weights(sample_weight, raw.n_rows)
    _, labels = inputs.read_labels(_counted_labels(y, weights, model.classes_), model.classes_)
    check_same_length(raw.n_rows, len(labels))
    raw, labels, weights = chosen_rows(kept_rows(model, raw, weights), raw, labels, weights)
    if grow:
        model.encoder_ = model.encoder_.extended(raw)
        model.schema_ = Schema((*model.encoder_.columns, model.schema_.columns[-1]))
    table = code_rows(model, raw, labels, weights, handle_unknown="marginalize" if grow else "error")
    if hasattr(model, "_seen"):
        model._seen = model._seen.changed(table, 1 if grow else -1)
    return table


def _counted_labels(y: Any, weights: Floats | None, classes: Labels) -> Any:
    """Give rows of weight zero a label that is known: theirs does not count."""
    if weights is None or weights.all() or np.shape(y) != weights.shape:
        return y
    labels = np.array(y, object)
    labels[weights == 0] = classes[0]
    return labels


def kept_rows(model: Any, raw: RawTable, weights: Floats | None) -> NDArray[np.bool_] | None:
    """Return a mask of the rows to learn from, None for all; ``missing="drop"`` leaves out incomplete rows."""
    kept = None if weights is None or (weights > 0).all() else weights > 0
    if getattr(model, "missing", None) != "drop":
        return kept
    complete = np.asarray(~raw.missing_mask().any(axis=0)) & (True if kept is None else kept)
    if not complete.any():
        msg = "missing='drop' leaves no row: each has a missing value. Use missing='available-case' or 'em'."
        raise InputError(msg)
    return None if complete.all() else complete


def chosen_rows(
    keep: NDArray[np.bool_] | None, raw: RawTable, labels: Labels, weights: Floats | None
) -> tuple[RawTable, Labels, Floats | None]:
    """Choose rows of a table, of its labels and of its weights by a mask; None keeps all."""
    if keep is None:
        return raw, labels, weights
    return raw.rows(keep), labels[keep], None if weights is None else weights[keep]


def check_same_length(n_rows: int, n_labels: int) -> None:
    """Validate that there is one label per row."""
    if n_labels != n_rows:
        msg = f"X has {n_rows} rows and y has {n_labels} labels; they must be as many."
        raise InputError(msg)


def _labelled_rows(model: Any, y: Any, n_rows: int) -> NDArray[np.bool_] | None:
    """Return a mask of the rows with a label, None for all; ``EM(unlabelled=...)`` names the label of the others."""
    marker = getattr(getattr(model, "parameters", None), "unlabelled", None)
    if marker is None or y is None:
        return None
    labels = np.array(y, object) if isinstance(y, (list, tuple)) else np.asarray(y)
    labelled = np.array([label != marker for label in labels.tolist()], bool)
    if labels.ndim != 1 or len(labels) != n_rows or labelled.all():
        return None
    if not labelled.any():
        msg = f"Every label is {marker!r}, the mark of rows without a label; some rows must have one."
        raise InputError(msg)
    return labelled


def _with_missing_states(encoder: Encoder, raw: RawTable) -> Encoder:
    """Make a missing value a state of its own in the columns that have any."""
    incomplete = np.flatnonzero(raw.missing_mask().any(axis=1)).tolist()
    columns = (replace(column, missing_state=place in incomplete) for place, column in enumerate(encoder.columns))
    return replace(encoder, columns=tuple(columns))
