"""Tree-augmented naive Bayes grown arc by arc (TAN-HC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tanbark.counts import CountEngine
from tanbark.errors import find
from tanbark.structure.result import Learnt
from tanbark.structure.rules import generator, varied_features
from tanbark.structure.wrapper.search import Candidate, Evaluator, Structure, ancestors, naive_start, replaced, search

DIRECTIONS = ("both", "random")


def learn(
    counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, direction: str = "both", random_state: Any = None,
    verbose: bool = False,
) -> Learnt:  # fmt: skip
    """Add, to naive Bayes, the arc between features that helps most, as long as each has at most one feature parent.

    Candidates are x -> y by x and then y, for each y without a feature parent; ties go to the earlier. Between two such
    features both directions give equivalent graphs but, with smoothed CPTs, different predictions. ``direction="both"``
    tries both; with "random" one of them is drawn for every pair, once, and half as many candidates are tried. Keogh
    and Pazzani (1999), Learning augmented Bayesian classifiers (TAN-HC).
    """
    find("direction", direction, dict.fromkeys(DIRECTIONS))
    names, varied = counts.schema.names, varied_features(counts)
    n = len(names)
    forward = generator(random_state).random((n, n)) < 0.5 if direction == "random" else None

    def allowed(x: int, y: int) -> bool:
        """Return whether x -> y is the direction of a pair without feature parents."""
        return forward is None or bool(forward[x, y] if x < y else not forward[y, x])

    def moves(current: Structure) -> Iterator[Candidate]:
        orphans = [f for f in varied if current[f] == ()]
        if len(orphans) < 2:
            return
        for x in varied:
            above = ancestors(current, x)
            for y in orphans:
                if y != x and y not in above and (current[x] != () or allowed(x, y)):
                    yield Candidate(f"{names[x]} -> {names[y]}", replaced(current, y, (x,)))

    return search(counts, evaluate, naive_start(counts), moves, tol=tol, verbose=verbose)
