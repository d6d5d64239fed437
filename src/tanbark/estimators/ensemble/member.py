"""One network of an ensemble: a random k-dependence structure with hierarchical CPTs over merged intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tanbark.arrays import Codes, Floats, Integers
from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble.coarsening import Coarsening
from tanbark.graph import Dag, Network
from tanbark.graph.network import family_axes
from tanbark.inference.sparse_network import SparseNetwork, lay_out_trees, log_likelihoods
from tanbark.params.hierarchical.context_tree import NO_WEIGHTS, ContextTree, dense, fit_tree
from tanbark.scores import mutual_information
from tanbark.structure.fixed.kdb import feature_order, pair_matrix
from tanbark.structure.fixed.random_kdb import NOISE, random_kdb
from tanbark.table import CodedTable, Schema

MOST_FEATURES = 100  # of one member; others have other ones


@dataclass(frozen=True, eq=False)
class Member:
    """A network and the columns that it has.

    Parameters
    ----------
    coarsening : Coarsening
    columns : array
        The features in the network; the positions below count within them, and the class comes after them.
    order : list of int
        Parents before their children.
    parents : list of tuples
        The class, then the feature parents in the order in which contexts grow.
    trees : list of ContextTree
    """

    coarsening: Coarsening
    columns: Integers
    order: list[int]
    parents: list[tuple[int, ...]]
    trees: list[ContextTree]
    network: SparseNetwork

    def families(self) -> list[tuple[int, ...]]:
        """Return every feature with its feature parents."""
        return [(feature, *parents[1:]) for feature, parents in enumerate(self.parents)]

    def chosen(self, merged: Codes) -> Codes:
        """Return the rows of the member's own columns."""
        return merged[self.columns] if len(self.columns) < len(merged) else merged

    def log_likelihoods(self, merged: Codes, *, n_jobs: int | None) -> Floats:
        """Return log P(observed values | class) of rows with merged intervals."""
        return log_likelihoods(self.network, self.chosen(merged), n_jobs=n_jobs)

    def cells(self) -> int:
        """Return the cells of the largest CPT."""
        sizes = [math.prod(tree.states.tolist()) * tree.probabilities.shape[1] for tree in self.trees]
        return max(sizes, default=0)

    def dense_network(self, log_prior: Floats) -> Network:
        """Return the network with full CPTs; features that it lacks are isolated and uniform."""
        schema = self.coarsening.schema
        target = schema.target
        columns = [*self.columns.tolist(), target]
        found: list[tuple[int, ...]] = [()] * (target + 1)
        cpts = [np.full(size, 1.0 / size) for size in schema.cardinalities]
        for feature, (parents, tree) in enumerate(zip(self.parents, self.trees, strict=True)):
            node, above = columns[feature], [columns[p] for p in parents]
            found[node] = tuple(sorted(above))
            held = [*above, node]
            cpts[node] = np.ascontiguousarray(
                dense(tree).transpose([held.index(c) for c in family_axes(found[node], node, target)])
            )
        cpts[target] = np.exp(log_prior)
        return Network(schema, Dag(schema.names, tuple(found)), tuple(cpts))


@dataclass(frozen=True, eq=False)
class Information:
    """What structures are drawn from: I(X; C) of all features, and I(X; Y | C) of the most relevant ones."""

    relevance: Floats
    candidates: Integers
    dependence: Floats


def measure(rows: MemoryCounts, *, most: int = 2 * MOST_FEATURES) -> Information:
    """Measure the features; the dependence only of those with most information on the class."""
    schema, target = rows.schema, rows.schema.target
    tables = rows.tables([(column, target) for column in range(target)])
    relevance = np.array([mutual_information(table) for table in tables])
    varied = [place for place in feature_order(relevance) if schema.cardinalities[place] > 1]
    candidates = np.sort(np.array(varied[:most], np.int64))
    part = _part(rows.table, candidates)
    dependence = pair_matrix(MemoryCounts(part, n_jobs=rows.n_jobs), len(candidates))
    return Information(relevance, candidates, dependence)


def _part(table: CodedTable, columns: Integers) -> CodedTable:
    """Return some features and the class."""
    schema = Schema((*(table.schema.columns[c] for c in columns.tolist()), table.schema.columns[-1]))
    codes = np.ascontiguousarray(table.codes[np.append(columns, table.schema.target)])
    return CodedTable(schema, codes, table.weights)


def learn_member(
    coarsening: Coarsening, rows: CodedTable, information: Information, max_parents: int,
    rng: np.random.Generator | None, *, most_cells: float = math.inf,
) -> tuple[Member, Floats]:  # fmt: skip
    """Draw a structure, estimate its CPTs, and return log P(values | class) of every row with the row left out.

    Feature parents with whom the full CPT would have more than ``most_cells`` cells are left out.
    """
    from tanbark.params.hierarchical import context_kernels

    places = np.arange(len(information.candidates))
    relevance = information.relevance[information.candidates]
    if len(places) > MOST_FEATURES:
        noisy = relevance if rng is None else relevance * np.exp(NOISE * rng.standard_normal(len(places)))
        places = np.sort(np.array(feature_order(noisy)[:MOST_FEATURES], np.int64))
    columns = information.candidates[places]
    dependence = information.dependence[np.ix_(places, places)]
    order, found = random_kdb(relevance[places], dependence, max_parents, rng)
    codes = np.ascontiguousarray(rows.codes[np.append(columns, rows.schema.target)])
    sizes = [rows.schema.cardinalities[c] for c in (*columns.tolist(), rows.schema.target)]
    target, weights = len(columns), NO_WEIGHTS if rows.weights is None else rows.weights
    left_out = np.zeros((codes.shape[1], sizes[-1]))
    parents: list[tuple[int, ...]] = []
    trees: list[ContextTree] = []
    for feature, above in enumerate(found):
        while above and math.prod(sizes[c] for c in (feature, target, *above)) > most_cells:
            above = above[:-1]
        family = (target, *above)
        tree, contexts = fit_tree(codes, feature, family, sizes, rows.weights)
        context_kernels.add_left_out(codes, feature, np.array(family), weights, tree, contexts, left_out)
        parents.append(family)
        trees.append(tree)
    network = lay_out_trees(trees, parents, sizes, order)
    return Member(coarsening, columns, order, parents, trees, network), left_out
