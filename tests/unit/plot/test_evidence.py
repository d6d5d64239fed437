"""Waterfall charts of explanations."""

import xml.etree.ElementTree as ET

import pytest

import tanbark as tb
from tanbark.draw.waterfall import steps


def test_explanations_are_drawn(model):
    clf, X, _ = model
    row = clf.explain(X.iloc[:1])[0]
    bars = steps(row.ranked(), row.log_odds)
    assert [bar.start for bar in bars[1:-1]] == [bar.stop for bar in bars[:-2]]
    assert bars[-2].stop == pytest.approx(row.log_odds) == bars[-1].stop
    ET.fromstring(row._repr_html_())
    ax = tb.plot.plot_explanation(row)
    assert ax.get_yticklabels()[-1].get_text() == "log-odds"
    ax.figure.canvas.draw()


def test_infinite_evidence_is_drawn():
    X = [["a"], ["a"], ["b"], ["b"]]
    clf = tb.NaiveBayes(parameters=0).fit(X, [0, 0, 1, 1])
    row = clf.explain([["a"]], label=0)[0]
    assert "+∞" in row._repr_html_()
    tb.plot.plot_explanation(row).figure.canvas.draw()


def test_several_rows_raise_an_error(model):
    clf, X, _ = model
    with pytest.raises(tb.errors.InputError, match="explanation of one row"):
        tb.plot.plot_explanation(clf.explain(X))
