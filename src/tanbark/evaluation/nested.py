r"""Leave-one-out losses of all nested models of a k-dependence classifier, in one pass over the rows.

Model (k, n) has the first n features of an order, each with the class and the first k of its parents. The log-joint of
a row is the sum over its features, so that of n features extends that of n - 1. What a row's own count takes away from
a family depends only on the row's cell in it: the entries of all classes are computed once for every observed cell, and
the pass looks them up. A row of weight w stands for w rows, one of which is left out; where the weight of a whole cell
is below 1, all of it.

A row with a missing value has no closed form that is extended in this way. It is scored without the features that it
lacks, and a family uses the parents before the first missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Array, Codes, Counts, Floats
from tanbark.counts import CountEngine, MemoryCounts
from tanbark.evaluation.leave_one_out import LeaveOneOut
from tanbark.graph import Dag
from tanbark.graph.network import family_axes
from tanbark.machine import blocks, run_threads, thread_count
from tanbark.params import Smoothing, family_counts, fit
from tanbark.structure.fixed.selective_kdb import Losses
from tanbark.table import CodedTable
from tanbark.table.coded import code_dtype

STEP, N_STEPS = 0.25, 4  # temperatures that are tried where the temperature is to be fitted: 0.25, 0.5, 0.75, 1
ROWS_AT_ONCE = 4096  # fixed, so that sums do not depend on the number of threads
CELLS_AT_ONCE = 1 << 16
MOST_SAMPLED = 1 << 18  # rows that the temperature is fitted to; of more, every second, every fourth, ...
DIGITS = 10  # decimals of losses that are kept, so that the order in which rows are added up does not show


class NestedFamilies(NamedTuple):
    """The entries of all families of all orders, by cell.

    Feature f of the order is the column ``nodes[f]`` with the parents ``parents[f]``, -1 beyond its last. Its cells
    (own state, states of the first k parents, class) are numbered in this order from ``starts[f, k]`` on, where
    ``cells`` has the row of ``entries``, or -1 where no row was counted. An entry has, for every class, log P(x | ...)
    without one row of the cell. ``log_prior[label]`` is that of the classes without one row of the label.
    """

    nodes: Array
    parents: Array
    states: Array
    starts: Array
    cells: Array
    entries: Array
    log_prior: Array


class NestedModels:
    """Measure the nested models of a k-dependence classifier.

    Parameters
    ----------
    counts : CountEngine
        With rows: families are counted in one pass, and a second one adds up the losses.
    smoothing : Smoothing
    class_prior : array, optional
        Given probabilities of the classes.
    temperature : float, optional
        The exponent of the likelihood; None compares models at the best of a few, and samples rows to fit it to.
    max_cells : int
        The largest family.

    Attributes
    ----------
    sample : MemoryCounts or None
        Rows for the temperature, if it is to be fitted: all, or every second, every fourth, ... up to ``MOST_SAMPLED``.
    """

    def __init__(
        self, counts: CountEngine, smoothing: Smoothing, *, class_prior: Floats | None = None,
        temperature: float | None = 1.0, max_cells: int,
    ) -> None:  # fmt: skip
        self._counts, self._smoothing, self._prior, self._max_cells = counts, smoothing, class_prior, max_cells
        self._step, self._n_steps = (STEP, N_STEPS) if temperature is None else (temperature, 1)
        self._sample = _Sample() if temperature is None else None
        self.sample: MemoryCounts | None = None

    def __call__(
        self, order: Sequence[int], parents: Sequence[tuple[int, ...]], max_parents: int,
        advance: Callable[[float], None] = lambda fraction: None,
    ) -> Losses:  # fmt: skip
        """Return the losses of the models with the first k parents of the first n features, for all k and n."""
        families = self._lay_out(order, parents, max_parents)
        losses, weight = self._add_up(families, advance)
        if self._sample is not None:
            self.sample = self._sample.opened(self._counts)
        mean = np.moveaxis(losses / max(weight, 1e-300), (2, 1, 0), (0, 1, 2))  # temperatures, parents, features
        log_loss, rmse = (np.asarray(np.round(part, DIGITS)) for part in (mean[..., 0], np.sqrt(mean[..., 1])))
        return Losses(log_loss, rmse)

    def _lay_out(self, order: Sequence[int], parents: Sequence[tuple[int, ...]], max_parents: int) -> NestedFamilies:
        """Count the families of all orders and compute their entries, order by order."""
        schema, target = self._counts.schema, self._counts.schema.target
        graphs = [Dag.augmented(schema.names, [found[:k] for found in parents]) for k in range(max_parents + 1)]
        sets = {family_axes(found, x, target): None for dag in graphs for x, found in enumerate(dag.parents)}
        self._counts.prefetch(sets)
        starts = np.zeros((len(order), max_parents + 1), np.int64)
        cells: list[NDArray[np.int32]] = []
        entries: list[Floats] = []
        n_cells = n_entries = 0
        for k, dag in enumerate(graphs):
            tables = family_counts(dag, self._counts, max_cells=self._max_cells)
            left_out = self._left_out(dag, tables)
            there = [(x, parents[x][:k], tables[x]) for x in order if len(parents[x]) >= k]
            found = run_threads(
                lambda x, given, table, model=left_out: _family(model, x, given, table, schema.cardinalities),
                there, thread_count(self._counts.n_jobs),
            )  # fmt: skip
            place = {x: number for number, x in enumerate(order)}
            for (x, _, _), (index, values) in zip(there, found, strict=True):
                starts[place[x], k] = n_cells
                cells.append(np.where(index >= 0, index + np.int32(n_entries), np.int32(-1)))
                entries.append(values)
                n_cells, n_entries = n_cells + len(index), n_entries + len(values)
        padded = np.full((len(order), max_parents), -1, np.int64)
        for number, x in enumerate(order):
            padded[number, : len(parents[x])] = parents[x]
        n_classes = schema.cardinalities[-1]
        taken = np.minimum(np.asarray(tables[target], np.float64), 1.0)
        return NestedFamilies(
            np.array(order, np.int64), padded, np.array(schema.cardinalities, np.int64), starts,
            np.concatenate([np.zeros(0, np.int32), *cells]),
            np.concatenate([np.zeros((0, n_classes)), *entries]),
            np.ascontiguousarray(left_out.log_prior(np.arange(n_classes), taken)),
        )  # fmt: skip

    def _left_out(self, dag: Dag, tables: tuple[Counts, ...]) -> LeaveOneOut:
        network = fit(self._counts.schema, dag, tables, self._smoothing, class_prior=self._prior)
        return LeaveOneOut(network, tables, self._smoothing, fixed_prior=self._prior is not None)

    def _add_up(self, families: NestedFamilies, advance: Callable[[float], None]) -> tuple[Floats, float]:
        """Add up the losses of all rows, and their weights."""
        from tanbark.evaluation.nested_kernels import nested_losses

        counts, step, n_steps = self._counts, self._step, self._n_steps
        threads, weight, total = thread_count(counts.n_jobs), 0.0, max(counts.total, 1e-300)
        losses = np.zeros((len(families.nodes) + 1, families.starts.shape[1], n_steps, 2))
        for codes, given in counts.batches():
            weights = np.ones(codes.shape[1]) if given is None else given

            def work(top: int, bottom: int, codes: Codes = codes, weights: Floats = weights) -> Floats:
                return np.asarray(nested_losses(codes, weights, families, step, n_steps, top, bottom))

            for part in run_threads(work, blocks(codes.shape[1], ROWS_AT_ONCE), threads):
                losses += part
            if self._sample is not None:
                self._sample.add(codes, given)
            weight += float(weights.sum())
            advance(min(weight / total, 1.0))
        return losses, weight


def _family(
    model: LeaveOneOut, node: int, parents: tuple[int, ...], table: Counts, states: tuple[int, ...]
) -> tuple[NDArray[np.int32], Floats]:
    """Number the observed cells (node, parents in their order, class) of a family; return numbers and entries."""
    target = len(states) - 1
    axes, scope = family_axes((*parents, target), node, target), (node, *parents, target)
    counts = np.ascontiguousarray(table.transpose([axes.index(column) for column in scope]))
    flat = counts.ravel()
    observed = np.flatnonzero(flat > 0)
    index = np.full(flat.size, -1, np.int32)
    index[observed] = np.arange(len(observed), dtype=np.int32)
    entries = np.empty((len(observed), states[-1]))
    codes = np.zeros((len(states), min(CELLS_AT_ONCE, len(observed))), code_dtype(states))
    for low, high in blocks(len(observed), CELLS_AT_ONCE):
        part = codes[:, : high - low]
        for column, values in zip(scope, np.unravel_index(observed[low:high], counts.shape), strict=True):
            part[column] = values
        taken = np.minimum(flat[observed[low:high]].astype(np.float64), 1.0)
        entries[low:high] = model.log_entries(node, part, taken)
    return index, entries


class _Sample:
    """Every row, or every second, every fourth, ... of rows that come in batches, so that few enough are kept."""

    def __init__(self) -> None:
        self._every, self._seen, self._kept = 1, 0, 0
        self._codes: list[Codes] = []
        self._weights: list[Floats] = []

    def add(self, codes: Codes, weights: Floats | None) -> None:
        """Take the rows of a batch whose turn it is."""
        first = -self._seen % self._every
        self._seen += codes.shape[1]
        self._codes.append(np.ascontiguousarray(codes[:, first :: self._every]))
        if weights is not None:
            self._weights.append(weights[first :: self._every].copy())
        self._kept += self._codes[-1].shape[1]
        while self._kept > MOST_SAMPLED:
            self._every *= 2
            self._codes = [np.ascontiguousarray(np.concatenate(self._codes, axis=1)[:, ::2])]
            self._weights = [np.concatenate(self._weights)[::2].copy()] if self._weights else []
            self._kept = self._codes[0].shape[1]

    def opened(self, counts: CountEngine) -> MemoryCounts:
        """Return the rows as an engine."""
        weights = np.concatenate(self._weights) if self._weights else None
        table = CodedTable(counts.schema, np.ascontiguousarray(np.concatenate(self._codes, axis=1)), weights)
        return MemoryCounts(table, n_jobs=counts.n_jobs)
