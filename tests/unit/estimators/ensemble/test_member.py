"""One network of an ensemble."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.estimators.ensemble import member as members
from tanbark.estimators.ensemble.coarsening import merge_to
from tanbark.estimators.ensemble.member import learn_member, measure
from tanbark.inference import joint_log_proba
from tanbark.params.hierarchical.context_tree import dense
from tanbark.structure.fixed import kdb
from tanbark.table import CodedTable

LOG_PRIOR = np.log([0.2, 0.5, 0.3])


def learn(table, k=2, rng=None, **options):
    rows = MemoryCounts(table)
    return learn_member(merge_to(table.schema, table.schema), table, measure(rows), k, rng, **options)


@pytest.fixture(params=[0.0, 0.2], ids=["complete", "incomplete"])
def table(request):
    return make_table(np.random.default_rng(7), (3, 4, 1, 2, 3, 5, 3), 500, gaps=request.param)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_without_noise_it_is_kdb(table, k):
    found, _ = learn(table, k)
    dag = kdb.learn(MemoryCounts(table), max_parents=k).dag
    network = found.dense_network(LOG_PRIOR)
    assert [network.dag.parents[f] for f in (0, 1, 3, 4, 5)] == [dag.parents[f] for f in (0, 1, 3, 4, 5)]
    assert found.columns.tolist() == [0, 1, 3, 4, 5]  # a constant column is left out
    assert found.families() == [(f, *parents[1:]) for f, parents in enumerate(found.parents)]


@pytest.mark.parametrize("rng", [None, 1, 2])
def test_the_full_cpts_have_the_same_posteriors(table, rng):
    found, _ = learn(table, 3, None if rng is None else np.random.default_rng(rng))
    network = found.dense_network(LOG_PRIOR)
    codes = table.codes[:-1]
    dense_joint = joint_log_proba(network, codes)
    sparse_joint = LOG_PRIOR + found.log_likelihoods(codes, n_jobs=1)
    assert sparse_joint == pytest.approx(dense_joint, abs=1e-10)
    nothing = np.full((6, 1), 255, np.uint8)
    assert found.log_likelihoods(nothing, n_jobs=1) == pytest.approx(np.zeros((1, 3)), abs=1e-12)
    for node, cpt in enumerate(network.tables):
        assert cpt.sum(axis=network.axes(node).index(node)) == pytest.approx(1.0)
    assert found.cells() == max(network.tables[f].size for f in found.columns)


def test_a_row_is_left_out_of_its_own_counts(table):
    """Without itself, a row is less probable under its own class; under others only by what all classes share."""
    found, left_out = learn(table, 2)
    counted = found.log_likelihoods(table.codes[:-1], n_jobs=1)
    complete = (table.codes[:-1] != 255).all(axis=0)
    own = np.arange(3)[None] == table.codes[-1][:, None]
    assert (left_out[own] < counted[own])[complete].all()
    less = counted - left_out
    assert less[complete & own.any(axis=1)][own[complete]].mean() > 3 * abs(less[complete][~own[complete]]).mean()


def test_weights_are_repeats(table):
    times = np.random.default_rng(9).integers(1, 4, table.n_rows)
    repeated = CodedTable(table.schema, np.repeat(table.codes, times, axis=1))
    weighted = CodedTable(table.schema, table.codes, times.astype(float))
    (one, left_one), (other, left_other) = learn(repeated, 2), learn(weighted, 2)
    assert one.parents == other.parents
    for a, b in zip(one.trees, other.trees, strict=True):
        assert dense(a) == pytest.approx(dense(b), abs=1e-10)
    assert left_one == pytest.approx(np.repeat(left_other, times, axis=0), abs=1e-9)


def test_large_cpts_lose_their_last_parents(table):
    full, _ = learn(table, 3)
    small, _ = learn(table, 3, most_cells=50)
    assert small.cells() <= 50 < full.cells()
    for a, b in zip(small.parents, full.parents, strict=True):
        assert a == b[: len(a)]


def test_only_the_most_relevant_features_take_part(monkeypatch):
    monkeypatch.setattr(members, "MOST_FEATURES", 3)
    table = make_table(np.random.default_rng(3), (3, 4, 2, 3, 5, 3, 3), 300)
    information = measure(MemoryCounts(table), most=5)
    assert len(information.candidates) == 5
    best = set(np.argsort(-information.relevance)[:3].tolist())
    found, _ = learn_member(merge_to(table.schema, table.schema), table, information, 2, None)
    assert set(found.columns.tolist()) == best
    assert joint_log_proba(found.dense_network(LOG_PRIOR), table.codes[:-1]).shape == (300, 3)
    full = found.dense_network(LOG_PRIOR)
    lacking = [f for f in range(6) if f not in best]
    assert all(full.dag.parents[f] == () for f in lacking)


def test_nothing_varies():
    table = make_table(np.random.default_rng(3), (1, 1, 3), 30)
    found, left_out = learn(table)
    assert found.columns.tolist() == []
    assert found.cells() == 0
    assert (left_out == 0).all()
    assert (found.log_likelihoods(table.codes[:-1], n_jobs=1) == 0).all()
