"""Greedy search by cross-validated score: the loop that all wrapper learners share.

A structure is a tuple with the feature parents of every feature, or None for a feature that is left out; the class is
a parent of every feature that is in. A move names what it changes and the structure after it. The evaluator, which is
given to the learner, tells the score of a structure; it remembers families, so a move costs what it changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from tanbark.arrays import TIE
from tanbark.checks import check_at_least
from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.structure.result import Learnt
from tanbark.structure.trace import History, Step, end_report, report

Parents = tuple[int, ...] | None
Structure = tuple[Parents, ...]

PERFECT = 1.5e-8


class Evaluator(Protocol):
    """Scores structures by cross-validation; higher is better."""

    @property
    def best_possible(self) -> float:
        """The score that nothing can exceed."""

    @property
    def at_once(self) -> int:
        """How many structures it can hear of at once."""

    def hear(self, structures: Sequence[Structure]) -> None:
        """Hear which structures will be scored soon; an evaluator for which that is a pass scores them together."""

    def score(self, structure: Structure) -> float:
        """Return the mean score over the folds."""

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones differ from by little."""


@dataclass(frozen=True)
class Move:
    """A candidate: what it does, for people, and the structure it leads to."""

    text: str
    structure: Structure


Moves = Callable[[Structure], Iterable[Move]]


def climb(
    counts: CountEngine, evaluate: Evaluator, start: Structure, moves: Moves, *, epsilon: float, verbose: bool
) -> Learnt:
    """Take the best move as long as it gains at least ``epsilon``; ties within 1e-9 go to the first candidate.

    With ``epsilon`` 0 equally good moves are taken too; every move adds an arc or a feature, or takes a feature out, so
    the search ends.
    """
    check_at_least("epsilon", epsilon, 0)
    begun = time.perf_counter()
    evaluate.settle(start)
    current, score = start, evaluate.score(start)
    history = [Step(score, "start", 1, time.perf_counter() - begun)]
    report(history, verbose=verbose)
    while score < evaluate.best_possible - PERFECT:
        begun = time.perf_counter()
        best, best_score, tried = _best_move(moves(current), evaluate)
        if best is None or best_score - epsilon < score - TIE:
            break
        current, score = best.structure, best_score
        evaluate.settle(current)
        history.append(Step(score, best.text, tried, time.perf_counter() - begun))
        report(history, verbose=verbose)
    end_report(verbose=verbose)
    target = counts.schema.target
    parents = [() if found is None else (*found, target) for found in current]
    return Learnt(Dag(counts.schema.names, (*parents, ())), score, History(history))


def _best_move(candidates: Iterable[Move], evaluate: Evaluator) -> tuple[Move | None, float, int]:
    """Find the first of the best candidates, its score, and how many there were."""
    best: Move | None = None
    best_score, tried = -float("inf"), 0
    waiting = iter(candidates)
    while heard := list(islice(waiting, evaluate.at_once)):
        evaluate.hear([move.structure for move in heard])
        for move in heard:
            tried += 1
            value = evaluate.score(move.structure)
            if value > best_score + TIE:
                best, best_score = move, value
    return best, best_score, tried


def naive_start(counts: CountEngine) -> Structure:
    """Return naive Bayes: every feature is in, without feature parents."""
    return ((),) * len(counts.schema.features)


def empty_start(counts: CountEngine) -> Structure:
    """Return the class alone: every feature is out."""
    return (None,) * len(counts.schema.features)


def varied_features(counts: CountEngine) -> list[int]:
    """List the features with more than one state; the others can neither help nor harm, and no search moves them."""
    return [f for f, column in enumerate(counts.schema.features) if column.n_states > 1]


def replaced(structure: Structure, feature: int, parents: Parents) -> Structure:
    """Return a structure with other parents of one feature."""
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
