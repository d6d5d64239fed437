"""Spanning trees whose arcs have different weights in their two directions."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import Floats


def maximum_arborescence(weights: Floats) -> list[int]:
    """Find the heaviest directed spanning tree; give the parent of every node, -1 for the root.

    Parameters
    ----------
    weights : (n, n) array
        ``weights[a, b]`` is that of a -> b; the diagonal is not looked at. All must be finite.

    Notes
    -----
    Ties go to the lowest root, then to the lowest parents, as far as no cycle decides. Chu and Liu (1965), Edmonds
    (1967): every node takes its best arc in, cycles are contracted, and where a cycle is entered one arc of it goes.

    >>> maximum_arborescence(np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 4.0, 0.0]]))
    [-1, 2, 0]
    """
    n = len(weights)
    if n == 0:
        return []
    start = -2.0 * (n + 1) * (1.0 + float(np.abs(weights).max()))  # so low that one arc of the root is used, no more
    score = np.full((n + 1, n + 1), -np.inf)
    score[1:, 1:] = weights
    np.fill_diagonal(score, -np.inf)
    score[0, 1:] = start
    found = _best_arcs(score)
    return [parent - 1 for parent in found[1:]]


def _best_arcs(score: Floats) -> list[int]:
    """Return the best arc into every node but node 0, so that node 0 reaches all of them."""
    n = len(score)
    parent = [-1, *(int(score[:, node].argmax()) for node in range(1, n))]
    cycle = _find_cycle(parent)
    if not cycle:
        return parent
    inside = set(cycle)
    outside = [node for node in range(n) if node not in inside]
    size = len(outside)
    smaller = np.full((size + 1, size + 1), -np.inf)
    smaller[:size, :size] = score[np.ix_(outside, outside)]
    kept = np.array([score[parent[node], node] for node in cycle])
    entry = score[np.ix_(outside, cycle)] - kept
    smaller[:size, size] = entry.max(axis=1)
    smaller[size, :size] = score[np.ix_(cycle, outside)].max(axis=0)
    enters, leaves = entry.argmax(axis=1), score[np.ix_(cycle, outside)].argmax(axis=0)
    np.fill_diagonal(smaller, -np.inf)
    chosen = _best_arcs(smaller)
    for place in range(1, size):
        above = chosen[place]
        parent[outside[place]] = cycle[int(leaves[place])] if above == size else outside[above]
    parent[cycle[int(enters[chosen[size]])]] = outside[chosen[size]]
    return parent


def _find_cycle(parent: list[int]) -> list[int]:
    """Find a cycle among the arcs parent -> node, its nodes ascending; empty where there is none."""
    state = [0] * len(parent)
    for start in range(1, len(parent)):
        path, node = [], start
        while node > 0 and state[node] == 0:
            state[node] = 1
            path.append(node)
            node = parent[node]
        if node > 0 and state[node] == 1 and node in path:
            return sorted(path[path.index(node) :])
        for seen in path:
            state[seen] = 2
    return []
