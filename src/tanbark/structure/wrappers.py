"""Wrapper learners: what each may change in a step of the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tanbark.counts import CountEngine
from tanbark.graph import Dag
from tanbark.structure.kdb import check_count
from tanbark.structure.result import Learnt
from tanbark.structure.search import (
    Evaluator,
    Found,
    Move,
    Moves,
    Structure,
    ancestors,
    climb,
    replaced,
    supernodes,
)


def hill_climb_tan(counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False) -> Learnt:
    """Add, to naive Bayes, the arc between features that helps most, as long as each has at most one feature parent.

    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers (TAN-HC).
    """
    return _run(counts, evaluate, _naive(counts), _arcs_to_orphans(counts), epsilon, verbose)


def _arcs_to_orphans(counts: CountEngine) -> Moves:
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        orphans = [f for f, parents in enumerate(current) if parents == ()]
        if len(orphans) < 2:
            return
        rootless = set(orphans)
        for x in range(len(current)):
            above = ancestors(current, x)
            for y in orphans:
                if y == x or y in above or (x in rootless and y < x):
                    continue  # x -> y and y -> x between two roots give equivalent networks: the first met stands
                yield Move(f"{names[x]} -> {names[y]}", replaced(current, y, (x,)))

    return moves


def super_parent_tan(
    counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False
) -> Learnt:
    """Find the feature that helps most as a parent of all it may be a parent of, then its best single arc.

    Keogh and Pazzani (1999), Learning augmented Bayesian classifiers (TAN-HCSP).
    """
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        best, best_score = None, -float("inf")
        for x in range(len(current)):
            children = _permissible(current, x)
            if not children:
                continue
            together = current
            for y in children:
                together = replaced(together, y, (x,))
            value = evaluate.score(together)
            if value > best_score + 1e-12:
                best, best_score = x, value
        if best is not None:
            for y in _permissible(current, best):
                yield Move(f"{names[best]} -> {names[y]}", replaced(current, y, (best,)))

    return _run(counts, evaluate, _naive(counts), moves, epsilon, verbose)


def _permissible(current: Structure, x: int) -> list[int]:
    above = ancestors(current, x)
    return [y for y, parents in enumerate(current) if parents == () and y != x and y not in above]


def wrapper_kdb(
    counts: CountEngine, *, evaluate: Evaluator, k: int = 2, epsilon: float = 0.01, verbose: bool = False
) -> Learnt:
    """Add, to naive Bayes, the arc between features that helps most, as long as each has at most k feature parents.

    What R's bnclassify calls ``kdb``; Sahami's algorithm is :func:`tanbark.structure.kdb.learn`.
    """
    check_count("k", k)
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        open_features = {y for y, parents in enumerate(current) if len(parents or ()) < k}
        for x in range(len(current)):
            above = ancestors(current, x)
            for y in sorted(open_features):
                parents = current[y] or ()
                if y == x or y in above or x in parents:
                    continue
                if y < x and x in open_features and not parents and not current[x]:
                    continue  # between two features without feature parents both directions are equivalent
                yield Move(f"{names[x]} -> {names[y]}", replaced(current, y, tuple(sorted((*parents, x)))))

    return _run(counts, evaluate, _naive(counts), moves, epsilon, verbose)


def forward_joining(
    counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False
) -> Learnt:
    """Start from the class alone; in each step take in a feature, by itself or joined to some that are in.

    Pazzani (1996), Constructive induction of Cartesian product attributes (FSSJ).
    """
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        absent = [f for f, parents in enumerate(current) if parents is None]
        for f in absent:
            yield Move(f"+ {names[f]}", replaced(current, f, ()))
        for f in absent:
            for group in supernodes(current):
                together = ", ".join(names[m] for m in group)
                yield Move(f"+ {names[f]} joined to {together}", replaced(current, f, tuple(group)))

    return _run(counts, evaluate, (None,) * len(counts.schema.features), moves, epsilon, verbose)


def backward_joining(
    counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False
) -> Learnt:
    """Start from naive Bayes; in each step leave out a feature, or join two groups of features into one.

    Pazzani (1996), Constructive induction of Cartesian product attributes (BSEJ).
    """
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        for f, parents in enumerate(current):
            if parents is not None:
                yield Move(f"- {names[f]}", without(current, f))
        groups = supernodes(current)
        for place, a in enumerate(groups):
            for b in groups[place + 1 :]:
                joined = current
                for member in a:
                    joined = replaced(joined, member, tuple(sorted((*(current[member] or ()), *b))))
                yield Move(f"{_listed(names, a)} joined to {_listed(names, b)}", joined)

    return _run(counts, evaluate, _naive(counts), moves, epsilon, verbose)


def without(structure: Structure, feature: int) -> Structure:
    """Leave a feature out, also as a parent of others."""
    return tuple(
        None if f == feature or parents is None else tuple(p for p in parents if p != feature)
        for f, parents in enumerate(structure)
    )


def selective_naive_bayes(
    counts: CountEngine, *, evaluate: Evaluator, epsilon: float = 0.01, verbose: bool = False
) -> Learnt:
    """Take features into naive Bayes one at a time, the most helpful first.

    Langley and Sage (1994), Induction of selective Bayesian classifiers.
    """
    names = counts.schema.names

    def moves(current: Structure, evaluate: Evaluator) -> Iterator[Move]:
        for f, parents in enumerate(current):
            if parents is None:
                yield Move(f"+ {names[f]}", replaced(current, f, ()))

    return _run(counts, evaluate, (None,) * len(counts.schema.features), moves, epsilon, verbose)


def _naive(counts: CountEngine) -> Structure:
    return ((),) * len(counts.schema.features)


def _listed(names: Sequence[str], members: Iterable[int]) -> str:
    return "(" + ", ".join(names[m] for m in members) + ")"


def _run(
    counts: CountEngine, evaluate: Evaluator, start: Structure, moves: Moves, epsilon: float, verbose: bool
) -> Learnt:
    found: Found = climb(evaluate, start, moves, epsilon=epsilon, verbose=verbose)
    target = counts.schema.target
    parents = [() if p is None else (*p, target) for p in found.structure]
    return Learnt(Dag(counts.schema.names, (*parents, ())), found.score, found.history)
