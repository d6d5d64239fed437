"""CPDAGs, families of an equivalence class and the best move from any member, against all DAGs of four nodes."""

import numpy as np
import pytest

import naive_search
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.greedy.gains import Gains
from tanbark.structure.greedy.kernels import cpdag_kernels as kernels

NAMES = ("x0", "x1", "x2", "class")
ALL = list(naive_search.all_dags(NAMES))
LIMITS = kernels.Limits(np.array([2, 3, 2, 2]), 4, 1e6)
FREE = ~np.eye(4, dtype=bool), np.zeros((4, 4), bool)


def matrix(dag):
    arcs = np.zeros((4, 4), bool)
    for child, parents in enumerate(dag.parents):
        arcs[list(parents), child] = True
    return arcs


def members(dag):
    return [other for other in ALL if naive_search.essence(other) == naive_search.essence(dag)]


@pytest.mark.parametrize("number", range(0, len(ALL), 23))
def test_the_cpdag_has_the_arcs_of_all_members(number):
    found = kernels.find_cpdag(matrix(ALL[number]), FREE[1])
    assert np.array_equal(found, np.any([matrix(member) for member in members(ALL[number])], axis=0))


def test_a_forced_arc_is_compelled():
    dag = naive_search.make_dag(NAMES, {(0, 1), (1, 2)})  # a chain, all of it reversible
    forced = np.zeros((4, 4), bool)
    forced[0, 1] = True
    assert np.array_equal(kernels.find_cpdag(matrix(dag), forced), matrix(dag))


@pytest.mark.parametrize("number", range(0, len(ALL), 23))
def test_the_families_are_those_of_the_members(number):
    dag = ALL[number]
    child, parents = kernels.find_families(kernels.find_cpdag(matrix(dag), FREE[1]), LIMITS)
    found = {(int(y), tuple(np.flatnonzero(mask).tolist())) for y, mask in zip(child, parents, strict=True)}
    expected = {(y, member.parents[y]) for member in members(dag) for y in range(4)}
    assert expected <= found  # some parent sets that close a cycle elsewhere may be listed too
    assert all(len(ps) <= 1 for _, ps in families_with(dag, kernels.Limits(LIMITS.states, 1, 1e6)))
    assert all(
        np.prod(LIMITS.states[[y, *ps]]) <= 4 for y, ps in families_with(dag, kernels.Limits(LIMITS.states, 4, 4))
    )


def families_with(dag, limits):
    child, parents = kernels.find_families(kernels.find_cpdag(matrix(dag), FREE[1]), limits)
    return [(int(y), np.flatnonzero(mask).tolist()) for y, mask in zip(child, parents, strict=True)]


@pytest.mark.parametrize("number", range(0, len(ALL), 41))
def test_the_best_move_is_that_of_any_member(number):
    dag = ALL[number]
    table = make_table(np.random.default_rng(number), (2, 3, 2, 2), 100)
    gains = Gains(MemoryCounts(table), "bic", ess=1.0, allowed=FREE[0], max_cells=1 << 20)
    cpdag = kernels.find_cpdag(matrix(dag), FREE[1])
    child, parents = kernels.find_families(cpdag, LIMITS)
    toggles = gains.toggles([(int(y), tuple(np.flatnonzero(m).tolist())) for y, m in zip(child, parents, strict=True)])
    families = kernels.ClassFamilies(child, parents, np.array(toggles))
    gain, kind, x, y, member = kernels.best_class_move(cpdag, families, *FREE, LIMITS)
    here = naive_search.graph_score(table, dag, "bic")
    best = max(
        naive_search.graph_score(table, after, "bic") - here
        for other in members(dag)
        for _, after in naive_search.neighbours(other)
    )
    if best <= 1e-9:
        assert kind == -1
        return
    assert gain == pytest.approx(best, abs=1e-9)
    (chosen,) = [other for other in members(dag) if np.array_equal(matrix(other), member)]
    after = dict(naive_search.neighbours(chosen))[kind, x, y]
    assert naive_search.graph_score(table, after, "bic") - here == pytest.approx(gain, abs=1e-9)
