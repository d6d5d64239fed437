"""Tree-augmented naive Bayes grown from super-parents (TAN-HCSP)."""

from __future__ import annotations

from collections.abc import Iterator

from tanbark.arrays import TIE
from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.wrapper.search import Candidate, Evaluator, Structure, ancestors, naive_start, replaced, search


def learn(counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, verbose: bool = False) -> Learnt:
    """Find the feature that helps most as a parent of all it may be a parent of, then its best single arc.

    The super-parent is the best of them even where it does worse than the current structure; ties go to the earlier
    column. Keogh and Pazzani (1999), Learning augmented Bayesian classifiers (TAN-HCSP).
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        best, best_score = None, -float("inf")
        together = super_parents(current, varied)
        evaluate.prefetch(list(together.values()))
        for x, structure in together.items():
            value = evaluate.score(structure)
            if best is None or value > best_score + TIE:
                best, best_score = x, value
        if best is not None:
            for y in permissible_children(current, best, varied):
                yield Candidate(f"{names[best]} -> {names[y]}", replaced(current, y, (best,)))

    return search(counts, evaluate, naive_start(counts), moves, tol=tol, verbose=verbose)


def super_parents(current: Structure, features: list[int]) -> dict[int, Structure]:
    """Give, for every feature that may be a parent, the structure in which it is one wherever it may be."""
    found: dict[int, Structure] = {}
    for x in features:
        children = permissible_children(current, x, features)
        for y in children:
            found[x] = replaced(found.get(x, current), y, (x,))
    return found


def permissible_children(current: Structure, x: int, features: list[int]) -> list[int]:
    """List the features without a feature parent that an arc from x may lead to."""
    above = ancestors(current, x)
    return [y for y in features if current[y] == () and y != x and y not in above]
