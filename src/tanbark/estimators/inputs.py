"""What comes in: features, labels and weights, checked and brought to one form."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from tanbark.errors import InputError, OptionError, find, nearest
from tanbark.table import Column, Level, RawTable, read_table
from tanbark.table.raw import is_frame

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def read_training_features(estimator: Any, X: Any) -> RawTable:
    """Read the features to learn from, and note their number and names on the estimator."""
    X = _as_table(estimator, X)
    table = read_table(X)
    if table.n_rows == 0 or table.n_columns == 0:
        what = "no rows" if table.n_columns else "no columns (0 feature(s))"
        msg = f"X has {what}; at least one row and one column are needed. Check how the table was read or filtered."
        raise InputError(msg)
    validate_data(estimator, X, skip_check_array=True, reset=True)
    return table


def read_features(estimator: Any, X: Any) -> RawTable:
    """Read features to predict from: columns are matched by name where both tables have names."""
    X = _as_table(estimator, X)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or not is_frame(X):
        validate_data(estimator, X, skip_check_array=True, reset=False)
        return read_table(X)
    table = read_table(X)
    present = list(table.names or ())
    lacking = [name for name in names if name not in present]
    extra = [name for name in present if name not in set(names)]
    if lacking or extra:
        raise InputError(_mismatch(type(estimator).__name__, lacking, extra))
    return table if present == list(names) else table.take([present.index(name) for name in names])


def _mismatch(who: str, lacking: list[str], extra: list[str]) -> str:
    parts = []
    if lacking:
        hints = [near.strip() for name in lacking[:3] if (near := nearest(name, extra))]
        parts.append(f"lacks the columns {lacking[:10]}" + (f" ({' '.join(hints)})" if hints else ""))
    if extra:
        parts.append(f"has the columns {extra[:10]}, which training did not have")
    return f"X {' and '.join(parts)}. {who} needs the columns it was trained on; rename, add or drop them."


def _as_table(estimator: Any, X: Any) -> Any:
    """Leave frames alone; bring everything else to a two-dimensional array, as scikit-learn does."""
    if is_frame(X) and not issparse(X):
        return X
    if not isinstance(X, np.ndarray) and not issparse(X) and not np.isscalar(X):
        plain = np.asarray(X)
        X = plain if plain.dtype.kind in "biufc" else np.asarray(X, dtype=object)
    return check_array(
        X, dtype=None, ensure_all_finite=False, ensure_min_samples=1, estimator=estimator, input_name="X"
    )


def categorical_mask(wanted: Any, table: RawTable) -> NDArray[np.bool_] | None:
    """Turn ``categorical_features`` into a mask of columns; None leaves the choice to the values."""
    if isinstance(wanted, str):
        find("categorical_features", wanted, {"auto": None, "all": None})
        return None if wanted == "auto" else np.ones(table.n_columns, bool)
    chosen = list(wanted)
    if len(chosen) == table.n_columns and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        return np.array(chosen, bool)
    mask = np.zeros(table.n_columns, bool)
    names = [table.name(column) for column in range(table.n_columns)]
    for item in chosen:
        if isinstance(item, numbers.Integral) and not isinstance(item, bool) and 0 <= item < table.n_columns:
            mask[int(item)] = True
        elif item in names:
            mask[names.index(item)] = True
        else:
            msg = (
                f"categorical_features must be 'auto', 'all', a mask, or names or positions of columns; {item!r} is none "
                f"of the {table.n_columns} columns.{nearest(item, names)}"
            )
            raise OptionError(msg)
    return mask


def read_labels(y: Any, classes: NDArray[Any] | None = None) -> tuple[NDArray[Any], Integers]:
    """Give the different labels, sorted, and every row's label as a position among them."""
    labels = _plain_labels(y)
    if classes is not None:
        return classes, label_codes(labels, classes)
    if labels.dtype.kind in "biu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < 65536:
            shifted = labels.astype(np.int64, copy=False) - (low if low else np.int64(0))
            there = np.bincount(shifted) > 0
            found = (np.flatnonzero(there) + low).astype(labels.dtype)
            return found, shifted if there.all() else (np.cumsum(there) - 1)[shifted]
    if labels.dtype.kind == "O":
        try:
            distinct = sorted(set(labels.tolist()))
        except TypeError as error:
            msg = "y holds labels of different kinds that cannot be sorted. Make them all strings or all numbers."
            raise InputError(msg) from error
        found = np.empty(len(distinct), object)
        found[:] = distinct
        return found, label_codes(labels, found)
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.astype(np.int64)


def label_codes(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Find every label among the known classes, or say which is not there."""
    place = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.fromiter((place.get(label, -1) for label in labels.tolist()), np.int64, len(labels))
    if (codes < 0).any():
        strange = labels[int((codes < 0).argmax())]
        msg = f"y holds the label {strange!r}, which is none of the classes {list(place)[:10]}."
        raise InputError(msg)
    return codes


def _plain_labels(y: Any) -> NDArray[Any]:
    if y is None:
        msg = "requires y to be passed, but the target y is None: a classifier learns from labels."
        raise InputError(msg)
    labels = column_or_1d(y, warn=True)
    kind = labels.dtype.kind
    if kind in "mM":
        msg = "y holds dates or times. Labels must be strings, whole numbers or booleans."
        raise InputError(msg)
    gaps = np.isnan(labels) if kind == "f" else np.zeros(0, bool)
    if kind == "O":
        gaps = np.array([item is None or item != item or type(item).__name__ == "NAType" for item in labels], bool)
    if gaps.any():
        msg = (
            f"y contains NaN or None in {int(gaps.sum())} rows; a classifier learns from rows with a label. "
            "Drop those rows first."
        )
        raise InputError(msg)
    if kind in "fO":
        check_classification_targets(labels)
    return np.asarray(labels)


def class_column(y: Any, classes: NDArray[Any], taken: tuple[str, ...]) -> Column:
    """Describe the class: its name is the label column's, or "class"."""
    raw = getattr(y, "name", None)
    name = raw if isinstance(raw, str) and raw else "class"
    while name in taken:
        name += "_"
    levels: tuple[Level, ...] = tuple(classes.tolist())
    kinds = {bool: "boolean", str: "text"}
    return Column(name, "category", kinds.get(type(levels[0]), "number"), levels)


def read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Check row weights; None stands for a weight of one everywhere."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        msg = f"Sample weights must be 1D array or scalar; got an array with {weights.ndim} dimensions."
        raise InputError(msg)
    if len(weights) != n_rows:
        msg = f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row."
        raise InputError(msg)
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        first = int(bad.argmax())
        msg = (
            f"Row weights must be finite and at least 0; sample_weight has {int(bad.sum())} others, the first is "
            f"{weights[first]} in row {first}."
        )
        raise InputError(msg)
    if not weights.any():
        msg = "All row weights are zero, so there is nothing to learn from."
        raise InputError(msg)
    return None if (weights == 1.0).all() else weights


def read_class_prior(class_prior: Any, classes: NDArray[Any]) -> Floats | None:
    """Check a class prior, given in the order of the classes or as a mapping from labels."""
    if class_prior is None:
        return None
    if isinstance(class_prior, dict):
        labels = classes.tolist()
        if set(class_prior) != set(labels):
            msg = f"class_prior must give a probability to each of the classes {labels}; got {sorted(map(str, class_prior))}."
            raise OptionError(msg)
        class_prior = [class_prior[label] for label in labels]
    prior = np.asarray(class_prior, dtype=np.float64)
    if prior.shape != (len(classes),):
        msg = f"class_prior must have one probability for each of the {len(classes)} classes; got shape {prior.shape}."
        raise OptionError(msg)
    if not (prior >= 0).all() or not abs(prior.sum() - 1.0) < 1e-6:
        msg = f"class_prior must be at least 0 and sum to one; got {prior.tolist()}, whose sum is {prior.sum():.6g}."
        raise OptionError(msg)
    return np.asarray(prior / prior.sum())
