"""Semi-naive Bayes: features are selected, and joined into groups that count as one feature each (FSSJ and BSEJ)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tanbark.counts import CountEngine
from tanbark.structure.result import Learnt
from tanbark.structure.rules import varied_features
from tanbark.structure.wrapper.search import (
    Candidate,
    Evaluator,
    Structure,
    empty_start,
    naive_start,
    replaced,
    search,
    supernodes,
)


def learn_forward(counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, verbose: bool = False) -> Learnt:
    """Start from the class alone; in each step take in a feature, by itself or joined to some that are in.

    Pazzani (1996), Constructive induction of Cartesian product attributes (FSSJ).
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        absent = [f for f in varied if current[f] is None]
        for f in absent:
            yield Candidate(f"+ {names[f]}", replaced(current, f, ()))
        groups = supernodes(current)
        for f in absent:
            for group in groups:
                yield Candidate(f"+ {names[f]} joined to {_listed(names, group)}", replaced(current, f, tuple(group)))

    return search(counts, evaluate, empty_start(counts), moves, tol=tol, verbose=verbose)


def learn_backward(counts: CountEngine, *, evaluate: Evaluator, tol: float = 0.01, verbose: bool = False) -> Learnt:
    """Start from naive Bayes; in each step leave out a feature, or join two groups of features into one.

    Pazzani (1996), Constructive induction of Cartesian product attributes (BSEJ).
    """
    names, varied = counts.schema.names, varied_features(counts)

    def moves(current: Structure) -> Iterator[Candidate]:
        for f in varied:
            if current[f] is not None:
                yield Candidate(f"- {names[f]}", without(current, f))
        groups = [group for group in supernodes(current) if group[0] in varied]
        for place, a in enumerate(groups):
            for b in groups[place + 1 :]:
                yield Candidate(f"{_listed(names, a)} joined to {_listed(names, b)}", joined(current, a, b))

    return search(counts, evaluate, naive_start(counts), moves, tol=tol, verbose=verbose)


def without(structure: Structure, feature: int) -> Structure:
    """Leave a feature out, also as a parent of others."""
    return tuple(
        None if f == feature or parents is None else tuple(p for p in parents if p != feature)
        for f, parents in enumerate(structure)
    )


def joined(structure: Structure, a: Sequence[int], b: Sequence[int]) -> Structure:
    """Make every member of one group a child of all members of another."""
    for member in a:
        structure = replaced(structure, member, tuple(sorted((*(structure[member] or ()), *b))))
    return structure


def _listed(names: Sequence[str], members: Iterable[int]) -> str:
    return "(" + ", ".join(names[m] for m in members) + ")"
