"""The compiled loops of parameter learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.machine import kernel

Array = NDArray[Any]


@kernel
def weighted_objective(
    codes: Array, n_states: Array, tables: Array, starts: Array, prior: Array, labels: Array, row_weights: Array,
    exponents: Array, squared: bool, top: int, bottom: int, gradient: Array,
) -> float:  # fmt: skip
    """Sum, over rows from top to bottom, the objective of weighted naive Bayes, and add to its gradient.

    The posterior is proportional to prior(c) times the product of P(x_i | c) ** w_i, gaps left out. The objective is
    the log-posterior of the label, or with ``squared`` minus half the squared error of the posterior.
    """
    n, n_classes = len(n_states), len(prior)
    joint, slope = np.empty(n_classes), np.empty(n_classes)
    total = 0.0
    for row in range(top, bottom):
        joint[:] = prior
        for i in range(n):
            code = np.int64(codes[i, row])
            if code < n_states[i]:
                place = starts[i] + code * n_classes
                for c in range(n_classes):
                    joint[c] += exponents[i] * tables[place + c]
        largest, mass = joint.max(), 0.0
        for c in range(n_classes):
            joint[c] = np.exp(joint[c] - largest)
            mass += joint[c]
        label, weight = labels[row], row_weights[row]
        for c in range(n_classes):
            joint[c] /= mass
        if squared:
            mean = 0.0
            for c in range(n_classes):
                error = joint[c] - (1.0 if c == label else 0.0)
                total -= 0.5 * weight * error * error
                mean += joint[c] * error
            for c in range(n_classes):  # how the objective changes with the log-joint of a class
                slope[c] = -weight * joint[c] * (joint[c] - (1.0 if c == label else 0.0) - mean)
        else:
            total += weight * np.log(max(joint[label], 1e-300))
            for c in range(n_classes):
                slope[c] = weight * ((1.0 if c == label else 0.0) - joint[c])
        for i in range(n):
            code = np.int64(codes[i, row])
            if code < n_states[i]:
                place = starts[i] + code * n_classes
                change = 0.0
                for c in range(n_classes):
                    change += slope[c] * tables[place + c]
                gradient[i] += change
    return total
