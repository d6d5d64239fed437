"""Naive Bayes on the features that help."""

from __future__ import annotations

from collections.abc import Iterator

from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.wrapper.search import Candidate, Evaluator, Structure, empty_start, replaced, search


def learn(counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, verbose: bool = False) -> Learnt:
    """Take features into naive Bayes one at a time, the most helpful first.

    Langley and Sage (1994), Induction of selective Bayesian classifiers.
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        for f in varied:
            if current[f] is None:
                yield Candidate(f"+ {names[f]}", replaced(current, f, ()))

    return search(counts, evaluate, empty_start(counts), moves, tol=tol, verbose=verbose)
