"""What comes in: features, labels and weights, checked and brought to one form."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import LEAST_WEIGHT, MOST_WEIGHT, Floats, Integers
from tanbark.errors import InputError, OptionError, find, nearest
from tanbark.estimators.scikit import check_array, check_random_state, column_or_1d, is_sparse, validate_data
from tanbark.table import Column, Level, RawTable, read_table
from tanbark.table.objects import as_objects, is_missing, number_objects, number_values
from tanbark.table.raw import is_frame

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Leave an estimator as it was where learning fails: codes must never point beyond the tables of its model."""

    @wraps(method)
    def learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return learn  # type: ignore[return-value]  # it has the method's signature


def read_training_features(estimator: Any, X: Any) -> RawTable:
    """Read the features to learn from, and note their number and names on the estimator."""
    X = as_table(estimator, X)
    table = _refuse_nothing(read_table(X))
    if type(X) is np.ndarray:
        estimator.n_features_in_ = table.n_columns
        estimator.__dict__.pop("feature_names_in_", None)
    else:
        validate_data(estimator, X, skip_check_array=True, reset=True)
    return table


def read_features(estimator: Any, X: Any) -> RawTable:
    """Read features to predict from: columns are matched by name where both tables have names."""
    X = as_table(estimator, X)
    encoder = estimator.encoder_
    names = [column.name for column in encoder.columns]
    if not is_frame(X) or not hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, X, skip_check_array=True, reset=False)
    table = _refuse_nothing(read_table(X))
    present = list(table.names or ())
    lacking = sorted(set(names) - set(present), key=names.index)
    extra = sorted(set(present) - {*names, *_left_out_names(estimator)}, key=present.index)
    if not lacking and not extra:
        place = {name: column for column, name in enumerate(present)}
        return table if present == names else table.take([place[name] for name in names])
    if table.names and hasattr(estimator, "feature_names_in_"):
        raise InputError(_mismatch(type(estimator).__name__, lacking, extra))
    return table.take(encoder.places) if encoder.left_out else table  # scikit-learn compares names that are strings


def _left_out_names(estimator: Any) -> list[str]:
    """Return the names of the columns that training left out: a frame may have them or not."""
    seen = getattr(estimator, "_seen", None)
    return [] if seen is None else [seen.names[place] for place in seen.left_out]


def _refuse_nothing(table: RawTable) -> RawTable:
    if table.n_rows == 0 or table.n_columns == 0:
        what = "no rows" if table.n_columns else "no columns (0 feature(s))"
        msg = f"X has {what}; at least one row and one column are needed. Check how the table was read or filtered."
        raise InputError(msg)
    return table


def _mismatch(who: str, lacking: list[str], extra: list[str]) -> str:
    parts = []
    if lacking:
        hints = [near.strip() for name in lacking[:3] if (near := nearest(name, extra))]
        parts.append(f"lacks the columns {lacking[:10]}" + (f" ({' '.join(hints)})" if hints else ""))
    if extra:
        parts.append(f"has the columns {extra[:10]}, which training did not have")
    return f"X {' and '.join(parts)}. {who} needs the columns it was trained on; rename, add or drop them."


def as_table(estimator: Any, X: Any) -> Any:
    """Leave frames alone; bring everything else to a two-dimensional array, as scikit-learn does."""
    if is_frame(X) and not is_sparse(X):
        return X
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biuf" and X.size:
        return X  # there is nothing that scikit-learn would change
    if isinstance(X, dict) and not is_sparse(X):
        msg = "X must be a table; got a dict. Make a frame of it, such as pandas.DataFrame(X)."
        raise InputError(msg)
    if isinstance(X, (list, tuple)) and len({len(row) for row in X if isinstance(row, (list, tuple))}) > 1:
        msg = "X is a list whose rows have different lengths; use None for a missing value."
        raise InputError(msg)
    if not isinstance(X, np.ndarray) and not is_sparse(X) and not np.isscalar(X):
        plain = np.asarray(X)
        X = plain if plain.dtype.kind in "biufc" else np.asarray(X, dtype=object)
    return check_array(
        X, dtype=None, ensure_all_finite=False, ensure_min_samples=1, estimator=estimator, input_name="X"
    )


def categorical_mask(wanted: Any, names: Sequence[str]) -> NDArray[np.bool_] | None:
    """Turn ``categorical_features`` into a mask of columns; None leaves the choice to the values."""
    n_columns = len(names)
    if isinstance(wanted, str):
        find("categorical_features", wanted, {"auto": None, "all": None})
        return None if wanted == "auto" else np.ones(n_columns, bool)
    expected = "categorical_features must be 'auto', 'all', a mask, or names or positions of columns"
    if not isinstance(wanted, Iterable):
        msg = f"{expected}; got {wanted!r}."
        raise OptionError(msg)
    chosen: list[Any] = list(wanted)
    if chosen and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        if len(chosen) == n_columns:
            return np.array(chosen, bool)
        msg = f"{expected}; this mask has {len(chosen)} entries for {n_columns} columns."
        raise OptionError(msg)
    mask = np.zeros(n_columns, bool)
    for item in chosen:
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and 0 <= item < n_columns:
            mask[int(item)] = True
        elif item in names:
            mask[list(names).index(item)] = True
        else:
            msg = f"{expected}; {item!r} is none of the {n_columns} columns.{nearest(item, list(names))}"
            raise OptionError(msg)
    return mask


def read_labels(y: Any, classes: NDArray[Any] | None = None) -> tuple[NDArray[Any], Integers]:
    """Return the different labels, sorted, and every row's label as a position among them."""
    texts = _coded_texts(y) if classes is None else None
    if texts is not None:
        return _sorted_labels(*texts)
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
        return _sorted_labels(*number_objects(labels))
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.astype(np.int64)


def _coded_texts(y: Any) -> tuple[NDArray[np.integer], list[Any]] | None:
    """Return the codes of a series of text or of categories of pandas, and its texts; None for other labels.

    Arrays of objects and scikit-learn's checks of a series take longer than a small naive Bayes.
    """
    if not hasattr(y, "factorize") or y.dtype.name not in ("str", "string", "category"):
        return None
    codes, distinct = y.factorize()
    texts = distinct.tolist()
    if not texts or any(type(text) is not str for text in texts):
        return None
    _refuse_missing(int((codes < 0).sum()))
    return codes, texts


def _sorted_labels(codes: NDArray[np.integer], distinct: list[Any]) -> tuple[NDArray[Any], Integers]:
    """Return different labels sorted, and the codes of rows as positions among them."""
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    return as_objects([distinct[code] for code in order]), np.argsort(order)[codes]


def label_codes(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Find every label among the known classes, or say which is not there."""
    place = {label: code for code, label in enumerate(classes.tolist())}
    codes, distinct = number_objects(labels) if labels.dtype.kind == "O" else number_values(labels.tolist())
    strange = [label for label in distinct if label not in place]
    if strange:
        msg = (
            f"y holds the label {strange[0]!r}, which is none of the classes {list(place)[:10]}. "
            "Correct it, or train with all classes (the first partial_fit takes them as classes=)."
        )
        raise InputError(msg)
    return np.asarray(np.array([place[label] for label in distinct], np.int64)[codes])


def _plain_labels(y: Any) -> NDArray[Any]:
    if y is None:
        msg = "requires y to be passed, but the target y is None: a classifier learns from labels."
        raise InputError(msg)
    if isinstance(y, (list, tuple)) and any(isinstance(label, str) for label in y):
        y = np.array(y, object)  # otherwise numbers and missing values among strings would turn into strings
    if hasattr(y, "factorize") and y.dtype.name in ("str", "string"):  # a series of pandas
        codes, distinct = y.factorize()
        y = as_objects([*distinct.tolist(), None])[codes]
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufOU"
    labels = y if plain else column_or_1d(y, warn=True)
    if labels.dtype.kind == "O":
        labels = _plain_objects(labels)
    elif labels.dtype.kind not in "biu":
        _refuse_missing(int((labels != labels).sum()))
    expected = "labels must be strings, whole numbers or booleans"
    if labels.dtype.kind not in "biufUOT":
        msg = f"Unknown label type: y holds {labels.dtype}; {expected}. Convert them."
        raise InputError(msg)
    if labels.dtype.kind == "f" and (np.isinf(labels) | (labels != np.floor(labels))).any():
        odd = labels[(np.isinf(labels) | (labels != np.floor(labels)))][0]
        msg = f"Unknown label type: y is continuous (it holds {odd}); {expected}. Cut it into classes first."
        raise InputError(msg)
    return np.asarray(labels)


def _refuse_missing(n_rows: int) -> None:
    if n_rows:
        msg = (
            f"y contains NaN or None in {n_rows} rows; a classifier learns from rows with a label. "
            "Drop those rows first, or give them a label such as -1 and learn from them too, by "
            "parameters=EM(unlabelled=-1)."
        )
        raise InputError(msg)


def _plain_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Check labels that are Python objects: all strings, or all numbers, which become an array of numbers.

    Equal strings are one object in the result, so that they are found quickly.
    """
    try:
        codes, distinct = number_objects(labels)
    except TypeError:  # lists and the like, which the types show
        codes, distinct = np.arange(len(labels)), labels.tolist()
    _refuse_missing(int(np.array([is_missing(label) for label in distinct], bool)[codes].sum()))
    kinds = set(map(type, distinct))
    if all(issubclass(kind, str) for kind in kinds):
        return np.asarray(as_objects(distinct)[codes])
    if all(issubclass(kind, (numbers.Real, np.bool_)) for kind in kinds):
        return np.array(labels.tolist())
    names = sorted(kind.__name__ for kind in kinds)
    msg = (
        f"Unknown label type: y holds {' and '.join(names)}; labels must be all strings, all whole numbers or all "
        "booleans. Convert them."
    )
    raise InputError(msg)


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
    weights = _floats(sample_weight, "sample_weight must be one number per row", InputError)
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
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MOST_WEIGHT:
        msg = (
            f"The row weights add up to {total:.3g}, more than {MOST_WEIGHT:g}, beyond which scores lose their last "
            "digits. Divide all weights by a constant."
        )
        raise InputError(msg)
    if total < LEAST_WEIGHT:
        msg = (
            f"The row weights add up to {total:.3g}, less than {LEAST_WEIGHT:g}, so that products of counts vanish. "
            "Multiply all weights by a constant."
        )
        raise InputError(msg)
    return None if (weights == 1.0).all() else weights


def read_class_prior(class_prior: Any, classes: NDArray[Any]) -> Floats | None:
    """Check a class prior, given in the order of the classes or as a mapping from labels."""
    if class_prior is None:
        return None
    if isinstance(class_prior, dict):
        labels = classes.tolist()
        if set(class_prior) != set(labels):
            given = sorted(map(str, class_prior))
            msg = f"class_prior must give a probability to each of the classes {labels}; got {given}."
            raise OptionError(msg)
        class_prior = [class_prior[label] for label in labels]
    prior = _floats(class_prior, "class_prior must be one probability per class", OptionError)
    if prior.shape != (len(classes),):
        msg = f"class_prior must have one probability for each of the {len(classes)} classes; got shape {prior.shape}."
        raise OptionError(msg)
    if not (prior >= 0).all() or not abs(prior.sum() - 1.0) < 1e-6:
        msg = f"class_prior must be at least 0 and sum to one; got {prior.tolist()}, whose sum is {prior.sum():.6g}."
        raise OptionError(msg)
    return np.asarray(prior / prior.sum())


def read_random_state(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's kind of random state from any of the kinds that the option takes."""
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31 - 1))
    state: np.random.RandomState = check_random_state(random_state)
    return state


def _floats(values: Any, expected: str, error: type[Exception]) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"{expected}; got {values!r:.60}."
        raise error(msg) from None
