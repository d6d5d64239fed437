"""The compiled loops of cross-validated search, cell by cell."""

import numpy as np
from pytest import approx

from tanbark.evaluation import kernels


def test_a_fold_is_estimated_from_the_others():
    counts = np.array([[1.0, 0, 3, 0], [1, 2, 0, 0]])  # fold, (state, class)
    kernels.smooth_folds(counts, 2, 2, 0.0)
    assert counts[0].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert counts[1].tolist() == [0.25, 0.5, 0.75, 0.5]  # a configuration without rows is uniform


def test_estimates_leave_out_rows_with_a_missing_member():
    codes = np.array([[0, 1, 255, 0], [0, 0, 0, 1], [0, 0, 1, 1]], np.uint8)  # feature, class, fold
    out = np.empty((2, 4))
    members, strides, sizes = np.array([0]), np.array([2]), np.array([2, 2, 2])
    kernels.estimate_folds(codes, np.zeros(0), members, strides, sizes, 1.0, out)
    assert out[0] == approx([1 / 2, 2 / 3, 1 / 2, 1 / 3])
    assert out[1] == approx([1 / 2, 1 / 2, 1 / 2, 1 / 2])


def test_logarithms_are_read_from_the_own_fold():
    codes = np.array([[0, 1], [0, 0], [0, 1]], np.uint8)
    cpts = np.array([[0.5, 0.0, 0.5, 1.0], [0.1, 0.2, 0.9, 0.8]])
    out = np.empty((2, 2))
    arguments = np.array([0]), np.array([2]), np.array([2, 2, 2])
    kernels.gather_fold_logs(codes, *arguments, cpts, np.array([0, 1, 2]), out)
    assert np.exp(out) == approx(np.array([[0.5, 0.0], [0.9, 0.8]]))


def test_correct_rows_and_their_log_posteriors():
    joint = np.log([[0.2, 0.2], [0.1, 0.3]])
    labels, weights, bounds = np.array([1, 1]), np.array([2.0, 3.0]), np.array([0, 1, 2])
    right, logs = np.zeros(2), np.zeros(2)
    kernels.count_correct(joint, labels, weights, bounds, right)
    kernels.add_log_posteriors(joint, labels, weights, bounds, logs)
    assert right.tolist() == [0.0, 3.0]  # a tie goes to the first class
    assert logs == approx([2 * np.log(0.5), 3 * np.log(0.75)])
