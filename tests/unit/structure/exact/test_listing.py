"""The stages of listing parent sets, against dynamic programming, and their limits."""

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.errors import NotProvedWarning, TableTooLargeError
from tanbark.structure.exact import bounded_sets, learn, listing


@pytest.fixture
def counts(monkeypatch):
    monkeypatch.setattr(listing, "ALL_SETS", 0)
    rng = np.random.default_rng(3)
    return MemoryCounts(make_table(rng, (*rng.integers(2, 4, 12), 2), 1500))


@pytest.mark.parametrize("bounding", [0.9, -1.0], ids=["branch-and-bound", "one-size-after-another"])
def test_twelve_features_as_dynamic_programming_has_them(counts, monkeypatch, bounding):
    monkeypatch.setattr(listing, "BOUNDING", bounding)
    monkeypatch.setattr(listing, "SMALL_PARENTS", 1)
    monkeypatch.setattr(bounded_sets, "SLICE", 1)
    best, found = learn.learn_augmented(counts, method="dp"), learn.learn_augmented(counts, method="ip")
    assert found.score == pytest.approx(best.score, abs=1e-6)
    report = found.report
    assert report.proved_optimal
    assert (report.n_nodes > 100) == (bounding > 0)  # a node of each column in every pass otherwise
    assert report.history[-1].stage == "end"
    assert [step.seconds for step in report.history] == sorted(step.seconds for step in report.history)
    assert all(step.score <= best.score + 1e-6 <= step.bound + 2e-6 for step in report.history)


def test_what_is_proved_up_to_some_parents_when_larger_sets_are_not_looked_at(counts, monkeypatch):
    monkeypatch.setattr(listing, "SMALL_PARENTS", 2)
    monkeypatch.setattr(listing, "BOUNDING", -1.0)  # there is time for small sets and for the search over orders only
    monkeypatch.setattr(listing, "LISTING", -1.0)
    monkeypatch.setattr(bounded_sets, "SLICE", 1)
    with pytest.warns(NotProvedWarning, match="No network with up to 2 parents of a column scores higher"):
        found = learn.learn_augmented(counts, method="ip", time_limit=600.0)
    assert not found.report.proved_optimal
    assert found.report.proved_parents == 2
    best = learn.learn_augmented(counts, method="dp", max_parents=2)
    assert found.score >= best.score - 1e-6
    assert learn.learn_augmented(counts, method="dp").report.proved_parents == 11


def test_memory_is_known_before_it_is_taken(counts):
    with pytest.raises(TableTooLargeError, match=r"Listing the parent sets of 12 columns takes .* different rows"):
        learn.learn_augmented(counts, method="ip", max_memory=10_000)
    assert learn.learn_augmented(counts, method="ip", max_memory=10_000, max_parents=1).report.proved_optimal
