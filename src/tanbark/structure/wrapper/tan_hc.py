"""Tree-augmented naive Bayes grown arc by arc (TAN-HC)."""

from __future__ import annotations

from collections.abc import Iterator

from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.wrapper.search import Candidate, Evaluator, Structure, ancestors, naive_start, replaced, search


def learn(counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, verbose: bool = False) -> Learnt:
    """Add, to naive Bayes, the arc between features that helps most, as long as each has at most one feature parent.

    Candidates are x -> y by x and then y, for each y without a feature parent; ties go to the earlier. Between two such
    features both directions give equivalent graphs but, with smoothed CPTs, different predictions, and both are tried.
    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers (TAN-HC).
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        orphans = [f for f in varied if current[f] == ()]
        if len(orphans) < 2:
            return
        for x in varied:
            above = ancestors(current, x)
            for y in orphans:
                if y != x and y not in above:
                    yield Candidate(f"{names[x]} -> {names[y]}", replaced(current, y, (x,)))

    return search(counts, evaluate, naive_start(counts), moves, tol=tol, verbose=verbose)
