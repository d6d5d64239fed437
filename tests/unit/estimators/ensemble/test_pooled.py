"""Networks whose likelihoods are pooled."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.estimators.ensemble import pooled as pools
from tanbark.estimators.ensemble.pooled import Plan, class_priors, learn_pooled
from tanbark.params.boosting.trees import add_trees
from tanbark.table import CodedTable, Column, Schema, missing_code
from tanbark.table.discretize import mdlp_quantile

PLAN = Plan(4, 2, mdlp_quantile, 3)


@pytest.fixture(scope="module")
def table():
    """Categories, and a number on a grid of 40 intervals."""
    drawn = make_table(np.random.default_rng(7), (3, 4, 2, 3, 40, 3), 600, gaps=0.1)
    columns = list(drawn.schema.columns)
    columns[4] = Column("x4", "interval", "number", cuts=tuple(float(k) for k in range(39)))
    return CodedTable(Schema(tuple(columns)), drawn.codes)


@pytest.fixture(scope="module")
def training(table):
    return learn_pooled(table, PLAN)


def test_the_pool_is_the_product_of_enumerated_likelihoods(training, table):
    pool = training.pooled
    codes = table.codes[:-1, :60]
    wanted = np.tile(pool.log_prior, (60, 1))
    for weight, member in zip(pool.weights, pool.members, strict=True):
        network, rows = member.dense_network(pool.log_prior), member.coarsening.apply(codes)
        for row in range(60):
            joint = naive.class_joint(network, rows[:, row], missing_code(rows))
            wanted[row] += weight * (np.log(joint) - pool.log_prior)
    assert pool.logits(codes) == pytest.approx(wanted, abs=1e-9)
    assert (codes == 255).any()
    tempered = replace(pool, plain_temperature=0.5).logits(codes)
    assert tempered == pytest.approx(pool.log_prior + 0.5 * (wanted - pool.log_prior), abs=1e-9)
    other = pool.with_prior(np.log([0.1, 0.1, 0.8]))
    assert other.logits(codes) - pool.logits(codes) == pytest.approx(
        np.tile(np.log([0.1, 0.1, 0.8]) - pool.log_prior, (60, 1))
    )


def test_members_differ_and_do_not_depend_on_how_many_there_are(training, table):
    members = training.pooled.members
    assert members[0].coarsening is members[2].coarsening
    assert members[1].coarsening.schema != members[3].coarsening.schema
    fewer = learn_pooled(table, replace(PLAN, n_members=2)).pooled.members
    for one, other in zip(members, fewer, strict=False):
        assert one.parents == other.parents
        assert one.coarsening.schema == other.coarsening.schema
    assert len({str(member.parents) for member in members}) > 1


def test_any_number_of_threads_learns_the_same(training, table):
    for n_jobs in (1, 3):
        again = learn_pooled(table, replace(PLAN, n_jobs=n_jobs)).pooled
        assert np.array_equal(again.weights, training.pooled.weights)
        codes = table.codes[:-1]
        assert np.array_equal(again.logits(codes, n_jobs=n_jobs), training.pooled.logits(codes))


def test_left_out_priors():
    labels, weights = np.array([0, 0, 1]), np.array([2.0, 0.5, 1.0])
    prior, left_out = class_priors(labels, None, 2)
    assert np.exp(prior) == pytest.approx([2.5 / 4, 1.5 / 4])
    assert np.exp(left_out) == pytest.approx(np.array([[1.5, 1.5], [1.5, 1.5], [2.5, 0.5]]) / 3)
    prior, left_out = class_priors(labels, weights, 2)
    assert np.exp(prior) == pytest.approx([3 / 4.5, 1.5 / 4.5])
    assert np.exp(left_out[:2]) == pytest.approx(np.array([[2 / 3.5, 1.5 / 3.5], [2.5 / 4, 1.5 / 4]]))


def test_the_correction_fades_with_missing_values(training, table):
    trees = list(islice(training.boost(4, PLAN), 3))
    pool = replace(training.corrected(trees), fade=0.5, temperature=0.8, plain_temperature=0.9)
    codes = table.codes[:-1]
    change = np.zeros((600, 3))
    add_trees(pool.trees, codes, change)
    missing = (codes == 255).sum(axis=0)
    factor = (0.5 ** np.maximum(missing - missing.mean(), 0))[:, None]
    plain, nothing = training.pooled.evidence(codes)
    assert not nothing.any()
    wanted = (1 - factor) * 0.9 * plain + factor * 0.8 * (plain + change)
    assert pool.logits(codes) == pytest.approx(pool.log_prior + wanted, abs=1e-9)
    assert np.abs(change).max() > 0.01
    assert training.corrected([]).trees is None
    nothing = np.full((len(codes), 1), 255, np.uint8)
    assert replace(pool, fade=1.0).logits(nothing)[0] == pytest.approx(pool.log_prior)


def test_many_rows_are_sampled_for_the_weights(table, training, monkeypatch):
    monkeypatch.setattr(pools, "MOST_POOLED", 250)
    few = learn_pooled(table, PLAN).pooled.weights
    assert not np.array_equal(few, training.pooled.weights)
    order = np.random.default_rng(0).permutation(600)
    turned = CodedTable(table.schema, np.ascontiguousarray(table.codes[:, order]))
    assert learn_pooled(turned, PLAN).pooled.weights == pytest.approx(few, abs=1e-6)
