"""Pruning by tables of many tests: the same edges go as by rows in memory, in few passes."""

import numpy as np
import pytest

from engines import stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import rai, streamed_tests
from tanbark.structure.constraint.independence import IndependenceTests
from tanbark.structure.constraint.streamed_tests import StreamedTests


@pytest.mark.parametrize("kind", ["plain", "gaps", "weights"])
@pytest.mark.parametrize("given_class", [False, True])
@pytest.mark.parametrize("dense", [0, 1 << 20], ids=["cells", "tables"])
def test_both_ways_of_testing_agree(kind, given_class, dense, monkeypatch):
    monkeypatch.setattr(streamed_tests, "MAX_DENSE_TEST", dense)
    table = make_table(
        np.random.default_rng(6), (2, 3, 2, 4, 2, 3), 150, gaps=0.1 * (kind == "gaps"), weighted=kind == "weights"
    )
    nodes = np.arange(5 if given_class else 6)
    for order in range(3):
        graphs, found = [], []
        memory = MemoryCounts(table)
        for counts, make in ((memory, IndependenceTests), (memory, StreamedTests), (stream(table), StreamedTests)):
            adjacent = ~np.eye(len(nodes), dtype=bool)
            tests = make(counts, given_class=given_class)
            deleted, n_tests = tests.prune_edges(adjacent, nodes, nodes, order, both_ends=True)
            graphs.append(adjacent)
            found.append((deleted.tolist(), n_tests))
        assert found[0] == found[1] == found[2]
        assert np.array_equal(graphs[0], graphs[1])


def test_a_pass_serves_many_tests():
    table = make_table(np.random.default_rng(6), (*[2] * 12, 2), 200)
    counts = stream(table)
    learnt = rai.learn_augmented(counts)
    assert sum(learnt.report.tests.values()) > 50
    assert counts.passes.counts <= 3
    assert learnt.dag == rai.learn_augmented(MemoryCounts(table)).dag
