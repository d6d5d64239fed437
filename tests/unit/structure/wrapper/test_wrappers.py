"""The six searches against a slow twin that refits from rows, and against the worked example."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

import naive
import tanbark as tb
from fixtures_small import f500
from strategies import make_schema, make_table
from tanbark.counts import MemoryCounts
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.structure.wrapper.search import supernodes
from tanbark.table import CodedTable, Column, Schema

SEARCHES = ("tan-hc", "tan-hcsp", "kdb-hc", "fssj", "bsej", "selective")


def evaluator(table, folds, **options):
    return FoldEvaluator(table.codes, table.schema, folds, weights=table.weights, **options)


def search(name, table, folds, *, tol=0.01, options=None, **scoring):
    evaluate = evaluator(table, folds, **scoring)
    return tb.LEARNERS[name].learn(MemoryCounts(table), evaluate=evaluate, tol=tol, **(options or {}))


def inside(dag):
    """The features that are in, with their feature parents."""
    target = len(dag.names) - 1
    return {i: tuple(p for p in ps if p != target) for i, ps in enumerate(dag.parents) if target in ps}


@pytest.fixture(scope="module")
def worked():
    data = f500()
    sizes = {"A": 2, "B": 2, "W": 3, "V": 2, "U": 2, "class": 2}
    schema = Schema(tuple(Column(name, "category", "number", tuple(range(size))) for name, size in sizes.items()))
    table = CodedTable(schema, np.vstack([data[:, 1:].T, data[:, 0]]).astype(np.uint8))
    return table, naive.dealt_folds(data[:, 0], 5)


STEPS = {
    ("tan-hc", 0.01): [("start", 0.761801), ("W -> V", 0.796004)],
    ("tan-hc", 0): [
        ("start", 0.761801), ("W -> V", 0.796004), ("B -> W", 0.799924), ("A -> U", 0.804025), ("A -> B", 0.806005),
    ],
    ("tan-hcsp", 0.01): [("start", 0.761801), ("B -> V", 0.775902), ("B -> W", 0.793904)],
    ("fssj", 0.01): [("start", 0.646012), ("+ W", 0.739698)],
    ("bsej", 0.01): [("start", 0.761801), ("- V", 0.802004)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "tol"), STEPS)
def test_the_steps_of_the_worked_example(worked, name, tol):
    learnt = search(name, *worked, tol=tol)
    assert [step.move for step in learnt.history] == [move for move, _ in STEPS[name, tol]]
    assert [step.score for step in learnt.history] == approx([score for _, score in STEPS[name, tol]], abs=5e-7)
    assert learnt.score == learnt.history[-1].score


@pytest.mark.parametrize(("name", "candidates"), [("tan-hc", 20), ("fssj", 5), ("bsej", 15), ("kdb-hc", 20)])
def test_the_candidates_of_the_first_step(worked, name, candidates):
    assert search(name, *worked).history[1].candidates == candidates


def test_random_directions_are_half_of_the_candidates(worked):
    first, again, other = (
        search("tan-hc", *worked, tol=0, options={"direction": "random", "random_state": seed}) for seed in (1, 1, 2)
    )
    assert first.history[1].candidates == 10
    assert [step.move for step in first.history] == [step.move for step in again.history]
    assert max(len(found) for found in inside(first.dag).values()) <= 1
    assert first.dag != other.dag
    both = search("tan-hc", *worked, tol=0)
    assert both.history[1].score >= first.history[1].score
    with pytest.raises(tb.errors.OptionError, match="direction"):
        search("tan-hc", *worked, options={"direction": "left"})


def test_a_classifier_draws_directions_by_its_random_state(worked):
    X, y = worked[0].codes[:-1].T.astype(float), worked[0].codes[-1]
    made = [tb.HillClimbTAN(cv=3, tol=0, direction="random", random_state=seed).fit(X, y) for seed in (5, 5, 6)]
    assert made[0].dag_ == made[1].dag_ != made[2].dag_
    named = {"direction": "random", "random_state": 5, "cv": 3, "tol": 0}
    assert tb.BayesNetClassifier("tan-hc", options=named).fit(X, y).dag_ == made[0].dag_


def test_the_super_parents_of_the_worked_example(worked):
    a, b, w, v, u = range(5)
    evaluate = evaluator(*worked)
    naive_bayes = [()] * 5
    together = {x: evaluate.score(tuple(() if y == x else (x,) for y in range(5))) for x in range(5)}
    assert together[b] == approx(0.793904, abs=5e-7)
    assert max(together, key=together.get) == b
    naive_bayes[v] = (b,)
    second = {b: (a, w, u), a: (b, w, u), w: (a, b, u), u: (a, b, w), v: (a, w, u)}  # b is an ancestor of v
    scores = {
        x: evaluate.score(tuple((x,) if y in ys else naive_bayes[y] for y in range(5))) for x, ys in second.items()
    }
    assert scores[b] == approx(0.793904, abs=5e-7)
    assert max(scores, key=scores.get) == b


@pytest.mark.parametrize("scoring", ["accuracy", "log-loss"])
@pytest.mark.parametrize("gaps", [0.0, 0.2], ids=["complete", "gaps"])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_slow_twin_takes_the_same_steps(name, gaps, scoring):
    rng = np.random.default_rng([SEARCHES.index(name), int(10 * gaps), len(scoring)])
    for weighted in (False, True):
        table = make_table(rng, (2, 3, 1, 2, 2, 2), 36, gaps=gaps, weighted=weighted)
        folds = naive.dealt_folds(table.codes[-1], 3)
        structure, scores = naive.wrapper_search(name, table, folds, tol=0, scoring=scoring)
        learnt = search(name, table, folds, tol=0, scoring=scoring)
        assert [step.score for step in learnt.history] == approx(scores, abs=1e-9)
        assert inside(learnt.dag) == structure


@pytest.mark.parametrize("name", SEARCHES)
def test_the_slow_twin_without_smoothing(name):
    """Zeros make rows impossible under some classes, or under all, and what was zero must come back."""
    rng = np.random.default_rng([7, SEARCHES.index(name)])
    for gaps in (0.0, 0.25):
        table = make_table(rng, (4, 3, 3, 3), 30, gaps=gaps)
        folds = naive.dealt_folds(table.codes[-1], 3)
        structure, scores = naive.wrapper_search(name, table, folds, tol=0, alpha=0)
        learnt = search(name, table, folds, tol=0, alpha=0)
        assert [step.score for step in learnt.history] == approx(scores, abs=1e-9)
        assert inside(learnt.dag) == structure


@pytest.mark.parametrize("k", [0, 1, 3])
def test_no_feature_has_more_than_k_feature_parents(k):
    table = make_table(np.random.default_rng(5), (3, 2, 3, 2, 3), 60)
    folds = naive.dealt_folds(table.codes[-1], 3)
    learnt = search("kdb-hc", table, folds, tol=0, scoring="log-loss", options={"max_parents": k})
    structure, _ = naive.wrapper_search("kdb-hc", table, folds, tol=0, scoring="log-loss", k=k)
    assert inside(learnt.dag) == structure
    assert max(map(len, structure.values())) <= k


def test_with_one_parent_hill_climbing_grows_trees():
    table = make_table(np.random.default_rng(6), (3, 2, 3, 2, 3), 80)
    folds = naive.dealt_folds(table.codes[-1], 4)
    one = search("kdb-hc", table, folds, tol=0, options={"max_parents": 1})
    tree = search("tan-hc", table, folds, tol=0)
    assert all(len(parents) <= 1 for parents in inside(one.dag).values())
    assert [(s.move, s.score) for s in one.history] == [(s.move, s.score) for s in tree.history]


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("scoring", ["accuracy", "log-loss"])
def test_scores_never_fall_and_each_step_gains(name, scoring):
    table = make_table(np.random.default_rng(9), (3, 3, 4, 2, 3, 2), 200, gaps=0.1)
    folds = naive.dealt_folds(table.codes[-1], 4)
    for tol in (0, 0.01):
        learnt = search(name, table, folds, tol=tol, scoring=scoring)
        scores = np.array([step.score for step in learnt.history])
        assert (np.diff(scores) >= tol - 1e-9).all()
        assert all(step.seconds >= 0 for step in learnt.history)


@pytest.mark.parametrize("name", ["fssj", "bsej"])
def test_joined_features_are_one_complete_group(name):
    table = make_table(np.random.default_rng(10), (2, 3, 2, 3, 2, 2), 120)
    learnt = search(name, table, naive.dealt_folds(table.codes[-1], 3), tol=0)
    structure = inside(learnt.dag)
    parents = tuple(structure.get(i) for i in range(5))
    for group in supernodes(parents):
        arcs = sum(len(structure[member]) for member in group)
        assert arcs == len(group) * (len(group) - 1) // 2
        assert all(set(structure[member]) <= set(group) for member in group)


def test_joining_happens_where_it_must():
    """The class is the parity of two features: each alone is worthless, together they are all."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.integers(0, 2, (3, 200))
    table = CodedTable(make_schema((2, 2, 2, 2)), np.vstack([noise, a, b, a ^ b]).astype(np.uint8))
    folds = naive.dealt_folds(table.codes[-1], 4)
    backward = search("bsej", table, folds)
    assert "(x1) joined to (x2)" in [step.move for step in backward.history]
    assert backward.score == 1.0
    for name in ("tan-hc", "tan-hcsp", "kdb-hc"):
        learnt = search(name, table, folds, tol=0)
        assert learnt.score == 1.0
        assert {1, 2} in [{child, *parents} for child, parents in inside(learnt.dag).items()]


def test_forward_joining_needs_a_first_feature_that_helps():
    """With one of the two mostly 1, the other is taken in first, and then the one is joined to it."""
    rng = np.random.default_rng(1)
    a, b, noise = rng.random(300) < 0.8, rng.random(300) < 0.5, rng.random(300) < 0.5
    table = CodedTable(make_schema((2, 2, 2, 2)), np.vstack([noise, a, b, a ^ b]).astype(np.uint8))
    learnt = search("fssj", table, naive.dealt_folds(table.codes[-1], 4))
    assert [step.move for step in learnt.history] == ["start", "+ x2", "+ x1 joined to (x2)"]
    assert [step.candidates for step in learnt.history] == [1, 3, 4]
    assert inside(learnt.dag) == {1: (2,), 2: ()}
    assert learnt.score == 1.0


@pytest.mark.parametrize("name", SEARCHES)
def test_constant_columns_are_never_moved(name):
    table = make_table(np.random.default_rng(12), (1, 3, 2, 1, 2), 60, gaps=0.1)
    learnt = search(name, table, naive.dealt_folds(table.codes[-1], 3), tol=0)
    structure = inside(learnt.dag)
    kept = name not in ("fssj", "selective")
    assert (0 in structure) == (3 in structure) == kept
    assert all(structure.get(i) in ((), None) for i in (0, 3))
    assert not any({0, 3} & set(parents) for parents in structure.values())
    assert not any("x0" in step.move or "x3" in step.move for step in learnt.history)


@pytest.mark.parametrize("name", SEARCHES)
def test_one_feature_and_one_class(name):
    one = make_table(np.random.default_rng(1), (3, 2), 40)
    learnt = search(name, one, naive.dealt_folds(one.codes[-1], 3), tol=0)
    assert len(learnt.dag.names) == 2
    single = make_table(np.random.default_rng(2), (2, 3, 1), 30)
    learnt = search(name, single, naive.dealt_folds(single.codes[-1], 3), tol=0)
    assert learnt.score == 1.0
    assert len(learnt.history) == 1


class Recorder:
    """Tells what was asked, and likes every structure better than the last."""

    best_possible = 1e9
    at_once = 1

    def __init__(self):
        self.asked, self.value = [], 0.0

    def prefetch(self, structures):
        pass

    def settle(self, structure):
        self.asked.append([])

    def score(self, structure):
        self.asked[-1].append(structure)
        self.value += 1.0
        return self.value


def skeleton(structure):
    arcs = {frozenset((p, y)) for y, parents in enumerate(structure) for p in parents or ()}
    colliders = set()
    for y, parents in enumerate(structure):
        for a in parents or ():
            colliders |= {(a, y, b) for b in parents if a < b and frozenset((a, b)) not in arcs}
    inside_ = tuple(parents is not None for parents in structure)
    return inside_, frozenset(arcs), frozenset(colliders)


@pytest.mark.parametrize("name", ["tan-hc", "kdb-hc"])
def test_arcs_are_evaluated_in_both_directions(name):
    """Of two features without parents, equivalent structures (Verma and Pearl, 1990) are candidates both."""
    table = make_table(np.random.default_rng(0), (2, 2, 2, 2, 2, 2), 20)
    recorder = Recorder()
    tb.LEARNERS[name].learn(MemoryCounts(table), evaluate=recorder, tol=0.0)
    assert len(recorder.asked) > 3
    first = recorder.asked[0]
    assert len(set(first)) == len(first)
    assert len({skeleton(structure) for structure in first}) == (len(first) + 1) / 2  # the start has no arc to reverse


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("tol", [-0.1, "0.01", None, True, float("nan")])
def test_a_bad_least_gain_is_refused(name, tol):
    table = make_table(np.random.default_rng(0), (2, 2), 10)
    with pytest.raises(tb.errors.OptionError, match="tol must be a number of at least 0"):
        search(name, table, np.arange(10) % 2, tol=tol)


@pytest.mark.parametrize("tol", [np.float32(0.01), np.int64(0), 1, float("inf")])
def test_any_real_number_is_a_least_gain(tol):
    table = make_table(np.random.default_rng(0), (2, 2), 10)
    assert len(search("fssj", table, np.arange(10) % 2, tol=tol).history) >= 1


def test_families_that_are_too_large_are_passed_over():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 12, (2, 400))
    table = CodedTable(make_schema((12, 12, 2)), np.vstack([a, b, (a + b) % 2]).astype(np.uint8))
    folds = naive.dealt_folds(table.codes[-1], 2)
    assert len(search("tan-hc", table, folds).history) == 2
    learnt = search("tan-hc", table, folds, max_cells=287)
    assert inside(learnt.dag) == {0: (), 1: ()}
    assert inside(search("tan-hc", table, folds, max_cells=288).dag) in ({0: (), 1: (0,)}, {0: (1,), 1: ()})
