"""The trace of a blanket search as text, frame and plot."""

import sys

import pytest

from tanbark.errors import MissingPackageError
from tanbark.structure.blanket.trace import BlanketTrace, TraceStep

TRACE = BlanketTrace([
    TraceStep("start", None, 12.5, ()),
    TraceStep("add", "X2", 10.25, ("X2",), (("+ X1", 11.0), ("+ X2", 10.25))),
    TraceStep("drop", "X2", 10.0, (), (("- X2", 10.0),)),
    TraceStep("stop", None, 10.0, (), (("+ X1", 10.5), ("+ X2", float("nan"))), "no candidate shortens the message"),
])  # fmt: skip


def test_moves_and_scores():
    assert [step.move for step in TRACE] == ["start", "+ X2", "- X2", "stop"]
    assert [step.score for step in TRACE] == [-12.5, -10.25, -10.0, -10.0]
    assert TRACE.reason == "no candidate shortens the message"


def test_the_text_has_a_line_for_each_candidate():
    lines = str(TRACE).splitlines()
    assert lines[0].split() == ["start", "{}", "12.5000"]
    assert lines[1].split() == ["+", "X1", "11.0000"]
    assert lines[2].split() == ["+", "X2", "10.2500", "<-", "taken"]
    assert lines[3].split() == ["add", "X2", "{X2}", "10.2500"]
    assert lines[-1].endswith("no candidate shortens the message")


def test_the_frame_has_a_row_for_each_candidate():
    frame = TRACE.to_frame("pandas")
    assert list(frame.columns) == ["step", "candidate", "length", "change", "taken"]
    assert frame["step"].tolist() == [0, 1, 1, 2, 3, 3]
    assert frame["taken"].tolist() == [True, False, True, True, False, False]
    assert frame["change"].tolist()[:4] == [0.0, -1.5, -2.25, -0.25]


def test_the_plot_names_each_step():
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert TRACE.plot(axes) is axes
    assert axes.lines[0].get_ydata().tolist() == [12.5, 10.25, 10.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["start  0", "+ X2  1", "- X2  2"]


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackageError, match="pip install"):
        TRACE.plot()
