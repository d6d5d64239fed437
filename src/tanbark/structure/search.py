"""Greedy search by cross-validated score: the loop that all wrapper learners share.

A structure is a tuple with the feature parents of every feature, or None for a feature that is left out; the class is
a parent of every feature that is in. A move names what it changes and the structure after it. The evaluator, which is
given to the learner, tells the score of a structure; it remembers families, so a move costs what it changes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tanbark.errors import OptionError

Parents = tuple[int, ...] | None
Structure = tuple[Parents, ...]
PERFECT = 1.5e-8


class Evaluator(Protocol):
    """Scores structures by cross-validation; higher is better."""

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""

    def score(self, structure: Structure) -> float:
        """Give the mean score over the folds."""

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones differ from by little."""


@dataclass(frozen=True)
class Move:
    """A candidate: what it does, for people, and the structure it leads to."""

    text: str
    structure: Structure


@dataclass(frozen=True)
class Step:
    """One step of a search: the score after it, what it did, how many candidates were tried, and the seconds."""

    score: float
    move: str
    candidates: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """Where a search ended, its score, and how it got there."""

    structure: Structure
    score: float
    history: tuple[Step, ...]


Moves = Callable[[Structure, Evaluator], Iterable[Move]]


def climb(evaluator: Evaluator, start: Structure, moves: Moves, *, epsilon: float, verbose: bool = False) -> Found:
    """Take the best move as long as it gains at least ``epsilon``; ties go to the first candidate.

    With ``epsilon`` 0 equally good moves are taken too; every move adds an arc or a feature, or takes a feature out, so
    the search ends.
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not epsilon >= 0:
        msg = f"epsilon must be a number of at least 0; got {epsilon!r}."
        raise OptionError(msg)
    begun = time.perf_counter()
    evaluator.settle(start)
    current, score = start, evaluator.score(start)
    history = [Step(score, "start", 1, time.perf_counter() - begun)]
    _report(history, verbose=verbose)
    while score < evaluator.best_possible - PERFECT:
        begun = time.perf_counter()
        best: Move | None = None
        best_score, tried = -float("inf"), 0
        for move in moves(current, evaluator):
            tried += 1
            value = evaluator.score(move.structure)
            if value > best_score + 1e-12:
                best, best_score = move, value
        if best is None or best_score - epsilon < score - 1e-12:
            break
        current, score = best.structure, best_score
        evaluator.settle(current)
        history.append(Step(score, best.text, tried, time.perf_counter() - begun))
        _report(history, verbose=verbose)
    if sys.stderr.isatty() and not verbose:
        print("\r\033[K", end="", file=sys.stderr)
    return Found(current, score, tuple(history))


def _report(history: list[Step], *, verbose: bool) -> None:
    """Tell of the last step: a line each if asked, one line that is rewritten in a terminal, nothing elsewhere."""
    step = history[-1]
    line = (
        f"step {len(history) - 1}: {step.score:.6f}  {step.move}  ({step.candidates} candidates, {step.seconds:.2f} s)"
    )
    if verbose:
        print(line, file=sys.stderr)
    elif sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def replaced(structure: Structure, feature: int, parents: Parents) -> Structure:
    """Give a structure with other parents of one feature."""
    return (*structure[:feature], parents, *structure[feature + 1 :])


def ancestors(structure: Structure, feature: int) -> set[int]:
    """Collect the features from which arcs lead to a feature."""
    found: set[int] = set()
    todo = list(structure[feature] or ())
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += structure[node] or ()
    return found


def supernodes(structure: Structure) -> list[list[int]]:
    """Group the features that are in by their connections, each group ascending, by its lowest member."""
    group = {f: f for f, parents in enumerate(structure) if parents is not None}

    def top(node: int) -> int:
        while group[node] != node:
            node = group[node]
        return node

    for feature in group:
        for parent in structure[feature] or ():
            low, high = sorted((top(feature), top(parent)))
            group[high] = low
    found: dict[int, list[int]] = {}
    for feature in sorted(group):
        found.setdefault(top(feature), []).append(feature)
    return [found[head] for head in sorted(found)]
