"""The data of the page: a network, its junction tree, layout and counts as JSON values, and what predicts beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import InputError, TableTooLargeError
from tanbark.estimators.ensemble.classifier import PooledClassifier
from tanbark.estimators.ensemble.reading import reading_network
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.parts.parameters import MANB
from tanbark.estimators.reports.uncertainty import has_levels
from tanbark.explorer.drawing import drawing
from tanbark.explorer.packing import pack_families
from tanbark.explorer.pooled import pool_data
from tanbark.graph import Network
from tanbark.inference.junction import JunctionTree, junction_tree
from tanbark.params.context_tree import dense_counts
from tanbark.params.smoothing import context_tree
from tanbark.table import Column

VERSION = 1
MOST_ENTRIES = 1 << 22  # of all clique tables: a browser propagates them in some hundredths of a second
NOTHING_LEARNT: dict[str, Any] = {"counts": None, "mass": None, "rows": None, "transformed": [], "weights": None}


def page_data(model: Network | NetworkClassifier | PooledClassifier, *, title: str | None = None) -> dict[str, Any]:
    """Describe a network, or a classifier with one or with several pooled, for the page.

    Raises
    ------
    InputError
        For a model of another kind, or one whose weighted CPTs are unnormalised.
    TableTooLargeError
        If exact inference needs larger clique tables, or pooled networks more contexts, than a browser should hold.
    """
    network = _network(model)
    _check_weights(network)
    tree = _checked_tree(network)
    kind = type(model).__name__
    columns = [_column(column) for column in network.schema.columns]
    about = f"{kind} for {network.dag.names[network.target]}" if network.schema.has_class else kind
    return {
        "version": VERSION,
        "title": title or about,
        "kind": kind,
        "target": network.target,
        "columns": columns,
        "parents": [list(parents) for parents in network.dag.parents],
        "order": list(network.dag.order),
        "axes": [list(network.axes(node)) for node in range(len(network.tables))],
        "tables": [_flat(table) for table in network.tables],
        "temperature": getattr(model, "temperature_", 1.0),
        "exponents": None if network.exponents is None else list(map(float, network.exponents)),
        "cliques": [list(scope) for scope in tree.scopes],
        "above": list(tree.parent),
        "home": list(tree.home),
        "drawing": drawing(network, [column.get("title", column["name"]) for column in columns]),
        "pool": pool_data(model, network) if isinstance(model, PooledClassifier) else None,
        "correction": _correction(model),
        **(_learnt(model, network) if isinstance(model, NetworkClassifier) else NOTHING_LEARNT),
    }


def _network(model: Any) -> Network:
    if isinstance(model, Network):
        return model
    if isinstance(model, (NetworkClassifier, PooledClassifier)):
        if not hasattr(model, "model_" if isinstance(model, PooledClassifier) else "network_"):
            msg = f"This {type(model).__name__} is not fitted yet, so there is nothing to explore. Call fit first."
            raise InputError(msg)
        return reading_network(model) if isinstance(model, PooledClassifier) else model.network_
    kind = type(model).__name__
    if hasattr(model, "averages_") or hasattr(model, "_orders"):
        msg = (
            f"{kind} averages many networks, and the page shows one. Explore clf.naive_, or train SPODE, TAN or KDB, "
            "which are single networks."
        )
        raise InputError(msg)
    if hasattr(model, "estimators_"):
        msg = f"{kind} averages many models, and the page shows one. Explore one of clf.estimators_."
        raise InputError(msg)
    msg = f"The explorer shows a Network, or a classifier that has one as network_; got {kind}."
    raise InputError(msg)


def _check_weights(network: Network) -> None:
    if network.exponents is None:
        return
    others = [p for parents in network.dag.parents for p in parents if p != network.target]
    if others or network.dag.parents[network.target]:
        msg = (
            "The CPTs are weighted and features depend on one another, so that a missing value cannot be marginalised. "
            "Use naive Bayes, or weights with normalize=True."
        )
        raise InputError(msg)


def _checked_tree(network: Network) -> JunctionTree:
    tree = junction_tree(network)
    sizes = network.schema.cardinalities
    entries = [math.prod(sizes[c] for c in scope) for scope in tree.scopes]
    looked_at = sum(entries) + sum(entries[k] for k in tree.parent if k >= 0)
    if looked_at > MOST_ENTRIES:
        widest = tree.scopes[entries.index(max(entries))]
        names = [network.dag.names[c] for c in widest[:6]]
        msg = (
            f"Exact inference in the page needs clique tables of {looked_at:,} entries, the widest over {len(widest)} "
            f"columns ({names}{' …' if len(widest) > 6 else ''}), more than {MOST_ENTRIES:,}. "
            "Use a structure with fewer parents, or prune the network."
        )
        raise TableTooLargeError(msg)
    return tree


def _column(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "kind": column.kind, "values": column.values}
    found["labels"] = column.labels()
    if column.kind == "interval":
        found["cuts"] = list(column.cuts)
    else:
        found["levels"] = [_level(level) for level in column.levels]
    if column.missing_state:
        found["missing"] = True
    return found


def _level(level: Any) -> Any:
    """Return a category as a JSON value; whole numbers that floats cannot represent become text."""
    if isinstance(level, (bool, str)):
        return level
    exact = abs(level) <= 2**53
    return (int(level) if float(level).is_integer() else float(level)) if exact else str(level)


def _flat(table: NDArray[Any]) -> list[float]:
    flat: list[float] = table.ravel().tolist()
    return flat


def _learnt(model: NetworkClassifier, network: Network) -> dict[str, Any]:
    """Return the counts behind the CPTs and the prior mass added: None for fixed CPTs, levels for hierarchical ones."""
    mixed = isinstance(getattr(model, "parameters_", None), MANB)
    mass: list[Any] = []
    for node, counts in enumerate(model.family_counts_):
        fixed = mixed or (node == network.target and model.class_prior is not None)
        axis = network.axes(node).index(node)
        if not fixed and has_levels(counts, model.smoothing_):
            mass.append(_levels(counts, axis))
            continue
        own = None if fixed else model.smoothing_.mass(counts, axis)
        mass.append(own if own is None or np.ndim(own) == 0 else _flat(np.broadcast_to(own, counts.shape)))
    transformed = model.encoder_.transformed if model.encoder_.transformer is not None else ()
    return {
        "counts": [_flat(table) for table in model.family_counts_],
        "mass": mass,
        "rows": float(model.family_counts_[network.target].sum()),
        "transformed": list(transformed),
        "weights": _powers(model),
    }


def _levels(counts: NDArray[Any], axis: int) -> dict[str, Any]:
    """Return what a hierarchical CPT is drawn from: counts and concentration of every level, and the cells' places."""
    tree, order = context_tree(counts, axis)
    places = np.arange(counts.size).reshape(counts.shape).transpose([*order, axis])
    return {
        "levels": [_flat(level) for level in dense_counts(tree)],
        "concentrations": tree.concentrations.tolist(),
        "places": places.ravel().tolist(),
    }


def _correction(model: Any) -> dict[str, Any] | None:
    """Return what corrects the posterior of one network, if anything does."""
    parameters: Any = getattr(model, "parameters_", None)
    if not getattr(parameters, "corrects", False):
        return None
    found = parameters.correction_
    temperatures = {name: float(getattr(found, name)) for name in ("temperature", "base_temperature")}
    return {**temperatures, "families": pack_families(found.families)}


def _powers(model: NetworkClassifier) -> list[float] | None:
    """Return the weights as exponents of CPTs that were normalised afterwards, if there are any."""
    parameters: Any = getattr(model, "parameters_", None)
    if not getattr(parameters, "weighs", False) or not getattr(parameters, "normalize", False):
        return None
    return [*(float(parameters.weights_[name]) for name in model.schema_.names[:-1]), 1.0]
