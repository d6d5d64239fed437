"""The compiled loops of parameter learning."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Array
from tanbark.machine import kernel


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
        total += row_weights[row] * _row_objective(joint, labels[row], squared, slope)
        for i in range(n):
            code = np.int64(codes[i, row])
            if code < n_states[i]:
                place = starts[i] + code * n_classes
                change = 0.0
                for c in range(n_classes):
                    change += slope[c] * tables[place + c]
                gradient[i] += row_weights[row] * change
    return total


@kernel
def _row_objective(joint: Array, label: int, squared: bool, slope: Array) -> float:
    """Return one row's objective, and write how it changes with the log-joint of each class; ``joint`` is used up."""
    n_classes = len(joint)
    largest, mass = joint.max(), 0.0
    label_log = joint[label] - largest
    for c in range(n_classes):
        joint[c] = np.exp(joint[c] - largest)
        mass += joint[c]
    joint /= mass
    if not squared:
        for c in range(n_classes):
            slope[c] = (1.0 if c == label else 0.0) - joint[c]
        return label_log - np.log(mass)  # type: ignore[no-any-return]  # a float once compiled
    half_square, mean = 0.0, 0.0
    for c in range(n_classes):
        error = joint[c] - (1.0 if c == label else 0.0)
        half_square += 0.5 * error * error
        mean += joint[c] * error
    for c in range(n_classes):
        slope[c] = -joint[c] * (joint[c] - (1.0 if c == label else 0.0) - mean)
    return -half_square
