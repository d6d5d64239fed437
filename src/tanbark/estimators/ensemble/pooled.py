"""The model of an ensemble: networks whose likelihoods are pooled, and a correction by boosted trees.

The logit of class c is log P(c) + (1 - f) tau_0 e(c) + f tau (e(c) + g(c)). Here e sums w_m log P_m(observed | c)
over the members m, g is the correction, and f = fade ** (missing values beyond what is usual in training): the more are
missing, the more the networks alone decide. Where nothing is observed f is 0. Each likelihood sums missing values out
before it is pooled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tanbark.arrays import Array, Codes, Floats
from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble.coarsening import Coarsening, coarsen, grid_counts, numeric
from tanbark.estimators.ensemble.dealing import sample_rows
from tanbark.estimators.ensemble.member import Information, Member, learn_member, measure
from tanbark.machine import run_threads, thread_count
from tanbark.params.boosting.trees import Forest, Tree, TreeOptions, add_trees, boost, join_trees
from tanbark.params.pool import pool_weights
from tanbark.table import CodedTable, Schema, missing_code
from tanbark.table.discretize import random_quantile_cuts

MOST_POOLED = 50_000  # rows that the weights of members are learnt from
CLASS_PRIOR = 0.5  # pseudo-counts of every class
CUTS, STRUCTURE, FOLDS, BLANKS, POOLED, TREES, ORDER, HALVES = range(8)  # what random numbers are for


@dataclass(frozen=True)
class Plan:
    """How members are drawn.

    ``cutter`` finds the regular intervals of a column; members 1, 3, 5, ... have random ones. Member 0 is drawn without
    noise.
    """

    n_members: int
    max_parents: int
    cutter: Any
    seed: int
    n_jobs: int | None = None

    def generator(self, *path: int) -> np.random.Generator:
        """Return the generator of one purpose, which does not depend on what else is drawn."""
        return np.random.default_rng([self.seed, *path])


@dataclass(frozen=True, eq=False)
class Pooled:
    """A fitted ensemble over the states of a grid; ``class_counts`` are its training rows by class."""

    schema: Schema
    members: list[Member]
    weights: Floats
    log_prior: Floats
    class_counts: Floats
    usual_missing: float
    trees: Forest | None = None
    fade: float = 1.0
    temperature: float = 1.0
    plain_temperature: float = 1.0

    def evidence(self, codes: Codes, *, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """Return the pooled log P(observed | class), up to a constant per row, and the correction."""
        threads = thread_count(n_jobs)
        merged = self._merge(codes, threads)
        n_classes = len(self.log_prior)
        total, correction = np.zeros((codes.shape[1], n_classes)), np.zeros((codes.shape[1], n_classes))
        for place, member in enumerate(self.members):
            if self.weights[place] > 0.0:
                rows = merged[id(member.coarsening)]
                total += self.weights[place] * member.log_likelihoods(rows, n_jobs=n_jobs)
        if self.trees is not None:
            add_trees(self.trees, codes, correction, n_jobs=n_jobs)
        return total, correction

    def logits(self, codes: Codes, *, n_jobs: int | None = None) -> Floats:
        """Return log P(class | observed), up to a constant per row."""
        return self.log_prior + self.tempered(codes, *self.evidence(codes, n_jobs=n_jobs))

    def tempered(self, codes: Codes, plain: Floats, correction: Floats) -> Floats:
        """Return the evidence that is added to the prior; see :meth:`faded`."""
        return self.plain_temperature * plain if self.trees is None else self.faded(codes, plain, correction, self.fade)

    def faded(self, codes: Codes, plain: Floats, correction: Floats, fade: float) -> Floats:
        """Return the tempered evidence, rows first: less of the correction, the more values are missing."""
        full = self.fading(codes, fade).reshape(-1, *(1,) * (plain.ndim - 1))
        return (1.0 - full) * self.plain_temperature * plain + full * self.temperature * (plain + correction)

    def with_prior(self, log_prior: Floats) -> Pooled:
        """Return the same model with another class prior."""
        return replace(self, log_prior=log_prior)

    def fading(self, codes: Codes, fade: float) -> Floats:
        """Return the factor on the correction of every row; zero where nothing is observed, which leaves the prior."""
        missing = (codes[: self.schema.target] == missing_code(codes)).sum(axis=0)
        factor = fade ** np.maximum(missing - self.usual_missing, 0.0)
        return np.where(missing < self.schema.target, factor, 0.0)

    def _merge(self, codes: Codes, threads: int) -> dict[int, Codes]:
        kinds = {id(member.coarsening): member.coarsening for member in self.members}
        merged = run_threads(lambda kind: kind.apply(codes), [(kind,) for kind in kinds.values()], threads)
        return dict(zip(kinds, merged, strict=True))


@dataclass(frozen=True, eq=False)
class Training:
    """What learning leaves for the correction: the rows on the grid, and honest logits of every row."""

    pooled: Pooled
    codes: Codes
    labels: Array
    row_weights: Floats | None
    left_out: Floats

    def boost(self, leaves: int, plan: Plan) -> Iterator[Tree]:
        """Grow trees of so many leaves, each on what the networks and the trees before it leave to explain."""
        schema = self.pooled.schema
        return boost(
            self.codes, schema.cardinalities[:-1], numeric(schema), self.labels, self.left_out.copy(), self.row_weights,
            options=TreeOptions(most_leaves=leaves), rng=plan.generator(TREES),
        )  # fmt: skip

    def corrected(self, trees: Iterable[Tree]) -> Pooled:
        """Return the model with a correction by trees."""
        schema, found = self.pooled.schema, list(trees)
        forest = join_trees(found, schema.cardinalities[:-1], numeric(schema)) if found else None
        return replace(self.pooled, trees=forest)


def learn_pooled(table: CodedTable, plan: Plan) -> Training:
    """Learn members and their weights from rows on the grid; weights come from the rows left out of the counts."""
    schema, threads = table.schema, thread_count(plan.n_jobs)
    rows = MemoryCounts(table, n_jobs=plan.n_jobs)
    kinds = _coarsenings(schema, rows, plan)
    merged = run_threads(lambda kind: kind.apply(table.codes), [(kind,) for kind in dict.fromkeys(kinds)], threads)
    tables = {
        id(kind): CodedTable(kind.schema, codes, table.weights)
        for kind, codes in zip(dict.fromkeys(kinds), merged, strict=True)
    }
    known: dict[int, Information] = {}
    for key, part in tables.items():
        known[key] = measure(MemoryCounts(part, n_jobs=plan.n_jobs))

    def learn(kind: Coarsening, place: int) -> tuple[Member, Floats]:
        rng = plan.generator(STRUCTURE, place) if place else None
        return learn_member(kind, tables[id(kind)], known[id(kind)], plan.max_parents, rng)

    found = run_threads(learn, list(zip(kinds, range(plan.n_members), strict=True)), threads)
    members, left_out = [member for member, _ in found], np.stack([part for _, part in found])
    labels = table.codes[-1].astype(np.int64)
    n_classes = schema.cardinalities[-1]
    log_prior, prior_left_out = class_priors(labels, table.weights, n_classes)
    weights = _weigh(left_out, prior_left_out, table, plan)
    usual = usual_missing(table)
    honest = prior_left_out + np.tensordot(weights, left_out, 1)
    pooled = Pooled(schema, members, weights, log_prior, count_classes(labels, table.weights, n_classes), usual)
    return Training(pooled, table.codes[:-1], labels, table.weights, honest)


def _coarsenings(schema: Schema, rows: MemoryCounts, plan: Plan) -> list[Coarsening]:
    """Find the intervals of every member: regular for members 0, 2, 4, ..., random for the others."""
    counts = grid_counts(rows)
    regular = coarsen(schema, counts, [plan.cutter] * schema.target)
    if not numeric(schema).any():
        return [regular] * plan.n_members
    kinds = []
    for place in range(plan.n_members):
        if place % 2 == 0:
            kinds.append(regular)
            continue
        rng = plan.generator(CUTS, place)
        kinds.append(coarsen(schema, counts, [partial(_random_cuts, rng)] * schema.target))
    return kinds


def _random_cuts(
    rng: np.random.Generator, values: Floats, labels: Array, n_classes: int, weights: Floats | None
) -> Floats:
    return random_quantile_cuts(values, weights, rng)


def count_classes(labels: Array, weights: Floats | None, n_classes: int) -> Floats:
    """Count the rows of every class."""
    return np.bincount(labels, weights, n_classes).astype(np.float64)


def class_priors(labels: Array, weights: Floats | None, n_classes: int) -> tuple[Floats, Floats]:
    """Return log P(class), and for every row log P(class) without it; a row of weight w stands for w rows."""
    counts = count_classes(labels, weights, n_classes) + CLASS_PRIOR
    return np.log(counts / counts.sum()), leave_out_classes(counts, labels, weights)


def leave_out_classes(counts: Floats, labels: Array, weights: Floats | None) -> Floats:
    """Return for every row log P(class) without it; ``counts`` have the pseudo-counts."""
    lost = np.ones(len(labels)) if weights is None else np.minimum(weights, 1.0)
    left_out = np.tile(counts, (len(labels), 1))
    left_out[np.arange(len(labels)), labels] -= lost
    return np.asarray(np.log(np.maximum(left_out, CLASS_PRIOR / 2)) - np.log(counts.sum() - lost)[:, None])


def usual_missing(table: CodedTable) -> float:
    """Return the mean number of missing values of a row."""
    missing = (table.codes[:-1] == missing_code(table.codes)).sum(axis=0)
    return float(np.average(missing, weights=table.weights)) if table.n_rows else 0.0


def _weigh(left_out: Floats, log_prior: Floats, table: CodedTable, plan: Plan) -> Floats:
    """Find the weights of the members, from some of the rows where there are very many."""
    labels, weights = table.codes[-1].astype(np.int64), table.weights
    total = table.n_rows if weights is None else weights.sum()
    if total <= MOST_POOLED:
        return pool_weights(left_out, log_prior, labels, weights)
    rows, counted = sample_rows(table, MOST_POOLED, plan.generator(POOLED))
    return pool_weights(np.ascontiguousarray(left_out[:, rows]), log_prior[rows], labels[rows], counted)
