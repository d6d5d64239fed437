"""Whether there is a correction, and how strong: by cross-validation."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from strategies import make_network, make_schema
from tanbark.estimators.ensemble.pooled import Plan
from tanbark.estimators.ensemble.reading import learn_reading
from tanbark.estimators.ensemble.selection import (
    LARGE_FOLDS,
    LEAVES,
    NEGLIGIBLE,
    ORDERS,
    choose,
    choose_order,
    n_folds,
)
from tanbark.inference.sampling import sample_codes
from tanbark.params.pool import log_loss
from tanbark.structure.progress import Progress
from tanbark.table import CodedTable
from tanbark.table.discretize import mdlp_quantile

PLAN = Plan(3, 2, mdlp_quantile, 0)


def select(table, **options):
    return choose(table, PLAN, Progress("test", shown=False), **options)


def chosen(table, **options):
    return select(table, **options).choice


def rules(n=900, seed=0):
    """The class is a rule of four columns; two others are noise."""
    codes = np.random.default_rng(seed).integers(0, 3, (7, n)).astype(np.uint8)
    codes[-1] = np.minimum(codes[0], codes[1]) + np.minimum(codes[2], codes[3]) >= 2
    return CodedTable(make_schema((3,) * 6 + (2,)), codes)


@cache
def select_for_rules(n):
    return select(rules(n))


def test_data_from_a_network_needs_no_correction():
    rng = np.random.default_rng(5)
    network = make_network(rng, n_features=5, max_parents=1, augmented=True)
    codes = sample_codes(network, 1200, None, soft=None, rng=rng).astype(np.uint8)
    found = chosen(CodedTable(network.schema, codes))
    assert found.rounds == 0
    assert found.fade == 1.0
    assert found.temperature == pytest.approx(1.0, abs=0.3)
    assert "without a correction" in str(found) or found.single


def test_a_class_that_the_networks_know_needs_no_correction():
    codes = rules().codes.copy()
    codes[:-1] = np.minimum(codes[:-1], 1)
    codes[0] = codes[-1] = codes[1]
    found = chosen(CodedTable(make_schema((2,) * 6 + (2,)), codes))
    assert (found.leaves, found.rounds) == (0, 0)
    assert min(found.log_losses.values()) < found.log_losses[0, 0] < 2 * NEGLIGIBLE
    assert "no gain of more than 0.0001" in str(found) or found.single


def test_rules_need_one():
    found = select_for_rules(600).choice
    assert found.rounds > 0
    assert found.leaves in LEAVES
    assert found.log_losses[found.leaves, found.rounds] <= min(found.log_losses.values()) + NEGLIGIBLE
    assert found.log_loss == pytest.approx(found.log_losses[found.leaves, found.rounds])
    assert found.log_losses[found.leaves, found.rounds] < 0.8 * found.log_losses[0, 0]
    assert f"{found.rounds} trees" in str(found)
    assert found.log_loss < found.network_log_loss


def test_held_out_posteriors_are_those_of_the_log_loss():
    table = rules(600)
    found = select_for_rules(600).choice
    assert np.exp(found.held_out).sum(axis=1) == pytest.approx(1.0)
    labels = table.codes[-1].astype(int)
    assert log_loss(found.held_out, labels) == pytest.approx(found.log_loss, abs=1e-9)


def test_of_many_rows_one_fold_is_held_out():
    assert [n_folds(n) for n in (10, 1499, 1500, 2999, 3000, 10**9)] == [5, 5, 3, 3, 4, 4]
    found = select_for_rules(3200).choice
    tested = ~np.isnan(found.held_out[:, 0])
    assert tested.sum() == pytest.approx(3200 / LARGE_FOLDS, abs=2)


def test_half_as_many_rows_predict_the_same_rows_worse():
    for n in (600, 3200):
        table = rules(n)
        found = select_for_rules(n)
        assert found.n_folds == n_folds(n)
        tested = ~np.isnan(found.choice.held_out[:, 0])
        assert np.array_equal(tested, ~np.isnan(found.half_held_out[:, 0]))
        assert np.exp(found.half_held_out[tested]).sum(axis=1) == pytest.approx(1.0)
        assert log_loss(found.half_held_out[tested], table.codes[-1, tested].astype(int)) > found.choice.log_loss


def test_no_time_is_left_for_corrections():
    selected = select(rules(), time_budget=1e-9)
    assert selected.half_held_out is None
    found = selected.choice
    assert found.rounds == 0
    assert list(found.log_losses) == [(0, 0)]
    assert str(found)


def test_weights_are_repeats_and_the_order_of_rows_makes_no_difference():
    table = rules(300)
    times = np.random.default_rng(1).integers(1, 3, 300)
    repeated = chosen(CodedTable(table.schema, np.repeat(table.codes, times, axis=1)))
    weighted = chosen(CodedTable(table.schema, table.codes, times.astype(float)))
    turned = chosen(CodedTable(table.schema, np.ascontiguousarray(table.codes[:, ::-1]), times[::-1].astype(float)))
    for other in (weighted, turned):
        assert (other.leaves, other.rounds, other.fade) == (repeated.leaves, repeated.rounds, repeated.fade)
        assert other.temperature == pytest.approx(repeated.temperature, abs=1e-6)
        assert other.log_losses == pytest.approx(repeated.log_losses, abs=1e-6)
    assert repeated.rounds > 0


def test_the_network_to_read_has_one_feature_parent():
    member = learn_reading(rules(), n_jobs=1)
    assert max(len(parents) for parents in member.parents) == 2


def test_the_order_is_that_of_the_networks():
    """A parity of three columns needs families of two feature parents; for independent columns all are the same."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (6, 3000)).astype(np.uint8)
    codes[-1] = (codes[0] ^ codes[1] ^ codes[2]) ^ (rng.random(3000) < 0.05)
    schema = make_schema((2,) * 6)
    deep = choose_order(CodedTable(schema, codes), PLAN)
    assert list(deep) == list(ORDERS)
    assert min(deep, key=deep.get) > 1
    y = rng.integers(0, 2, 3000)
    noisy = np.where(rng.random((5, 3000)) < 0.3, y, rng.integers(0, 2, (5, 3000)))
    flat = choose_order(CodedTable(schema, np.concatenate([noisy, y[None]]).astype(np.uint8)), PLAN)
    assert max(flat.values()) - min(flat.values()) < 0.002


def test_one_network_predicts_where_it_is_the_best(monkeypatch):
    from tanbark.estimators.ensemble import selection

    class Rule:
        """A network that knows the rule."""

        coarsening = SimpleNamespace(apply=lambda codes: codes)

        def log_likelihoods(self, codes, *, n_jobs):
            right = np.minimum(codes[0], codes[1]) + np.minimum(codes[2], codes[3]) >= 2
            return np.stack([np.zeros(codes.shape[1]), np.where(right, 9.0, -9.0)], axis=1)

    table = rules(600)
    assert not select_for_rules(400).choice.single
    monkeypatch.setattr(selection, "learn_reading", lambda rows, *, n_jobs: Rule())
    found = chosen(table)
    assert found.single
    assert (found.leaves, found.rounds) == (0, 0)
    assert found.log_loss < 1e-3 < found.log_losses[0, 0]
    assert "One network predicts" in str(found)
    assert log_loss(found.held_out, table.codes[-1].astype(int)) == pytest.approx(found.log_loss)
