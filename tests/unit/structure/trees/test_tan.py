"""The best tree over the features, against all forests."""

import itertools

import numpy as np
import pytest
from pytest import approx

import naive_search
from strategies import make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import NaiveStructureWarning, OptionError
from tanbark.graph import Dag
from tanbark.scores import mml
from tanbark.structure.trees import tan
from tanbark.table import CodedTable


def every_forest(names):
    """All augmented naive Bayes graphs in which features have at most one feature parent."""
    n = len(names) - 1
    for parents in itertools.product(*[[(), *((p,) for p in range(n) if p != node)] for node in range(n)]):
        try:
            yield Dag.augmented(names, list(parents))
        except ValueError:
            continue


def message_score(table, dag):
    total = 0.0
    for node, parents in enumerate(dag.parents):
        n = naive_search.naive.table(table.codes, table.schema.cardinalities, (*parents, node))
        total -= mml.cpt(n.reshape(-1, n.shape[-1])).total
    return total


@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic", "mml"])
@pytest.mark.parametrize("seed", range(3))
def test_no_forest_scores_higher(criterion, seed):
    table = make_table(np.random.default_rng(seed), (2, 3, 2, 2), 80)
    found = tan.learn(MemoryCounts(table), criterion=criterion)

    def score(dag):
        return message_score(table, dag) if criterion == "mml" else naive_search.graph_score(table, dag, criterion)

    assert found.score == approx(score(found.dag), abs=1e-8)
    assert found.score == approx(max(map(score, every_forest(table.schema.names))), abs=1e-8)


@pytest.mark.parametrize("criterion", ["loglik", "mml"])
def test_the_root_has_no_feature_parent(criterion):
    counts = MemoryCounts(make_table(np.random.default_rng(1), (3, 3, 3, 2), 300))
    for root in ("x0", 1, "x2"):
        column = int(str(root).strip("x"))
        assert tan.learn(counts, criterion=criterion, root=root).dag.parents[column] == (3,)


def test_columns_with_one_state_take_no_part():
    counts = MemoryCounts(make_table(np.random.default_rng(2), (3, 1, 3, 2), 200))
    for criterion in ("loglik", "mml"):
        dag = tan.learn(counts, criterion=criterion).dag
        assert dag.parents[1] == (3,)
        assert not dag.children[1]


def test_large_pairs_are_scored_by_their_observed_cells(monkeypatch):
    counts = MemoryCounts(make_table(np.random.default_rng(3), (3, 4, 2, 3), 150))
    whole = tan.pair_gains(counts)
    monkeypatch.setattr(tan, "DENSE_CELLS", 1)
    assert tan.pair_gains(counts) == approx(whole, abs=1e-9)
    monkeypatch.setattr(tan, "DENSE_CELLS", 1 << 22)
    monkeypatch.setattr(tan, "BLOCK_CELLS", 1)
    assert np.array_equal(tan.pair_gains(counts), whole)


def test_penalties_with_missing_values_use_the_rows_of_each_pair():
    assert tan.penalty_per_parameter("bic", np.array([10.0, 20.0])) == approx(0.5 * np.log([10, 20]))
    assert tan.penalty_per_parameter("aic", np.array([10.0, 10.0])).tolist() == [1.0, 1.0]


def test_a_wrong_criterion_raises():
    with pytest.raises(OptionError, match="criterion must be one of"):
        tan.learn(MemoryCounts(make_table(np.random.default_rng(0), (2, 2), 10)), criterion="bdeu")


def many_states(dependent, seed=0):
    rng = np.random.default_rng(seed)
    first, label = rng.integers(0, 12, 300), rng.integers(0, 2, 300)
    second = np.where(rng.random(300) < 0.6, first, rng.integers(0, 12, 300)) if dependent else rng.integers(0, 12, 300)
    return CodedTable(make_schema((12, 12, 2)), np.array([first, second, label], np.uint8))


def test_a_penalty_that_hides_a_dependence_warns():
    counts = MemoryCounts(many_states(dependent=True))
    assert tan.learn(counts).dag.n_arcs == 3
    with pytest.warns(NaiveStructureWarning, match=r"'x0' \(12 states\) and 'x1' \(12 states\).*criterion='loglik'"):
        found = tan.learn(counts, criterion="bic")
    assert found.dag.n_arcs == 2


@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("seed", range(5))
def test_a_penalty_that_leaves_out_noise_is_silent(criterion, seed):
    assert tan.learn(MemoryCounts(many_states(dependent=False, seed=seed)), criterion=criterion).dag.n_arcs == 2
