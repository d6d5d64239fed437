"""Compiled kernels of hierarchical smoothing: order of the parents, context tree and prior mass, from dense counts."""

from __future__ import annotations

from math import log

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.kernel import kernel, tiered
from tanbark.params.hierarchical.context_kernels import NONE, ROOT, count, grow
from tanbark.params.hierarchical.context_tree import ContextTree
from tanbark.params.hierarchical.shrinkage_kernels import shrink


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
def parent_gains(counts: Array, shape: Array, axis: int) -> Array:
    """Return the mutual information of the node with each axis before it, given the axes after it.

    ``counts`` are the cells of a family in the order of ``shape``, ``axis`` is that of the node.
    """
    # Idea: one pass over the cells adds up the tables (parent, node, rest) of all parents; empty cells cost nothing.
    # Layout: the cells of (state of the parent, state of the node, rest) follow one another, a parent after another.
    # Cost: O(cells + observed cells x parents).
    n_states, n_rest = shape[axis], 1
    for other in range(axis + 1, len(shape)):
        n_rest *= shape[other]
    width = n_states * n_rest
    starts = np.zeros(axis + 1, np.int64)
    for parent in range(axis):
        starts[parent + 1] = starts[parent] + shape[parent] * width
    pairs = np.zeros(starts[axis])
    for cell in range(len(counts)):
        if counts[cell] > 0.0:
            inner, outer = cell % width, cell // width
            for parent in range(axis - 1, -1, -1):
                pairs[starts[parent] + (outer % shape[parent]) * width + inner] += counts[cell]
                outer //= shape[parent]
    found = np.zeros(axis)
    for parent in range(axis):
        found[parent] = _information(pairs[starts[parent] : starts[parent + 1]], shape[parent], n_states, n_rest)
    return found


@kernel
def _information(pairs: Array, n_x: int, n_y: int, n_z: int) -> float:
    """Return I(X; Y | Z) in nats from the counts of (x, y, z); see ``scores.conditional_mutual_information``."""
    by_x, by_y, by_z = np.zeros((n_x, n_z)), np.zeros((n_y, n_z)), np.zeros(n_z)
    place = 0
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                n = pairs[place]
                by_x[x, z] += n
                by_y[y, z] += n
                by_z[z] += n
                place += 1
    gain, total, place = 0.0, by_z.sum(), 0
    for x in range(n_x):
        for y in range(n_y):
            for z in range(n_z):
                n = pairs[place]
                if n > 0.0:
                    gain += n * log(by_z[z] * n / (by_x[x, z] * by_y[y, z]))
                place += 1
    return max(gain / total, 0.0) if total > 0.0 else 0.0


@kernel
def class_gain(counts: Array, shape: Array, axis: int) -> float:
    """Return the mutual information of the node with the class, the last axis, from the cells of a family."""
    n_states, n_classes = shape[axis], shape[-1]
    inner = 1
    for other in range(axis + 1, len(shape)):
        inner *= shape[other]
    pair = np.zeros(n_states * n_classes)
    for cell in range(len(counts)):
        if counts[cell] > 0.0:
            pair[(cell // inner) % n_states * n_classes + cell % n_classes] += counts[cell]
    return float(_information(pair, n_states, n_classes, 1))


@kernel
def order_parents(counts: Array, shape: Array, axis: int) -> Array:
    """Order the axes of the parents: those after the node, then the others by falling mutual information.

    Values within 1e-9 of the next are ties, which go to the earlier axis; see ``graph.spanning.falling_order``.
    """
    gains = parent_gains(counts, shape, axis) if axis > 1 else np.zeros(axis)
    after = len(shape) - 1 - axis
    order = np.empty(len(shape) - 1, np.int64)
    for place in range(after):
        order[place] = axis + 1 + place
    found = order[after:]
    for parent in range(axis):
        place = parent
        while place > 0 and gains[found[place - 1]] < gains[parent]:
            found[place] = found[place - 1]
            place -= 1
        found[place] = parent
    first = 0
    while first < axis:
        last = first
        while last + 1 < axis:
            above, below = gains[found[last]], gains[found[last + 1]]
            if above - below > TIE * max(1.0, abs(above)):
                break
            last += 1
        found[first : last + 1] = np.sort(found[first : last + 1])
        first = last + 1
    return order


@kernel
def fit_family(counts: Array, shape: Array, axis: int, order: Array) -> tuple[ContextTree, Array]:
    """Return the context tree of a family, and the prior mass of every cell.

    The mass is the deepest concentration times the distribution with one parent fewer. There is at least one parent;
    ``order`` has the axes of the parents as contexts grow.
    """
    # Idea: the observed cells are the rows of a context tree; a cell reads the longest context seen of its parents
    # but the last. Cost: O(cells x axes), and that of the shrinkage, O(observed contexts x states) a sweep.
    n_states, deepest = shape[axis], len(order)
    codes, weights = _observed(counts, shape)
    states = shape[order]
    children, starts, levels, above, contexts = grow(codes, order, states, weights, 0.0)
    rows = count(codes[axis], n_states, weights, contexts, len(above))
    passed, totals, probabilities, concentrations = shrink(rows, above, levels)
    tree = ContextTree(children, starts, states, levels, passed, totals, probabilities, concentrations)
    state, out = np.zeros(len(shape), np.int64), np.empty(len(counts))
    for cell in range(len(counts)):
        v = np.int64(ROOT)
        for level in range(deepest - 1):
            at = starts[level] + (v - levels[level]) * states[level] + state[order[level]]
            if children[at] == NONE:
                break
            v = np.int64(children[at])
        out[cell] = concentrations[deepest] * probabilities[v, state[axis]]
        _advance(state, shape)
    return tree, out


@tiered(lambda counts, *_: 1000 * counts.size)
def prior_masses(counts: Array, shape: Array, axis: int, out: Array) -> None:
    """Write the prior mass of every cell of families of one shape; ``counts`` and ``out`` are (n_families, n_cells)."""
    for family in range(len(counts)):
        order = order_parents(counts[family], shape, axis)
        _, out[family] = fit_family(counts[family], shape, axis, order)


@kernel
def carried_parts(tree: ContextTree, places: Array, shape: Array) -> Array:
    """Return, for every parent configuration, how much of a change at the root reaches its distribution.

    Configurations are in the order of ``shape``, the states of the parents; ``places[level]`` is the axis of the parent
    that contexts grow by.
    """
    children, starts, states, levels, _, totals, _, concentrations = tree
    n_levels = len(places)
    part = np.ones(len(totals))
    for level in range(n_levels):
        c = concentrations[level + 1]
        for at in range(starts[level], starts[level + 1]):
            v = children[at]
            if v != NONE:
                above = levels[level] + (at - starts[level]) // states[level]
                part[v] = part[above] * (c / (totals[v] + c))
    n_configurations = 1
    for size in shape:
        n_configurations *= size
    state, found = np.zeros(len(shape), np.int64), np.empty(n_configurations)
    for configuration in range(n_configurations):
        v = np.int64(ROOT)
        for level in range(n_levels):
            below = children[starts[level] + (v - levels[level]) * states[level] + state[places[level]]]
            if below == NONE:
                break
            v = np.int64(below)
        found[configuration] = part[v]
        _advance(state, shape)
    return found


@kernel
def _advance(state: Array, shape: Array) -> None:
    """Go to the states of the next cell, the last axis fastest."""
    last = len(shape) - 1
    while last >= 0:
        state[last] += 1
        if state[last] < shape[last]:
            return
        state[last] = 0
        last -= 1
