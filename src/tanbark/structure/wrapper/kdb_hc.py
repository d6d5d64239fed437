"""k-dependence classifiers grown arc by arc."""

from __future__ import annotations

from collections.abc import Iterator

from tanbark.checks import check_count
from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.wrapper.search import Candidate, Evaluator, Structure, ancestors, naive_start, replaced, search


def learn(
    counts: CountEngine, *, evaluate: Evaluator, max_parents: int = 2, tol: float = 0.01, verbose: bool = False
) -> Learnt:
    """Add the arc between features that helps most to naive Bayes, up to ``max_parents`` feature parents of each.

    Candidates are x -> y by x and then y, in both directions; ties go to the earlier. R's bnclassify calls it ``kdb``;
    Sahami's algorithm is :func:`tanbark.structure.fixed.kdb.learn`.
    """
    check_count("max_parents", max_parents)
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        for x in varied:
            above = ancestors(current, x)
            for y in varied:
                parents = current[y] or ()
                if y == x or len(parents) >= max_parents or x in parents or y in above:
                    continue
                yield Candidate(f"{names[x]} -> {names[y]}", replaced(current, y, tuple(sorted((*parents, x)))))

    return search(counts, evaluate, naive_start(counts), moves, tol=tol, verbose=verbose)
