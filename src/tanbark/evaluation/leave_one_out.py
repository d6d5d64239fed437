r"""Leave-one-out from counts: the log-joints of training rows, each without its own count, in one pass and no refits.

Structure, cut points and the options of the smoothing are held. A row counts once in every family that it has all
values of, so its own part is taken out by subtraction. A family with a missing value never counted the row: its CPT,
and with it the sum over missing values, stays as it is, and

.. math:: \ln P_{-i}(c, o) = \ln P(c, o) + \sum_f \ln P_{-i}(x_f | c) - \ln P(x_f | c)

over the families f without a missing value is exact. A row of weight w stands for w rows, one of which is left out.
With hierarchical smoothing the concentrations are held too, which is close to what a refit has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Bools, Codes, Floats, Integers
from tanbark.errors import InputError, OptionError
from tanbark.graph import Network
from tanbark.inference import class_log_prior, joint_log_proba
from tanbark.inference.layout import Factors, ends_of, lay_out, strides_of
from tanbark.machine import row_blocks, run_threads, thread_count
from tanbark.params import Hierarchical, MEstimate, Smoothing
from tanbark.params.hierarchical.context_tree import ContextTree
from tanbark.params.hierarchical.family import HierarchicalFamily, context_tree
from tanbark.table import missing_code

NO_TREES: Mapping[int, HierarchicalFamily] = MappingProxyType({})


class CountedFamilies(NamedTuple):
    """The counts of all families, laid out like their CPTs, and what a smoothing adds to them.

    Family f is that of column f; ``cells`` has its counts and ``logarithms`` the entries of its CPT. The sum over the
    node's states is in ``totals``, from ``total_starts[f]`` on, with ``total_strides`` (0 along the node's own axis).
    A cell gets the prior mass ``mass[f]`` or, with ``marginal_rows[f]`` above 0 (m-estimate), so many pseudo-rows with
    the marginal distribution of the node, whose counts begin at ``marginal_starts[f]`` of ``marginals``. The CPT of a
    family that is ``fixed`` has no counts; a family of which a context tree is known (``as_tree``) is left to it.
    """

    sizes: Integers
    cells: Factors
    logarithms: Floats
    totals: Floats
    total_starts: Integers
    total_strides: Integers
    mass: Floats
    marginal_rows: Floats
    marginals: Floats
    marginal_starts: Integers
    exponents: Floats
    fixed: Bools
    as_tree: Bools


class TreeFamily(NamedTuple):
    """A family with hierarchical smoothing: its node, the class, its parents as contexts grow, its exponent.

    ``strides`` and ``carried_strides``, of the parents and at the end of the node, find a cell of ``probabilities``,
    the CPT, and of its ``logarithms``, and a parent configuration of ``carried``: the part of a change of the node's
    own distribution that reaches the configuration. The class, where it is a parent, is the last axis of all three.
    """

    node: int
    target: int
    parents: Integers
    exponent: float
    tree: ContextTree
    strides: Integers
    carried_strides: Integers
    probabilities: Floats
    logarithms: Floats
    carried: Floats


class LeaveOneOut:
    """Log-joints of training rows under a network whose counts have lost one row.

    Parameters
    ----------
    network : Network
        Estimated from the counts, possibly with exponents, which are held.
    counts : arrays
        The counts of every family, with the axes of the CPTs.
    smoothing : Smoothing
        The prior mass of the CPTs.
    fixed_prior : bool
        Whether the CPT of the class was given, and not estimated.
    trees : mapping from nodes to context trees
        Those of hierarchical CPTs; what is not given is grown from the counts.
    """

    def __init__(
        self, network: Network, counts: Sequence[NDArray[Any]], smoothing: Smoothing, *, fixed_prior: bool = False,
        trees: Mapping[int, HierarchicalFamily] = NO_TREES,
    ) -> None:  # fmt: skip
        if smoothing.by_column or (smoothing.uses_counts and not isinstance(smoothing, (MEstimate, Hierarchical))):
            msg = f"Leave-one-out knows no way to take a row out of CPTs with the smoothing {smoothing!r}."
            raise OptionError(msg)
        self._network = network
        self._families = _lay_out_counts(network, counts, smoothing, fixed_prior=fixed_prior)
        nodes = np.flatnonzero(self._families.as_tree).tolist()
        self._trees = [_tree(network, node, counts[node], trees.get(node)) for node in nodes]

    def log_joints(self, codes: Codes, weights: Floats | None, *, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """Return log P(class, observed values) and log P(class), both (n_rows, n_classes), without each row itself.

        ``codes`` are (columns, rows), the class last. If the class has parents, log P(class) is that of the whole
        network.
        """
        from tanbark.evaluation import leave_one_out_kernels as kernels

        n_rows, n_classes = codes.shape[1], self._network.schema.cardinalities[-1]
        left_out = np.ones(n_rows) if weights is None else np.minimum(weights, 1.0)
        joint, unknown = np.zeros((n_rows, n_classes)), np.zeros(n_rows, np.bool_)
        complete = ~(codes[:-1] == missing_code(codes)).any(axis=0)
        rest = np.flatnonzero(~complete)
        if len(rest):
            part = np.ascontiguousarray(codes[:-1, rest])
            joint[rest] = joint_log_proba(self._network, part, n_jobs=n_jobs)
        threads = thread_count(n_jobs)

        def work(low: int, high: int) -> None:
            every = (0, len(self._families.sizes))
            kernels.add_left_out(codes, left_out, complete, self._families, every, low, high, joint, unknown)
            for family in self._trees:
                kernels.add_tree_left_out(codes, left_out, complete, family, low, high, joint, unknown)

        run_threads(work, row_blocks(n_rows, threads), threads)
        if unknown.any():
            msg = (
                f"{int(unknown.sum())} of {n_rows} rows, the first of them row {int(unknown.argmax())}, are not among "
                "the rows that the model was learnt from. Leave-one-out needs the training rows, with their weights."
            )
            raise InputError(msg)
        return joint, self.log_prior(codes[-1].astype(np.int64), left_out)

    def log_entries(self, node: int, codes: Codes, left_out: Floats) -> Floats:
        """Return log P(node | parents) of complete rows, (n_rows, n_classes), each without ``left_out`` of its count.

        Only the columns of the family and the class are read.
        """
        from tanbark.evaluation import leave_one_out_kernels as kernels

        n_rows = codes.shape[1]
        found, unknown = np.zeros((n_rows, self._network.schema.cardinalities[-1])), np.zeros(n_rows, np.bool_)
        complete = np.ones(n_rows, np.bool_)
        kernels.add_left_out(codes, left_out, complete, self._families, (node, node + 1), 0, n_rows, found, unknown)
        for family in self._trees:
            if family.node == node:
                kernels.add_tree_left_out(codes, left_out, complete, family, 0, n_rows, found, unknown)
        return found

    def log_prior(self, labels: NDArray[np.int64], left_out: Floats) -> Floats:
        """Return log P(class), (n_rows, n_classes), without ``left_out`` rows of each label.

        If the class has parents, that of the whole network.
        """
        network, families = self._network, self._families
        target = network.target
        if network.dag.parents[target] or families.fixed[target]:
            held = class_log_prior(network)
            return np.broadcast_to(held, (len(labels), len(held)))
        counts = families.cells.values[families.cells.starts[target] :]
        mass = families.mass[target]
        cells = np.repeat(counts[None] + mass, len(labels), axis=0)
        cells[np.arange(len(labels)), labels] -= left_out
        totals = counts.sum() + mass * len(counts) - left_out
        with np.errstate(divide="ignore"):
            found = np.log(np.maximum(cells, 0.0)) - np.log(np.maximum(totals, 0.0))[:, None]
        return np.asarray(np.where((totals > 0)[:, None], found, -np.log(len(counts))))


def _tree(network: Network, node: int, counts: NDArray[Any], known: HierarchicalFamily | None) -> TreeFamily:
    """Grow the contexts of a family with hierarchical smoothing, unless they are known."""
    scope = network.axes(node)
    tree, order = known or context_tree(counts, scope.index(node))
    power = 1.0 if network.exponents is None else float(network.exponents[node])
    parents, sizes = [scope[axis] for axis in order], network.schema.cardinalities
    strides = strides_of(scope, sizes)
    carried_strides = {**strides_of([column for column in scope if column != node], sizes), node: 0}
    return TreeFamily(
        node, network.target, np.array(parents, np.int64), power, tree,
        np.array([strides[column] for column in (*parents, node)], np.int64),
        np.array([carried_strides[column] for column in (*parents, node)], np.int64),
        np.ascontiguousarray(network.tables[node], np.float64).ravel(),
        np.ascontiguousarray(network.log_tables[node], np.float64).ravel(),
        _carried(tree, order, scope.index(node), counts.shape),
    )  # fmt: skip


def _carried(tree: ContextTree, order: list[int], axis: int, shape: tuple[int, ...]) -> Floats:
    """Return, for every parent configuration, how much of a change at the root reaches its distribution."""
    from tanbark.params.hierarchical import hierarchical_kernels as kernels

    places = np.array([each - (each > axis) for each in order], np.int64)
    sizes = np.array([size for each, size in enumerate(shape) if each != axis], np.int64)
    return np.asarray(kernels.carried_parts(tree, places, sizes))


def _lay_out_counts(
    network: Network, counts: Sequence[NDArray[Any]], smoothing: Smoothing, *, fixed_prior: bool
) -> CountedFamilies:
    """Lay out the counts of all families, their totals and their prior masses."""
    sizes, target = network.schema.cardinalities, network.target
    as_tree = np.array([isinstance(smoothing, Hierarchical) and table.ndim > 1 for table in counts], np.bool_)
    none = np.zeros(1)  # in place of what a context tree knows
    tables = [none if tree else np.asarray(table, np.float64) for table, tree in zip(counts, as_tree, strict=True)]
    logarithms = [none if tree else table for table, tree in zip(network.log_tables, as_tree, strict=True)]
    scopes = [() if tree else network.axes(node) for node, tree in enumerate(as_tree)]
    totals, strides, margins = [], [], []
    mass, marginal_rows = np.zeros(len(tables)), np.zeros(len(tables))
    for node, (table, scope) in enumerate(zip(tables, scopes, strict=True)):
        if as_tree[node]:
            totals.append(none)
            margins.append(none)
            continue
        axis = scope.index(node)
        totals.append(table.sum(axis=axis).ravel())
        others = strides_of([column for column in scope if column != node], sizes)
        strides += [others.get(column, 0) for column in scope]
        margins.append(table.sum(axis=tuple(k for k in range(table.ndim) if k != axis)))
        if isinstance(smoothing, MEstimate) and table.ndim > 1:
            marginal_rows[node] = smoothing.m
        else:
            mass[node] = float(np.max(smoothing.mass(table, axis)))
    fixed = np.zeros(len(tables), np.bool_)
    fixed[target] = fixed_prior
    return CountedFamilies(
        np.array(sizes, np.int64), lay_out(scopes, sizes, target, np.concatenate([t.ravel() for t in tables])),
        np.concatenate([t.ravel() for t in logarithms]), np.concatenate(totals),
        ends_of([len(each) for each in totals]), np.array(strides, np.int64), mass, marginal_rows,
        np.concatenate(margins), ends_of([len(each) for each in margins]),
        np.ones(len(tables)) if network.exponents is None else np.array(network.exponents, np.float64), fixed,
        as_tree,
    )  # fmt: skip
