"""The data of the page: a network, its junction tree, layout and counts as JSON values, and what predicts beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.errors import InputError, TableTooLargeError
from tanbark.estimators.ensemble.classifier import PooledClassifier
from tanbark.estimators.ensemble.reading import reading_network
from tanbark.estimators.mixture import PosteriorMixture
from tanbark.estimators.models.aode import AveragedClassifier
from tanbark.estimators.network import NetworkClassifier
from tanbark.estimators.parts.parameters import MANB
from tanbark.estimators.reports.uncertainty import has_levels
from tanbark.explorer.averaged import average_data, averaged_network
from tanbark.explorer.drawing import drawing
from tanbark.explorer.packing import pack_families
from tanbark.explorer.performance import performance_data
from tanbark.explorer.pooled import pool_data
from tanbark.explorer.wording import Wording, arrangement, column_words, facts
from tanbark.graph import Network
from tanbark.inference.factors.junction import JunctionTree, junction_tree
from tanbark.params.hierarchical.context_tree import dense_counts
from tanbark.params.hierarchical.family import context_tree
from tanbark.table import Column
from tanbark.table.written import pieces

VERSION = 1
MOST_ENTRIES = 1 << 22  # of all clique tables: a browser propagates them in some hundredths of a second
FITTED: dict[type, str] = {
    NetworkClassifier: "network_",
    PooledClassifier: "model_",
    AveragedClassifier: "averages_",
    PosteriorMixture: "estimators_",
}
NOTHING_LEARNT: dict[str, Any] = {"counts": None, "mass": None, "rows": None, "transformed": [], "weights": None}


def page_data(
    model: Any, *, performance: Any = None, X: Any = None, y: Any = None, **words: Any
) -> dict[str, Any]:  # fmt: skip
    """Describe a network, or a classifier with one, with several pooled or with many averaged, for the page.

    ``words`` are those of :class:`Wording`.

    Raises
    ------
    InputError
        For a model of another kind, or one whose weighted CPTs are unnormalised.
    OptionError
        If words name columns, states or classes that the model does not have.
    TableTooLargeError
        If exact inference needs larger clique tables, or pooled networks more contexts, than a browser should hold.
    """
    network = _network(model)
    wording = Wording(**words)
    schema = network.schema
    _check_target(network, wording.target)
    kind = type(model).__name__
    named = f"{kind} for {network.dag.names[network.target]}" if schema.has_class else kind
    words_of = column_words(schema, wording)
    columns = [_column(column) | shown for column, shown in zip(schema.columns, words_of, strict=True)]
    return {
        "version": VERSION,
        "title": wording.title or named,
        "kind": kind,
        "columns": columns,
        **arrangement(schema, wording),
        "about": facts(wording.about),
        "performance": performance_data(model, performance, X, y),
        "drawing": drawing(network, [column.get("title", column["name"]) for column in columns]),
        **_inference(model, network),
        **(_learnt(model, network) if isinstance(model, NetworkClassifier) else NOTHING_LEARNT),
    }


def _inference(model: Any, network: Network) -> dict[str, Any]:
    """Describe all that posteriors are computed from."""
    _check_weights(network)
    tree = _checked_tree(network)
    return {
        "target": network.target,
        "parents": [list(parents) for parents in network.dag.parents],
        "order": list(network.dag.order),
        "axes": [list(network.axes(node)) for node in range(len(network.tables))],
        "tables": [_flat(table) for table in network.tables],
        "temperature": getattr(model, "temperature_", 1.0),
        "exponents": None if network.exponents is None else list(map(float, network.exponents)),
        "cliques": [list(scope) for scope in tree.scopes],
        "above": list(tree.parent),
        "home": list(tree.home),
        "pool": pool_data(model, network) if isinstance(model, PooledClassifier) else None,
        "average": average_data(model, _member),
        "correction": _correction(model),
    }


def _member(model: Any) -> dict[str, Any]:
    """Describe one of several models that are averaged: inference, and the counts behind its support."""
    network = _network(model)
    learnt = _learnt(model, network) if isinstance(model, NetworkClassifier) else NOTHING_LEARNT
    return {**_inference(model, network), **learnt, "mass": None}


def _network(model: Any) -> Network:
    if isinstance(model, Network):
        return model
    fitted = [name for family, name in FITTED.items() if isinstance(model, family)]
    if fitted and not hasattr(model, fitted[0]):
        msg = f"This {type(model).__name__} is not fitted yet, so there is nothing to explore. Call fit first."
        raise InputError(msg)
    if isinstance(model, NetworkClassifier):
        return model.network_
    if isinstance(model, PooledClassifier):
        return reading_network(model)
    if isinstance(model, (AveragedClassifier, PosteriorMixture)):
        return averaged_network(model)
    kind = type(model).__name__
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


def _check_target(network: Network, target: str | None) -> None:
    if network.exponents is not None and target not in (None, network.dag.names[network.target]):
        msg = f"The CPTs are weighted, so that only the class can be asked for; got target={target!r}."
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
    if column.written:
        found["written"] = pieces(column.written)
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
        own = None if fixed else model.smoothing_.mass_at(counts, network.axes(node), node, network.schema)
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
