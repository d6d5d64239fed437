"""Compiled kernels of hierarchical smoothing: the prior mass of families of one shape, from their dense counts."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel
from tanbark.params.hierarchical.context_kernels import NONE, ROOT, count, grow, shrink


@kernel
def _observed(counts: Array, shape: Array) -> tuple[Array, Array]:
    """List the states, (n_axes, n_cells), and the counts of the cells that were observed."""
    n_cells = 0
    for cell in range(len(counts)):
        n_cells += counts[cell] > 0.0
    codes = np.empty((len(shape), n_cells), np.int64)
    weights = np.empty(n_cells)
    found = 0
    for cell in range(len(counts)):
        if counts[cell] > 0.0:
            rest = cell
            for axis in range(len(shape) - 1, -1, -1):
                codes[axis, found] = rest % shape[axis]
                rest //= shape[axis]
            weights[found] = counts[cell]
            found += 1
    return codes, weights


@kernel
def prior_masses(counts: Array, shape: Array, axis: int, orders: Array, out: Array) -> None:
    """Write the prior mass of every cell: the deepest concentration times the distribution with one parent fewer.

    ``counts`` and ``out`` are (n_families, n_cells), the cells in the order of ``shape``; ``orders[family]`` are the
    axes of the parents, of which there is at least one, in the order in which contexts grow.
    """
    # Idea: the observed cells are the rows of a context tree; a cell reads the longest context seen of its parents
    # but the last. Cost: O(cells x axes) per family, and that of the shrinkage, O(observed contexts x states) a sweep.
    n_states, deepest = shape[axis], orders.shape[1]
    state = np.zeros(len(shape), np.int64)
    for family in range(len(counts)):
        order = orders[family]
        codes, weights = _observed(counts[family], shape)
        children, starts, levels, above, contexts = grow(codes, order, shape[order], weights, 0.0)
        rows = count(codes[axis], n_states, weights, contexts, len(above))
        _, _, probabilities, concentrations = shrink(rows, above, levels)
        state[:] = 0
        for cell in range(counts.shape[1]):
            v = np.int64(ROOT)
            for level in range(deepest - 1):
                at = starts[level] + (v - levels[level]) * shape[order[level]] + state[order[level]]
                if children[at] == NONE:
                    break
                v = np.int64(children[at])
            out[family, cell] = concentrations[deepest] * probabilities[v, state[axis]]
            last = len(shape) - 1
            while last >= 0:
                state[last] += 1
                if state[last] < shape[last]:
                    break
                state[last] = 0
                last -= 1
