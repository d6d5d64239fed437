"""Summaries of values: exact while they are few, and never wrong by more than they say."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark as tb
from tanbark.table.sketch import Summary, make_points


def summarised(values, labels, batch, most):
    whole = Summary(most)
    for low in range(0, len(values), batch):
        whole.add(make_points(values[low : low + batch], labels[low : low + batch], 3, None))
    return whole


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(3, 90), st.integers(4, 40), st.sampled_from(["normal", "ties", "rising"]))
def test_the_stated_error_holds(seed, batch, most, kind):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=600)
    if kind == "ties":
        values = np.round(values, 1)
    if kind == "rising":
        values = np.sort(values)
    labels = rng.integers(0, 3, 600)
    whole = summarised(values, labels, batch, most)
    points = whole.points()
    assert points.counts.sum() == 600
    assert points.values[0] == values.min()
    assert points.values[-1] == values.max()
    true = np.searchsorted(np.sort(values), points.values, side="right")
    told = np.cumsum(points.counts.sum(axis=1))
    assert (told <= true + 1e-9).all()
    assert (true - told).max() <= points.error + 1e-9
    assert (true - told).max() <= whole.error * 600 + 1e-9


def test_few_different_values_are_kept_exactly():
    values, labels = np.arange(1000) % 37 / 4, np.arange(1000) % 3
    whole = summarised(values, labels, 50, 40)
    assert whole.error == 0.0
    np.testing.assert_array_equal(whole.points().values, np.arange(37) / 4)


def test_merged_parts_count_every_row_once():
    rng = np.random.default_rng(0)
    first, second = (
        summarised(rng.random(500), np.zeros(500, int), 64, 16),
        summarised(rng.random(300), np.ones(300, int), 64, 16),
    )
    first.merge(second)
    assert first.points().counts.sum(axis=0).tolist() == [500, 300, 0]


@pytest.mark.parametrize("how", ["mdlp", "mdlp+quantile", "quantile", "median"])
def test_cut_points_of_many_values_are_as_near_as_is_said(how, monkeypatch):
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 6000)
    frame = pd.DataFrame({"x": label + rng.normal(0, 0.6, 6000), "class": label})
    monkeypatch.setattr("tanbark.table.sketch.MOST_POINTS", 256)
    monkeypatch.setattr(Summary.__init__, "__defaults__", (256, *Summary.__init__.__defaults__[1:]))
    ours = tb.NaiveBayes(discretize=how).fit(tb.scan(frame, target="class", batch_rows=500))
    theirs = tb.NaiveBayes(discretize=how).fit(frame[["x"]], frame["class"])
    (error,) = ours.sketch_errors_.values()
    assert 0 < error < 0.05
    cuts = [np.array(model.schema_.columns[0].cuts) for model in (ours, theirs)]
    if "mdlp" not in how:
        ranks = [np.searchsorted(np.sort(frame["x"]), c) / 6000 for c in cuts]
        np.testing.assert_allclose(*ranks, atol=2 * error)
    assert abs(ours.score(frame[["x"]], frame["class"]) - theirs.score(frame[["x"]], frame["class"])) < 0.01
