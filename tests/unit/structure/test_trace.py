"""A history of steps reads like a tuple, turns into a frame, and draws itself."""

from __future__ import annotations

import pickle
import sys

import pandas as pd
import pytest

import tanbark as tb
from tanbark.structure.trace import History, Step

STEPS = [Step(0.5, "start", 1, 0.25), Step(0.6, "a -> b", 3, 0.5), Step(0.75, "- c", 2, 0.125)]


class Axes:
    """Remembers what is drawn on it."""

    def __init__(self):
        self.drawn, self.labels = [], {}

    def plot(self, x, y, **_):
        self.drawn.append((list(x), list(y)))

    def set_xticks(self, ticks, moves, **_):
        self.labels["ticks"], self.labels["moves"] = list(ticks), list(moves)

    def set_xlabel(self, text):
        self.labels["x"] = text

    def set_ylabel(self, text):
        self.labels["y"] = text


def test_it_is_a_tuple():
    history = History(STEPS)
    assert history == tuple(STEPS)
    assert (len(history), history[-1].move, [*history]) == (3, "- c", STEPS)
    again = pickle.loads(pickle.dumps(history))
    assert type(again) is History
    assert again == history


@pytest.mark.parametrize("backend", ["pandas", "polars", None])
def test_it_is_a_frame(backend):
    frame = History(STEPS).to_frame(backend)
    assert list(frame.columns) == ["step", "score", "move", "candidates", "seconds"]
    assert type(frame).__module__.startswith(backend or "pandas")
    assert list(frame["move"]) == ["start", "a -> b", "- c"]
    assert list(frame["step"]) == [0, 1, 2]
    assert list(frame["score"]) == [0.5, 0.6, 0.75]


def test_an_unknown_backend_is_refused():
    with pytest.raises(tb.errors.OptionError, match="backend must be one of"):
        History(STEPS).to_frame("panda")


def test_it_draws_on_given_axes():
    axes = Axes()
    assert History(STEPS).plot(axes) is axes
    assert axes.drawn == [([0, 1, 2], [0.5, 0.6, 0.75])]
    moves = ["start  0", "a -> b  1", "- c  2"]
    assert axes.labels == {"ticks": [0, 1, 2], "moves": moves, "x": "step", "y": "score"}


def test_it_makes_a_figure_of_its_own():
    pytest.importorskip("matplotlib").use("Agg")
    axes = History(STEPS).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["start  0", "a -> b  1", "- c  2"]
    sys.modules["matplotlib.pyplot"].close(axes.figure)


def test_a_missing_package_is_answered_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(tb.errors.MissingPackageError, match=r"pip install .tanbark\[plot\]"):
        History(STEPS).plot()


def test_a_search_leaves_its_history():
    X = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10})
    clf = tb.HillClimbTAN(cv=2, random_state=0).fit(X, X["a"] ^ X["b"])
    assert isinstance(clf.history_, History)
    assert clf.history_.to_frame()["move"].tolist() == ["start", "a -> b"]
    assert clf.structure_score_ == clf.history_[-1].score == 1.0
