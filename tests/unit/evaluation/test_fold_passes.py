"""Scores in passes over the rows: batches, what is counted again, and rows that change."""

import numpy as np
import pytest
from pytest import approx

from strategies import make_table
from tanbark.counts import StreamCounts
from tanbark.evaluation.fold_passes import FoldPasses
from tanbark.evaluation.fold_scores import FoldEvaluator
from tanbark.table import CodedTable


class Rows:
    """A reader of a coded table in two pieces."""

    leaves_out = False

    def __init__(self, table):
        self.table = table

    def pieces(self):
        return [(0, 13), (13, self.table.n_rows)]

    def coded(self, piece, schema, n_jobs=None):
        yield CodedTable(schema, np.ascontiguousarray(self.table.codes[:, slice(*piece)]), None)


@pytest.fixture
def table():
    return make_table(np.random.default_rng(3), (2, 3, 2, 2, 3), 40, gaps=0.1)


FOLDS = np.arange(40) % 4
STRUCTURES = [((), (), (), ()), ((), (0,), None, (1,)), ((), (0,), (0, 1), ())]


@pytest.mark.parametrize("memory", [1 << 12, 1 << 20])
@pytest.mark.parametrize("scoring", ["accuracy", "log-loss"])
def test_scores_are_those_of_rows_in_memory(table, memory, scoring):
    passes = FoldPasses(StreamCounts(Rows(table), table.schema, max_memory=memory), FOLDS, scoring=scoring)
    direct = FoldEvaluator(table.codes, table.schema, FOLDS, scoring=scoring)
    passes.prefetch(STRUCTURES)
    for structure in STRUCTURES:
        assert passes.score(structure) == approx(direct.score(structure), abs=1e-12)
    assert passes.best_possible == direct.best_possible


def test_known_families_are_not_counted_again(table, monkeypatch):
    passes = FoldPasses(StreamCounts(Rows(table), table.schema, max_memory=1 << 20), FOLDS)
    counted, count = [], passes._count
    monkeypatch.setattr(passes, "_count", lambda lacking: counted.append(lacking) or count(lacking))
    passes.prefetch(STRUCTURES[:2])
    passes.settle(STRUCTURES[1])
    passes.prefetch(STRUCTURES[2:])
    assert counted == [[(0, ()), (1, ()), (1, (0,)), (2, ()), (3, ()), (3, (1,))], [(2, (0, 1))]]


def test_a_family_that_is_too_large_is_never_counted(table):
    counts = StreamCounts(Rows(table), table.schema, max_memory=1 << 20)
    passes = FoldPasses(counts, FOLDS, max_cells=20)
    assert passes.score(STRUCTURES[2]) == -np.inf
    assert passes.at_once >= 64
