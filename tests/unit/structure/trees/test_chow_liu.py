"""The best tree over all columns, against all forests."""

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.structure.trees import chow_liu


@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_forest_scores_higher(criterion, weighted):
    table = make_table(np.random.default_rng(5), (2, 3, 2, 3), 90, weighted=weighted)
    found = chow_liu.learn(MemoryCounts(table), criterion=criterion)
    assert found.score == approx(naive_search.graph_score(table, found.dag, criterion), abs=1e-8)
    trees = (dag for dag in naive_search.all_dags(table.schema.names) if max(map(len, dag.parents)) <= 1)
    assert found.score == approx(max(naive_search.graph_score(table, dag, criterion) for dag in trees), abs=1e-8)


def test_arcs_lead_away_from_the_root():
    counts = MemoryCounts(make_table(np.random.default_rng(2), (3, 3, 3, 3), 300))
    assert chow_liu.learn(counts).dag.parents[3] == ()
    assert chow_liu.learn(counts, root="x1").dag.parents[1] == ()
    with pytest.raises(OptionError, match="root must be"):
        chow_liu.learn(counts, root="nobody")


def test_noise_makes_no_arc_under_a_penalty():
    codes = np.random.default_rng(0).integers(0, 2, (4, 500)).astype(np.uint8)
    table = make_table(np.random.default_rng(0), (2, 2, 2, 2), 500)
    assert chow_liu.learn(MemoryCounts(type(table)(table.schema, codes)), criterion="bic").dag.n_arcs == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_with_many_states_are_measured_by_the_cells_that_occur(monkeypatch, weighted):
    counts = MemoryCounts(make_table(np.random.default_rng(5), (2, 7, 2, 9, 3), 90, weighted=weighted))
    dense = chow_liu.learn(counts, criterion="bic")
    monkeypatch.setattr(chow_liu, "CELLS_AT_ONCE", 6)
    sparse = chow_liu.learn(counts, criterion="bic")
    assert sparse.dag == dense.dag
    assert sparse.score == approx(dense.score, abs=1e-8)
