"""The compiled loops of cross-validated search.

A CPT of every fold is estimated from the counts of all rows less the fold's own: one count per row and fold, then a
subtraction per cell. ``cpts[fold]`` is flat with the classes last; rows are sorted by fold.
"""

from __future__ import annotations

import numpy as np

from tanbark.arrays import TIE, Array
from tanbark.kernel import kernel

NOWHERE = -(1 << 40)


@kernel
def estimate_folds(
    codes: Array, weights: Array, members: Array, strides: Array, n_states: Array, smooth: float, out: Array
) -> None:
    """Estimate P(last member | other members, class) of every fold from all rows less the fold's own.

    ``codes`` ends with the class and the fold; ``out[fold]`` is flat with the classes last. Rows with a missing member
    do not count, and a configuration without mass becomes uniform.
    """
    places = np.zeros(codes.shape[1], np.int64)
    _add_places(codes, members, strides, n_states, places)
    _estimate(codes, weights, places, n_states, n_states[members[-1]], smooth, out)


@kernel
def _estimate(
    codes: Array, weights: Array, places: Array, n_states: Array, states: int, smooth: float, out: Array
) -> None:
    """Count rows at their places by fold and class, and turn the counts into estimates."""
    target, weighted = codes.shape[0] - 2, len(weights) > 0
    out[:] = 0.0
    for row in range(codes.shape[1]):
        if places[row] >= 0:
            cell = places[row] + np.int64(codes[target, row])
            out[np.int64(codes[target + 1, row]), cell] += weights[row] if weighted else 1.0
    smooth_folds(out, states, n_states[target], smooth)


@kernel
def estimate_fold_logs(
    codes: Array, weights: Array, members: Array, strides: Array, n_states: Array, smooth: float, bounds: Array,
    cpts: Array, out: Array,
) -> None:  # fmt: skip
    """Do the work of ``estimate_folds`` and of ``gather_fold_logs`` for rows that are all complete."""
    places = np.zeros(codes.shape[1], np.int64)
    _add_places(codes, members, strides, n_states, places)
    _estimate(codes, weights, places, n_states, n_states[members[-1]], smooth, cpts)
    _gather(places, cpts, bounds, out)


@kernel
def smooth_folds(out: Array, states: int, n_classes: int, smooth: float) -> None:
    """Turn the counts of every fold into estimates from all rows less the fold's own.

    ``out[fold]`` is flat with the classes last and the states before them.
    """
    # The counts of all folds are added once; a fold's training counts are that sum less its own.
    n_folds, n_cells = out.shape
    whole = np.zeros(n_cells)
    for fold in range(n_folds):
        whole += out[fold]
    step = states * n_classes
    for fold in range(n_folds):
        for start in range(0, n_cells, step):
            for c in range(n_classes):
                mass = 0.0
                for cell in range(start + c, start + step, n_classes):
                    out[fold, cell] = whole[cell] - out[fold, cell] + smooth
                    mass += out[fold, cell]
                for cell in range(start + c, start + step, n_classes):
                    out[fold, cell] = out[fold, cell] / mass if mass > 0.0 else 1.0 / states


@kernel
def _add_places(codes: Array, members: Array, strides: Array, n_states: Array, places: Array) -> None:
    """Find the place of every row in a CPT, without the class; below 0 where a member is missing."""
    for m in range(len(members)):
        values, states, stride = codes[members[m]], n_states[members[m]], strides[m]
        for row in range(len(places)):
            code = np.int64(values[row])
            places[row] += code * stride if code < states else NOWHERE


@kernel
def gather_fold_logs(
    codes: Array, members: Array, strides: Array, n_states: Array, cpts: Array, bounds: Array, out: Array
) -> None:
    """Read the logarithm of one family's CPT of each row's own fold: ``out[row, class]``.

    ``cpts[fold]`` is flat with the classes last; ``bounds[fold]`` and ``bounds[fold + 1]`` bound the fold's rows.
    """
    places = np.zeros(len(out), np.int64)
    _add_places(codes, members, strides, n_states, places)
    _gather(places, cpts, bounds, out)


@kernel
def _gather(places: Array, cpts: Array, bounds: Array, out: Array) -> None:
    # One logarithm per cell and fold, not per row: rows are many, cells are few.
    n_classes = out.shape[1]
    logs = np.empty(cpts.shape[1])
    for fold in range(len(bounds) - 1):
        for cell in range(len(logs)):
            logs[cell] = np.log(cpts[fold, cell]) if cpts[fold, cell] > 0.0 else -np.inf
        for row in range(bounds[fold], bounds[fold + 1]):
            for c in range(n_classes):
                out[row, c] = logs[places[row] + c]


@kernel
def count_correct(joint: Array, labels: Array, weights: Array, bounds: Array, out: Array) -> None:
    """Add the weight of rows whose likeliest class is right, per fold; classes within 1e-9 tie, the first wins.

    No row is impossible under every class.
    """
    n_classes = joint.shape[1]
    for fold in range(len(bounds) - 1):
        for row in range(bounds[fold], bounds[fold + 1]):
            top = joint[row, 0]
            for c in range(1, n_classes):
                top = max(top, joint[row, c])
            for c in range(n_classes):
                if joint[row, c] >= top - TIE:
                    if c == labels[row]:
                        out[fold] += weights[row]
                    break


@kernel
def add_log_posteriors(joint: Array, labels: Array, weights: Array, bounds: Array, out: Array) -> None:
    """Add the weighted log-posterior of the right class, per fold; no row is impossible under every class."""
    n_classes = joint.shape[1]
    for fold in range(len(bounds) - 1):
        for row in range(bounds[fold], bounds[fold + 1]):
            top = joint[row, 0]
            for c in range(1, n_classes):
                top = max(top, joint[row, c])
            total = 0.0
            for c in range(n_classes):
                total += np.exp(joint[row, c] - top)
            out[fold] += weights[row] * (joint[row, labels[row]] - top - np.log(total))
