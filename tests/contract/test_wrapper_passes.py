"""Searches by cross-validation over rows that are read in passes: the steps and the model of those from memory."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sklearn.model_selection import KFold

import naive
import tanbark as tb
from engines import mixed_table, saved
from strategies import make_table
from tanbark.counts import MemoryCounts, StreamCounts
from tanbark.evaluation.fold_passes import FoldPasses
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.evaluation.folds import make_evaluator
from tanbark.structure import LEARNERS
from tanbark.structure.registry import FOLDS
from tanbark.table import CodedTable

SEARCHES = [tb.HillClimbTAN, tb.SuperParentTAN, tb.WrapperKDB, tb.FSSJ, tb.BSEJ, tb.SelectiveNaiveBayes]
WRAPPERS = [name for name, learner in LEARNERS.items() if learner.wrapper]


class Rows:
    """A reader of a coded table in pieces, one of them empty, and batches of three rows."""

    leaves_out = False

    def __init__(self, table):
        self.table = table

    def pieces(self):
        return [(0, 10), (10, 10), (10, 31), (31, self.table.n_rows)]

    def coded(self, piece, schema, n_jobs=None):
        for low in range(*piece, 3):
            rows = slice(low, min(low + 3, piece[1]))
            weights = None if self.table.weights is None else self.table.weights[rows]
            yield CodedTable(schema, np.ascontiguousarray(self.table.codes[:, rows]), weights)


def dependent_rows(seed, *, gaps=0.0, weighted=False, rows=47):
    """Rows in which the class and some features depend on one another, so that searches take several steps."""
    rng = np.random.default_rng(seed)
    table = make_table(rng, (2, 3, 2, 3, 2, 3), rows, gaps=0.0, weighted=weighted)
    codes = table.codes
    codes[-1] = (codes[0] + codes[1]) % 3
    codes[3] = np.where(rng.random(rows) < 0.7, codes[-1], codes[3])
    codes[4] = np.where(rng.random(rows) < 0.8, codes[2] ^ (codes[-1] == 1), codes[4])
    codes[:-1][rng.random((5, rows)) < gaps] = 255
    return table


def streamed(table, *, memory=200):
    return StreamCounts(Rows(table), table.schema, max_memory=memory)


def told(learnt):
    return [(step.move, step.candidates) for step in learnt.history], [step.score for step in learnt.history]


@pytest.mark.parametrize(
    ("scoring", "least_cells"), [("accuracy", 500), ("accuracy", 1 << 12), ("log-loss", 1 << 12)],
    ids=["accuracy, little memory", "accuracy", "log-loss"],
)  # fmt: skip
@pytest.mark.parametrize(("gaps", "weighted"), [(0.0, False), (0.15, True)], ids=["whole", "gaps and weights"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_every_wrapper_takes_the_steps_it_takes_in_memory(name, gaps, weighted, scoring, least_cells, monkeypatch):
    monkeypatch.setattr("tanbark.counts.partitioned.base.MIN_CELLS", least_cells)
    table, options = dependent_rows(5, gaps=gaps, weighted=weighted), {"cv": 3, "random_state": 3, "scoring": scoring}
    rows, counts = MemoryCounts(table), streamed(table)
    theirs = LEARNERS[name].learn(rows, evaluate=make_evaluator(rows, rows, **{**FOLDS, **options}), tol=0.0)
    ours = LEARNERS[name].learn(counts, evaluate=make_evaluator(counts, None, **{**FOLDS, **options}), tol=0.0)
    assert ours.dag == theirs.dag
    (steps, scores), (expected, values) = told(ours), told(theirs)
    assert len(steps) > 1
    assert steps == expected
    assert scores == (values if scoring == "accuracy" else approx(values, rel=1e-12))


@pytest.mark.parametrize("smooth", [0.0, 0.01])
@pytest.mark.parametrize(("gaps", "weighted"), [(0.0, False), (0.2, False), (0.2, True)])
def test_tables_of_the_folds_are_those_recounted(gaps, weighted, smooth):
    table = dependent_rows(1, gaps=gaps, weighted=weighted)
    folds = np.random.default_rng(0).integers(0, 4, table.n_rows)
    passes = FoldPasses(streamed(table), folds, alpha=smooth)
    structure = ((), (0,), (0, 1), None, (2,))
    passes.score(structure)
    memory = FoldEvaluator(table.codes, table.schema, folds, weights=table.weights, alpha=smooth)
    assert set(passes._cpts) == {(0, ()), (1, (0,)), (2, (0, 1)), (4, (2,))}
    for (feature, parents), found in passes._cpts.items():
        assert np.array_equal(found, memory.fold_cpts((feature, parents)))
        for fold in range(4):
            rest = folds != fold
            weights = None if table.weights is None else table.weights[rest]
            columns = (*parents, feature, table.schema.target)
            counts = naive.table(table.codes[:, rest], table.schema.cardinalities, columns, weights)
            assert np.array_equal(found[fold], naive.smoothed(counts, len(parents), smooth))


def test_rows_that_are_impossible_get_the_class_prior_in_passes_too():
    table = dependent_rows(2, rows=40)
    table.codes[0, :3] = 1
    folds = np.arange(40) % 20
    structures = [((),) * 5, ((), (0,), (0, 1), (2,), (0,)), (None, (), (), (), (2, 3))]
    passes = FoldPasses(streamed(table), folds, alpha=0.0)
    memory = FoldEvaluator(table.codes, table.schema, folds, alpha=0.0)
    for settled in structures:
        passes.settle(settled)
        memory.settle(settled)
        passes.prefetch(structures)
        assert [passes.score(s) for s in structures] == [memory.score(s) for s in structures]


def test_structures_that_are_heard_of_together_take_two_passes_and_known_families_one():
    table = dependent_rows(3)
    counts = streamed(table, memory=1 << 10)
    folds = np.arange(table.n_rows) % 3
    passes = FoldPasses(counts, folds)
    start = ((),) * 5
    candidates = [(*start[:y], (0,), *start[y + 1 :]) for y in range(1, 5)]
    passes.settle(start)
    before = counts.passes.total
    passes.prefetch(candidates)
    assert counts.passes.total == before + 2
    assert all(passes.score(candidate) > 0 for candidate in candidates)
    assert counts.passes.total == before + 2
    passes.settle(candidates[0])
    passes.prefetch([((), (0,), (0,), (), ()), ((), (0,), (), (0,), ())])
    assert counts.passes.total == before + 3


def test_a_family_that_needs_too_large_a_table_is_never_counted():
    table = dependent_rows(3)
    passes = FoldPasses(streamed(table), np.arange(table.n_rows) % 3, max_cells=18)
    assert passes.score(((), (0,), (), (), ())) > 0
    assert passes.score(((), (), (), (0, 1), ())) == -np.inf
    assert (3, (0, 1)) not in passes._cpts


@pytest.mark.parametrize("cls", SEARCHES)
def test_models_have_the_bytes_of_those_from_memory(cls, tmp_path):
    frame = mixed_table(rows=60).assign(w=np.arange(60) % 3, fold=np.arange(60) % 4)
    X, y = frame.drop(columns=["class", "w", "fold"]), frame["class"]
    plain = replace(tb.scan(frame, target="class", columns=list(X), batch_rows=11), max_memory=200)
    model = cls(cv=3, random_state=1)
    wanted = saved(model.fit(X, y), tmp_path / "a.json")
    passes = model.fit(plain).passes_
    assert saved(model, tmp_path / "b.json") == wanted
    assert passes >= 2 * len(model.history_) + 3
    heavy = replace(tb.scan(frame, target="class", columns=list(X), weight="w", batch_rows=11), max_memory=200)
    model = cls(cv=frame["fold"], missing="drop")
    wanted = saved(model.fit(X, y, frame["w"]), tmp_path / "a.json")
    assert saved(model.fit(heavy), tmp_path / "b.json") == wanted


def test_a_checkpoint_keeps_the_passes_of_a_search(tmp_path):
    path, frame = tmp_path / "rows.parquet", mixed_table(rows=60)
    frame.to_parquet(path, index=False)
    rows = replace(tb.scan(path, target="class", checkpoint=tmp_path / "kept"), max_memory=200)
    model = tb.FSSJ(cv=3, random_state=1)
    first = model.fit(rows).passes_
    wanted = saved(model, tmp_path / "a.json")
    assert saved(model.fit(rows), tmp_path / "b.json") == wanted
    assert model.passes_ < first / 4
    other = tb.FSSJ(cv=3, random_state=2)
    wanted = saved(other.fit(frame.drop(columns="class"), frame["class"]), tmp_path / "a.json")
    assert saved(other.fit(rows), tmp_path / "b.json") == wanted


def test_a_splitter_and_options_of_a_named_learner_work_in_passes(tmp_path):
    frame = mixed_table(rows=60)
    rows = replace(tb.scan(frame, target="class", batch_rows=20), max_memory=200)
    model = tb.BayesNetClassifier("fssj", options={"cv": KFold(3), "scoring": "log-loss"})
    theirs = model.fit(frame.drop(columns="class"), frame["class"]).dag_
    assert model.fit(rows).dag_ == theirs


def test_rows_that_fit_are_taken_into_memory(monkeypatch):
    frame = mixed_table(rows=60)
    monkeypatch.setattr(FoldPasses, "prefetch", None)
    assert tb.HillClimbTAN(cv=3, random_state=1).fit(tb.scan(frame, target="class")).passes_ <= 4


def test_folds_that_do_not_fit_are_refused():
    rows = replace(tb.scan(mixed_table(rows=60), target="class"), max_memory=100)
    with pytest.raises(tb.errors.InputError, match=r"the fold of every row.*60 rows.*120 bytes, above max_memory=100"):
        tb.FSSJ(cv=3).fit(rows)


def test_what_needs_rows_still_says_so():
    rows = replace(tb.scan(mixed_table(rows=60), target="class"), max_memory=200)
    with pytest.raises(tb.errors.InputError, match="must see each row many times"):
        tb.HillClimbTAN(cv=3, parameters=tb.WANBIA()).fit(rows)


@pytest.mark.parametrize("rows_then", [39, 80])
@pytest.mark.parametrize("change", [4, 5, 7])
def test_rows_that_change_between_passes_are_refused(change, rows_then):
    frame, calls = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "class": [0, 1] * 20}), []

    def source():
        calls.append(1)
        return [frame if len(calls) < change else pd.concat([frame, frame])[:rows_then]]

    rows = replace(tb.scan(source, target="class", scratch=False), max_memory=100)
    with pytest.raises(tb.errors.InputError, match="The rows changed while they were read"):
        tb.SelectiveNaiveBayes(cv=3).fit(rows)
