"""Numbers of hill climbing, sparse candidates and EM that independent scripts gave for fixed data."""

import numpy as np
import pandas as pd
import pytest

import tanbark as tb
from fixtures_small import TRUE_ARCS, f500
from tanbark.counts import MemoryCounts
from tanbark.inference.factors.junction import pair_marginals
from tanbark.params import Laplace, family_counts, fit
from tanbark.structure.conditional import bnc2p, cmdl_gbn
from tanbark.structure.greedy import hill_climb, sparse_candidate
from tanbark.table import CodedTable, Column, Schema

ROWS = f500()
NAMES = "CABWVU"


@pytest.fixture
def counts():
    """The class comes first, as in the scripts, so that ties go the same way."""
    columns = [Column(n, "category", "number", tuple(range(r))) for n, r in zip(NAMES, (2, 2, 2, 3, 2, 2), strict=True)]
    return MemoryCounts(CodedTable(Schema(tuple(columns), has_class=False), np.ascontiguousarray(ROWS.T, np.uint8)))


def moves(found):
    return [step.move.removeprefix("add ").replace(" -> ", "") for step in found.history[1:]]


def test_hill_climbing_by_bic(counts):
    found = hill_climb.learn(counts, criterion="bic", space="dags", tabu=0)
    assert moves(found) == ["WV", "AW", "BW", "WC", "CU", "AC", "AB"]
    assert found.score == pytest.approx(-1881.064158, abs=1e-6)


def test_hill_climbing_by_bdeu_is_stuck_and_restarts_free_it(counts):
    found = hill_climb.learn(counts, criterion="bdeu", space="dags", tabu=0)
    assert moves(found) == ["WV", "AW", "WB", "WC", "CU", "AC", "AB"]
    assert found.score == pytest.approx(-1889.754655, abs=1e-6)
    assert hill_climb.learn(counts, criterion="bdeu", space="dags", tabu=10).score > found.score + 1
    freed = hill_climb.learn(counts, criterion="bdeu", space="dags", tabu=0, restarts=10, random_state=0)
    assert freed.score == pytest.approx(-1875.146993, abs=1e-6)  # the best of all graphs


def test_sparse_candidates(counts):
    rounds = []

    def marginals(dag):
        tables = family_counts(dag, counts, max_cells=1000)
        found = pair_marginals(fit(counts.schema, dag, tables, Laplace(0.0)))
        rounds.append((dag, found))
        return found

    found = sparse_candidate.learn(counts, pair_marginals=marginals, n_candidates=2, criterion="bic")
    assert found.score == pytest.approx(-1881.064158, abs=1e-6)
    assert any(step.score == pytest.approx(-1885.793367, abs=1e-6) for step in found.history)
    pairs = counts.tables([(a, b) for a in range(6) for b in range(a + 1, 6)])
    names = [NAMES[a] + NAMES[b] for a in range(6) for b in range(a + 1, 6)]
    divergence = dict(
        zip(names, sparse_candidate._divergences([p.astype(float) for p in pairs], rounds[0][1]), strict=True)
    )
    assert divergence["AB"] == pytest.approx(0.008166, abs=1e-6)
    assert divergence["CB"] == pytest.approx(0.004887, abs=1e-6)
    assert divergence["AU"] == pytest.approx(0.002185, abs=1e-6)
    arcs = sparse_candidate._matrix(rounds[0][0])
    distance = sparse_candidate._symmetric(6, list(divergence.values()))
    chosen = sparse_candidate.candidates(distance, arcs, 2, ~np.eye(6, dtype=bool))
    told = {NAMES[y]: {NAMES[x] for x in np.flatnonzero(chosen[:, y])} for y in range(6)}
    assert {child: told[child] for child in "CBWVU"} == {
        "C": set("AW"), "B": set("AW"), "W": set("AU"), "V": set("AW"), "U": set("CA"),
    }  # fmt: skip
    assert told["A"] == set("BU")


def test_mutual_information_ranks_the_first_candidates(counts):
    information = {"CA": 0.110230, "CB": 0.055602, "CW": 0.121139, "AW": 0.195413, "WV": 0.274287, "BV": 0.056661}
    for pair, nats in information.items():
        a, b = (ROWS[:, NAMES.index(name)] for name in pair)
        assert tb.counts.cmi(a, b) == pytest.approx(nats, abs=1e-6)


def test_em_on_rows_with_gaps():
    X = pd.DataFrame(ROWS[:, 1:], columns=list("ABWVU")).astype(float)
    t = np.arange(500)
    X.loc[t % 5 == 0, "W"] = np.nan
    X.loc[t % 7 == 0, "A"] = np.nan
    start = tb.FixedStructure(TRUE_ARCS, parameters=1).fit(X, ROWS[:, 0])
    assert start.network_.table("W")[0, 0, :, 0] == pytest.approx([0.806452, 0.129032, 0.064516], abs=1e-6)
    clf = tb.FixedStructure(TRUE_ARCS, parameters=tb.EM()).fit(X, ROWS[:, 0])
    found = clf.parameters_
    likelihoods = [-1715.986802, -1714.677519, -1714.522563, -1714.487015]
    objectives = [-1774.259547, -1773.308922, -1773.277512, -1773.275476]
    assert found.loglik_history_[:4] == pytest.approx(likelihoods, abs=1e-6)
    assert found.objective_history_[:4] == pytest.approx(objectives, abs=1e-6)
    assert found.loglik_history_[-1] == pytest.approx(-1714.472666, abs=1e-6)
    assert found.objective_history_[-1] == pytest.approx(-1773.275252, abs=1e-6)
    assert found.n_iter_ == 16
    assert found.converged_
    assert clf.network_.table("W")[0, 0, :, 0] == pytest.approx([0.797533, 0.137807, 0.064660], abs=1e-6)


def test_conditional_climbs_on_five_hundred_records():
    names = [*NAMES[1:], "class"]
    columns = [Column(n, "category", "number", tuple(range(r))) for n, r in zip(names, (2, 2, 3, 2, 2, 2), strict=True)]
    codes = np.ascontiguousarray(np.roll(ROWS, -1, axis=1).T, np.uint8)
    counts = MemoryCounts(CodedTable(Schema(tuple(columns)), codes))
    short = cmdl_gbn.learn(counts)
    assert [step.score for step in short.history] == pytest.approx(
        [-346.694974, -292.339964, -272.303200, -268.742727], abs=1e-6
    )
    assert set(short.dag.arcs()) == {("class", "W"), ("class", "U"), ("class", "A")}
    likely = bnc2p.learn(counts)
    assert [(step.move, step.score) for step in likely.history[1:]] == [
        ("add class -> W", pytest.approx(-264.374227, abs=1e-6)),
        ("add class -> U", pytest.approx(-241.230160, abs=1e-6)),
        ("add class -> A", pytest.approx(-234.562383, abs=1e-6)),
        ("add A -> W", pytest.approx(-224.723964, abs=1e-6)),
        ("add class -> B", pytest.approx(-223.295501, abs=1e-6)),
        ("add V -> B", pytest.approx(-218.868817, abs=1e-6)),
        ("add A -> U", pytest.approx(-217.177852, abs=1e-6)),
        ("add B -> A", pytest.approx(-217.136835, abs=1e-6)),
    ]
    assert bnc2p.learn(counts, start="naive").history[0].score == pytest.approx(-264.098070, abs=1e-6)
    assert cmdl_gbn.learn(counts, start="naive").history[0].score == pytest.approx(-304.493022, abs=1e-6)
    true = bnc2p.learn(counts, start=TRUE_ARCS, max_parents=3)
    assert true.history[0].score == pytest.approx(-207.205165, abs=1e-6)
