"""The loop that all searches share, and what it tells."""

from __future__ import annotations

import re

import numpy as np
import pytest

from strategies import make_table
from tanbark.counts import MemoryCounts
from tanbark.structure.wrapper import search
from tanbark.structure.wrapper.search import Candidate


class Scores:
    """Scores by the number of feature parents, from a list."""

    best_possible = 1.0
    at_once = 1

    def __init__(self, *scores):
        self.scores, self.settled = scores, []

    def prefetch(self, structures):
        pass

    def settle(self, structure):
        self.settled.append(structure)

    def score(self, structure):
        return self.scores[sum(len(parents) for parents in structure)]


def chain(current):
    """Offer one more arc into the last feature, twice."""
    last = current[-1]
    if len(last) < len(current) - 1:
        grown = search.replaced(current, len(current) - 1, (*last, len(last)))
        yield Candidate(f"arc {len(last)}", grown)
        yield Candidate(f"arc {len(last)} again", grown)


def climb(*scores, tol=0.01, verbose=False):
    counts = MemoryCounts(make_table(np.random.default_rng(0), (2, 2, 2, 2, 2), 20))
    evaluate = Scores(*scores)
    start = search.naive_start(counts)
    return search.search(counts, evaluate, start, chain, tol=tol, verbose=verbose), evaluate


@pytest.mark.parametrize(
    ("scores", "tol", "steps"),
    [
        ((0.5, 0.6, 0.7, 0.7), 0.01, 3),
        ((0.5, 0.6, 0.7, 0.7), 0, 4),
        ((0.5, 0.51, 0.52, 0.53), 0.01, 4),
        ((0.5, 0.5099, 0.9, 0.9), 0.01, 1),
        ((0.5, 0.4, 0.9, 0.9), 0, 1),
        ((1.0, 1.0, 1.0, 1.0), 0, 1),
        ((0.5, 1 - 1e-9, 1.0, 1.0), 0, 2),
        ((0.5, 0.5 - 1e-13, 0.5, 0.4), 0, 3),
        ((-np.inf, -np.inf, 0.5, 0.5), 0, 1),
        ((-np.inf, 0.2, 0.5, 0.1), 0.01, 3),
    ],
)
def test_a_step_must_gain_and_perfection_ends(scores, tol, steps):
    learnt, evaluate = climb(*scores, tol=tol)
    assert len(learnt.history) == steps
    assert len(evaluate.settled) == steps
    assert [step.move for step in learnt.history] == ["start", "arc 0", "arc 1", "arc 2"][:steps]
    assert [step.candidates for step in learnt.history] == [1, 2, 2, 2][:steps]
    assert learnt.score == scores[steps - 1]


def test_silence_unless_asked(capsys):
    climb(0.5, 0.6, 0.7, 0.8)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_a_line_for_each_step_if_asked(capsys):
    learnt, _ = climb(0.5, 0.6, 0.7, 0.7, verbose=True)
    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    assert len(lines) == len(learnt.history) == 3
    assert re.fullmatch(r"step 1: 0\.600000  arc 0  \(2 candidates, \d+\.\d\d s\)", lines[1])


def test_a_terminal_shows_one_line_that_goes_away(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    climb(0.5, 0.6, 0.7, 0.7)
    told = capsys.readouterr().err
    assert told.count("\r\033[Kstep") == 3
    assert told.endswith("\r\033[K")
    assert "\n" not in told


def test_groups_hang_together():
    structure = (None, (3,), (), (), (2,), (), (5, 7), ())
    assert search.supernodes(structure) == [[1, 3], [2, 4], [5, 6, 7]]
    assert search.supernodes((None, None)) == []
    assert search.ancestors(((), (0,), (1,), (1, 2)), 3) == {0, 1, 2}
    assert search.ancestors((None, ()), 0) == set()
