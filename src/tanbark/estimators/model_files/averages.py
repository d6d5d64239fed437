"""What model files hold of averages: AODE's counts, and the graphs and counts of the K best networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tanbark.arrays import Integers
from tanbark.counts import ChosenCounts, StoredCounts, chosen_cells, stored_cells
from tanbark.estimators.models.aode import AveragedClassifier
from tanbark.estimators.models.ranked import RankedClassifier
from tanbark.estimators.network import NetworkClassifier
from tanbark.graph import Dag, Network
from tanbark.inference.aode.selection import all_super_parents, model_cells, needed_sets
from tanbark.params.network_file import read_counts, read_numbers, read_parents
from tanbark.structure.ranked.k_best import METHODS, RankedGraphs
from tanbark.table.schema_json import demand, is_number, read_list


def document(model: Any) -> dict[str, Any]:
    """Return what an average predicts from, as JSON."""
    return _ranked_document(model) if isinstance(model, RankedClassifier) else _super_parent_document(model)


def restore(model: Any, found: dict[str, Any]) -> None:
    """Return an average what it predicts from."""
    (_restore_ranked if isinstance(model, RankedClassifier) else _restore_super_parents)(model, found)


def networks(model: Any) -> tuple[Network, ...]:
    """Return the networks whose CPTs show whether a model is what its options and counts say."""
    if isinstance(model, RankedClassifier):
        return tuple(member.network_ for member in model.estimators_)
    return (model.network_ if isinstance(model, NetworkClassifier) else model.naive_,)


# ---------------------------------------------------------------------- the K best graphs


def _ranked_document(model: RankedClassifier) -> dict[str, Any]:
    found = model.report_
    parts = zip(model.estimators_, found.scores, found.sizes, strict=True)
    return {
        "method": found.method, "searched": found.n_searched,
        "graphs": [
            {
                "parents": [list(parents) for parents in member.dag_.parents], "score": score, "size": size,
                "counts": [table.ravel().tolist() for table in member.family_counts_],
            }
            for member, score, size in parts
        ],
    }  # fmt: skip


def _restore_ranked(model: RankedClassifier, found: dict[str, Any]) -> None:
    schema = model.schema_
    graphs = read_list(found["graphs"], "graphs")
    demand(0 < len(graphs) <= model.k, "there are more graphs than k says, or none")
    demand(found["method"] in METHODS and type(found["searched"]) is int, "how the graphs were found is not said")
    dags, scores, sizes = [], [], []
    model.estimators_ = []
    for graph in graphs:
        parents = [read_parents(item, len(schema.columns)) for item in read_list(graph["parents"], "parents")]
        dag = Dag(schema.names, tuple(parents))
        demand(is_number(graph["score"]), "a score is no number")
        demand(type(graph["size"]) is int and graph["size"] >= 1, "a graph stands for no whole number of graphs")
        model.estimators_.append(model._member(dag, read_counts(graph["counts"], schema, dag)))
        dags.append(dag)
        scores.append(float(graph["score"]))
        sizes.append(graph["size"])
    demand(sorted(scores, reverse=True) == scores, "the graphs are not sorted by their scores")
    model.report_ = RankedGraphs(tuple(dags), tuple(scores), tuple(sizes), found["method"], found["searched"])


# ---------------------------------------------------------------------- super-parents


def _super_parent_document(model: AveragedClassifier) -> dict[str, Any]:
    """Return the counts, and the super-parents of the models unless they are all that there can be."""
    schema, orders = model.schema_, model._orders()
    complete = all(len(m) == math.comb(schema.target, k) for m, k in zip(model._models, orders, strict=True))
    chosen = {} if complete else {"super_parents": [models.tolist() for models in model._models]}
    return {**chosen, "counts": model._kept_counts().flat.tolist()}


def _restore_super_parents(model: AveragedClassifier, found: dict[str, Any]) -> None:
    """Return a model its super-parents, and the counts of pairs or triples."""
    order, schema = model._stored_order(), model.schema_
    flat = read_list(found["counts"], "counts")
    model._models = _super_parents(found.get("super_parents"), model)
    cells = [int(model_cells(schema, models).sum()) for models in model._models]
    demand(max(cells) <= model.max_cells, "max_cells is too small")
    if len(flat) == stored_cells(schema, order):
        model.counts_ = StoredCounts(schema, order, read_numbers(flat, "the model"))
        return
    sets = needed_sets(schema, model._models)
    demand("super_parents" in found and len(flat) == chosen_cells(schema, sets), "the counts do not fit the columns")
    model.chosen_counts_ = ChosenCounts(schema, sets, read_numbers(flat, "the model"))


def _super_parents(found_sets: Any, model: AveragedClassifier) -> tuple[Integers, ...]:
    """Read the super-parents of the models with each number of them; all where none are listed."""
    orders, n = model._orders(), model.schema_.target
    if found_sets is None:
        return tuple(all_super_parents(model.schema_, order) for order in orders)
    demand(len(read_list(found_sets, "super-parents")) == len(orders), "super-parents of a kind are missing")
    found = []
    for order, item in zip(orders, found_sets, strict=True):
        sets = [read_parents(columns, n) for columns in read_list(item, "super-parents")]
        good = all(len(columns) == order and sorted(set(columns)) == list(columns) for columns in sets)
        demand(good and sorted(set(sets)) == sets, "the super-parents are not sorted sets of features")
        found.append(np.array(sets, np.int64).reshape(-1, order))
    return tuple(found)
