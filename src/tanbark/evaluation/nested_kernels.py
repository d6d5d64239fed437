"""Compiled kernels of nested models: the losses of all of them, summed over rows."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.evaluation.nested import NestedFamilies
from tanbark.kernel import kernel

MOST_LOSS = 700.0  # nats; also of a label that is impossible
LARGE = 1e100  # a product of inverse probabilities beyond this becomes a logarithm
LOG_LOSS, SQUARE = 0, 1


@kernel
def nested_losses(
    codes: Array, weights: Array, families: NestedFamilies, step: float, n_steps: int, top: int, bottom: int
) -> Array:
    """Return the weighted losses of rows from top to bottom, summed: [features, parents, temperatures, measure].

    The temperatures are the first ``n_steps`` multiples of ``step``. A missing value of the feature adds nothing; of
    the parents those before the first missing one count.
    """
    # Idea: features are the outer loop; each adds its entries to the log-likelihoods of all orders, which the losses of
    # this many features are read from.
    # Layout: codes are (columns, rows), the class last; logs are [row, order, class].
    # Cost: O(rows x features x orders x classes), and one exponential for each, whatever the number of temperatures.
    target, n_orders, n_classes = codes.shape[0] - 1, families.starts.shape[1], families.entries.shape[1]
    log_prior = families.log_prior
    prior = np.exp(log_prior)
    logs = np.zeros((bottom - top, n_orders, n_classes))
    found = np.zeros((len(families.nodes) + 1, n_orders, n_steps, 2))
    totals, own = np.zeros(n_steps), np.zeros(n_steps)
    products, nothing = np.ones((n_orders, n_steps)), np.zeros(n_classes)
    for n_features in range(len(found)):
        if n_features > 0:
            _add_feature(codes, weights, families, n_features - 1, top, logs)
        out = found[n_features]
        for row in range(top, bottom):
            weight, label = weights[row], np.int64(codes[target, row])
            if weight <= 0.0:
                continue
            for k in range(n_orders):
                here = logs[row - top, k]
                largest = here[0]
                for c in range(1, n_classes):
                    largest = max(largest, here[c])
                if largest == -np.inf:  # impossible in every class: the prior is left
                    here, largest = nothing, 0.0
                totals[:] = 0.0
                for c in range(n_classes):
                    ratio = 1.0
                    if here[c] < largest:
                        ratio = exp(step * (here[c] - largest))
                    mass = prior[label, c]
                    for t in range(n_steps):
                        mass *= ratio
                        totals[t] += mass
                        if c == label:
                            own[t] = mass
                for t in range(n_steps):
                    right = own[t] / totals[t] if totals[t] > 0.0 else 0.0
                    out[k, t, SQUARE] += weight * (1.0 - right) * (1.0 - right)
                    if weight == 1.0 and right * LARGE > 1.0:
                        products[k, t] /= right
                        if products[k, t] > LARGE:
                            out[k, t, LOG_LOSS] += log(products[k, t])
                            products[k, t] = 1.0
                    elif right * LARGE > 1.0:
                        out[k, t, LOG_LOSS] -= weight * log(right)
                    elif totals[t] <= 0.0:  # no class is possible
                        out[k, t, LOG_LOSS] += weight * MOST_LOSS
                    else:
                        behind = log_prior[label, label] + (t + 1) * step * (here[label] - largest)
                        out[k, t, LOG_LOSS] += weight * min(log(totals[t]) - behind, MOST_LOSS)
        for k in range(n_orders):
            for t in range(n_steps):
                out[k, t, LOG_LOSS] += log(products[k, t])
                products[k, t] = 1.0
    return found


@kernel
def _add_feature(codes: Array, weights: Array, families: NestedFamilies, f: int, top: int, logs: Array) -> None:
    """Add the entries of feature f to ``logs[row - top, order, class]``."""
    # Idea: the cell of an order extends that of the order before by one parent. Cost: O(rows x orders x classes).
    nodes, parents, states, starts, cells, entries, _ = families
    n_rows, n_orders, n_classes = logs.shape
    x, target = nodes[f], codes.shape[0] - 1
    for at in range(n_rows):
        row = top + at
        place, label = np.int64(codes[x, row]), np.int64(codes[target, row])
        if place >= states[x] or weights[row] <= 0.0:
            continue
        entry = np.int64(cells[starts[f, 0] + place * n_classes + label])
        known = True
        for k in range(n_orders):
            if k > 0 and known:
                parent = parents[f, k - 1]
                code = np.int64(codes[parent, row]) if parent >= 0 else np.int64(0)
                known = parent >= 0 and code < states[parent]
                if known:
                    place = place * states[parent] + code
                    entry = np.int64(cells[starts[f, k] + place * n_classes + label])
            for c in range(n_classes):
                logs[at, k, c] += entries[entry, c]
