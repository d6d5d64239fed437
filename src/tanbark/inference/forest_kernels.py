"""The compiled upward pass over trees with missing values."""

from __future__ import annotations

from math import log

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.complete_kernels import add_entries
from tanbark.inference.layout import Forest
from tanbark.kernel import kernel

SMALL = 1e-100  # a message below this is rescaled, so that a product of two cannot underflow
ROWS_AT_ONCE = 256
MOST_MESSAGES = 1 << 17  # entries of the messages of a block of rows: 1 MiB


@kernel
def add_forest(codes: Array, forest: Forest, top: int, bottom: int, out: Array) -> None:
    """Add the log-evidence of every tree of a forest, summing out missing values.

    Observed features with an observed parent, or none, add one entry of their CPT. What is left is one upward pass over
    the missing features that have children.
    """
    # Layout: see Forest; a block of rows at a time, feature by feature. A missing feature i of row r of the block
    # collects lambda(state, class), the probability of what is observed below it, at message_starts[i] * at_once + r *
    # (states x classes). Where its parent is observed, lambda is summed out into the row's sums by class.
    # Cost: one look at every feature with children; per missing one, the states and classes of each observed child,
    # times the child's states where that is missing and has children itself.
    add_entries(codes, forest.entries, forest.n_states, top, bottom, out)
    n_states, inner, ends, message_starts = forest.n_states, forest.inner, forest.ends, forest.message_starts
    at_once = max(1, min(ROWS_AT_ONCE, MOST_MESSAGES // max(1, message_starts[-1])))
    messages, sums = np.empty(message_starts[-1] * at_once), np.ones((at_once, out.shape[1]))
    chosen = np.empty(at_once + 1, np.uint64)
    for low in range(top, bottom if len(inner) else top, at_once):
        high = min(low + at_once, bottom)
        target = out[low:high]
        for node in inner:
            values, n_chosen = codes[node, low:high], 0
            for row in range(np.uint64(high - low)):
                chosen[n_chosen] = row
                n_chosen += values[row] >= n_states[node]
            if n_chosen:
                rows, above = chosen[:n_chosen], codes[max(forest.parent[node], 0), low:high]
                _begin(above, forest, node, rows, messages, at_once, out.shape[1])
                for at in range(ends[node], ends[node + 1]):
                    below = codes[forest.children[at], low:high]
                    _collect(below, forest, node, at, rows, messages, at_once, target)
                _sum_out(above, forest, node, rows, messages, at_once, sums, target)
        for row in range(high - low):
            for c in range(out.shape[1]):
                if sums[row, c] != 1.0:
                    _add_log(sums, row, c, target)


@kernel
def _begin(
    values: Array, forest: Forest, node: int, rows: Array, messages: Array, at_once: int, n_classes: int
) -> None:
    """Begin the messages of a missing feature: with its CPT given its parent's ``values``, or with ones."""
    above, size = forest.parent[node], np.uint64(forest.n_states[node] * n_classes)
    own, cpt = np.uint64(forest.message_starts[node] * at_once), np.uint64(forest.starts[node])
    known = np.uint64(forest.n_states[above] if above >= 0 else 1)
    probabilities = forest.probabilities
    for row in rows:
        to, code = own + row * size, np.uint64(values[row]) if above >= 0 else np.uint64(0)
        if code < known:
            for k in range(size):
                messages[to + k] = probabilities[cpt + code * size + k]
        else:
            for k in range(size):
                messages[to + k] = 1.0


@kernel
def _collect(
    values: Array, forest: Forest, node: int, at: int, rows: Array, messages: Array, at_once: int, out: Array
) -> None:
    """Multiply the messages of one child, which has ``values``, into those of a missing feature in some rows."""
    child, n_classes = forest.children[at], np.uint64(out.shape[1])
    size, below = np.uint64(forest.n_states[node]) * n_classes, np.uint64(forest.n_states[child])
    own = np.uint64(forest.message_starts[node] * at_once)
    turned, begin = forest.turned, np.uint64(forest.turned_starts[child])
    probabilities, cpt = forest.probabilities, np.uint64(forest.starts[child])
    width, lower = below * n_classes, np.uint64(forest.message_starts[child] * at_once)
    summed = forest.ends[child + 1] > forest.ends[child]
    for row in rows:
        to, code = own + row * size, min(np.uint64(values[row]), below)
        if code == below and summed:
            small = _pass_on(messages, to, size, probabilities, cpt, lower + row * width, width, n_classes)
        else:
            small = _multiply(messages, to, turned, begin + code * size, size)
        if small:
            _rescale(messages, to, size, row, out)


@kernel
def _multiply(messages: Array, to: int, factors: Array, begin: int, size: int) -> bool:
    """Multiply factors into a message; return whether an entry of it is small."""
    small = False
    for k in range(size):
        messages[to + k] *= factors[begin + k]
        small |= messages[to + k] < SMALL
    return small


@kernel
def _pass_on(
    messages: Array, to: int, size: int, probabilities: Array, cpt: int, lower: int, below: int, n_classes: int
) -> bool:
    """Sum a missing child out of its own message at ``lower``, and multiply the result in, as _multiply does."""
    small = False
    for k in range(np.uint64(0), size, n_classes):
        for c in range(n_classes):
            messages[to + k + c] *= _dot(probabilities, cpt, messages, lower, c, below, n_classes)
            small |= messages[to + k + c] < SMALL
        cpt += below
    return small


@kernel
def _sum_out(
    values: Array, forest: Forest, node: int, rows: Array, messages: Array, at_once: int, sums: Array, out: Array
) -> None:
    """Multiply the sums over a missing feature into those of the rows whose ``values`` of its parent are observed."""
    above, n_classes = forest.parent[node], np.uint64(out.shape[1])
    size, own = np.uint64(forest.n_states[node]) * n_classes, np.uint64(forest.message_starts[node] * at_once)
    known = np.uint64(forest.n_states[above] if above >= 0 else 1)
    for row in rows:
        if above >= 0 and np.uint64(values[row]) >= known:
            continue
        for c in range(n_classes):
            total = 0.0
            for k in range(own + row * size + c, own + (row + np.uint64(1)) * size, n_classes):
                total += messages[k]
            sums[row, c] *= total
            if sums[row, c] < SMALL:
                _add_log(sums, row, c, out)


@kernel
def _dot(left: Array, at: int, right: Array, other: int, first: int, size: int, step: int) -> float:
    """Return the sum of the products of every ``step``-th entry, from the first on, of two stretches of arrays."""
    total = 0.0
    for k in range(first, size, step):
        total += left[at + k] * right[other + k]
    return total


@kernel
def _rescale(messages: Array, at: int, size: int, row: int, out: Array) -> None:
    """Divide the entries of each class by their largest if that is small; its logarithm goes to ``out``."""
    n_classes = np.uint64(out.shape[1])
    for c in range(n_classes):
        largest = 0.0
        for k in range(c, size, n_classes):
            largest = max(largest, messages[at + k])
        if 0.0 < largest < SMALL:
            for k in range(c, size, n_classes):
                messages[at + k] /= largest
            out[row, c] += log(largest)


@kernel
def _add_log(sums: Array, row: int, c: int, out: Array) -> None:
    """Add the logarithm of the product of a row's sums so far, and begin another."""
    out[row, c] += log(sums[row, c]) if sums[row, c] > 0.0 else -np.inf
    sums[row, c] = 1.0
