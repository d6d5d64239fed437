"""Networks of other libraries: networkx graphs, and the models of pgmpy and pyAgrum where those are installed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tanbark.errors import InputError, MissingPackageError
from tanbark.export.notation import FROM_FILE, labels
from tanbark.graph import Network
from tanbark.graph.build import assemble, make_column, parents_first
from tanbark.table import Column


def _package(name: str, pip: str | None = None) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        msg = f"This needs {pip or name}, which is not installed: pip install {pip or name}"
        raise MissingPackageError(msg) from None


def to_networkx(network: Network) -> Any:
    """Make a ``networkx.DiGraph``; each node has ``states``, ``parents`` and ``table`` (parents' axes first)."""
    graph = _package("networkx").DiGraph()
    names = network.dag.names
    if network.schema.has_class:
        graph.graph["class"] = names[network.target]
    for node, column in enumerate(network.schema.columns):
        parents, table = parents_first(network, node)
        listed = tuple(names[p] for p in parents)
        graph.add_node(column.name, states=column.states(), parents=listed, table=table.copy(), column=column)
    graph.add_edges_from(network.dag.arcs())
    return graph


def from_networkx(graph: Any) -> Network:
    """Read a directed graph whose nodes have ``states``, ``table`` and, where there are several, ``parents``."""
    columns, tables = [], {}
    for name, data in graph.nodes(data=True):
        if "states" not in data or "table" not in data:
            msg = f"The node {name!r} must have 'states' and 'table'; it has {sorted(data)}."
            raise InputError(msg)
        given = list(graph.predecessors(name))
        parents = list(data.get("parents", given))
        if set(parents) != set(given) or (len(given) > 1 and "parents" not in data):
            msg = f"The node {name!r} must list its 'parents' {given} in the order of its table's axes; got {parents}."
            raise InputError(msg)
        column = data.get("column")
        same = isinstance(column, Column) and column.name == name and column.states() == tuple(data["states"])
        columns.append(column if same else make_column(name, data["states"]))
        tables[name] = parents, data["table"]
    return assemble(columns, tables, target=graph.graph.get("class"))


def to_pgmpy(network: Network) -> Any:
    """Make a ``DiscreteBayesianNetwork`` of pgmpy; states keep their types."""
    models, factors = _package("pgmpy.models", "pgmpy"), _package("pgmpy.factors.discrete", "pgmpy")
    names, columns = network.dag.names, network.schema.columns
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(names)
    model.add_edges_from(network.dag.arcs())
    for node, column in enumerate(columns):
        parents, table = parents_first(network, node)
        model.add_cpds(
            factors.TabularCPD(
                column.name,
                column.n_states,
                table.reshape(-1, column.n_states).T,
                evidence=[names[p] for p in parents] or None,
                evidence_card=[columns[p].n_states for p in parents] or None,
                state_names={names[each]: list(columns[each].states()) for each in (*parents, node)},
            )
        )
    return model


def from_pgmpy(model: Any) -> Network:
    """Read a discrete Bayesian network of pgmpy."""
    columns, tables = [], {}
    for name in model.nodes():
        cpd = model.get_cpds(name)
        if cpd is None:
            msg = f"The model has no CPT for {name!r}. Fit it, or add one."
            raise InputError(msg)
        columns.append(make_column(str(name), cpd.state_names[name]))
        tables[str(name)] = [str(p) for p in cpd.variables[1:]], np.moveaxis(np.asarray(cpd.values), 0, -1)
    in_model = {column.name: column.states() for column in columns}
    for name in model.nodes():
        cpd = model.get_cpds(name)
        for axis, parent in enumerate(cpd.variables[1:]):
            known, there = in_model[str(parent)], list(cpd.state_names[parent])
            if sorted(map(str, known)) != sorted(map(str, there)):
                msg = f"The CPT of {name!r} lists the states {there} of {parent!r}, whose own CPT lists {list(known)}."
                raise InputError(msg)
            parents, table = tables[str(name)]
            tables[str(name)] = parents, np.take(table, [there.index(state) for state in known], axis=axis)
    return assemble(columns, tables, tolerance=FROM_FILE)


def to_pyagrum(network: Network) -> Any:
    """Make a ``BayesNet`` of pyAgrum; states become labels."""
    gum = _package("pyagrum")
    net = gum.BayesNet()
    names = network.dag.names
    for column in network.schema.columns:
        net.add(gum.LabelizedVariable(column.name, column.name, labels(column)))
    for parent, child in network.dag.arcs():
        net.addArc(parent, child)
    for node, name in enumerate(names):
        axes = network.axes(node)
        table = net.cpt(name)
        order = [names.index(each) for each in reversed(table.names)]  # its flat order has the first variable fastest
        table.fillWith(network.tables[node].transpose([axes.index(axis) for axis in order]).ravel().tolist())
    return net


def from_pyagrum(net: Any) -> Network:
    """Read a ``BayesNet`` of pyAgrum; variables over a range or over integers have numbers as states."""
    gum = _package("pyagrum")
    columns, tables = [], {}
    for name in net.names():
        variable = net.variable(name)
        states: list[Any] = list(variable.labels())
        if variable.varType() in (gum.VarType_RANGE, gum.VarType_INTEGER):
            states = [int(state) for state in states]
        columns.append(make_column(name, states))
        table = net.cpt(name)
        axes = list(reversed(table.names))
        values = np.array(table.tolist(), float).reshape([net.variable(each).domainSize() for each in axes])
        parents = [each for each in axes if each != name]
        tables[name] = parents, values.transpose([axes.index(each) for each in (*parents, name)])
    ordered = sorted(columns, key=lambda column: net.idFromName(column.name))
    return assemble(ordered, tables, tolerance=FROM_FILE)
