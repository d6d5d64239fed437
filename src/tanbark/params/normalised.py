r"""Discriminative CPTs that stay distributions: a softmax per parent configuration, by conditional log-likelihood.

.. math:: \ln \theta'(x | u) = \ln \theta(x | u) + \delta(x, u) - \ln \sum_k \theta(k | u) e^{\delta(k, u)}

The changes :math:`\delta` of all CPTs maximise the conditional log-likelihood of the labels less half the penalty times
:math:`\sum \delta^2`, from the generative values on, :math:`\delta = 0`. Zaidi, Webb, Carman, Petitjean and Cerquides
(2017), Efficient parameter learning of Bayesian network classifiers, section 3; Greiner and Zhou (2002), Structural
extension to logistic regression, for the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from tanbark.arrays import Array, Codes, Floats
from tanbark.graph import Network
from tanbark.machine import blocks, run_threads, thread_count

ROWS_AT_ONCE = 8192  # fixed, so that sums do not depend on the number of threads
LIMIT_REACHED = 1  # the status of L-BFGS-B after its last allowed iteration


class Cells(NamedTuple):
    """Where a row finds its entries of the CPTs that contain the class.

    Family f has the entries from ``starts[f]`` on, the classes next to one another; its other columns are entries
    ``bounds[f]`` to ``bounds[f + 1]`` of ``columns``, with their ``strides``; ``sizes`` has the states of every column.
    """

    starts: Array
    bounds: Array
    columns: Array
    strides: Array
    sizes: Array


class Optimum(NamedTuple):
    """Changes of all CPTs (an empty array for those without the class), iterations, and whether they converged."""

    changes: tuple[Floats, ...]
    iterations: int
    converged: bool


def with_changes(network: Network, changes: Sequence[Floats]) -> Network:
    """Return the network with changed and normalised CPTs; an empty change leaves a CPT as it is."""
    tables = []
    for node, (table, change) in enumerate(zip(network.tables, changes, strict=True)):
        if change.size:
            axis = network.axes(node).index(node)
            raised = table * np.exp(change - change.max(axis=axis, keepdims=True))
            table = raised / raised.sum(axis=axis, keepdims=True)
        tables.append(table)
    return Network(network.schema, network.dag, tuple(tables), network.exponents)


class Objective:
    """The conditional log-likelihood less the penalty as a function of the changes, with its gradient.

    Parameters
    ----------
    network : Network
        Its CPTs are changed.
    codes : (n_columns, n_rows) array
        The class is last. A family with a missing value in a row does not change the row's log-joint.
    weights : array, optional
    base : (n_rows, n_classes) array
        Log-joints of the rows without changes: those of the network, or leave-one-out ones.
    fixed_prior : bool
        Whether the CPT of the class stays as it is.
    """

    def __init__(
        self, network: Network, codes: Codes, weights: Floats | None, base: Floats, *, penalty: float,
        fixed_prior: bool = False, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        target, sizes = network.target, network.schema.cardinalities
        self._network, self._penalty, self._threads = network, penalty, thread_count(n_jobs)
        self.nodes = [
            node
            for node in range(len(sizes))
            if target in network.axes(node) and sizes[node] > 1 and not (fixed_prior and node == target)
        ]
        shapes = [network.tables[node].shape for node in self.nodes]
        self._ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        self._shapes, self.n_changes = shapes, int(self._ends[-1])
        columns, strides, bounds = [], [], [0]
        for node, shape in zip(self.nodes, shapes, strict=True):
            steps = np.append(np.cumprod(shape[::-1])[::-1][1:], 1).tolist()  # the class is the last axis
            columns += list(network.axes(node))[:-1]
            strides += steps[:-1]
            bounds.append(len(columns))
        whole = [np.array(part, np.int64) for part in (self._ends[:-1], bounds, columns, strides, sizes)]
        self._cells, self._codes, self._base = Cells(*whole), codes, base
        self._labels = codes[-1].astype(np.int64)
        self._weights = np.ones(codes.shape[1]) if weights is None else weights
        self.total_weight = float(self._weights.sum())

    def __call__(self, changes: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        from tanbark.params.normalised_kernels import add_residuals

        moved = self._by_node(changes)
        entries, thetas = np.empty(self.n_changes), []
        for place, (node, change) in enumerate(zip(self.nodes, moved, strict=True)):
            axis = self._network.axes(node).index(node)
            largest = change.max(axis=axis, keepdims=True)
            raised = self._network.tables[node] * np.exp(change - largest)
            mass = raised.sum(axis=axis, keepdims=True)
            thetas.append(raised / mass)
            entries[self._ends[place] : self._ends[place + 1]] = (change - largest - np.log(mass)).ravel()

        def work(low: int, high: int) -> tuple[float, Floats]:
            residuals = np.zeros(self.n_changes)
            rows = (self._codes, self._labels, self._weights, self._base)
            return add_residuals(self._cells, entries, *rows, low, high, residuals), residuals

        parts = run_threads(work, blocks(len(self._base), ROWS_AT_ONCE), self._threads)
        value, residuals = float(sum(part[0] for part in parts)), np.sum([part[1] for part in parts], axis=0)
        gradient = np.empty(self.n_changes)
        for place, (node, theta) in enumerate(zip(self.nodes, thetas, strict=True)):
            axis = self._network.axes(node).index(node)
            own = residuals[self._ends[place] : self._ends[place + 1]].reshape(theta.shape)
            found = own - theta * own.sum(axis=axis, keepdims=True)
            gradient[self._ends[place] : self._ends[place + 1]] = found.ravel()
        penalty = 0.5 * self._penalty * float(changes @ changes)
        return value - penalty, gradient - self._penalty * changes

    def _by_node(self, changes: Floats) -> list[Floats]:
        spans = zip(pairwise(self._ends), self._shapes, strict=True)
        return [changes[low:high].reshape(shape) for (low, high), shape in spans]

    def maximise(self, *, max_iter: int, tol: float) -> Optimum:
        """Maximise by L-BFGS from the values of the network on; ``tol`` bounds the gradient per row."""
        from scipy.optimize import minimize

        unchanged = tuple(np.zeros(0) for _ in self._network.tables)
        if not self.n_changes:
            return Optimum(unchanged, 0, True)
        scale = 1.0 / max(self.total_weight, 1e-300)

        def negative(changes: Floats) -> tuple[float, Floats]:
            value, gradient = self(np.ascontiguousarray(changes))
            return -scale * value, -scale * gradient

        options = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": tol * 1e-3, "gtol": tol}
        with threadpool_limits(limits=1, user_api="blas"):
            found = minimize(negative, np.zeros(self.n_changes), jac=True, method="L-BFGS-B", options=options)
        changes = list(unchanged)
        for node, change in zip(self.nodes, self._by_node(found.x), strict=True):
            changes[node] = change
        return Optimum(tuple(changes), int(found.nit), found.status != LIMIT_REACHED)
