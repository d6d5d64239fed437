"""Model files of ensembles: JSON whose large arrays are compressed and written as text."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from tanbark.errors import OptionError
from tanbark.estimators.ensemble.classifier import PooledClassifier
from tanbark.estimators.ensemble.coarsening import Coarsening, merge_to, numeric
from tanbark.estimators.ensemble.member import Member
from tanbark.estimators.ensemble.pooled import Pooled
from tanbark.estimators.ensemble.selection import Choice
from tanbark.estimators.model_files import model_file as files
from tanbark.estimators.models.ensemble import Classifier, NetworkEnsemble
from tanbark.estimators.scikit import check_is_fitted
from tanbark.graph import Network
from tanbark.inference.sparse_network import lay_out_trees
from tanbark.machine import thread_count
from tanbark.params.boosting.trees import BOTH, LEAF, LEFT, RIGHT, Forest, Tree
from tanbark.params.hierarchical.context_tree import ContextTree, restore
from tanbark.params.network_file import FORMAT, VERSION, array_document, read_array, read_cpts, read_parents
from tanbark.table import Schema
from tanbark.table.schema_json import column_document, demand, is_number, read_column, read_list

KINDS: dict[str, type[PooledClassifier]] = {cls.__name__: cls for cls in (NetworkEnsemble, Classifier)}
POOL = ("usual_missing", "fade", "temperature", "plain_temperature")
WRITTEN = {"children": "int32", "starts": "int64", "states": "int64", "levels": "int64", "counts": "float64",
           "concentrations": "float64"}  # of a context tree; the rest, three quarters, follows from it  # fmt: skip


def save_pooled(model: PooledClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted ensemble; the file appears under its name only when it is whole."""
    check_is_fitted(model)
    if type(model) is not KINDS.get(type(model).__name__):
        msg = f"{type(model).__name__} is no classifier of Tanbark's own; pickle it instead of saving it as JSON."
        raise OptionError(msg)
    pooled, dtype = model.model_, model.classes_.dtype
    files.check_labels(dtype)
    kinds = list({id(member.coarsening): member.coarsening for member in pooled.members}.values())
    places = {id(kind): place for place, kind in enumerate(kinds)}
    options = {n: files._plain(value, f"the option {n}") for n, value in model.get_params(deep=False).items()}
    document = {
        "format": FORMAT, "version": VERSION, "estimator": type(model).__name__,
        "text": files.model_text(model), "options": options,
        "named": hasattr(model, "feature_names_in_"),
        "columns": [column_document(column) for column in model.schema_.columns],
        "labels": dtype.kind if dtype.kind in files.LABELS else dtype.name,
        "weights": pooled.weights.tolist(), "log_prior": array_document(pooled.log_prior),
        "class_counts": array_document(pooled.class_counts),
        **{name: getattr(pooled, name) for name in POOL},
        "intervals": [[column_document(column) for column in kind.schema.columns] for kind in kinds],
        "members": [_member_document(member, places[id(member.coarsening)]) for member in pooled.members],
        "correction": None if pooled.trees is None else _forest_document(pooled.trees),
        "value_counts": [array_document(counts) for counts in model.value_counts_],
        **files.seen_document(model),
        **files.scores_document(model),
        **(_choice_document(model) if isinstance(model, Classifier) else {}),
    }  # fmt: skip
    files._write(document, path)


def _member_document(member: Member, place: int) -> dict[str, Any]:
    return {
        "intervals": place,
        "columns": member.columns.tolist(),
        "order": member.order,
        "parents": [list(parents) for parents in member.parents],
        "trees": [{name: array_document(getattr(tree, name)) for name in WRITTEN} for tree in member.trees],
    }


def _forest_document(forest: Forest) -> dict[str, Any]:
    nodes = forest.nodes._asdict()
    return {
        "roots": array_document(forest.roots),
        **{name: array_document(part) for name, part in nodes.items()},
        "masks": array_document(forest.nodes.masks.astype(np.uint8)),
    }


def _choice_document(model: Classifier) -> dict[str, Any]:
    network, choice = model.network_, None
    if model.choice_ is not None:
        choice = asdict(model.choice_)
        choice["orders"] = [[order, loss] for order, loss in model.choice_.orders.items()]
        choice["log_losses"] = [[*key, loss] for key, loss in model.choice_.log_losses.items()]
        choice["held_out"] = array_document(model.choice_.held_out)
    return {
        "choice": choice,
        "network": {
            "columns": [column_document(column) for column in network.schema.columns],
            "parents": [list(parents) for parents in network.dag.parents],
            "cpts": [array_document(cpt) for cpt in network.tables],
        },
    }


# ---------------------------------------------------------------------- reading


def restore_pooled(document: dict[str, Any]) -> PooledClassifier:
    """Read an ensemble back; every index is checked, so that a damaged file cannot lead a kernel astray."""
    cls = KINDS[document["estimator"]]
    model = cls(**files._options(document["options"], cls))
    files._restore(model, document)
    model._check_options()
    schema = model.schema_
    kinds = [_read_intervals(item, schema) for item in read_list(document["intervals"], "intervals")]
    members = [_read_member(item, kinds) for item in read_list(document["members"], "members")]
    demand(all(any(kind is m.coarsening for m in members) for kind in kinds), "intervals are of no network")
    weights = np.array(_read_numbers(document["weights"], "weights"))
    demand(len(weights) == len(members) > 0 and bool((weights >= 0).all()), "there is not one weight for each network")
    log_prior = read_array(document["log_prior"], "the prior", "float64")
    demand(log_prior.shape == (len(model.classes_),), "the prior does not fit the classes")
    total = np.exp(np.minimum(log_prior, 1.0)).sum()  # a larger one is wrong, too
    demand(bool(np.isclose(total, 1.0)), "the prior does not sum to one")
    class_counts = read_array(document["class_counts"], "the rows by class", "float64")
    good = class_counts.shape == log_prior.shape and bool((class_counts >= 0).all())
    demand(good, "the rows by class are none")
    trees = _read_forest(document["correction"], schema)
    usual, fade, tau, plain = _read_numbers([document[name] for name in POOL], "the pool")
    demand(0 <= fade <= 1 and usual >= 0 and min(tau, plain) > 0, "the numbers of the pool are out of range")
    model.model_ = Pooled(schema, members, weights, log_prior, class_counts, usual, trees, fade, tau, plain)
    counts = [read_array(item, "counts") for item in read_list(document["value_counts"], "counts of values")]
    sizes = members[0].coarsening.schema.cardinalities[:-1]
    demand([table.shape for table in counts] == [(size,) for size in sizes], "the counts of values do not fit")
    demand(all(bool((table >= 0).all()) for table in counts), "a count of values is below 0")
    model.value_counts_ = counts
    files.restore_scores(model, document)
    thread_count(model.n_jobs)
    if isinstance(model, Classifier):
        model.choice_ = _read_choice(document["choice"], len(model.classes_))
        model.network_ = _read_network(document["network"], schema)
    return model


def _read_numbers(items: Any, what: str) -> list[float]:
    demand(all(map(is_number, read_list(items, what))), f"{what}: a number is none")
    return [float(item) for item in items]


def _read_schema(items: Any) -> Schema:
    return Schema(tuple(read_column(item) for item in read_list(items, "columns")))


def _read_intervals(document: Any, grid: Schema) -> Coarsening:
    schema = _read_schema(document)
    demand(len(schema.columns) == len(grid.columns), "intervals are of other columns")
    for fine, merged in zip(grid.columns, schema.columns, strict=True):
        demand(replace(merged, cuts=fine.cuts) == fine, "intervals are of other columns")
        demand(set(merged.cuts) <= set(fine.cuts), "the cuts of an interval are not those of the columns")
    return merge_to(grid, schema)


def _read_member(document: Any, kinds: list[Coarsening]) -> Member:
    place = document["intervals"]
    demand(type(place) is int and 0 <= place < len(kinds), "a network has unknown intervals")
    schema = kinds[place].schema
    columns = list(read_parents(document["columns"], schema.target))
    n = len(columns)
    order = list(read_parents(document["order"], n)) if n else []
    demand(sorted(order) == list(range(n)) and len(set(columns)) == n, "the columns of a network are no set")
    parents = [tuple(read_parents(item, n + 1)) for item in read_list(document["parents"], "parents")]
    rank = {feature: k for k, feature in enumerate(order)}
    demand(len(parents) == n, "there are not parents for each feature")
    for feature, found in enumerate(parents):
        earlier = all(rank.get(p, n) < rank[feature] for p in found[1:])
        demand(found[:1] == (n,) and len(set(found)) == len(found) and earlier, "the parents of a feature are no set")
    sizes = [schema.cardinalities[c] for c in (*columns, schema.target)]
    items = read_list(document["trees"], "trees")
    demand(len(items) == n, "there is not one tree for each feature")
    trees = [_read_tree(item, sizes[k], [sizes[p] for p in parents[k]]) for k, item in enumerate(items)]
    network = lay_out_trees(trees, parents, sizes, order)
    return Member(kinds[place], np.array(columns, np.int64), order, parents, trees, network)


def _read_tree(document: Any, n_states: int, states: list[int]) -> ContextTree:
    parts = {name: read_array(document[name], "a tree", kind) for name, kind in WRITTEN.items()}
    children, starts, levels = parts["children"], parts["starts"], parts["levels"]
    counts, concentrations, depth = parts["counts"], parts["concentrations"], len(states)
    good = parts["states"].tolist() == states and levels.shape == (depth + 2,) and starts.shape == (depth + 1,)
    demand(good and levels[0] == 0 and levels[1] == 1 and bool((np.diff(levels) >= 0).all()), "a tree is damaged")
    widths = np.diff(levels)[:-1] * parts["states"]
    demand(starts.tolist() == np.cumsum([0, *widths.tolist()]).tolist(), "a tree is damaged")
    demand(children.shape == (starts[-1],) and counts.shape == (levels[-1], n_states), "a tree is damaged")
    above = np.zeros(len(counts), np.int32)
    for level in range(depth):
        part = children[starts[level] : starts[level + 1]]
        found = np.flatnonzero(part >= 0)
        once = np.sort(part[found]).tolist() == list(range(levels[level + 1], levels[level + 2]))
        demand(once and bool((part >= -1).all()), "a context of a tree is not below exactly one other")
        above[part[found]] = levels[level] + found // states[level]
    demand(concentrations.shape == (depth + 1,) and bool((concentrations > 0).all()), "a concentration is none")
    demand(bool((counts >= 0).all()), "a count of a tree is below 0")
    totals, probabilities = restore(counts, concentrations, above, levels)
    whole = np.allclose(probabilities.sum(axis=1), 1.0) and bool((probabilities > 0).all())
    demand(whole, "the counts of a tree make no distributions")
    return ContextTree(**parts, totals=totals, probabilities=probabilities)


def _read_forest(document: Any, schema: Schema) -> Forest | None:
    """Read boosted trees; children come after their parent, so that every walk ends."""
    if document is None:
        return None
    kinds = {"features": "int32", "thresholds": "int32", "lefts": "int32", "missing": "int8", "masks": "uint8"}
    arrays = {name: read_array(document[name], "a tree", kinds.get(name, "float64")) for name in Tree._fields}
    nodes = Tree(**{**arrays, "masks": arrays["masks"] > 0})
    roots = read_array(document["roots"], "a tree", "int64")
    states, ordered = np.array(schema.cardinalities[:-1], np.int64), numeric(schema)
    n_nodes, n_classes = len(nodes.features), schema.cardinalities[-1]
    one_each = all(part.shape == (n_nodes,) for part in nodes[:5])
    good = one_each and nodes.values.shape == (n_nodes, 1 if n_classes == 2 else n_classes) and nodes.masks.ndim == 2
    demand(good and roots.ndim == 1, "a correction is damaged")
    inner = np.flatnonzero(nodes.features != LEAF)
    columns, lefts, thresholds = nodes.features[inner], nodes.lefts[inner], nodes.thresholds[inner]
    demand(bool(((columns >= 0) & (columns < len(states))).all()), "a tree splits an unknown column")
    children = np.sort(np.concatenate([roots, lefts, lefts.astype(np.int64) + 1]))
    once = np.array_equal(children, np.arange(n_nodes)) and bool((np.diff(roots) > 0).all())
    demand(once and bool((lefts > inner).all()), "a node of a tree has not one parent before it")
    most = np.where(ordered[columns], states[columns], len(nodes.masks))
    least = np.where(ordered[columns], -1, 0)
    demand(bool(((thresholds >= least) & (thresholds < most)).all()), "a threshold of a tree is out of range")
    wide = ordered[columns] | (states[columns] <= nodes.masks.shape[1])
    demand(bool(wide.all()), "the states of a split are too few")
    demand(bool(np.isin(nodes.missing, (LEFT, RIGHT, BOTH)).all()), "a split has no place for missing values")
    inside = (nodes.fractions >= 0) & (nodes.fractions <= 1)
    demand(bool(inside.all()) and bool(np.isfinite(nodes.values).all()), "a number of a tree is out of range")
    return Forest(roots, nodes, states, ordered)


def _read_choice(document: Any, n_classes: int) -> Choice | None:
    if document is None:
        return None
    losses: dict[tuple[int, int], float] = {}
    for item in read_list(document["log_losses"], "log-losses"):
        leaves, rounds, loss = _read_numbers(item, "log-losses")
        losses[int(leaves), int(rounds)] = loss
    orders = {}
    for item in read_list(document["orders"], "the orders"):
        order, loss = _read_numbers(item, "the orders")
        orders[int(order)] = loss
    single = document["single"]
    demand(type(single) is bool, "whether one network was chosen is not said")
    names = ("fade", "temperature", "plain_temperature", "log_loss", "network_log_loss")
    fade, tau, plain, loss, network = _read_numbers([document[name] for name in names], "the choice")
    best = (document["leaves"], document["rounds"])
    good = all(type(part) is int for part in best) and (0, 0) in losses and best in losses
    demand(good, "the choice is not among what was tried")
    held_out = read_array(document["held_out"], "held-out posteriors", "float64")
    demand(held_out.ndim == 2 and held_out.shape[1] == n_classes, "the held-out posteriors do not fit the classes")
    return Choice(orders, single, *best, fade, tau, plain, losses, loss, network, held_out)


def _read_network(document: Any, grid: Schema) -> Network:
    _read_intervals(document["columns"], grid)
    return read_cpts(document)
