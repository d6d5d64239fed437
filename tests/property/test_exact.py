"""Exact search against all graphs there are, and its two methods against each other."""

import itertools
import warnings
from functools import cache
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
from strategies import make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.errors import NotProvedWarning
from tanbark.scores import bdeu
from tanbark.structure.exact import bounded_sets, listing
from tanbark.structure.exact import learn as exact
from tanbark.structure.exact.parent_sets import Levels
from tanbark.structure.exact.subset_scores import CompleteRows


def family_score(table, node, parents, ess):
    """BDeu of a family on the rows that have all of it, straight from its table."""
    counts = naive.table(table.codes, table.schema.cardinalities, [*parents, node], table.weights)
    return bdeu(counts.reshape(-1, counts.shape[-1]), ess=ess)


@cache
def graphs(n):
    """List all graphs without cycles over n nodes: a row of masks, the parents of every node."""
    masks = [[m for m in range(1 << n) if not m >> node & 1] for node in range(n)]
    found = np.array(list(itertools.product(*masks)))
    left = np.full(len(found), (1 << n) - 1)
    for _ in range(n):
        for node in range(n):
            left = np.where(found[:, node] & left == 0, left & ~(1 << node), left)
    return found[left == 0]


def test_all_graphs_are_listed():
    assert [len(graphs(n)) for n in (1, 2, 3, 4, 5)] == [1, 3, 25, 543, 29281]


def best_of_all(table, size, extra, ess, most=9):
    """Score every family once, and give the highest sum over all graphs."""
    scores = np.full((size, 1 << size), -np.inf)
    for node, mask in itertools.product(range(size), range(1 << size)):
        parents = [k for k in range(size) if mask >> k & 1]
        if node not in parents and len(parents) <= most:
            scores[node, mask] = family_score(table, node, (*parents, *extra), ess)
    return scores[np.arange(size), graphs(size)].sum(axis=1).max()


@settings(max_examples=10)
@given(seeds, st.sampled_from([0.3, 1.0, 10.0]), st.booleans(), st.sampled_from(["dp", "ip"]), st.integers(1, 5))
def test_exact_search_is_brute_force(seed, ess, weighted, method, size):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (*rng.integers(2, 4, size), 2), int(rng.integers(5, 80)), weighted=weighted)
    counts = MemoryCounts(table)
    searches = [(exact.learn_augmented, table, counts, size, (size,))]
    if size < 5:
        searches.append((exact.learn_general, table, counts, size + 1, ()))
    for learn, rows, engine, n, extra in searches:
        prior = family_score(rows, n, (), ess) if extra else 0.0
        best = best_of_all(rows, n, extra, ess) + prior
        learnt = learn(engine, ess=ess, method=method)
        assert learnt.score == approx(best, abs=1e-7)
        families = [(*parents, node) for node, parents in enumerate(learnt.dag.parents)]
        assert engine.family_scores(families, ess=ess).sum() == approx(best, abs=1e-7)
        assert learnt.report.bound >= best - 1e-7
        assert learnt.report.proved_optimal
        one = learn(engine, ess=ess, method=method, max_parents=1)
        assert one.score == approx(best_of_all(rows, n, extra, ess, 1) + prior, abs=1e-7)


@settings(max_examples=15)
@given(seeds, st.sampled_from([0.2, 1.0, 20.0]), st.sampled_from([None, 0, 1, 2, 3]), st.booleans())
def test_both_methods_find_the_optimum(seed, ess, max_parents, weighted):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (*rng.integers(1, 4, 8), 3), int(rng.integers(1, 400)), weighted=weighted)
    counts = MemoryCounts(table)
    for learn in (exact.learn_augmented, exact.learn_general):
        by_subsets = learn(counts, ess=ess, max_parents=max_parents, method="dp")
        programme = learn(counts, ess=ess, max_parents=max_parents, method="ip")
        assert programme.score == approx(by_subsets.score, abs=1e-6)
        assert programme.report.proved_optimal
        families = [(*parents, node) for node, parents in enumerate(programme.dag.parents)]
        assert counts.family_scores(families, ess=ess).sum() == approx(programme.score, abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(seeds, st.sampled_from([0.2, 1.0, 20.0]), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.9]))
def test_all_stages_find_the_optimum(seed, ess, weighted, general, bounding):
    rng = np.random.default_rng(seed)
    table = make_table(rng, (*rng.integers(2, 4, 7), 2), int(rng.integers(1, 200)), weighted=weighted)
    learn = exact.learn_general if general else exact.learn_augmented
    counts = MemoryCounts(table)
    best = learn(counts, ess=ess, method="dp")
    with (
        mock.patch.multiple(listing, SMALL_PARENTS=1, ALL_SETS=0, BOUNDING=bounding),
        mock.patch.object(bounded_sets, "SLICE", 3),
    ):
        found = [learn(MemoryCounts(table, n_jobs=jobs), ess=ess, method="ip") for jobs in (1, 2)]
    assert found[0].dag == found[1].dag
    assert found[0].score == approx(best.score, abs=1e-6)
    assert found[0].report.proved_optimal


@settings(max_examples=12)
@given(seeds, st.sampled_from([0.2, 1.0, 20.0]), st.booleans())
def test_the_bound_holds_when_time_is_up(seed, ess, weighted):
    rng = np.random.default_rng(seed)
    counts = MemoryCounts(make_table(rng, (*rng.integers(2, 4, 7), 2), int(rng.integers(1, 60)), weighted=weighted))
    best = exact.learn_augmented(counts, ess=ess, method="dp").score
    with (
        warnings.catch_warnings(), mock.patch.multiple(listing, SMALL_PARENTS=1, ALL_SETS=0, COLUMN_SETS=10),
        mock.patch.object(bounded_sets, "SLICE", 3),
    ):  # fmt: skip
        warnings.simplefilter("ignore", NotProvedWarning)
        cut = exact.learn_augmented(counts, ess=ess, method="ip", time_limit=1e-9)
    families = [(*parents, node) for node, parents in enumerate(cut.dag.parents)]
    assert counts.family_scores(families, ess=ess).sum() == approx(cut.score, abs=1e-6)
    assert cut.score <= best + 1e-7
    assert cut.report.bound >= best - 1e-7
    assert cut.report.gap == approx(cut.report.bound - cut.score, abs=1e-6)
    most = cut.report.proved_parents
    if most >= 0:
        assert cut.score >= exact.learn_augmented(counts, ess=ess, method="dp", max_parents=most).score - 1e-6


@settings(max_examples=15)
@given(seeds, st.sampled_from([0.01, 1.0, 30.0]), st.booleans())
def test_small_sets_are_those_that_beat_their_subsets(seed, ess, given_class):
    rng = np.random.default_rng(seed)
    n = 5
    table = make_table(rng, (*rng.integers(2, 5, n), 3), int(rng.integers(1, 150)))
    rows = CompleteRows.of(MemoryCounts(table))
    found = Levels(rows, tuple(range(n)), given=n if given_class else None, ess=ess, n_jobs=2).up_to(n)
    members = [tuple(np.flatnonzero(row)) for row in found.member]
    listed = dict(zip(zip(found.child, members, strict=True), found.score, strict=True))
    extra = (n,) if given_class else ()
    for node in range(n):
        others = [k for k in range(n) if k != node]
        best = {}
        for size in range(n):
            for parents in itertools.combinations(others, size):
                score = family_score(table, node, (*parents, *extra), ess)
                smaller = itertools.combinations(parents, size - 1) if size else ()
                below = max((best[p] for p in smaller), default=-np.inf)
                best[parents] = max(score, below)
                if abs(score - below) > 1e-7:
                    assert ((node, parents) in listed) == (score > below)
                if (node, parents) in listed:
                    assert listed[node, parents] == approx(score, abs=1e-8)
