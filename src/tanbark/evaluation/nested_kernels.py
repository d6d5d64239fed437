"""Compiled kernel of nested models: the losses of all of them, summed over rows."""

from __future__ import annotations

from math import exp, log

import numpy as np

from tanbark.arrays import Array
from tanbark.evaluation.nested import NestedFamilies
from tanbark.machine import kernel

MOST_LOSS = 700.0  # nats; also of a label that is impossible
LOG_LOSS, SQUARE = 0, 1


@kernel
def nested_losses(codes: Array, weights: Array, families: NestedFamilies, taus: Array, top: int, bottom: int) -> Array:
    """Return the weighted losses of rows from top to bottom, summed: [features, parents, temperatures, measure].

    A missing value of the feature adds nothing; of the parents those before the first missing one count.
    """
    # Idea: features are the outer loop; each adds its entries to the log-likelihoods of all orders, which the losses of
    # this many features are read from. The cell of an order extends that of the order before.
    # Layout: codes are (columns, rows), the class last; logs are [row, order, class].
    # Cost: O(rows x features x orders x classes x temperatures).
    nodes, parents, states, starts, cells, entries, log_prior = families
    target, n_orders, n_classes = codes.shape[0] - 1, starts.shape[1], entries.shape[1]
    prior = np.exp(log_prior)
    logs = np.zeros((bottom - top, n_orders, n_classes))
    found = np.zeros((len(nodes) + 1, n_orders, len(taus), 2))
    for step in range(len(nodes) + 1):
        for row in range(top, bottom):
            weight, label = weights[row], np.int64(codes[target, row])
            if weight <= 0.0:
                continue
            here = logs[row - top]
            if step > 0:
                x = nodes[step - 1]
                place = np.int64(codes[x, row])
                if place < states[x]:
                    entry = np.int64(cells[starts[step - 1, 0] + place * n_classes + label])
                    open_parents = True
                    for k in range(n_orders):
                        if k > 0 and open_parents:
                            parent = parents[step - 1, k - 1]
                            code = np.int64(codes[parent, row]) if parent >= 0 else np.int64(-1)
                            open_parents = parent >= 0 and code < states[parent]
                            if open_parents:
                                place = place * states[parent] + code
                                entry = np.int64(cells[starts[step - 1, k] + place * n_classes + label])
                        for c in range(n_classes):
                            here[k, c] += entries[entry, c]
            for k in range(n_orders):
                for t in range(len(taus)):
                    right, loss = _row_loss(here[k], prior[label], log_prior[label, label], label, taus[t])
                    found[step, k, t, LOG_LOSS] += weight * loss
                    found[step, k, t, SQUARE] += weight * (1.0 - right) * (1.0 - right)
    return found


@kernel
def _row_loss(logs: Array, prior: Array, own_prior: float, label: int, tau: float) -> tuple[float, float]:
    """Return the posterior probability of the label by P(c) P(x | c)^tau, and minus its logarithm."""
    largest = logs.max()
    if largest == -np.inf:  # impossible in every class: the prior is left
        return prior[label], min(-own_prior, MOST_LOSS)
    total, own = 0.0, 0.0
    for c in range(len(logs)):
        mass = prior[c]
        if logs[c] < largest:
            mass *= exp(tau * (logs[c] - largest))
        total += mass
        if c == label:
            own = mass
    if own <= 0.0:
        return 0.0, min(log(total) - own_prior - tau * (logs[label] - largest), MOST_LOSS)
    return own / total, min(log(total / own), MOST_LOSS)
