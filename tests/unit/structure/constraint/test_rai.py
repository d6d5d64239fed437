"""Recursive autonomy identification with tests that know the true graph."""

import itertools

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError
from tanbark.graph.pdag import PartialGraph
from tanbark.structure.constraint import rai


class Oracle:
    """Delete an edge if a set of potential parents of the child d-separates its ends in a chain 0 - 1 - 2 - ..."""

    def prune_edges(self, adjacent, children, parents, order, *, both_ends):
        found, n_tests = [], 0
        for y, x in itertools.product(children.tolist(), parents.tolist()):
            if not adjacent[x, y]:
                continue
            for chosen in itertools.combinations([z for z in np.flatnonzero(adjacent[:, y]) if z != x], order):
                n_tests += 1
                if any(min(x, y) < z < max(x, y) for z in chosen):
                    adjacent[x, y] = adjacent[y, x] = False
                    found.append([x, y, *chosen])
                    break
        return np.array(found, np.int64).reshape(-1, 2 + order), n_tests


@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_chain_is_recovered_without_v_structures(n):
    graph = PartialGraph(n)
    report = rai.identify(graph, Oracle(), np.arange(n))
    linked = {tuple(sorted(edge)) for edge in zip(*np.nonzero(graph.adjacent), strict=True)}
    assert linked == {(k, k + 1) for k in range(n - 1)}
    assert report.edges[max(report.edges)] == n - 1
    assert (graph.adjacent == graph.adjacent.T).all()


def test_the_order_of_tests_is_limited():
    graph = PartialGraph(5)
    report = rai.identify(graph, Oracle(), np.arange(5), max_order=0)
    assert set(report.tests) == {0}
    assert report.edges == {0: 10}


def test_scores_are_those_of_the_graph():
    counts = MemoryCounts(make_table(np.random.default_rng(1), (2, 3, 2, 2), 200))
    for learn in (rai.learn_augmented, rai.learn_general):
        learnt = learn(counts, ess=2.0)
        families = [(*parents, node) for node, parents in enumerate(learnt.dag.parents)]
        assert learnt.score == pytest.approx(counts.family_scores(families, ess=2.0).sum())


@pytest.mark.parametrize("options", [(0.0, None, 0, False), (1.0, -1, 0, False), (1.0, None, 0, "yes")])
def test_wrong_options_raise(options):
    with pytest.raises(OptionError):
        rai.check_options(*options)
