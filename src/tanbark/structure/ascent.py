"""Greedy ascent: the loop of every search that makes the best move until none gains enough."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Hashable
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar

from tanbark.arrays import TIE, smallest_gain
from tanbark.structure.trace import Trace

Solution = TypeVar("Solution", covariant=True)
Found = TypeVar("Found")


class Move(NamedTuple):
    """A change of the current state: its gain in score, its description, and the change itself."""

    gain: float
    text: str
    change: Any


class State(Protocol[Solution]):
    """A candidate solution that a search changes move by move; higher scores are better.

    ``tried`` is the number of candidate moves to report with the last move.
    """

    score: float
    tried: int

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the best legal move to a state whose key is not tabu; None where there is none."""

    def apply(self, move: Move) -> None:
        """Make a move and update the score."""

    def key(self) -> Hashable:
        """Identify the state: two states with the same key are the same solution."""

    def solution(self) -> Solution:
        """Return a copy of the solution that later moves do not change."""


def climb(
    begin: Callable[[], State[Found]], trace: Trace, *, least: float = TIE,
    rise: Callable[[Any], tuple[float, Found]] | None = None, restarts: int = 0,
    perturb: Callable[[Found], State[Found]] | None = None, deadline: float = math.inf,
) -> tuple[float, Found]:  # fmt: skip
    """Ascend from the first state, then ``restarts`` times from a perturbed best solution; return the best.

    ``rise`` maps a state to the best score and solution that moves from it reach; by default it is :func:`ascend` with
    moves that gain more than ``least``. No restart begins after the ``deadline``, by the clock of ``perf_counter``.
    """
    rise = rise or (lambda state: ascend(state, trace, least=least))
    begun = perf_counter()
    state = begin()
    trace.add(state.score, "start", 1, perf_counter() - begun)
    best, solution = rise(state)
    if perturb is not None:
        for _ in range(restarts):
            begun = perf_counter()
            if begun > deadline:
                break
            state = perturb(solution)
            trace.add(state.score, "restart", 1, perf_counter() - begun)
            score, found = rise(state)
            if score > best + smallest_gain(best):
                best, solution = score, found
    trace.end()
    return best, solution


def ascend(
    state: State[Found], trace: Trace, *, least: float = TIE, tabu: int = 0, tabu_length: int = 10,
    deadline: float = math.inf,
) -> tuple[float, Found]:  # fmt: skip
    """Make the best move as long as it gains more than ``least``, and more than rounding; return the best met.

    Up to ``tabu`` moves in a row may gain less, each to a state that is not among the last ``tabu_length`` ones, as
    long as a new best follows. A new best that was passed before ends the search: with missing values, gains rest on
    different rows and may lead in a cycle. No move follows the ``deadline``, by the clock of ``perf_counter``.
    """
    best, solution, key = state.score, state.solution(), state.key()
    recent, passed, fruitless = deque([key], maxlen=tabu_length), {key}, 0
    while True:
        begun = perf_counter()
        move = None if begun > deadline else state.propose(recent)
        enough = smallest_gain(best, least)
        if move is None or (move.gain <= enough and fruitless >= tabu):
            return best, solution
        state.apply(move)
        trace.add(state.score, move.text, state.tried, perf_counter() - begun)
        key = state.key()
        recent.append(key)
        fruitless += 1
        if state.score > best + enough:
            best, solution, fruitless = state.score, state.solution(), 0
            if key in passed:
                return best, solution
        elif fruitless > tabu:
            return best, solution
        passed.add(key)
