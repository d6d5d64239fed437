"""Averages over super-parent models: products and logarithms of one small table, entry by entry."""

import numpy as np
import pytest
from pytest import approx

from tanbark.inference.aode import kernels
from tanbark.inference.aode.joint_tables import Joined, Models


def small(rng, n_classes):
    """Two binary features; each is the super-parent of the other."""
    prior, entries = rng.random((4, n_classes)), rng.random((4, 4, n_classes))
    entries[:2, :2] = entries[2:, 2:] = 1.0
    usable = np.array([True, True, True, False])
    models = Models(np.array([2, 2]), np.array([[0, -1], [1, -1]]), np.array([0, 2]), np.array([2, 2]), prior, usable)
    return models, entries


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_and_logarithms_are_the_mean_of_the_models(n_classes):
    models, entries = small(np.random.default_rng(0), n_classes)
    codes = np.array([[0, 1, 0, 1], [0, 0, 1, 1]], np.uint8)
    logs, fast, empty = np.zeros((4, n_classes)), np.zeros((4, n_classes)), np.zeros(4, np.bool_)
    in_logs = models._replace(prior=np.log(models.prior))
    kernels.average_models(
        codes, in_logs, np.array([0, 2]), np.log(entries).reshape(4, -1), np.ones(4), 1.0, 0, 4, logs, empty
    )
    children = Joined(
        np.array([0, 1]), np.array([1, 1]), np.array([0, 2]), entries.reshape(4, -1), models.prior, 0.0
    )  # fmt: skip
    kernels.average_joined(codes, models, children, 0, 4, fast, empty)
    for row, (a, b) in enumerate(codes.T.astype(int)):
        parts = [models.prior[a] * entries[a, 2 + b]]
        if b == 0:  # state 1 of the second feature was not seen often enough
            parts.append(models.prior[2 + b] * entries[2 + b, a])
        assert np.exp(logs[row]) == approx(np.mean(parts, axis=0))
    assert fast == approx(logs)
    assert not empty.any()


def test_rows_without_a_usable_model_are_marked():
    models, entries = small(np.random.default_rng(1), 2)
    out, empty = np.zeros((1, 2)), np.zeros(1, np.bool_)
    codes = np.array([[255], [1]], np.uint8)
    for enough, lacks in ((np.inf, True), (2.5, True), (2.0, False)):
        kernels.average_models(
            codes, models, np.array([0, 2]), np.log(entries).reshape(4, -1), np.ones(4), enough, 0, 1, out, empty
        )
        assert empty.tolist() == [lacks]


def test_a_missing_super_parent_is_summed_out():
    models, entries = small(np.random.default_rng(2), 2)
    out, empty = np.zeros((1, 2)), np.zeros(1, np.bool_)
    codes, in_logs = np.array([[255], [0]], np.uint8), models._replace(prior=np.log(models.prior))
    kernels.average_models(
        codes, in_logs, np.array([0, 2]), np.log(entries).reshape(4, -1), np.ones(4), 2.0, 0, 1, out, empty
    )
    summed = models.prior[0] * entries[0, 2] + models.prior[1] * entries[1, 2]
    assert np.exp(out[0]) == approx((summed + models.prior[2]) / 2)
