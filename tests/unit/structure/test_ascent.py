"""The one loop of all greedy searches, on a line of numbers."""

import pytest

from tanbark.structure.ascent import Move, ascend, climb
from tanbark.structure.trace import Trace


class Line:
    """A place on a line of heights; moves lead to the neighbouring places."""

    def __init__(self, heights, place=0):
        self.heights, self.place, self.tried = heights, place, 0
        self.score = heights[place]

    def propose(self, tabu):
        there = [p for p in (self.place + 1, self.place - 1) if 0 <= p < len(self.heights) and p not in tabu]
        self.tried = len(there)
        if not there:
            return None
        best = max(there, key=lambda p: self.heights[p])
        return Move(self.heights[best] - self.score, f"to {best}", best)

    def apply(self, move):
        self.place = move.change
        self.score = self.heights[self.place]

    def key(self):
        return self.place

    def solution(self):
        return self.place


@pytest.mark.parametrize(
    ("heights", "options", "end"),
    [
        ((0, 1, 2, 1, 5), {}, (2, 2)),
        ((0, 1, 2, 1, 5), {"tabu": 1}, (5, 4)),
        ((0, 1, 2, 1, 1, 1, 5), {"tabu": 3}, (5, 6)),
        ((0, 1, 2, 1, 1, 1, 5), {"tabu": 2}, (2, 2)),
        ((0, 1, 1.5, 3), {"least": 0.9}, (1, 1)),
        ((0, 0, 0, 0), {}, (0, 0)),
        ((0, 0, 0, 0), {"least": -1e-9}, (0, 3)),
        ((0, 1e-10, 1), {}, (0, 0)),
    ],
)
def test_where_it_ends(heights, options, end):
    assert ascend(Line(heights), Trace(), **options) == end


def test_a_short_tabu_list_lets_it_go_back_but_not_for_ever():
    trace = Trace()
    assert ascend(Line((0, 1, 2, 1, 0, 0, 9)), trace, tabu=3, tabu_length=1) == (2, 2)
    assert len(trace.steps) == 2 + 4  # one more move than allowed is made before it gives up


class Cycle(Line):
    """Every move seems to gain, as gains may do that rest on different rows."""

    def propose(self, tabu):
        return Move(1.0, "round", (self.place + 1) % 3)

    def apply(self, move):
        self.place, self.score = move.change, self.score + 1.0


def test_a_cycle_ends_where_it_closes():
    assert ascend(Cycle((0, 0, 0)), Trace()) == (3.0, 0)


def test_restarts_keep_the_best():
    starts = iter((4, 6))
    heights, trace = (3, 0, 0, 0, 1, 5, 4, 0), Trace()
    found = climb(
        lambda: Line(heights), trace, rise=lambda state: ascend(state, trace), restarts=2,
        perturb=lambda best: Line(heights, next(starts)),
    )  # fmt: skip
    assert found == (5, 5)
    assert [step.move for step in trace.steps] == ["start", "restart", "to 5", "restart", "to 5"]
    assert [step.candidates for step in trace.steps] == [1, 1, 2, 1, 2]
    assert climb(lambda: Line(heights), Trace(), restarts=3) == (3, 0)  # without a way to perturb
