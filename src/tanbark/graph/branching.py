"""The best directed forest: every node has at most one parent, and the arcs weigh most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.arrays import Floats, Integers


def maximum_branching(gains: Floats, *, root: int | None = None, at_least: float = 1e-9) -> list[tuple[int, ...]]:
    """Choose for each node the parent, or none, of highest total gain without a cycle.

    Parameters
    ----------
    gains : (n, n) array
        ``gains[i, j]`` is what the arc i -> j gains; the two directions may differ.
    root : int, optional
        A node that must have no parent.
    at_least : float
        Arcs must gain more than this.

    Notes
    -----
    Edmonds (1967), Optimum branchings. Ties go to the lowest parent.

    >>> maximum_branching(np.array([[0.0, 3.0, 1.0], [4.0, 0.0, 2.0], [1.0, 1.0, 0.0]]))
    [(1,), (), (1,)]
    """
    n = len(gains)
    weights = np.full((n + 1, n + 1), -np.inf)  # the last node stands for having no parent
    weights[:n, :n] = np.where(gains > at_least, gains, -np.inf)
    weights[np.arange(n), np.arange(n)] = -np.inf
    weights[n, :n] = 0.0
    if root is not None:
        weights[:n, root] = -np.inf
    parents = _arborescence(weights)
    return [() if parents[node] == n else (int(parents[node]),) for node in range(n)]


def _arborescence(weights: Floats) -> Integers:
    """Return every node but the last its parent in the heaviest tree that leads away from the last node."""
    root = len(weights) - 1
    best: Integers = np.asarray(weights.argmax(axis=0), np.int64)
    best[root] = root
    group = _circles(best)
    if group is None:
        return best
    n_groups = int(group.max()) + 1
    entry = weights - np.where(_in_circle(group), weights[best, np.arange(root + 1)], 0.0)
    entry[group[:, None] == group[None, :]] = -np.inf
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    by_head = np.maximum.reduceat(entry[:, order], starts, axis=1)
    merged = np.maximum.reduceat(by_head[order], starts, axis=0)
    above = _arborescence(merged)
    parents = best.copy()
    for node in range(n_groups - 1):
        tails, heads = np.flatnonzero(group == above[node]), np.flatnonzero(group == node)
        part = entry[np.ix_(tails, heads)]
        tail, head = np.unravel_index(int(part.argmax()), part.shape)
        parents[heads[head]] = tails[tail]
    return parents


def _circles(best: Integers) -> Integers | None:
    """Number the nodes so that those of one circle share a number and the root has the last; None without circles."""
    n = len(best)
    label, seen = np.arange(n), np.full(n, -1)
    found = False
    for start in range(n):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = int(best[node])
        if seen[node] == start and best[node] != node:
            first, found = node, True
            label[first] = first
            node = int(best[first])
            while node != first:
                label[node] = first
                node = int(best[node])
    if not found:
        return None
    return np.asarray(np.unique(label, return_inverse=True)[1], np.int64)


def _in_circle(group: Integers) -> NDArray[np.bool_]:
    return np.asarray(np.bincount(group)[group] > 1)
