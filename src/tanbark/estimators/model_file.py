"""The model file: JSON that people can read, that keeps counts and smoothing, and that runs nothing when loaded."""

from __future__ import annotations

import inspect
import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import ModelFileError, OptionError, TanbarkError
from tanbark.estimators import classifiers, discretizers
from tanbark.estimators.base import NetworkClassifier
from tanbark.estimators.encoding import Encoder
from tanbark.graph import Dag
from tanbark.graph.network import family_axes
from tanbark.table import Column, Schema

FORMAT = "tanbark-model"
VERSION = 1

CLASSIFIERS: dict[str, type[NetworkClassifier]] = {
    cls.__name__: cls
    for cls in (
        classifiers.NaiveBayes, classifiers.TAN, classifiers.FixedStructure, classifiers.BayesNetClassifier,
    )
}  # fmt: skip
DISCRETIZERS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        discretizers.MDLPDiscretizer, discretizers.MedianDiscretizer, discretizers.QuantileDiscretizer,
        discretizers.UniformDiscretizer,
    )
}  # fmt: skip


def save(model: NetworkClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears under its name only when it is whole."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    text = json.dumps(_to_document(model), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> NetworkClassifier:
    """Read a model that ``save`` wrote. Nothing in the file is run; what is wrong with it is said."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        document = json.loads(text, parse_constant=_refuse_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        msg = f"{path} is no model file of Tanbark: it is not valid JSON ({error}). Is it cut off or another format?"
        raise ModelFileError(msg) from error
    try:
        return _from_document(document)
    except ModelFileError as error:
        msg = f"{path}: {error}"
        raise ModelFileError(msg) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, TanbarkError) as error:
        msg = f"{path} is damaged: {type(error).__name__} {error}. Save the model again."
        raise ModelFileError(msg) from error


def _refuse_constant(text: str) -> float:
    msg = f"{text} is no JSON number"
    raise ValueError(msg)


def _to_document(model: NetworkClassifier) -> dict[str, Any]:
    if model.encoder_.transformer is not None:
        msg = (
            "A model whose discretize is a transformer of your own cannot be written as JSON. Use one of Tanbark's "
            "discretisers, or pickle the model."
        )
        raise OptionError(msg)
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(model).__name__,
        "options": {name: _plain(value, name) for name, value in model.get_params(deep=False).items()},
        "named": hasattr(model, "feature_names_in_"),
        "columns": [_column_document(column) for column in model.schema_.columns],
        "labels": model.classes_.dtype.kind,
        "parents": [list(parents) for parents in model.dag_.parents],
        "structure_score": getattr(model, "structure_score_", None),
        "counts": [_numbers(table) for table in model.family_counts_],
    }


def _column_document(column: Column) -> dict[str, Any]:
    document: dict[str, Any] = {"name": column.name, "kind": column.kind, "values": column.values}
    document["cuts" if column.kind == "interval" else "levels"] = list(column.cuts or column.levels)
    return document


def _numbers(table: NDArray[Any]) -> list[int] | list[float]:
    flat = table.ravel()
    whole = flat.astype(np.int64)
    return (whole if (whole == flat).all() else flat).tolist()  # type: ignore[no-any-return]  # numpy gives Any


def _plain(value: Any, name: str) -> Any:
    """Turn an option into JSON, or say that it cannot be."""
    if isinstance(value, tuple(DISCRETIZERS.values())):
        return {"discretizer": type(value).__name__, "options": value.get_params(deep=False)}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {"pairs": [[_plain(k, name), _plain(v, name)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_plain(item, name) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    msg = f"The option {name}={value!r} cannot be written to a model file. Use plain values, or pickle the model."
    raise OptionError(msg)


def _from_document(document: Any) -> NetworkClassifier:
    _demand(isinstance(document, dict) and document.get("format") == FORMAT, "this is no model file of Tanbark")
    version = document.get("version")
    _demand(isinstance(version, int) and version >= 1, f"the version {version!r} is none")
    if version > VERSION:
        msg = f"the file has version {version}, newer than {VERSION}, which this Tanbark reads. Update Tanbark."
        raise ModelFileError(msg)
    kind = document["estimator"]
    _demand(isinstance(kind, str) and kind in CLASSIFIERS, f"the estimator {kind!r} is unknown")
    model = CLASSIFIERS[kind](**_options(document["options"], CLASSIFIERS[kind]))
    schema = Schema(tuple(_column(item) for item in document["columns"]))
    _demand(len(schema.columns) >= 2, "a model needs a feature and a class")
    _demand(schema.columns[-1].kind == "category" and len(schema.columns[-1].levels) > 0, "the class has no labels")
    model.schema_ = schema
    model.encoder_ = Encoder(schema.features)
    model.classes_ = _labels(schema.columns[-1], document["labels"])
    model.n_features_in_ = len(schema.features)
    if document["named"] is True:
        model.feature_names_in_ = np.array(schema.names[:-1], object)
    model.dag_ = Dag(schema.names, tuple(_parents(item, len(schema.columns)) for item in document["parents"]))
    model.family_counts_ = _counts(document["counts"], schema, model.dag_)
    score = document["structure_score"]
    if score is not None:
        _demand(isinstance(score, (int, float)) and not isinstance(score, bool), "the structure score is no number")
        model.structure_score_ = float(score)
    model._check_options()
    return model._estimate()


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(otherwise)


def _options(document: Any, cls: Callable[..., Any]) -> dict[str, Any]:
    _demand(isinstance(document, dict), "the options are no mapping")
    known = inspect.signature(cls).parameters
    for name in document:
        _demand(name in known, f"the option {name!r} is unknown")
    return {name: _option(value) for name, value in document.items()}


def _option(value: Any) -> Any:
    if isinstance(value, list):
        return [tuple(_option(v) for v in item) if isinstance(item, list) else _option(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return {_option(key): _option(item) for key, item in value["pairs"]}
    name = value["discretizer"]
    _demand(isinstance(name, str) and name in DISCRETIZERS, f"the discretiser {name!r} is unknown")
    return DISCRETIZERS[name](**_options(value["options"], DISCRETIZERS[name]))


def _column(document: Any) -> Column:
    name, kind, values = document["name"], document["kind"], document["values"]
    _demand(isinstance(name, str), f"the column name {name!r} is no string")
    _demand(kind in ("category", "interval"), f"the column {name!r} is of unknown kind {kind!r}")
    _demand(values in ("number", "text", "boolean"), f"the column {name!r} holds unknown values {values!r}")
    if kind == "interval":
        cuts = document["cuts"]
        _demand(all(isinstance(cut, (int, float)) and not isinstance(cut, bool) for cut in cuts), "a cut is no number")
        _demand(all(low < high for low, high in zip(cuts, cuts[1:], strict=False)), f"the cuts of {name!r} do not rise")
        return Column(name, kind, values, cuts=tuple(float(cut) for cut in cuts))
    levels = tuple(document["levels"])
    _demand(all(isinstance(level, (str, bool, int, float)) for level in levels), f"a level of {name!r} is no plain value")
    _demand(len(set(levels)) == len(levels), f"a level of {name!r} occurs twice")
    return Column(name, kind, values, levels)


def _labels(column: Column, kind: Any) -> NDArray[Any]:
    types = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64, "U": np.str_, "O": object}
    _demand(kind in types, f"labels of type {kind!r} are unknown")
    wanted = {"b": bool, "i": int, "u": int, "f": (int, float), "U": str, "O": (str, bool, int, float)}[kind]
    _demand(all(isinstance(level, wanted) for level in column.levels), "a label is not of its type")
    return np.array(column.levels, dtype=types[kind])


def _parents(document: Any, n: int) -> tuple[int, ...]:
    whole = all(isinstance(p, int) and not isinstance(p, bool) and 0 <= p < n for p in document)
    _demand(whole, "a parent is no column")
    return tuple(document)


def _counts(document: Any, schema: Schema, dag: Dag) -> tuple[NDArray[Any], ...]:
    _demand(len(document) == len(schema.columns), "there is not one table of counts for each column")
    tables = []
    for node, flat in enumerate(document):
        shape = [schema.cardinalities[c] for c in family_axes(dag.parents[node], node, schema.target)]
        _demand(len(flat) == math.prod(shape), f"the counts of {schema.names[node]!r} do not fit its states")
        numeric = all(isinstance(n, (int, float)) and not isinstance(n, bool) and 0 <= n < 2**63 for n in flat)
        _demand(numeric, f"a count of {schema.names[node]!r} is no number of at least 0")
        whole = all(isinstance(n, int) for n in flat)
        tables.append(np.array(flat, dtype=np.int64 if whole else np.float64).reshape(shape))
    return tuple(tables)
