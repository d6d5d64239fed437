"""The PC algorithm against its slow twin, and what is known about its skeletons."""

import numpy as np
import pandas as pd
import pytest

import naive_constraint
import tanbark as tb
from engines import stream
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.constraint import pc


def skeleton(dag, leave_out=None):
    return {frozenset((p, c)) for c, parents in enumerate(dag.parents) for p in parents if leave_out not in (p, c)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("augmented", [False, True])
def test_the_skeleton_is_that_of_the_definition(seed, augmented):
    table = make_table(np.random.default_rng(seed), (2, 3, 2, 2, 3, 2), 300, gaps=0.05)
    given = (5,) if augmented else ()

    def independent(x, y, chosen):
        return naive_constraint.p_value(naive_constraint.strata(table, x, y, (*chosen, *given)), "log-likelihood") > 0.1

    learn = pc.learn_augmented if augmented else pc.learn_general
    learnt = learn(MemoryCounts(table), test=tb.GTest(0.1))
    expected = naive_constraint.stable_skeleton(5 if augmented else 6, independent)
    assert skeleton(learnt.dag, leave_out=5 if augmented else None) == expected
    assert learnt.report.edges[max(learnt.report.edges)] == len(expected)
    again = learn(stream(table), test=tb.GTest(0.1))
    assert (again.dag, again.report) == (learnt.dag, learnt.report)


@pytest.mark.parametrize("cls", [tb.PCANB, tb.PCGBN])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_arcs_do_not_depend_on_the_order_of_columns(cls, named, seed):
    """A lax test of many edges makes disputed v-structures and cycles; arrays have no names to go by."""
    rng = np.random.default_rng(seed)
    n = 9
    table = make_table(rng, (*[3] * n, 2), 150)
    X, y = np.array(table.codes[:-1].T, float), table.codes[-1]
    first = None
    for order in (np.arange(n), *(rng.permutation(n) for _ in range(4))):
        names = [f"f{i}" for i in order]
        rows = pd.DataFrame(X[:, order], columns=names) if named else X[:, order]
        clf = cls(test=tb.GTest(0.3)).fit(rows, y)
        called = {"class": "class", **{(names[k] if named else f"x{k}"): f"f{i}" for k, i in enumerate(order)}}
        arcs = {(called[a], called[b]) for a, b in clf.dag_.arcs()}
        first = first or arcs
        assert arcs == first
    assert sum("class" not in arc for arc in first) > 5


def test_a_collider_is_directed():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 2000))
    X = np.column_stack([a, b, np.where(rng.random(2000) < 0.9, a | b, 1 - (a | b))])
    clf = tb.PCGBN().fit(X, rng.integers(0, 2, 2000))
    assert ("x0", "x2") in clf.dag_.arcs()
    assert ("x1", "x2") in clf.dag_.arcs()
    assert clf.report_.separators["x0", "x1"] == ()
    assert clf.report_.n_violations == 0


def test_the_order_is_limited():
    counts = MemoryCounts(make_table(np.random.default_rng(4), (*[3] * 8, 2), 600))
    assert set(pc.learn_augmented(counts, max_order=0).report.tests) == {0}
    assert set(pc.learn_augmented(counts, test=tb.GTest(0.3)).report.tests) > {0, 1}
    with pytest.raises(tb.errors.OptionError, match="max_order"):
        pc.learn_augmented(counts, max_order=-1)
