"""Dynamic programming over subsets, and local search over orders, against enumeration."""

import itertools

import numpy as np
import pytest

from tanbark.structure.exact import kernels


def subsets(columns):
    return [c for size in range(len(columns) + 1) for c in itertools.combinations(columns, size)]


def mask(columns):
    return sum(1 << c for c in columns)


def slow_best(h, node, allowed, most):
    return max(h[mask((*p, node))] - h[mask(p)] for p in subsets(allowed) if len(p) <= most)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_best_families_sinks_and_parents(seed, most):
    n = 4
    h = np.random.default_rng(seed).normal(size=1 << n).cumsum()
    best = np.empty((n, 1 << (n - 1)))
    for node in range(n):
        kernels.best_families(h, node, n, most, best[node])
        others = [k for k in range(n) if k != node]
        for place in range(1 << (n - 1)):
            allowed = [k for bit, k in enumerate(others) if place >> bit & 1]
            assert best[node, place] == pytest.approx(slow_best(h, node, allowed, most))
            found = kernels.find_parents(h, node, mask(allowed), best[node, place] - 1e-9, most)
            assert h[found | 1 << node] - h[found] == pytest.approx(best[node, place])
    total, sink = np.empty(1 << n), np.zeros(1 << n, np.int8)
    kernels.best_sinks(best, n, total, sink)
    orders = itertools.permutations(range(n))
    expected = max(sum(slow_best(h, v, order[:k], most) for k, v in enumerate(order)) for order in orders)
    assert total[-1] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_an_improved_order_is_a_local_optimum(seed):
    rng, n = np.random.default_rng(seed), 5
    sets = [[(), *(c for c in subsets([k for k in range(n) if k != v]) if c and rng.random() < 0.4)] for v in range(n)]
    scores = [np.sort(rng.normal(size=len(listed)))[::-1] for listed in sets]
    for listed in sets:
        listed.append(listed.pop(0))  # the empty set has the lowest score, so that every order has a choice
    starts = np.cumsum([0, *map(len, sets)])
    words = np.array([[mask(c)] for listed in sets for c in listed], np.uint64)
    score = np.concatenate(scores)

    def value(order):
        return sum(
            next(score[k] for k in range(starts[v], starts[v + 1]) if not int(words[k, 0]) & ~mask(order[:place]))
            for place, v in enumerate(order)
        )

    order, picked = rng.permutation(n), np.zeros(n, np.int64)
    found = kernels.improve_order(order, starts, words, score, picked)
    assert found == pytest.approx(value(order.tolist())) == pytest.approx(score[picked].sum())
    for source, target in itertools.permutations(range(n), 2):
        moved = [v for v in order.tolist() if v != order[source]]
        moved.insert(target, int(order[source]))
        assert value(moved) <= found + 1e-8
