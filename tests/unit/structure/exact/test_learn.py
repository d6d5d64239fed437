"""Both methods of exact search, the memory they ask for, and their reports."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import OptionError, TableTooLargeError
from tanbark.structure.exact import learn


@pytest.fixture
def counts():
    return MemoryCounts(make_table(np.random.default_rng(2), (2, 3, 1, 2, 3), 150))


@pytest.mark.parametrize("search", [learn.learn_augmented, learn.learn_general])
def test_both_methods_prove_the_same_optimum(search, counts):
    by_subsets, programme = search(counts, method="dp"), search(counts, method="ip")
    assert by_subsets.score == pytest.approx(programme.score, abs=1e-7)
    for learnt, method in ((by_subsets, "dp"), (programme, "ip")):
        families = [(*parents, node) for node, parents in enumerate(learnt.dag.parents)]
        assert learnt.score == pytest.approx(counts.family_scores(families, ess=1.0).sum(), abs=1e-8)
        assert learnt.report.method == method
        assert learnt.report.proved_optimal
        assert learnt.report.bound >= learnt.score - 1e-9
        assert not any(2 in parents for parents in learnt.dag.parents)  # it has one state


def test_memory_is_known_before_it_is_taken(counts):
    assert [learn.needed_memory(n) for n in (0, 1, 3)] == [17, 42, 232]
    with pytest.raises(TableTooLargeError, match="Dynamic programming over 3 columns"):
        learn.learn_augmented(counts, method="dp", max_memory=231)
    assert learn.learn_augmented(counts, max_memory=232).report.method == "dp"
    with pytest.raises(OptionError, match="method must be one of"):
        learn.learn_augmented(counts, method="all")
