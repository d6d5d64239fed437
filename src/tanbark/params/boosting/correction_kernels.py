"""Compiled kernels of boosted corrections."""

from __future__ import annotations

from math import exp

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel
from tanbark.params.boosting.correction import Families, LabelledLogits

LARGEST_STEP = 4.0  # of Newton: where all posteriors are nearly certain, curvature vanishes


@kernel
def fill_posteriors(logits: Array, posteriors: Array) -> None:
    """Fill in the softmax of every row."""
    n_rows, n_classes = logits.shape
    for row in range(n_rows):
        largest, mass = logits[row, 0], 0.0
        for c in range(1, n_classes):
            largest = max(largest, logits[row, c])
        for c in range(n_classes):
            p = exp(logits[row, c] - largest)
            posteriors[row, c] = p
            mass += p
        for c in range(n_classes):
            posteriors[row, c] /= mass


@kernel
def take_steps(families: Families, contexts: Array, rows: LabelledLogits, penalty: float, rate: float) -> None:
    """Take one step for every family in turn, and keep logits and posteriors up to date.

    ``contexts[family, row]`` is the deepest context of a row; the gradient of a context is that of all rows below it.
    """
    # Idea: rows add to their deepest contexts only, and the contexts pass sums on upwards; changes are summed downwards
    # likewise, so that a row is corrected once for all levels. Posteriors are multiplied by the exponential of the
    # change, one per context, instead of one per row.
    # Layout: gradient, curvature and change are (contexts of the family, classes), the root first.
    # Cost: O((rows + contexts) x classes) per family, for any number of levels.
    n_classes, n_families = rows.logits.shape[1], len(contexts)
    for family in range(n_families):
        first = families.firsts[families.spans[family]]
        last = families.firsts[families.spans[family + 1]] if family + 1 < n_families else len(families.above)
        gradient, curvature = np.zeros((last - first, n_classes)), np.zeros((last - first, n_classes))
        sum_gradients(contexts[family], first, rows, gradient, curvature)
        newton_steps(families, first, penalty, rate, gradient, curvature)
        correct_rows(contexts[family], first, rows, gradient, curvature)


@kernel
def sum_gradients(places: Array, first: int, rows: LabelledLogits, gradient: Array, curvature: Array) -> None:
    """Sum label less posterior, and its slope, over the rows of each deepest context.

    With two classes the second alone is summed: the other has the opposite gradient.
    """
    labels, weights, posteriors = rows.labels, rows.weights, rows.posteriors
    n_rows, n_classes = posteriors.shape
    lowest = 1 if n_classes == 2 else 0
    for row in range(n_rows):
        v = places[row] - first
        if v > 0:
            w = weights[row] if len(weights) else 1.0
            for c in range(lowest, n_classes):
                p = posteriors[row, c]
                gradient[v, c] -= w * p
                curvature[v, c] += w * p * (1.0 - p)
            gradient[v, labels[row]] += w
    if lowest:
        for v in range(len(gradient)):
            gradient[v, 0] = -gradient[v, 1]
            curvature[v, 0] = curvature[v, 1]


@kernel
def newton_steps(
    families: Families, first: int, penalty: float, rate: float, gradient: Array, curvature: Array
) -> None:
    """Move the corrections of one family; its gradients become the changes of the sums, curvatures their exponentials.

    The objective is the log-likelihood less half the penalty times the squares of the corrections.
    """
    above, sums = families.above, families.sums
    n_contexts, n_classes = gradient.shape
    for v in range(n_contexts - 1, 0, -1):
        up = above[first + v] - first
        for c in range(n_classes):
            g, h = gradient[v, c], curvature[v, c]
            gradient[up, c] += g
            curvature[up, c] += h
            own = sums[first + v, c] - sums[first + up, c]
            step = (g - penalty * own) / (h + penalty)
            gradient[v, c] = rate * min(max(step, -LARGEST_STEP), LARGEST_STEP)
    gradient[0] = 0.0
    curvature[0] = 1.0
    for v in range(1, n_contexts):
        up = above[first + v] - first
        for c in range(n_classes):
            gradient[v, c] += gradient[up, c]
            curvature[v, c] = exp(gradient[v, c])
            sums[first + v, c] += gradient[v, c]


@kernel
def correct_rows(places: Array, first: int, rows: LabelledLogits, change: Array, factor: Array) -> None:
    """Add the changes of sums to the logits of rows, and multiply their posteriors by the exponentials."""
    logits, posteriors = rows.logits, rows.posteriors
    n_rows, n_classes = logits.shape
    for row in range(n_rows):
        v = places[row] - first
        if v > 0:
            mass = 0.0
            for c in range(n_classes):
                logits[row, c] += change[v, c]
                p = posteriors[row, c] * factor[v, c]
                posteriors[row, c] = p
                mass += p
            scale = 1.0 / mass
            for c in range(n_classes):
                posteriors[row, c] *= scale


@kernel
def add_sums(families: Families, codes: Array, top: int, bottom: int, logits: Array) -> None:
    """Add the corrections of rows from top to bottom to their logits."""
    # Cost: one step in the tree per column of a family, one addition per class.
    columns, spans, states, firsts, starts, children, _, sums = families
    n_classes = logits.shape[1]
    for family in range(len(spans) - 1):
        root = firsts[spans[family]]
        for row in range(top, bottom):
            v = root
            for entry in range(spans[family], spans[family + 1]):
                state = np.int64(codes[columns[entry], row])
                if state >= states[entry]:
                    break
                deeper = np.int64(children[starts[entry] + (v - firsts[entry]) * states[entry] + state])
                if deeper < 0:
                    break
                v = deeper
            if v > root:
                for c in range(n_classes):
                    logits[row, c] += sums[v, c]


@kernel
def complete_fractions(families: Families, codes: Array) -> Array:
    """Return the fraction of complete families of every row."""
    # Cost: O(rows x columns of all families).
    columns, spans, states = families.columns, families.spans, families.states
    n_rows, n_families = codes.shape[1], len(spans) - 1
    found = np.ones(n_rows)
    for row in range(n_rows):
        complete = 0
        for family in range(n_families):
            whole = 1
            for entry in range(spans[family], spans[family + 1]):
                if np.int64(codes[columns[entry], row]) >= states[entry]:
                    whole = 0
                    break
            complete += whole
        if n_families:
            found[row] = complete / n_families
    return found
