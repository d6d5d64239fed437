"""Naive Bayes on the features that help."""

from __future__ import annotations

from collections.abc import Iterator

from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.wrapper.search import Evaluator, Move, Structure, climb, empty_start, replaced, varied_features


def learn(counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False) -> Learnt:
    """Take features into naive Bayes one at a time, the most helpful first.

    Langley and Sage (1994), Induction of selective Bayesian classifiers.
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Move]:
        for f in varied:
            if current[f] is None:
                yield Move(f"+ {names[f]}", replaced(current, f, ()))

    return climb(counts, evaluate, empty_start(counts), moves, epsilon=epsilon, verbose=verbose)
