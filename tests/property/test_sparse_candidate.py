"""Sparse candidate search: its measures against slow ones, and where it ends."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.counts import MemoryCounts
from tanbark.inference.factors.junction import pair_marginals
from tanbark.params import Laplace, family_counts, fit
from tanbark.structure.greedy import hill_climb, sparse_candidate
from tanbark.table import CodedTable, Column, Schema

MEASURES = ["kl", "shield", "gain"]


def chained(seed, n=6, rows=300):
    """Columns that follow from one or two earlier ones, with noise."""
    rng = np.random.default_rng(seed)
    states = rng.integers(2, 4, n)
    codes = np.zeros((n, rows), np.uint8)
    for k in range(n):
        earlier = rng.choice(k, min(k, int(rng.integers(0, 3))), replace=False)
        noise = rng.random(rows) < 0.3
        codes[k] = np.where(noise, rng.integers(0, states[k], rows), codes[earlier].sum(axis=0) % states[k])
    columns = [Column(f"x{k}", "category", "number", tuple(range(r))) for k, r in enumerate(states.tolist())]
    return MemoryCounts(CodedTable(Schema(tuple(columns), has_class=False), codes))


def learn(counts, **options):
    def marginals(dag):
        tables = family_counts(dag, counts, max_cells=1 << 20)
        return pair_marginals(fit(counts.schema, dag, tables, Laplace(0.0)))

    return sparse_candidate.learn(counts, pair_marginals=marginals, **options)


def watch(monkeypatch):
    """Write down how candidates are chosen: by which distances, beside which parents, and which."""
    asked, choose = [], sparse_candidate.candidates

    def spy(distance, arcs, k, allowed):
        chosen = choose(distance, arcs, k, allowed)
        asked.append((distance, arcs.copy(), chosen))
        return chosen

    monkeypatch.setattr(sparse_candidate, "candidates", spy)
    return asked


def conditional_information(codes, x, y, given):
    """I(x; y | given) in nats times the rows, one configuration after another."""
    total = 0.0
    for config in set(zip(*codes[list(given)].tolist(), strict=True)) if given else {()}:
        rows = np.all([codes[p] == state for p, state in zip(given, config, strict=True)], axis=0)
        a, b = (codes[k][rows] if given else codes[k] for k in (x, y))
        for i in set(a.tolist()):
            for j in set(b.tolist()):
                both = int(((a == i) & (b == j)).sum())
                if both:
                    total += both * np.log(both * len(a) / ((a == i).sum() * (b == j).sum()))
    return total


def bic_gain(codes, states, x, y, given):
    """The gain in fit less half the logarithm of the rows for every free parameter that x adds to y's family."""
    added = (states[y] - 1) * (states[x] - 1) * int(np.prod([states[p] for p in given]))
    return conditional_information(codes, x, y, given) - 0.5 * np.log(codes.shape[1]) * added


@pytest.mark.parametrize("measure", ["shield", "gain"])
@pytest.mark.parametrize("seed", range(4))
def test_the_measures_rank_by_what_a_column_adds(monkeypatch, measure, seed):
    counts = chained(seed)
    asked = watch(monkeypatch)
    learn(counts, n_candidates=2, measure=measure, criterion="bic")
    assert len(asked) > 1
    codes, states = counts.table.codes, counts.schema.cardinalities
    for distance, arcs, _ in asked[1:]:
        for x, y in np.argwhere(~arcs & ~np.eye(len(arcs), dtype=bool)).tolist():
            parents = tuple(np.flatnonzero(arcs[:, y]).tolist())
            slow = conditional_information(codes, x, y, parents)
            if measure == "gain":
                slow = bic_gain(codes, states, x, y, parents)
            assert distance[x, y] == pytest.approx(slow, abs=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from(MEASURES))
@settings(max_examples=15)
def test_scores_never_fall_and_are_those_of_the_graph(seed, k, measure):
    counts = chained(seed)
    found = learn(counts, n_candidates=k, measure=measure, criterion="bic")
    scores = [step.score for step in found.history]
    assert all(after >= before - 1e-9 for before, after in pairwise(scores))
    assert sum(step.move == "new candidates" for step in found.history) <= sparse_candidate.MOST_ROUNDS
    assert found.score == pytest.approx(naive_score(counts, found.dag))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_it_ends_where_new_candidates_bring_nothing(monkeypatch, measure, seed):
    counts = chained(seed, n=8)
    asked = watch(monkeypatch)
    found = learn(counts, n_candidates=2, measure=measure, criterion="bic")
    _, arcs, chosen = asked[-1]
    assert len(asked) > 1
    assert arcs.tolist() == [[x in parents for parents in found.dag.parents] for x in range(8)]
    assert (chosen.sum(axis=0) >= 2).all()
    names = found.dag.names
    forbidden = [(names[x], names[y]) for x, y in np.argwhere(~chosen).tolist() if x != y]
    again = hill_climb.learn(counts, criterion="bic", space="dags", tabu=0, start=found.dag, forbidden=forbidden)
    assert again.score == pytest.approx(found.score, abs=1e-8)


def naive_score(counts, dag):
    codes, states = counts.table.codes, counts.schema.cardinalities
    total = 0.0
    for y, parents in enumerate(dag.parents):
        shares = np.bincount(codes[y]) / codes.shape[1]
        total += codes.shape[1] * float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
        total -= 0.5 * np.log(codes.shape[1]) * (states[y] - 1)
        for place, x in enumerate(parents):
            total += bic_gain(codes, states, x, y, parents[:place])
    return total


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_with_every_column_a_candidate_it_is_hill_climbing(measure, seed):
    counts = chained(seed)
    found, plain = (
        learn(counts, n_candidates=5, measure=measure, criterion="bic"),
        hill_climb.learn(counts, criterion="bic", space="dags", tabu=0),
    )
    assert found.dag == plain.dag
    assert found.score == pytest.approx(plain.score)


def test_an_unknown_measure_is_named():
    with pytest.raises(ValueError, match="Did you mean 'shield'"):
        learn(chained(0), measure="sheild")
