"""Adaptive codes: the class encoded row by row, each with the predictive probabilities given the earlier rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tanbark.arrays import Floats, Integers
from tanbark.scores.mml.lengths import MessageLength

Roles = tuple[int, ...]  # for each feature PARENT, CHILD, or the position of the child whose spouse it is

PARENT, CHILD = -2, -1


def nb_adaptive(
    codes: ArrayLike, labels: ArrayLike, states: Sequence[int], n_classes: int, *, alpha: float = 1.0
) -> MessageLength:
    """Length of the class given features, row by row, by naive Bayes on the rows before.

    Parameters
    ----------
    codes : (n_features, n_rows) array
        States; ``states[j]`` or more is a missing value, which adds no evidence.
    labels : (n_rows,) array
    states, n_classes
        Numbers of states and of classes.
    alpha : float
        Pseudo-count of every cell.

    Notes
    -----
    One-part. Unlike the other lengths it depends on the order of the rows. Li, Korb and Allison (2021), Markov blanket
    discovery using minimum message length, section on naive Bayes.

    >>> round(nb_adaptive([[0, 1, 0]], [0, 1, 0], [2], 2).total, 4)
    1.9459
    """
    rows, label = _rows(codes, states, labels), np.asarray(labels, np.int64)
    return polytree(rows, label, states, n_classes, roles=(CHILD,) * len(states), alpha=alpha)


def class_evidence(labels: Integers, n_classes: int, alpha: float, context: Integers | None = None) -> Floats:
    """Return log P(class | context, rows before) for every class and row, (n_classes, n_rows)."""
    group = np.zeros(len(labels), np.int64) if context is None else context
    seen = earlier_counts(group, labels, n_classes)
    return np.asarray(np.log(seen + alpha) - np.log(seen.sum(axis=0) + alpha * n_classes))


def feature_evidence(
    codes: Integers, r: int, labels: Integers, n_classes: int, alpha: float, context: Integers | None = None
) -> Floats:
    """Return log P(the row's state | class, context, rows before) for every class and row; 0 where it is missing."""
    out = np.zeros((n_classes, len(labels)))
    there = np.flatnonzero(codes < r)
    group = np.zeros(len(there), np.int64) if context is None else context[there]
    seen = earlier_counts(group * r + codes[there], labels[there], n_classes)
    among = earlier_counts(group, labels[there], n_classes)
    out[:, there] = np.log(seen + alpha) - np.log(among + alpha * r)
    return out


def earlier_counts(group: Integers, labels: Integers, n_classes: int) -> Floats:
    """Count, for every class and row, the earlier rows of that class in the row's group, (n_classes, n_rows).

    >>> earlier_counts(np.array([5, 5, 7, 5]), np.array([0, 1, 0, 0]), 2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    """
    order = np.argsort(group, kind="stable")
    marks = np.zeros((n_classes, len(group)))
    marks[labels[order], np.arange(len(group))] = 1
    before = np.cumsum(marks, axis=1) - marks
    sorted_group = group[order]
    first = np.searchsorted(sorted_group, sorted_group, side="left")
    out = np.empty_like(before)
    out[:, order] = before - before[:, first]
    return out


def code_length(evidence: Floats, labels: Integers) -> float:
    """Return the sum of minus the log posterior of every row's class.

    >>> round(code_length(np.zeros((2, 1)), np.array([1])), 4)
    0.6931
    """
    top = evidence.max(axis=0)
    mass = np.log(np.exp(evidence - top).sum(axis=0))
    return float((mass + top - evidence[labels, np.arange(len(labels))]).sum())


def polytree(
    codes: Integers, labels: Integers, states: Sequence[int], n_classes: int, *, roles: Roles, alpha: float = 1.0,
    cache: dict[tuple[int, ...], Floats] | None = None,
) -> MessageLength:  # fmt: skip
    """Length of the class, row by row, under one polytree of parents, children and their spouses.

    A role is PARENT, CHILD, or the position of the child; ``cache`` keeps the evidence that structures have in common.
    """
    kept = {} if cache is None else cache

    def look_up(*key: int) -> Floats:
        if key not in kept:
            child, *others = key
            context = _configuration(codes, states, others) if others else None
            if child < 0:
                kept[key] = class_evidence(labels, n_classes, alpha, context)
            else:
                kept[key] = feature_evidence(codes[child], states[child], labels, n_classes, alpha, context)
        return kept[key]

    total = look_up(-1, *(j for j, role in enumerate(roles) if role == PARENT)).copy()
    for child in (j for j, role in enumerate(roles) if role == CHILD):
        total += look_up(child, *(j for j, role in enumerate(roles) if role == child))
    free = n_classes - 1 + sum((r - 1) * n_classes for r in states)
    return MessageLength(code_length(total, labels), d=free, one_part=True)


def _configuration(codes: Integers, states: Sequence[int], members: Sequence[int]) -> Integers:
    """Number the joint states of some features; a missing value is a state of its own."""
    keys = np.zeros(codes.shape[1], np.int64)
    for j in members:
        keys = keys * (states[j] + 1) + np.minimum(codes[j], states[j])
        if len(members) > 2:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return keys


def mbp(
    codes: ArrayLike, labels: ArrayLike, states: Sequence[int], n_classes: int, *, alpha: float = 1.0,
    most: int = 100, rng: np.random.Generator | None = None,
) -> MessageLength:  # fmt: skip
    r"""Length of the class given features, averaged over the Markov blanket polytrees on them.

    .. math:: -\ln \frac1K \sum_T e^{-I_T}

    Every feature is a parent of the class, a child, or a spouse: a further parent of one child.

    Parameters
    ----------
    codes, labels, states, n_classes, alpha
        As in :func:`nb_adaptive`.
    most : int
        With more polytrees than this, as many are sampled uniformly.
    rng : Generator, optional
        By default a generator with seed 0.

    Notes
    -----
    One-part; depends on the order of the rows. Li, Korb and Allison (2021), section on Markov blanket polytrees.

    >>> round(mbp(np.zeros((0, 16)), [0] * 9 + [1] * 7, [], 2).total, 6)
    12.178085
    """
    rows, label = _rows(codes, states, labels), np.asarray(labels, np.int64)
    m = len(states)
    if polytrees(m) <= most:
        structures = list(every_polytree(m))
    else:
        generator = np.random.default_rng(0) if rng is None else rng
        structures = [draw_polytree(m, generator) for _ in range(most)]
    cache: dict[tuple[int, ...], Floats] = {}
    lengths = np.array([
        polytree(rows, label, states, n_classes, roles=roles, alpha=alpha, cache=cache).total for roles in structures
    ])  # fmt: skip
    from scipy.special import logsumexp  # late: reading a saved network needs no scipy

    return MessageLength(float(math.log(len(lengths)) - logsumexp(-lengths)), one_part=True)


def polytrees(m: int) -> int:
    """Count the Markov blanket polytrees on ``m`` features.

    >>> [polytrees(m) for m in range(7)]
    [1, 2, 6, 23, 104, 537, 3100]
    """
    return sum(math.comb(m, c) * (1 + c) ** (m - c) for c in range(m + 1))


def every_polytree(m: int) -> Iterator[Roles]:
    """Iterate over all polytrees, each as the role of every feature.

    >>> list(every_polytree(1))
    [(-2,), (-1,)]
    """
    for size in range(m + 1):
        for children in itertools.combinations(range(m), size):
            others = [j for j in range(m) if j not in children]
            for chosen in itertools.product((PARENT, *children), repeat=len(others)):
                role = dict(zip(others, chosen, strict=True))
                yield tuple(role.get(j, CHILD) for j in range(m))


def draw_polytree(m: int, rng: np.random.Generator) -> Roles:
    """Sample one of all polytrees uniformly.

    >>> len(draw_polytree(6, np.random.default_rng(0)))
    6
    """
    weights = [math.comb(m, c) * (1 + c) ** (m - c) for c in range(m + 1)]
    chance = np.array([weight / sum(weights) for weight in weights])
    size = int(rng.choice(m + 1, p=chance / chance.sum()))
    children = sorted(rng.choice(m, size, replace=False).tolist())
    roles = (PARENT, *children)
    return tuple(CHILD if j in children else roles[int(rng.integers(len(roles)))] for j in range(m))


def _rows(codes: ArrayLike, states: Sequence[int], labels: ArrayLike) -> Integers:
    return np.asarray(codes, np.int64).reshape(len(states), np.asarray(labels).shape[0])
