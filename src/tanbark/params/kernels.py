"""Compiled kernels of parameter learning."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tanbark.arrays import Array
from tanbark.kernel import kernel


class LabelledRows(NamedTuple):
    """Rows with their labels and weights, and the log CPTs of naive Bayes.

    ``codes`` is (columns, rows). The log CPT of feature i, (states, classes), starts at ``starts[i]`` of ``tables``;
    ``prior`` is the log prior of the classes.
    """

    codes: Array
    labels: Array
    weights: Array
    n_states: Array
    tables: Array
    starts: Array
    prior: Array


@kernel
def weighted_objective(
    rows: LabelledRows, exponents: Array, squared: bool, top: int, bottom: int, gradient: Array
) -> float:
    """Return the objective of weighted naive Bayes, summed over rows from top to bottom, and add to its gradient.

    The posterior is proportional to prior(c) times the product of P(x_i | c) ** w_i over the observed features. The
    objective is the log-posterior of the label or, with ``squared``, minus half the squared error of the posterior.
    """
    # Idea: two sweeps over the features of a row, one for the log-joint, one that multiplies its slope by the CPTs.
    # Cost: O(rows x features x classes).
    codes, labels, weights, prior = rows.codes, rows.labels, rows.weights, rows.prior
    n_states, tables, starts = rows.n_states, rows.tables, rows.starts
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
        total += weights[row] * _row_objective(joint, labels[row], squared, slope)
        for i in range(n):
            code = np.int64(codes[i, row])
            if code < n_states[i]:
                place = starts[i] + code * n_classes
                change = 0.0
                for c in range(n_classes):
                    change += slope[c] * tables[place + c]
                gradient[i] += weights[row] * change
    return total


@kernel
def _row_objective(joint: Array, label: int, squared: bool, slope: Array) -> float:
    """Return the objective of one row and fill in its slope by each log-joint; ``joint`` is overwritten."""
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
