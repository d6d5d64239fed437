"""The network to read: at most one feature parent, few intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble.coarsening import coarsen, grid_counts
from tanbark.estimators.ensemble.member import Member, learn_member, measure
from tanbark.graph import Network
from tanbark.inference.sparse_network import lay_out_trees
from tanbark.params.hierarchical.context_tree import cut_tree
from tanbark.table import CodedTable
from tanbark.table.discretize import mdlp

MOST_CELLS = 1 << 20  # of a CPT with a feature parent


def learn_reading(table: CodedTable, *, n_jobs: int | None) -> Member:
    """Learn a k-dependence network with k = 1 over the intervals of MDLP."""
    kind = coarsen(table.schema, grid_counts(MemoryCounts(table, n_jobs=n_jobs)), [mdlp] * table.schema.target)
    rows = CodedTable(kind.schema, kind.apply(table.codes), table.weights)
    information = measure(MemoryCounts(rows, n_jobs=n_jobs))
    return learn_member(kind, rows, information, 1, None, most_cells=MOST_CELLS)[0]


def reading_network(model: Any) -> Network:
    """Return ``network_`` of a classifier, or the first network with one feature parent at most."""
    found: Network | None = getattr(model, "network_", None)
    if found is not None:
        return found
    return shorten_member(model.model_.members[0]).dense_network(model.model_.log_prior)


def shorten_member(member: Member) -> Member:
    """Return a member without the feature parents after the first: its contexts are shorter, its estimates the same."""
    parents, trees = [], []
    for family, tree in zip(member.parents, member.trees, strict=True):
        cells = math.prod(tree.states[:2].tolist()) * tree.probabilities.shape[1]
        depth = 2 if cells <= MOST_CELLS else 1
        parents.append(family[:depth])
        trees.append(cut_tree(tree, depth))
    sizes = [member.coarsening.schema.cardinalities[c] for c in (*member.columns.tolist(), -1)]
    network = lay_out_trees(trees, parents, sizes, member.order)
    return replace(member, parents=parents, trees=trees, network=network)
