"""Greedy search by cross-validated score: the loop that all wrapper learners share.

A structure is a tuple with the feature parents of every feature, or None for a feature that is left out; the class is
a parent of every feature that is in. A move names what it changes and the structure after it. The evaluator, which is
given to the learner, tells the score of a structure; it remembers families, so a move costs what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from tanbark.arrays import TIE
from tanbark.checks import check_at_least
from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.structure.ascent import Move, climb
from tanbark.structure.result import Learnt
from tanbark.structure.trace import History, Trace

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
        """How many structures can be prefetched at once."""

    def prefetch(self, structures: Sequence[Structure]) -> None:
        """Prepare for structures that will be scored soon; where rows are read in passes, score them together."""

    def score(self, structure: Structure) -> float:
        """Return the mean score over the folds."""

    def settle(self, structure: Structure) -> None:
        """Make a structure the one that the next ones differ from by little."""


class Candidate(NamedTuple):
    """A structure one move away: the description of the move, and the structure."""

    text: str
    structure: Structure


Neighbours = Callable[[Structure], Iterable[Candidate]]


class WrapperClimb:
    """A state of :func:`tanbark.structure.ascent.ascend` over structures, scored by cross-validation."""

    def __init__(self, evaluate: Evaluator, start: Structure, neighbours: Neighbours) -> None:
        self._evaluate, self._neighbours, self.tried = evaluate, neighbours, 0
        self._structure = start
        evaluate.settle(start)
        self.score = evaluate.score(start)

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the best candidate; None where nothing can exceed the current score."""
        if self.score >= self._evaluate.best_possible - PERFECT:
            return None
        best, score, self.tried = best_candidate(self._neighbours(self._structure), self._evaluate)
        return None if best is None else Move(score - self.score, best.text, (score, best.structure))

    def apply(self, move: Move) -> None:
        """Move to a candidate."""
        self.score, self._structure = move.change
        self._evaluate.settle(self._structure)

    def solution(self) -> Structure:
        """Return the structure, which also identifies the state."""
        return self._structure

    key = solution


def search(
    counts: CountEngine, evaluate: Evaluator, start: Structure, neighbours: Neighbours, *, tol: float, verbose: bool
) -> Learnt:
    """Take the best move as long as it gains at least ``tol``; ties within 1e-9 go to the first candidate.

    With ``tol`` 0 equally good moves are taken too; every move adds an arc or a feature, or removes a feature, so
    the search ends.
    """
    check_at_least("tol", tol, 0)
    trace = Trace(verbose=verbose)
    score, structure = climb(lambda: WrapperClimb(evaluate, start, neighbours), trace, least=tol - TIE)
    target = counts.schema.target
    parents = [() if found is None else (*found, target) for found in structure]
    return Learnt(Dag(counts.schema.names, (*parents, ())), score, History(trace.steps))


def best_candidate(candidates: Iterable[Candidate], evaluate: Evaluator) -> tuple[Candidate | None, float, int]:
    """Return the first of the best candidates, its score, and the number of candidates."""
    best: Candidate | None = None
    best_score, tried = -float("inf"), 0
    waiting = iter(candidates)
    while batch := list(islice(waiting, evaluate.at_once)):
        evaluate.prefetch([candidate.structure for candidate in batch])
        for candidate in batch:
            tried += 1
            value = evaluate.score(candidate.structure)
            if value > best_score + TIE:
                best, best_score = candidate, value
    return best, best_score, tried


def naive_start(counts: CountEngine) -> Structure:
    """Return naive Bayes: every feature is in, without feature parents."""
    return ((),) * len(counts.schema.features)


def empty_start(counts: CountEngine) -> Structure:
    """Return the class alone: every feature is out."""
    return (None,) * len(counts.schema.features)


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
