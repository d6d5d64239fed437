"""The Markov blanket of the class by minimum message length: greedy search, and naive Bayes on what it finds."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence

from tanbark.arrays import smallest_gain
from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.graph import Dag
from tanbark.structure.ascent import Move, climb
from tanbark.structure.blanket.scores import Chosen, Options, Scorer, make_scorer
from tanbark.structure.blanket.trace import BlanketTrace, TraceStep
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.trace import Trace

DIRECTIONS = {"forward": False, "both": True}


def learn(
    counts: CountEngine, *, criterion: str = "nb_logit", direction: str = "forward", alpha: float = 1.0
) -> Learnt:
    """Return naive Bayes on the features that shorten the message of the class.

    Parameters
    ----------
    counts : CountEngine
    criterion : {"nb_logit", "nb_joint", "cpt", "logit", "nb_adaptive", "mbp"}
    direction : {"forward", "both"}
        Only add features, or also drop those that others have made superfluous.
    alpha : float
        Prior mass per cell.

    Notes
    -----
    Li, Korb and Allison (2021), Markov blanket discovery using minimum message length.
    """
    check_direction(direction)
    scorer = make_scorer(criterion, counts, Options(alpha=alpha))
    schema = counts.schema
    chosen, trace = search(scorer, varied_features(counts), schema.names, direction=direction)
    parents = [(schema.target,) if feature in chosen else () for feature in range(schema.target)]
    return Learnt(Dag(schema.names, (*parents, ())), -trace[-1].length, trace)


def check_direction(direction: str) -> None:
    """Validate a direction."""
    find("direction", direction, DIRECTIONS)


class BlanketClimb:
    """A state of :func:`tanbark.structure.ascent.ascend` over sets of features; the score is minus the message length.

    A length that is not a number counts as infinite. With ``both``, features are dropped after an addition as long as
    that shortens the message.
    """

    def __init__(self, scorer: Scorer, candidates: Iterable[int], names: Sequence[str], *, both: bool) -> None:
        self._scorer, self._names, self._both = scorer, names, both
        self._open: list[int] = sorted(candidates)
        self._chosen: Chosen = ()
        length = scorer.length(()).total
        self.score, self.tried = -math.inf if math.isnan(length) else -length, 0
        self.steps = [TraceStep("start", None, -self.score, ())]

    def propose(self, tabu: Collection[Hashable]) -> Move | None:
        """Return the drop that shortens the message most, if one does, or else the best addition."""
        if self._both and len(self._chosen) > 1:
            rests = [tuple(other for other in self._chosen if other != feature) for feature in self._chosen]
            lengths = [self._scorer.length(rest).total for rest in rests]
            drop = self._move("drop", self._chosen, rests, lengths)
            if drop is not None and drop.gain > smallest_gain(self.score):
                return drop
        outside = [feature for feature in self._open if feature not in self._chosen]
        lengths = self._scorer.extended(self._chosen, outside) if outside else []
        return self._move("add", outside, [(*self._chosen, feature) for feature in outside], lengths)

    def _move(
        self, action: str, features: Sequence[int], sets: Sequence[Chosen], lengths: Sequence[float]
    ) -> Move | None:
        sign = "+" if action == "add" else "-"
        self._lengths = tuple((f"{sign} {self._names[j]}", value) for j, value in zip(features, lengths, strict=True))
        self.tried, place = len(features), shortest(lengths)
        if place is None:
            return None
        name, length = self._names[features[place]], lengths[place]
        step = TraceStep(action, name, length, self._named(sets[place]), self._lengths)
        return Move(-length - self.score, f"{sign} {name}", (sets[place], step))

    def apply(self, move: Move) -> None:
        """Add or drop a feature."""
        self._chosen, step = move.change
        self.score = -step.length
        self.steps.append(step)

    def solution(self) -> Chosen:
        """Return the features in the order in which they came, which also identify the state."""
        return self._chosen

    key = solution

    def stop(self) -> BlanketTrace:
        """Return the trace, with the candidates that were rejected last and the reason why the search stopped."""
        reason = "every feature is in"
        if self._lengths:
            valid = any(length < math.inf for _, length in self._lengths)
            reason = "no candidate shortens the message" if valid else "no candidate has a valid length"
        chosen = self._named(self._chosen)
        return BlanketTrace([*self.steps, TraceStep("stop", None, -self.score, chosen, self._lengths, reason)])

    def _named(self, features: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[feature] for feature in features)


def search(
    scorer: Scorer, candidates: Iterable[int], names: Sequence[str], *, direction: str = "forward"
) -> tuple[list[int], BlanketTrace]:
    """Add the feature that shortens the message most, until none does; with "both", drop features in between.

    A step must shorten the message by more than 1e-9; ties within 1e-9 go to the lowest index. Returns the features in
    the order in which they came, and the trace.
    """
    trace = Trace()
    state = BlanketClimb(scorer, candidates, names, both=DIRECTIONS[direction])
    _, chosen = climb(lambda: state, trace)
    return list(chosen), state.stop()


def shortest(lengths: Sequence[float]) -> int | None:
    """Find the first of the lengths that are within 1e-9 of the shortest; NaN counts as infinite.

    >>> shortest([3.0, 2.0, 2.0 - 1e-12, float("nan")])
    1
    """
    known = [length for length in lengths if length < math.inf]
    if not known:
        return None
    least = min(known)
    return next(place for place, length in enumerate(lengths) if length <= least + smallest_gain(least))
