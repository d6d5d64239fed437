"""Bounds and lists of parent sets against all parent sets there are."""

import itertools
import time
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

import naive
from strategies import make_schema, make_table, seeds
from tanbark.counts import MemoryCounts
from tanbark.scores import bdeu
from tanbark.structure.exact import bound_kernels, bounded_sets, group_kernels
from tanbark.structure.exact.bounded_sets import BoundedSearch, Wanted
from tanbark.structure.exact.cluster_cuts import Clusters
from tanbark.structure.exact.subset_scores import CompleteRows
from tanbark.table import CodedTable

ess_values = st.sampled_from([0.01, 1.0, 10.0])
kinds = st.sampled_from(["once", "whole", "fractional"])


def draw(seed, n, kind):
    """Draw a table of n features: few or many rows, dependent or nearly functional, once each or weighted."""
    rng = np.random.default_rng(seed)
    states = (*rng.integers(2, 5, n), int(rng.integers(2, 4)))
    table = make_table(rng, states, int(rng.choice([1, 4, 12, 40, 150])))
    codes = table.codes.copy()
    if rng.random() < 0.5:  # one column is a function of two others, with some noise
        noise = rng.random(codes.shape[1]) < 0.1
        codes[0] = np.where(noise, codes[0], (codes[1] + codes[2]) % states[0])
    weights = {"once": None, "whole": rng.integers(0, 4, codes.shape[1]) * 1.0 + (rng.random() < 0.5)}
    weights["fractional"] = rng.integers(1, 9, codes.shape[1]) / 4.0
    if weights[kind] is not None and not weights[kind].any():
        weights[kind][:] = 1.0
    return CodedTable(make_schema(states), codes, weights[kind])


def all_scores(table, n, child, extra, ess):
    """Score a child with every set of parents, by mask."""
    found = {}
    for mask in range(1 << n):
        if not mask >> child & 1:
            columns = [k for k in range(n) if mask >> k & 1]
            counts = naive.table(table.codes, table.schema.cardinalities, [*columns, *extra, child], table.weights)
            found[mask] = bdeu(counts.reshape(-1, counts.shape[-1]), ess=ess)
    return found


def search_of(table, n, given_class, ess):
    rows = CompleteRows.of(MemoryCounts(table))
    return BoundedSearch(rows, tuple(range(n)), given=n if given_class else None, ess=ess, n_jobs=1)


def below(mask):
    return [mask & ~(1 << k) for k in range(mask.bit_length()) if mask >> k & 1]


def run(search, child, wanted, deadline=np.inf):
    return search.run({child: wanted}, deadline=deadline, max_memory=1e9, report=lambda line: None)[child]


@settings(max_examples=12)
@given(seeds, ess_values, st.booleans(), kinds)
def test_no_set_scores_above_the_bound_of_a_node(seed, ess, given_class, kind):
    n = 5
    table = draw(seed, n, kind)
    search = search_of(table, n, given_class, ess)
    child = seed % n
    scores = all_scores(table, n, child, (n,) if given_class else (), ess)
    of_child = search.of_child(child)
    others = [k for k in range(n) if k != child]
    for taken in itertools.product([0, 1, 2], repeat=len(others)):  # out, in, not decided
        parents = [k for k, how in zip(others, taken, strict=True) if how == 1]
        rest = [k for k, how in zip(others, taken, strict=True) if how == 2]
        base, free = sum(1 << k for k in parents), sum(1 << k for k in rest)
        group = np.unique(np.stack([search.labels, *search.codes[parents]]), axis=1, return_inverse=True)[1].ravel()
        key = np.unique(np.stack([search.labels * 0, *search.codes[rest]]), axis=1, return_inverse=True)[1].ravel()
        cells = np.stack([group, key << of_child.bits | search.codes[child]])
        cells, place = np.unique(cells, axis=1, return_inverse=True)
        counts = np.bincount(place.ravel(), search.counts).astype(search.counts.dtype)
        more = float(search.n_states[rest].min()) if rest else 1.0
        q = float(search.n_labels * np.prod(search.n_states[parents]))
        terms = bound_kernels.find_terms(q, more, of_child)
        alone = np.zeros(bound_kernels.FEW if search.whole else 0, np.int64)
        size = group_kernels.drop_alone(cells[0], cells[1], counts, len(counts), alone)
        left = (cells[0, :size], cells[1, :size], counts[:size])
        bound, score = bound_kernels.bound_and_score(*left, alone, of_child, terms)
        assert score == approx(scores[base], abs=1e-7)
        larger = [
            scores[mask] for mask in scores if mask & base == base and mask & ~(base | free) == 0 and mask != base
        ]
        assert max(larger, default=-np.inf) <= bound + 1e-7


@settings(max_examples=12)
@given(seeds, ess_values, st.booleans(), kinds, st.integers(1, 6))
def test_listed_are_the_sets_that_beat_their_subsets(seed, ess, given_class, kind, n):
    n = max(n, 3)
    table = draw(seed, n, kind)
    child = seed % n
    scores = all_scores(table, n, child, (n,) if given_class else (), ess)
    found = run(search_of(table, n, given_class, ess), child, Wanted(n))
    listed = dict(zip((int(word[0]) for word in found.words), found.scores, strict=True))
    assert found.beyond == -np.inf
    best = {}
    for mask in sorted(scores, key=int.bit_count):
        under = max((best[part] for part in below(mask)), default=-np.inf)
        best[mask] = max(scores[mask], under)
        if abs(scores[mask] - under) > 1e-7:
            assert (mask in listed) == (scores[mask] > under)
        if mask in listed:
            assert listed[mask] == approx(scores[mask], abs=1e-7)


@settings(max_examples=12)
@given(seeds, ess_values, st.booleans(), st.integers(0, 4))
def test_penalties_floor_and_best_value(seed, ess, given_class, most):
    n = 5
    rng = np.random.default_rng(seed)
    table = draw(seed, n, "once")
    child = seed % n
    scores = all_scores(table, n, child, (n,) if given_class else (), ess)
    clusters, orders = rng.integers(1, 1 << n, 3), rng.integers(1, 3, 3)
    costs = rng.random(3) * abs(scores[0]) / 4
    value = {
        mask: score - sum(
            cost for cluster, order, cost in zip(clusters.tolist(), orders, costs, strict=True)
            if (cluster & mask).bit_count() >= order
        )
        for mask, score in scores.items() if mask.bit_count() <= most
    }  # fmt: skip
    wanted = {"clusters": Clusters((clusters[:, None] >> np.arange(n) & 1).astype(bool), orders), "penalties": costs}
    search = search_of(table, n, given_class, ess)
    floor = max(value.values()) - abs(scores[0]) / 20
    found = run(search, child, Wanted(most, floor=floor, **wanted))
    assert found.values.max() == approx(max(value.values()), abs=1e-7)
    listed = {int(word[0]) for word in found.words}
    for mask, worth in value.items():
        subsets = [part for part in value if part & mask == part and part != mask]
        ahead = scores[mask] - max((scores[part] for part in subsets), default=-np.inf)
        if abs(worth - floor) > 1e-6 and abs(ahead) > 1e-6:
            assert (mask in listed) == (worth > floor and ahead > 0)
    with mock.patch.object(bounded_sets, "SLICE", 3):
        cut = run(search, child, Wanted(most, floor=floor, **wanted), deadline=time.perf_counter())
    assert max(cut.values.max(initial=-np.inf), cut.beyond) >= max(value.values()) - 1e-7
