"""The model file: JSON that people can read, that keeps counts and smoothing, and that runs nothing when loaded."""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Callable, Mapping, Set
from copy import copy
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

from tanbark import estimators
from tanbark.errors import ModelFileError, OptionError, TanbarkError
from tanbark.estimators.classifier import TableClassifier, TablePredictor
from tanbark.estimators.encoding import Encoder
from tanbark.estimators.model_files import averages
from tanbark.estimators.model_files.version_1 import from_version_1
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.parts.discretizers import Discretizer
from tanbark.estimators.parts.parameters import ParameterEstimator
from tanbark.estimators.reports import suspicious
from tanbark.estimators.scikit import check_is_fitted, clone
from tanbark.files import write_atomic
from tanbark.graph import Dag
from tanbark.machine import thread_count
from tanbark.params import Smoothing
from tanbark.params.network_file import (
    FORMAT,
    VERSION,
    read_counts,
    read_json,
    read_parents,
    read_schema,
    smoothing_document,
)
from tanbark.structure.constraint.values import IndependenceTest
from tanbark.table import Column
from tanbark.table.schema_json import column_document, demand, is_number, read_list

OTHERS = ("TextNaiveBayes", "ModelAveraging", "NetworkEnsemble", "Classifier")  # they have files of their own kind

NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
LABELS: dict[str, Any] = {"U": np.str_, "O": object, "T": StringDType(), **{name: np.dtype(name) for name in NUMBERS}}


def _own(base: type[Any]) -> dict[str, type[Any]]:
    """List the classes of Tanbark's own that derive from a base and are no bases themselves, by name."""
    found: dict[str, type[Any]] = {}
    for cls in base.__subclasses__():
        if cls.__module__.startswith("tanbark."):
            found |= _own(cls) or {cls.__name__: cls}
    return found


PARTS = (Discretizer, ParameterEstimator, Smoothing, IndependenceTest, TableClassifier)  # what an option may hold


def classifiers() -> dict[str, type[TableClassifier]]:
    """List the classifiers that a file may name."""
    estimators.load_all()
    return _own(TableClassifier)


def parts() -> dict[str, type[Any]]:
    """List the discretisers, smoothings, parameter estimators, tests and classifiers that an option may hold."""
    estimators.load_all()
    return {name: cls for base in PARTS for name, cls in _own(base).items()}


def _known(name: Any, *bases: type[Any]) -> type[Any] | None:
    """Find one of Tanbark's own classes by its name, without loading all others."""
    if not isinstance(name, str):
        return None
    if name in estimators.__all__:
        getattr(estimators, name)
    return next((cls for base in bases for own, cls in _own(base).items() if own == name), None)


def save(model: TableClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears under its name only when it is whole."""
    check_is_fitted(model)
    _write(_to_document(model), path)


def _write(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_atomic(path, (text + "\n").encode(errors="backslashreplace"))  # a lone surrogate becomes an escape of JSON


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote. Nothing in the file is run; what is wrong with it is said."""
    document = read_json(path)
    try:
        return _from_document(document)
    except ModelFileError as error:
        msg = f"{path}: {error}."
        raise ModelFileError(msg) from None
    except KeyError as error:
        msg = f"{path} is damaged: it lacks {error}. Save the model again."
        raise ModelFileError(msg) from error
    except (TypeError, ValueError, ArithmeticError, RecursionError, TanbarkError) as error:
        msg = f"{path} is damaged: {str(error).rstrip('.')}. Save the model again."
        raise ModelFileError(msg) from error


# ---------------------------------------------------------------------- writing


def _to_document(model: TableClassifier) -> dict[str, Any]:
    _check_writable(model)
    dtype = model.classes_.dtype
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(model).__name__,
        "text": model_text(model),
        "options": {name: _plain(value, f"the option {name}") for name, value in model.get_params(deep=False).items()},
        "named": hasattr(model, "feature_names_in_"),
        "columns": [column_document(column) for column in model.schema_.columns],
        "labels": dtype.kind if dtype.kind in LABELS else dtype.name,
        **seen_document(model),
        **scores_document(model),
        **(_network_document(model) if isinstance(model, NetworkClassifier) else {}),
        **({} if isinstance(model, NetworkClassifier) else averages.document(model)),
    }


def model_text(model: Any) -> str:
    """Return how a classifier prints, on one line."""
    return " ".join(repr(model).split())


def seen_document(model: Any) -> dict[str, Any]:
    """Return what training saw of its rows, the columns that it left out among them."""
    return {"seen": suspicious.document(model._seen)} if hasattr(model, "_seen") else {}


def scores_document(model: Any) -> dict[str, Any]:
    """Return the scores of prediction sets, where they are calibrated."""
    return {"set_scores": model.set_scores_.tolist()} if hasattr(model, "set_scores_") else {}


def restore_scores(model: Any, document: dict[str, Any]) -> None:
    """Return a model the scores of its prediction sets, if the file has any."""
    if "set_scores" in document:
        scores = read_list(document["set_scores"], "scores")
        demand(len(scores) > 0 and all(map(is_number, scores)), "a score of the prediction sets is no number")
        demand(sorted(scores) == scores, "the scores of the prediction sets are not sorted")
        model.set_scores_ = np.array(scores, np.float64)


def _network_document(model: NetworkClassifier) -> dict[str, Any]:
    weights = getattr(getattr(model, "parameters_", None), "weights_", None)
    score = getattr(model, "structure_score_", math.nan)
    learnt = model.parameters_.document() if hasattr(model, "parameters_") else None
    plain = model._parameters() is None and model.class_prior is None  # counts and smoothing make the network
    return {
        **({} if learnt is None else {"learnt": learnt}),
        **({"smoothing": smoothing_document(model.smoothing_)} if plain else {}),
        "parents": [list(parents) for parents in model.dag_.parents],
        "structure_score": score if math.isfinite(score) else None,
        "weights": None if weights is None else [weights[name] for name in model.schema_.names[:-1]],
        "counts": [table.ravel().tolist() for table in model.family_counts_],
        **({"temperature": model.temperature_} if model.temperature == "auto" else {}),
    }


def _check_writable(model: TableClassifier) -> None:
    """Refuse what would not come back as it is."""
    if type(model) is not _known(type(model).__name__, TableClassifier):
        msg = f"{type(model).__name__} is no classifier of Tanbark's own; pickle it instead of saving it as JSON."
        raise OptionError(msg)
    if model.encoder_.transformer is not None:
        msg = (
            "A model whose discretize is a transformer of your own cannot be written as JSON. Use one of Tanbark's "
            "discretisers, or pickle the model."
        )
        raise OptionError(msg)
    check_labels(model.classes_.dtype)
    second = copy(model)._estimate()
    same_temperature = getattr(model, "temperature_", 1.0) == getattr(second, "temperature_", 1.0)
    pairs = zip(averages.networks(model), averages.networks(second), strict=True)
    cpts = [cpt for one, other in pairs for cpt in zip(one.log_tables, other.log_tables, strict=True)]
    if not same_temperature or not all(np.array_equal(a, b) for a, b in cpts):
        msg = "Options were changed after fit, so the file would not predict as this model does. Fit it again first."
        raise OptionError(msg)


def check_labels(dtype: np.dtype[Any]) -> None:
    """Validate that labels of this type can be written."""
    if dtype.kind not in LABELS and dtype.name not in LABELS:
        msg = f"Labels of type {dtype.name} cannot be written to a model file. Make them strings or numbers before fit."
        raise OptionError(msg)


def _plain(value: Any, what: str) -> Any:
    """Turn an option or a category into JSON that :func:`_option` understands, or say that it cannot be."""
    if type(value) is _known(type(value).__name__, *PARTS):
        options = {name: _plain(item, f"{what}: {name}") for name, item in value.get_params(deep=False).items()}
        return {"part": type(value).__name__, "options": options}
    if hasattr(value, "tolist"):  # arrays, series and numpy's scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key, what), _plain(item, what)] for key, item in value.items()]}
    if isinstance(value, (list, tuple, Set)):
        items = [_plain(item, what) for item in value]
        return items if isinstance(value, list) else {"tuple" if isinstance(value, tuple) else "set": items}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    msg = f"A model file cannot hold {what}={short(value)}. Use plain values, or pickle the model."
    raise OptionError(msg)


# ---------------------------------------------------------------------- reading


def _from_document(document: Any) -> Any:
    demand(isinstance(document, dict) and document.get("format") == FORMAT, "this is no model file of Tanbark")
    version = document.get("version")
    demand(type(version) is int and version >= 1, f"the version {short(version)} is none")
    if version > VERSION:
        msg = f"the file has version {version}, newer than {VERSION}, which this Tanbark reads; update Tanbark"
        raise ModelFileError(msg)
    if version == 1:
        document = from_version_1(document)
    kind = document["estimator"]
    if kind in OTHERS:
        return _restore_other(kind, document)
    cls = _known(kind, TableClassifier)
    demand(cls is not None, f"the estimator {short(kind)} is unknown")
    assert cls is not None
    model = cls(**_options(document["options"], cls))
    _restore(model, document)
    model._check_options()
    if isinstance(model, NetworkClassifier):
        _restore_network(model, document)
    else:
        averages.restore(model, document)
    restore_scores(model, document)
    thread_count(model.n_jobs)
    with np.errstate(all="ignore"):
        networks = averages.networks(model._estimate())
    if "smoothing" in document:
        same = document["smoothing"] == smoothing_document(model.smoothing_)
        demand(same, "the smoothing is not that of the options")
    for network in networks:
        for node, table in enumerate(network.tables):
            sums = table.sum(axis=network.axes(node).index(node))
            demand(np.allclose(sums, 1.0), f"the counts of {network.dag.names[node]!r} give no probabilities")
    return model


def _restore_other(kind: str, document: dict[str, Any]) -> Any:
    """Read a classifier that has a file of its own kind."""
    if kind in ("NetworkEnsemble", "Classifier"):
        from tanbark.estimators.model_files import ensemble as ensembles

        return ensembles.restore_pooled(document)
    from tanbark.estimators.model_files import others

    return others.restore_text(document) if kind == "TextNaiveBayes" else others.restore_members(document)


def _restore(model: TableClassifier | TablePredictor, document: dict[str, Any]) -> None:
    """Return a model the columns and classes that fitting it had given."""
    schema = read_schema(document["columns"])
    named = document["named"]
    demand(isinstance(document.get("text", ""), str), "how the model prints is no text")
    demand(isinstance(named, bool), "whether the columns have names is not said")
    names = schema.names[:-1]
    model.schema_ = schema
    model.encoder_ = Encoder(schema.features)
    if "seen" in document:
        model._seen = seen = suspicious.read_document(document["seen"])
        kept = tuple(name for place, name in enumerate(seen.names) if place not in seen.left_out)
        demand(kept == names, "the columns are not those that were seen")
        demand(len(seen.class_rows) == len(schema.columns[-1].levels), "there are no rows for each class")
        names, model.encoder_ = seen.names, Encoder(schema.features, left_out=seen.left_out)
    model.classes_ = _labels(schema.columns[-1], document["labels"])
    model.n_features_in_ = len(names)
    if named:
        model.feature_names_in_ = np.array(names, object)


def _restore_network(model: NetworkClassifier, document: dict[str, Any]) -> None:
    """Return a model its graph, counts and weights."""
    schema = model.schema_
    parents = [read_parents(item, len(schema.columns)) for item in read_list(document["parents"], "parents")]
    score, weights = document["structure_score"], document["weights"]
    demand(score is None or is_number(score), "the structure score is no number")
    model.dag_ = Dag(schema.names, tuple(parents))
    model.family_counts_ = read_counts(document["counts"], schema, model.dag_)
    if score is not None:
        model.structure_score_ = float(score)
    if model.temperature == "auto":
        temperature = document["temperature"]
        demand(is_number(temperature) and temperature > 0, "the temperature is no number above 0")
        model.temperature_ = float(temperature)
    part = model._parameters()
    if part is not None:
        model.parameters_ = clone(part)
        model.parameters_.restore(document.get("learnt"), schema, model.dag_)
    weighted = bool(getattr(model.parameters, "weighs", False))
    demand(weighted == (weights is not None), "weights and parameters do not go together")
    if weighted:
        numbers = read_list(weights, "weights")
        demand(len(numbers) == schema.target and all(map(is_number, numbers)), "there is not one weight per feature")
        model.parameters_.weights_ = dict(zip(schema.names, map(float, numbers), strict=False))


def _options(document: Any, cls: Callable[..., Any]) -> dict[str, Any]:
    demand(isinstance(document, dict), "the options are no mapping")
    known = inspect.signature(cls).parameters
    for name in document:
        demand(name in known, f"the option {short(name)} is unknown")
    if "missing_parent" in known and "missing_parent" not in document:
        document = {**document, "missing_parent": "drop"}  # a file from before there was a choice predicts as it did
    return {name: _option(value) for name, value in document.items()}


def _option(value: Any) -> Any:
    if isinstance(value, list):
        return [_option(item) for item in value]
    if not isinstance(value, dict):
        return value
    for kind in (tuple, set):
        if kind.__name__ in value:
            return kind(_option(item) for item in read_list(value[kind.__name__], "items of an option"))
    if "pairs" in value:
        return {_option(key): _option(item) for key, item in read_list(value["pairs"], "pairs of an option")}
    part = _known(value["part"], *PARTS)
    demand(part is not None, f"the part {short(value['part'])} is unknown")
    assert part is not None
    return part(**_options(value["options"], part))


def _labels(column: Column, kind: Any) -> NDArray[Any]:
    demand(isinstance(kind, str) and kind in LABELS, f"labels of type {short(kind)} are unknown")
    labels: NDArray[Any] = np.empty(len(column.levels), dtype=object)
    labels[:] = column.levels
    labels = labels.astype(LABELS[kind])
    same = [(type(label), label) for label in labels.tolist()] == [(type(level), level) for level in column.levels]
    demand(same, f"a label is not of the type {kind!r}")
    return labels
