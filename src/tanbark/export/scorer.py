"""A model as a Python module that imports nothing but the standard library."""

from __future__ import annotations

import base64
import zlib
from importlib.resources import files
from typing import Any

import numpy as np

from tanbark.arrays import Array
from tanbark.errors import InputError
from tanbark.export.scored import correction_of, is_pooled, pooled_model, scored_network
from tanbark.graph import Network
from tanbark.params.boosting.trees import Forest
from tanbark.table import Schema
from tanbark.table.written import pieces

MARK, END = "# the model goes here\n", "# end of the model\n"
BEGINS, ENDS = "# prediction begins\n", "# prediction ends\n"
CODES = {"float64": "d", "int8": "b", "uint8": "B", "int32": "i", "int64": "q"}  # of the module array


def to_python(network: Network) -> str:
    """Write a module with ``predict`` and ``predict_proba`` for rows that are dicts.

    Missing values are marginalised exactly; where that takes sums of more than 2**14 terms over the networks of a
    :class:`~tanbark.Classifier` or :class:`~tanbark.NetworkEnsemble`, ``predict`` raises a ValueError. The module needs
    Python 3.9 or newer and no package. Run as a program, it reads CSV and writes CSV with the predictions.

    Parameters
    ----------
    network : Network, or a classifier with one or with several pooled
        Only a classifier has a temperature or a correction.

    Examples
    --------
    >>> tables = {"C": [0.5, 0.5], "A": (("C",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> network = Network.from_tables({"A": ["no", "yes"], "C": ["a", "b"]}, tables, target="C")
    >>> module = {"__name__": "scorer"}
    >>> exec(to_python(network), module)
    >>> module["predict"]({"A": "yes"})
    'a'
    """
    template = _template("scorer_template.py")
    head, tail = template.split(MARK)
    _, tail = tail.split(END)
    if not is_pooled(network):
        return head + _model(network) + _unmarked(tail)
    before, rest = tail.split(BEGINS)
    _, after = rest.split(ENDS)
    _, prediction = _template("scorer_template_pooled.py").split(BEGINS)
    return head + _pooled_model(network) + before + prediction + "\n\n" + after


def _template(name: str) -> str:
    return files("tanbark.export").joinpath(name).read_text(encoding="utf-8")


def _unmarked(text: str) -> str:
    return text.replace(BEGINS, "").replace(ENDS, "")


def _columns(schema: Schema) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name, "kind": column.kind, "values": column.values, "levels": list(column.levels),
            "cuts": list(column.cuts), "missing_state": column.missing_state, "size": column.n_states,
            **({"written": pieces(column.written)} if column.written else {}),
        }
        for column in schema.columns
    ]  # fmt: skip


def _model(model: Any) -> str:
    """Write one network, its temperature and its correction."""
    network, correction = scored_network(model, "A scorer predicts"), correction_of(model)
    columns = _columns(network.schema)
    target = network.schema.columns[network.target]
    temperature = float(getattr(model, "temperature_", 1.0) if correction is None else correction.temperature)
    return _assignments([
        ("COLUMNS", columns),
        ("LABELS", list(target.states())),
        ("AXES", [list(network.axes(node)) for node in range(len(columns))]),
        ("TABLES", [table.ravel().tolist() for table in network.tables]),
        ("CHILDREN", [list(children) for children in network.dag.children]),
        ("EXPONENTS", None if network.exponents is None else [float(power) for power in network.exponents]),
        ("TEMPERATURE", temperature),
        ("BASE_TEMPERATURE", 1.0 if correction is None else float(correction.base_temperature)),
        ("CORRECTION", None if correction is None else _packed(correction.families, correction.families._fields)),
    ])  # fmt: skip


def _pooled_model(model: Any) -> str:
    """Write the networks of an ensemble, with their large arrays packed."""
    from tanbark.inference.sparse_network import MOST_ENTRIES

    pooled, schema = pooled_model(model)
    kinds = list({id(member.coarsening): member.coarsening for member in pooled.members}.values())
    prior = [float(value) if np.isfinite(value) else -1e300 for value in pooled.log_prior]
    networks = []
    for place, member in enumerate(pooled.members):
        networks.append({
            "weight": float(pooled.weights[place]), "kind": kinds.index(member.coarsening),
            "columns": member.columns.tolist(), "order": list(member.order),
            "parents": [list(parents[1:]) for parents in member.parents],
            "sizes": [member.coarsening.schema.cardinalities[c] for c in member.columns.tolist()],
            "trees": [
                _packed(tree, ("children", "starts", "states", "levels", "probabilities")) for tree in member.trees
            ],
        })  # fmt: skip
    return _assignments([
        ("COLUMNS", _columns(schema)),
        ("LABELS", list(schema.columns[-1].states())),
        ("KINDS", [{"lookups": [lookup[:-1].tolist() for lookup in kind.lookups]} for kind in kinds]),
        ("NETWORKS", networks),
        ("TREES", None if pooled.trees is None else _forest(pooled.trees)),
        ("LOG_PRIOR", prior),
        ("USUAL_MISSING", pooled.usual_missing),
        ("FADE", pooled.fade),
        ("TEMPERATURE", pooled.temperature),
        ("PLAIN_TEMPERATURE", pooled.plain_temperature),
        ("MOST_ENTRIES", MOST_ENTRIES),
    ])  # fmt: skip


def _forest(forest: Forest) -> dict[str, Any]:
    nodes, n_states = forest.nodes, forest.nodes.masks.shape[1]
    arrays = nodes._replace(values=nodes.values.ravel(), masks=nodes.masks.ravel().astype(np.uint8))
    found = {"roots": _pack(forest.roots), **_packed(arrays, arrays._fields)}
    return {**found, "ordered": forest.ordered.tolist(), "n_states": n_states, "n_values": nodes.values.shape[1]}


def _packed(arrays: Any, names: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    return {name: _pack(getattr(arrays, name)) for name in names}


def _pack(values: Array) -> tuple[str, str]:
    """Write an array as a type code of the module ``array``, and its bytes compressed in base 64."""
    little = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"))
    return CODES[values.dtype.name], base64.b64encode(zlib.compress(little.tobytes(), 6)).decode("ascii")


def _assignments(parts: list[tuple[str, Any]]) -> str:
    lines = []
    for name, given in parts:
        value = _plain(given)
        if isinstance(value, list) and name != "LABELS":
            inner = "".join(f"    {item!r},\n" for item in value)
            lines.append(f"{name} = [\n{inner}]\n")
        else:
            lines.append(f"{name} = {value!r}\n")
    return "".join(lines)


def _plain(value: Any) -> Any:
    """Return a value made of Python's own types alone, whose ``repr`` is a literal; no method of a subclass is run."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, np.number):
        return value.item()
    msg = f"A value of type {type(value).__name__} cannot be written as Python. Make it a string or a number."
    raise InputError(msg)
