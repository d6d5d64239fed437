"""A model as a Python module that imports nothing but the standard library."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from tanbark.export.scored import scored_network
from tanbark.graph import Network

MARK = "# the model goes here\n"


def to_python(network: Network) -> str:
    """Write a module with ``predict`` and ``predict_proba`` for rows that are dicts.

    Missing values are marginalised exactly. The module needs Python 3.9 or newer and no package. Run as a program, it
    reads CSV and writes CSV with the predictions.

    Parameters
    ----------
    network : Network, or a classifier that has one
        Only a classifier has a temperature.

    Examples
    --------
    >>> tables = {"C": [0.5, 0.5], "A": (("C",), [[0.1, 0.9], [0.5, 0.5]])}
    >>> network = Network.from_tables({"A": ["no", "yes"], "C": ["a", "b"]}, tables, target="C")
    >>> module = {"__name__": "scorer"}
    >>> exec(to_python(network), module)
    >>> module["predict"]({"A": "yes"})
    'a'
    """
    temperature = float(getattr(network, "temperature_", 1.0))
    network = scored_network(network, "A scorer predicts")
    template = files("tanbark.export").joinpath("scorer_template.py").read_text(encoding="utf-8")
    head, tail = template.split(MARK)
    _, tail = tail.split("# end of the model\n")
    return head + _model(network, temperature) + tail


def _model(network: Network, temperature: float) -> str:
    columns = [
        {
            "name": column.name, "kind": column.kind, "values": column.values, "levels": list(column.levels),
            "cuts": list(column.cuts), "missing_state": column.missing_state, "size": column.n_states,
        }
        for column in network.schema.columns
    ]  # fmt: skip
    target = network.schema.columns[network.target]
    parts: list[tuple[str, Any]] = [
        ("COLUMNS", columns),
        ("LABELS", list(target.states())),
        ("AXES", [list(network.axes(node)) for node in range(len(columns))]),
        ("TABLES", [table.ravel().tolist() for table in network.tables]),
        ("CHILDREN", [list(children) for children in network.dag.children]),
        ("EXPONENTS", None if network.exponents is None else [float(power) for power in network.exponents]),
        ("TEMPERATURE", temperature),
    ]
    lines = []
    for name, value in parts:
        if isinstance(value, list) and name != "LABELS":
            inner = "".join(f"    {item!r},\n" for item in value)
            lines.append(f"{name} = [\n{inner}]\n")
        else:
            lines.append(f"{name} = {value!r}\n")
    return "".join(lines)
