"""h of all subsets against its definition, for packed keys and row by row."""

import numpy as np
import pytest

import naive
from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import InputError
from tanbark.structure.exact import subset_scores as module
from tanbark.structure.exact.subset_scores import CompleteRows, subset_scores


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("given", [None, 4])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_subset_is_scored(by_rows, given, n_jobs, monkeypatch):
    if by_rows:
        monkeypatch.setattr(module, "MAX_KEY_BITS", 0)
    table = make_table(np.random.default_rng(3), (3, 2, 5, 2, 3), 70, gaps=0.05)
    rows = CompleteRows.of(MemoryCounts(table))
    complete = table.codes[:, (table.codes < 255).all(axis=0)]
    columns = (2, 0, 1, 3)
    fractions = []
    h = subset_scores(rows, columns, given=given, ess=2.0, n_jobs=n_jobs, advance=fractions.append)
    for mask in range(16):
        chosen = [c for bit, c in enumerate(columns) if mask >> bit & 1] + ([] if given is None else [given])
        counts = naive.table(complete, table.schema.cardinalities, chosen)
        assert h[mask] == pytest.approx(naive.h(counts, 2.0), abs=1e-9)
    assert fractions[-1] == 1.0


def test_complete_rows():
    table = make_table(np.random.default_rng(3), (3, 2, 2), 30, gaps=0.3, weighted=True)
    rows = CompleteRows.of(MemoryCounts(table))
    complete = (table.codes < 255).all(axis=0)
    np.testing.assert_array_equal(rows.codes, table.codes[:, complete])
    np.testing.assert_array_equal(rows.weights, table.weights[complete])
    rows.weights[:3] = 0.0
    np.testing.assert_array_equal(rows.positive().codes, rows.codes[:, 3:])
    labelled = rows.labelled((1,), 2)
    assert (labelled.codes.shape[0], labelled.n_labels, labelled.n_states.tolist()) == (1, 2, [2])
    table.codes[0] = 255
    with pytest.raises(InputError, match="Every row has a missing value"):
        CompleteRows.of(MemoryCounts(table))
