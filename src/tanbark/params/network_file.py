"""The network in a model file: columns, graph, and the counts or CPTs, read without the classifier around them."""

from __future__ import annotations

import base64
import json
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array
from tanbark.errors import ModelFileError, TanbarkError
from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes
from tanbark.params.dirichlet import fit
from tanbark.params.smoothing import Smoothing
from tanbark.table import Schema
from tanbark.table.schema_json import demand, is_number, read_column, read_list

FORMAT = "tanbark-model"
VERSION = 2
TYPES = ("float64", "int64", "int32", "int8", "uint8", "uint16", "uint32")
MOST_BYTES = 1 << 32  # of one array, uncompressed


@dataclass(frozen=True, eq=False)
class SavedNetwork:
    """The network of a model file, the kind of classifier that it belongs to, and how that prints."""

    estimator: str
    text: str
    network: Network


def read_saved_network(path: str | os.PathLike[str]) -> SavedNetwork | None:
    """Read the network of a model file; None where it takes the classifier itself to make it.

    The network is the classifier's own ``network_``: CPTs that follow from counts and a smoothing, or that the file
    holds. Weights, given class priors and the like are left to the classifier.
    """
    document = read_json(path)
    current = isinstance(document, dict) and document.get("format") == FORMAT and document.get("version") == VERSION
    if not current or not isinstance(document.get("text"), str):
        return None
    try:
        network = _counted_network(document) if "smoothing" in document else _stored_network(document)
    except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError, TanbarkError):
        return None  # reading the classifier says what is wrong with the file
    return None if network is None else SavedNetwork(str(document["estimator"]), document["text"], network)


def _counted_network(document: dict[str, Any]) -> Network:
    schema = read_schema(document["columns"])
    parents = [read_parents(item, len(schema.columns)) for item in read_list(document["parents"], "parents")]
    dag = Dag(schema.names, tuple(parents))
    with np.errstate(all="ignore"):
        network = fit(schema, dag, read_counts(document["counts"], schema, dag), read_smoothing(document["smoothing"]))
    for node, cpt in enumerate(network.tables):
        demand(np.allclose(cpt.sum(axis=network.axes(node).index(node)), 1.0), "counts give no probabilities")
    return network


def _stored_network(document: dict[str, Any]) -> Network | None:
    return None if "network" not in document else read_cpts(document["network"])


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read JSON without infinite numbers, or raise the error that it is no model file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is no model file of Tanbark: it is not valid JSON ({error}). Is it cut off or another format?"
        raise ModelFileError(msg) from error


def _refuse_number(text: str) -> float:
    msg = f"{text} is no JSON number"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def smoothing_document(smoothing: Smoothing) -> dict[str, Any]:
    """Write a smoothing as JSON."""
    options = {name: _plain(value) for name, value in smoothing.get_params().items()}
    return {"part": type(smoothing).__name__, "options": options}


def _plain(value: Any) -> Any:
    """Write an option as JSON, a mapping as pairs since its keys need not be strings."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _read_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_read_plain(key): _read_plain(item) for key, item in value["pairs"]}
    return [_read_plain(item) for item in value] if isinstance(value, list) else value


def read_smoothing(document: Any) -> Smoothing:
    """Read a smoothing from its JSON."""
    known = {cls.__name__: cls for cls in Smoothing.__subclasses__()}
    return known[document["part"]](**{name: _read_plain(value) for name, value in document["options"].items()}).check()


def read_schema(document: Any) -> Schema:
    """Read the columns of a model, the class last."""
    schema = Schema(tuple(read_column(item) for item in read_list(document, "columns")))
    demand(len(schema.columns) >= 2, "a model needs a feature and a class")
    demand(schema.columns[-1].kind == "category" and len(schema.columns[-1].levels) > 0, "the class has no labels")
    return schema


def read_parents(document: Any, n: int) -> tuple[int, ...]:
    """Read the parents of a column among n columns."""
    parents = read_list(document, "parents of a column")
    demand(all(type(parent) is int and 0 <= parent < n for parent in parents), "a parent is no column")
    return tuple(parents)


def read_counts(document: Any, schema: Schema, dag: Dag) -> tuple[NDArray[Any], ...]:
    """Read the counts of every family."""
    demand(
        len(read_list(document, "counts")) == len(schema.columns), "there is not one table of counts for each column"
    )
    tables = []
    for node, item in enumerate(document):
        name = schema.names[node]
        flat = read_list(item, f"counts of {name!r}")
        shape = [schema.cardinalities[c] for c in family_axes(dag.parents[node], node, schema.target)]
        demand(len(flat) == math.prod(shape), f"the counts of {name!r} do not fit its states")
        tables.append(read_numbers(flat, repr(name)).reshape(shape))
    return tuple(tables)


def read_numbers(flat: list[Any], whose: str) -> NDArray[Any]:
    """Read counts: whole numbers where all are, otherwise floats."""
    demand(all(is_number(n) and n >= 0 for n in flat), f"a count of {whose} is no number of at least 0")
    whole = all(isinstance(n, int) for n in flat)
    return np.array(flat, dtype=np.int64 if whole else np.float64)


def read_cpts(document: Any) -> Network:
    """Read a network that is stored with its CPTs."""
    schema = read_schema(document["columns"])
    parents = [read_parents(item, len(schema.columns)) for item in read_list(document["parents"], "parents")]
    cpts = [read_array(item, "a CPT", "float64") for item in read_list(document["cpts"], "CPTs")]
    demand(len(cpts) == len(parents) == len(schema.columns), "there is not one CPT for each column")
    demand(all(len(set(found)) == len(found) for found in parents), "a parent occurs twice")
    network = Network(schema, Dag(schema.names, tuple(parents)), tuple(cpts))
    for node, cpt in enumerate(cpts):
        axes = network.axes(node)
        demand(cpt.shape == tuple(schema.cardinalities[c] for c in axes), "a CPT does not fit its columns")
        good = np.allclose(cpt.sum(axis=axes.index(node)), 1.0) and bool((cpt >= 0).all())
        demand(good, "a CPT does not sum to one")
    return network


def array_document(values: Array) -> dict[str, Any]:
    """Write an array as its type, its shape, and its bytes compressed in base 64."""
    values = np.ascontiguousarray(values)
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(zlib.compress(little.tobytes(), 6)).decode("ascii")
    return {"type": values.dtype.name, "shape": list(values.shape), "data": data}


def read_array(document: Any, what: str, kind: str | None = None) -> Array:
    """Read an array, of one type where it must be; its size is checked before it is decompressed."""
    demand(isinstance(document, dict), f"{what} is no array")
    name, shape, data = document["type"], read_list(document["shape"], what), document["data"]
    demand(name in TYPES and (kind is None or name == kind), f"{what} has the type {name!r:.20}")
    demand(all(type(size) is int and size >= 0 for size in shape) and isinstance(data, str), f"{what} is no array")
    size = int(np.prod(shape, dtype=object)) * np.dtype(name).itemsize
    demand(size <= MOST_BYTES, f"{what} is too large")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(data, validate=True), size + 1)
    except (ValueError, zlib.error):
        content = b""
    demand(len(content) == size and reader.eof, f"{what} does not have the bytes that its shape says")
    found = np.frombuffer(content, np.dtype(name).newbyteorder("<")).astype(name).reshape(shape)
    demand(name != "float64" or not np.isposinf(found).any(), f"{what} holds an infinite number")
    return found
