"""A classifier with one network as an ONNX graph, for runtimes in other languages.

Every feature is an input of its own, (rows, 1): doubles, or strings. Raw values become states; the states of a family
make a place in its table of log-probabilities, whose rows (one entry per class) are gathered and added; the sum is
normalised. All of it is in double precision, so that complete rows have Python's posteriors up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tanbark.arrays import Array, Floats
from tanbark.errors import InputError, OptionError
from tanbark.export.scored import correction_of, is_pooled, scored_network
from tanbark.graph import Network
from tanbark.inference import class_log_prior, normalize
from tanbark.table import Column

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8  # of 2022: read by runtimes since then
NEVER = -1e9  # in place of the logarithm of zero
EXACT = 1 << 53  # whole numbers from here on are not all doubles
PROBABILITIES, LABEL = "probabilities", "label"


def to_onnx(network: Network) -> Any:
    """Make an ONNX model that scores rows: the probability of every class, and the most probable one.

    NaN, and an empty string where it is no category, is a missing value; so is a value that was not seen in training.
    A missing value is marginalised exactly where no observed feature depends on it, always so in naive Bayes. The
    probabilities of any other row are NaN, and so they are with ``handle_unknown="error"`` for a row with a value not
    seen in training; its label then means nothing. Rows of probability zero under every class get the class prior, as
    in Python.

    Parameters
    ----------
    network : Network, or a classifier with one
        Only a classifier has a temperature. Pooled networks and boosted corrections raise an error.

    Returns
    -------
    onnx.ModelProto
        Write it with ``onnx.save``, or ``SerializeToString``.

    Examples
    --------
    >>> tables = {"C": [0.5, 0.5], "A": (("C",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> network = Network.from_tables({"A": ["no", "yes"], "C": ["a", "b"]}, tables, target="C")
    >>> model = to_onnx(network)  # doctest: +SKIP
    """
    if is_pooled(network) or correction_of(network) is not None:
        msg = (
            "An ONNX model is written for a single network without a boosted correction. Use to_python or to_sql, or "
            "fit a learner such as TAN."
        )
        raise OptionError(msg)
    found = scored_network(network, "An ONNX model predicts")
    strict = getattr(network, "handle_unknown", None) == "error"
    return _Graph(found, strict).finish(float(getattr(network, "temperature_", 1.0)))


def _onnx() -> Any:
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        msg = 'to_onnx needs the package onnx; install it with pip install "tanbark[onnx]".'
        raise OptionError(msg) from None
    return onnx, helper, numpy_helper


class _Graph:
    """The graph while it is made: nodes, constants and inputs.

    Parameters
    ----------
    network : Network
    strict : bool
        Whether a value that was not seen in training makes a row's probabilities NaN.
    """

    def __init__(self, network: Network, strict: bool) -> None:
        self.onnx, self.helper, self._arrays = _onnx()
        self.network, self.strict = network, strict
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self._number = 0
        self.spoilt: list[str] = []  # masks of rows without an answer

    # ------------------------------------------------------------------ pieces

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        self._number += 1
        name = output or f"tb_{self._number}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Add an array of the model; return its name."""
        self._number += 1
        self.constants.append(self._arrays.from_array(np.asarray(values), f"tb_{self._number}"))
        return f"tb_{self._number}"

    def either(self, masks: Sequence[str]) -> str:
        """Add the disjunction of masks of rows."""
        found = masks[0]
        for mask in masks[1:]:
            found = self.add("Or", found, mask)
        return found

    # ------------------------------------------------------------------ values to states

    def states(self, column: Column) -> tuple[str, str]:
        """Add the states of a feature, 0 where there is none, and the mask of the rows in which it is missing."""
        text = column.kind == "category" and bool(column.levels) and isinstance(column.levels[0], str)
        kind = self.onnx.TensorProto.STRING if text else self.onnx.TensorProto.DOUBLE
        self.inputs.append(self.helper.make_tensor_value_info(column.name, kind, ["rows", 1]))
        place, empty, unknown = self._categories(column, text) if column.kind == "category" else self._intervals(column)
        missing = empty if unknown is None else self.either([empty, unknown])
        if self.strict and unknown is not None:
            self.spoilt.append(unknown)
        zero = self.constant(np.int64(0))
        if not column.missing_state:
            return self.add("Where", missing, zero, place), missing
        known = self.add("Where", missing, zero, self.add("Add", place, self.constant(np.int64(1))))
        never = self.add("And", empty, self.add("Not", empty))
        return known, never if unknown is None else unknown

    def _intervals(self, column: Column) -> tuple[str, str, None]:
        """Count the cut points below the value."""
        above = self.add("Greater", column.name, self.constant(np.asarray(column.cuts, np.float64).reshape(1, -1)))
        whole = self.add("Cast", above, to=self.onnx.TensorProto.INT64)
        place = self.add("ReduceSum", whole, self.constant(np.array([1])), keepdims=0)
        return place, self._flat(self.add("IsNaN", column.name)), None

    def _categories(self, column: Column, text: bool) -> tuple[str, str, str]:
        """Look the value up among the categories: its place, whether there is none, whether it is not among them."""
        _check_levels(column, text)
        if text:
            place = self._encoded(column.name, [str(level) for level in column.levels])
            no_text = [""] if "" not in column.levels else []
            empty = self.add(
                "GreaterOrEqual", self._encoded(column.name, no_text or ["\x00"]), self.constant(np.int64(0))
            )
        else:
            levels = np.asarray([float(level) for level in column.levels] or [np.nan], np.float64)
            same = self.add(
                "Cast", self.add("Equal", column.name, self.constant(levels[None])), to=self.onnx.TensorProto.INT64
            )
            counted = self.add("Mul", same, self.constant(np.arange(1, len(levels) + 1)))
            total = self.add("ReduceSum", counted, self.constant(np.array([1])), keepdims=0)
            place = self.add("Sub", total, self.constant(np.int64(1)))
            empty = self._flat(self.add("IsNaN", column.name))
        strange = self.add("Less", place, self.constant(np.int64(0)))
        return place, empty, self.add("And", strange, self.add("Not", empty))

    def _encoded(self, name: str, texts: list[str]) -> str:
        """Add the place of strings in a list, -1 for others."""
        places = list(range(len(texts)))
        found = self.add(
            "LabelEncoder", name, domain="ai.onnx.ml", keys_strings=texts, values_int64s=places, default_int64=-1
        )
        return self._flat(found)

    def _flat(self, name: str) -> str:
        return self.add("Reshape", name, self.constant(np.array([-1])))

    # ------------------------------------------------------------------ states to posteriors

    def finish(self, temperature: float) -> Any:
        """Add the log-joints and the posteriors; return the model."""
        network = self.network
        target, n_classes = network.target, network.schema.cardinalities[network.target]
        coded = [self.states(column) for column in network.schema.features]
        terms = [self._family(node, coded) for node in (target, *network.dag.children[target])]
        for node in range(target):  # a missing value that something observed depends on
            for child in network.dag.children[node]:
                below = [] if child == target else [self.add("Not", coded[child][1])]
                self.spoilt.append(self.add("And", coded[node][1], below[0]) if below else coded[node][1])
        prior = class_log_prior(network)
        joint = self.add("Sum", *terms)
        if temperature != 1.0:
            held = np.where(np.isneginf(prior), 0.0, prior) * (1.0 - temperature)
            raised = self.add("Add", self.add("Mul", joint, self.constant(temperature)), self.constant(held[None]))
            possible = self.add("Greater", joint, self.constant(NEVER / 2))
            joint = self.add("Where", possible, raised, self.constant(NEVER))
        self._posteriors(joint, prior, n_classes)
        return self._model(n_classes)

    def _family(self, node: int, coded: list[tuple[str, str]]) -> str:
        """Add the logarithms of a family's probabilities, (rows, classes); zeros where the node is missing."""
        network, axes = self.network, self.network.axes(node)
        others = [axis for axis in axes if axis != network.target]
        logs = np.moveaxis(network.log_tables[node], axes.index(network.target), -1)
        table = _finite(logs.reshape(-1, logs.shape[-1]))
        if not others:
            return self.constant(table)
        sizes = [network.schema.cardinalities[axis] for axis in others]
        steps = np.cumprod([1, *sizes[::-1]])[:-1][::-1]
        place = ""
        for axis, step in zip(others, steps.tolist(), strict=True):
            term = self.add("Mul", coded[axis][0], self.constant(np.int64(step)))
            place = self.add("Add", place, term) if place else term
        if node != network.target:
            place = self.add("Where", coded[node][1], self.constant(np.int64(len(table))), place)
            table = np.vstack([table, np.zeros((1, table.shape[1]))])
        return self.add("Gather", self.constant(table), place, axis=0)

    def _posteriors(self, joint: str, log_prior: Floats, n_classes: int) -> None:
        """Add the normalised posteriors and the label."""
        top = self.add("ReduceMax", joint, axes=[1], keepdims=1)
        parts = self.add("Exp", self.add("Sub", joint, top))
        found = self.add("Div", parts, self.add("ReduceSum", parts, self.constant(np.array([1])), keepdims=1))
        prior = normalize(np.asarray(log_prior, float)[None].copy(), logs=False)[0]
        possible = self.add("Greater", top, self.constant(NEVER / 2))
        found = self.add("Where", possible, found, self.constant(prior))
        if self.spoilt:
            column = self.add("Reshape", self.either(self.spoilt), self.constant(np.array([-1, 1])))
            found = self.add("Where", column, self.constant(np.full((1, n_classes), np.nan)), found)
        rows = self._n_rows()
        shape = self.add("Concat", rows, self.constant(np.array([n_classes])), axis=0)
        self.add("Expand", found, shape, output=PROBABILITIES)
        best = self.add("ArgMax", PROBABILITIES, axis=1, keepdims=0)
        self.add("Gather", self.constant(self._labels()), best, axis=0, output=LABEL)

    def _n_rows(self) -> str:
        """Add the number of rows; one where the model has no features."""
        if not self.inputs:
            return self.constant(np.array([1]))
        return self.add("Gather", self.add("Shape", self.inputs[0].name), self.constant(np.array([0])), axis=0)

    def _labels(self) -> Array:
        states = self.network.schema.columns[self.network.target].states()
        if any(isinstance(state, str) for state in states):
            return np.array([str(state) for state in states], object)
        whole = all(isinstance(state, (bool, int)) for state in states)
        return np.array([int(state) for state in states], np.int64) if whole else np.array(states, np.float64)

    def _model(self, n_classes: int) -> Any:
        helper, kinds = self.helper, self.onnx.TensorProto
        label = {"O": kinds.STRING, "i": kinds.INT64, "f": kinds.DOUBLE}[self._labels().dtype.kind]
        outputs = [
            helper.make_tensor_value_info(PROBABILITIES, kinds.DOUBLE, ["rows", n_classes]),
            helper.make_tensor_value_info(LABEL, label, ["rows"]),
        ]
        graph = helper.make_graph(self.nodes, "tanbark", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="tanbark")
        model.ir_version = IR_VERSION
        return model


def _finite(logs: Floats) -> Floats:
    """Return logarithms with a very small number in place of that of zero."""
    return np.where(np.isneginf(logs), NEVER, logs)


def _check_levels(column: Column, text: bool) -> None:
    if len({isinstance(level, str) for level in column.levels}) > 1:
        msg = f"Column {column.name!r} holds strings and numbers, which no input of ONNX can. Convert some."
        raise InputError(msg)
    if not text and any(isinstance(level, int) and abs(level) >= EXACT for level in column.levels):
        msg = f"Column {column.name!r} holds whole numbers that are no doubles. Make them strings."
        raise InputError(msg)
