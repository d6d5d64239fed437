"""The Markov blanket of the class by minimum message length: greedy search, and naive Bayes on what it finds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tanbark.arrays import TIE
from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.graph import Dag
from tanbark.structure.blanket.scores import Options, Scorer, make_scorer
from tanbark.structure.blanket.trace import BlanketTrace, TraceStep
from tanbark.structure.result import Learnt

DIRECTIONS = {"forward": False, "both": True}


def learn(counts: CountEngine, *, score: str = "nb_logit", direction: str = "forward", alpha: float = 1.0) -> Learnt:
    """Return naive Bayes on the features that shorten the message of the class.

    Parameters
    ----------
    counts : CountEngine
    score : {"nb_logit", "nb_joint", "cpt", "logit", "nb_adaptive", "mbp", "note_nb"}
    direction : {"forward", "both"}
        Only add features, or also drop those that others have made superfluous.
    alpha : float
        Prior mass per cell.

    Notes
    -----
    Li, Korb and Allison (2021), Markov blanket discovery using minimum message length.
    """
    check_direction(direction)
    scorer = make_scorer(score, counts, Options(alpha=alpha))
    schema = counts.schema
    chosen, trace = search(scorer, varied(counts), schema.names, direction=direction)
    parents = [(schema.target,) if feature in chosen else () for feature in range(schema.target)]
    return Learnt(Dag(schema.names, (*parents, ())), -trace[-1].length, trace)


def check_direction(direction: str) -> None:
    """Refuse a direction that is none."""
    find("direction", direction, DIRECTIONS)


def varied(counts: CountEngine) -> list[int]:
    """List the features with more than one state; the others can tell nothing."""
    return [feature for feature, column in enumerate(counts.schema.features) if column.n_states > 1]


def search(
    scorer: Scorer, candidates: Iterable[int], names: Sequence[str], *, direction: str = "forward"
) -> tuple[list[int], BlanketTrace]:
    """Add the feature that shortens the message most, until none does; with "both", drop features in between.

    A step must shorten the message by more than 1e-9; ties within 1e-9 go to the lowest index, and a length that is
    not a number counts as infinite. Gives the features in the order in which they came, and the trace.
    """
    open_features, chosen = sorted(candidates), list[int]()
    length = scorer.length(()).total
    length = math.inf if math.isnan(length) else length
    steps = [TraceStep("start", None, length, ())]
    while True:
        outside = [feature for feature in open_features if feature not in chosen]
        lengths = scorer.extended(tuple(chosen), outside) if outside else []
        tried = tuple((f"+ {names[feature]}", value) for feature, value in zip(outside, lengths, strict=True))
        place = shortest(lengths)
        if place is None or not lengths[place] < length - TIE:
            reason = _why(outside, place)
            steps.append(TraceStep("stop", None, length, _named(names, chosen), tried, reason))
            return chosen, BlanketTrace(steps)
        chosen.append(outside[place])
        length = lengths[place]
        steps.append(TraceStep("add", names[outside[place]], length, _named(names, chosen), tried))
        if direction == "both":
            chosen, length, dropped = _drop(scorer, chosen, length, names)
            steps += dropped


def _drop(
    scorer: Scorer, chosen: list[int], length: float, names: Sequence[str]
) -> tuple[list[int], float, list[TraceStep]]:
    """Drop features as long as that shortens the message; steps that drop nothing are not told."""
    steps: list[TraceStep] = []
    while len(chosen) > 1:
        rests = [tuple(other for other in chosen if other != feature) for feature in chosen]
        lengths = [scorer.length(rest).total for rest in rests]
        tried = tuple((f"- {names[feature]}", value) for feature, value in zip(chosen, lengths, strict=True))
        place = shortest(lengths)
        if place is None or not lengths[place] < length - TIE:
            break
        gone, chosen, length = chosen[place], list(rests[place]), lengths[place]
        steps.append(TraceStep("drop", names[gone], length, _named(names, chosen), tried))
    return chosen, length, steps


def shortest(lengths: Sequence[float]) -> int | None:
    """Find the first of the lengths that are within 1e-9 of the shortest; NaN counts as infinite.

    >>> shortest([3.0, 2.0, 2.0 - 1e-12, float("nan")])
    1
    """
    known = [length for length in lengths if length < math.inf]
    if not known:
        return None
    least = min(known)
    return next(place for place, length in enumerate(lengths) if length <= least + TIE)


def _why(outside: list[int], place: int | None) -> str:
    if not outside:
        return "every feature is in"
    return "no candidate has a valid length" if place is None else "no candidate shortens the message"


def _named(names: Sequence[str], chosen: Sequence[int]) -> tuple[str, ...]:
    return tuple(names[feature] for feature in chosen)
