"""The stages of listing parent sets, against dynamic programming, and their limits."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import TableTooLargeError
from tanbark.structure.exact import learn, listing


@pytest.fixture
def counts(monkeypatch):
    monkeypatch.setattr(listing, "ALL_SETS", 0)
    rng = np.random.default_rng(3)
    return MemoryCounts(make_table(rng, (*rng.integers(2, 4, 12), 2), 1500))


@pytest.mark.parametrize("column_sets", [0, 100_000], ids=["branch-and-bound", "one-size-after-another"])
def test_twelve_features_as_dynamic_programming_has_them(counts, monkeypatch, column_sets):
    monkeypatch.setattr(listing, "COLUMN_SETS", column_sets)
    monkeypatch.setattr(listing, "SMALL_PARENTS", 1)
    best, found = learn.learn_augmented(counts, method="dp"), learn.learn_augmented(counts, method="ip")
    assert found.score == pytest.approx(best.score, abs=1e-6)
    report = found.report
    assert report.proved_optimal
    assert (report.n_nodes > 0) == (column_sets == 0)
    assert report.history[-1].stage == "end"
    assert [step.seconds for step in report.history] == sorted(step.seconds for step in report.history)
    assert all(step.score <= best.score + 1e-6 <= step.bound + 2e-6 for step in report.history)


def test_memory_is_known_before_it_is_taken(counts):
    with pytest.raises(TableTooLargeError, match=r"Listing the parent sets of 12 columns takes .* different rows"):
        learn.learn_augmented(counts, method="ip", max_memory=10_000)
    assert learn.learn_augmented(counts, method="ip", max_memory=10_000, max_parents=1).report.proved_optimal
