"""The compiled upward pass over trees with missing values."""

from __future__ import annotations

from math import log

import numpy as np

from tanbark.arrays import Array
from tanbark.inference.layout import Forest
from tanbark.machine import kernel

SMALL = 1e-100  # a message below this is rescaled, so that a product of two cannot underflow


@kernel
def add_forest(codes: Array, forest: Forest, top: int, bottom: int, out: Array) -> None:
    """Add the log-evidence of every tree of a forest, summing out missing values by one upward pass.

    A missing node with an observed descendant collects lambda(state, class), the probability of what is observed below
    it; it is rescaled when small and the logarithm of the scale goes to ``out``. What is missing with nothing observed
    below sums to one. Cost: per arc between missing nodes the entries of its CPT, else one entry per class.
    """
    probabilities, logarithms, starts, n_states, parent, order, message_starts = forest
    n_classes = out.shape[1]
    messages, sums = np.empty(message_starts[-1]), np.ones(n_classes)
    active = np.zeros(len(parent), np.bool_)
    for row in range(top, bottom):
        for node in order:
            above, states = parent[node], n_states[node]
            code = np.int64(codes[node, row])
            observed = code < states
            if not observed and not active[node]:
                continue
            start, message = starts[node], message_starts[node]
            if above < 0 or np.int64(codes[above, row]) < n_states[above]:
                if above >= 0:
                    start += np.int64(codes[above, row]) * states * n_classes
                if observed:
                    for c in range(n_classes):
                        out[row, c] += logarithms[start + code * n_classes + c]
                else:
                    for c in range(n_classes):
                        total = 0.0
                        for k in range(0, states * n_classes, n_classes):
                            total += probabilities[start + k + c] * messages[message + k + c]
                        sums[c] *= total
                        if sums[c] < SMALL:
                            _add_log(sums, c, row, out)
            else:
                up = message_starts[above]
                if not active[above]:
                    active[above] = True
                    messages[up : up + n_states[above] * n_classes] = 1.0
                known = code if observed else -1
                _send_up(probabilities, messages, start, message, up, states, n_states[above], known, row, out)
            active[node] = False
        for c in range(n_classes):
            if sums[c] != 1.0:
                _add_log(sums, c, row, out)


@kernel
def _add_log(sums: Array, c: int, row: int, out: Array) -> None:
    """Add the logarithm of the product of a class's sums so far, and begin another."""
    out[row, c] += log(sums[c]) if sums[c] > 0.0 else -np.inf
    sums[c] = 1.0


@kernel
def _send_up(
    probabilities: Array, messages: Array, start: int, below: int, up: int, states: int, above_states: int, code: int,
    row: int, out: Array,
) -> None:  # fmt: skip
    """Multiply a node's message into its missing parent's, rescaling each class that becomes small.

    The CPT is at ``start``, the node's own message at ``below`` and its parent's at ``up``; ``code`` is the node's
    state, or -1 where it is missing.
    """
    n_classes = out.shape[1]
    for c in range(n_classes):
        largest = 0.0
        for p in range(above_states):
            entry = start + p * states * n_classes + c
            if code >= 0:
                message = probabilities[entry + code * n_classes]
            else:
                message = 0.0
                for k in range(states):
                    message += probabilities[entry + k * n_classes] * messages[below + k * n_classes + c]
            messages[up + p * n_classes + c] *= message
            largest = max(largest, messages[up + p * n_classes + c])
        if 0.0 < largest < SMALL:
            for p in range(above_states):
                messages[up + p * n_classes + c] /= largest
            out[row, c] += log(largest)
