"""Spanning trees and forests of greatest weight: undirected (Kruskal) and directed (Edmonds)."""

from __future__ import annotations

import numpy as np

from tanbark.arrays import TIE, Floats, Integers

HEAVY_PAIRS = 8  # for every node: as many pairs are sorted first


def pair_indices(n: int) -> tuple[Integers, Integers]:
    """List the pairs i < j of ``range(n)`` in order: (0, 1), (0, 2), …

    >>> [part.tolist() for part in pair_indices(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    sizes = np.arange(n - 1, -1, -1, dtype=np.int64)
    first = np.repeat(np.arange(n, dtype=np.int64), sizes)
    ends = np.cumsum(sizes)
    second = np.arange(len(first), dtype=np.int64) - np.repeat(ends - sizes, sizes) + first + 1
    return first, second


def falling_order(values: Floats) -> Integers:
    """Order positions by falling value; values within 1e-9 of the next are ties, which go to the earlier position.

    >>> falling_order(np.array([1.0, 3.0, 3.0 + 1e-12, 2.0])).tolist()
    [1, 2, 3, 0]
    """
    order = np.argsort(-values)
    falling = values[order]
    tied = falling[:-1] - falling[1:] <= TIE * np.maximum(1.0, np.abs(falling[:-1]))
    if tied.any():
        group = np.concatenate([[0], np.cumsum(~tied)])
        member = np.flatnonzero(np.concatenate([[False], tied]) | np.concatenate([tied, [False]]))
        order[member] = order[member][np.lexsort((order[member], group[member]))]
    return np.asarray(order, dtype=np.int64)


def maximum_spanning_forest(weights: Floats, n: int, *, at_least: float = 0.0) -> list[tuple[int, int]]:
    """Join ``n`` nodes by the heaviest pairs that close no cycle, without weights under ``at_least``.

    ``weights`` runs over the pairs i < j in the order of :func:`pair_indices`. Kruskal's algorithm: pairs are taken by
    falling weight, ties by (i, j).

    >>> maximum_spanning_forest(np.array([1.0, 3.0, 2.0]), 3)
    [(0, 2), (1, 2)]
    """
    from tanbark.graph import kernels

    first, second = pair_indices(n)
    keep = np.flatnonzero(weights >= at_least - TIE)
    heavy = _heavy_pairs(weights, keep, n)
    taken = kernels.join_pairs(first, second, heavy[falling_order(weights[heavy])], n)
    if len(taken) < n - 1 and len(heavy) < len(keep):
        taken = kernels.join_pairs(first, second, keep[falling_order(weights[keep])], n)
    return sorted(zip(first[taken].tolist(), second[taken].tolist(), strict=True))


def _heavy_pairs(weights: Floats, keep: Integers, n: int) -> Integers:
    """Return the heaviest of many pairs, which mostly join all nodes, so that the others need not be sorted.

    All pairs are returned where the last of them would be a tie with the next.
    """
    count = HEAVY_PAIRS * n
    if len(keep) <= 2 * count:
        return keep
    kept = weights[keep]
    least = float(np.partition(kept, len(kept) - count)[len(kept) - count])
    heavy = kept >= least
    gap = least - float(kept[~heavy].max(initial=-np.inf))
    return keep[heavy] if gap > TIE * max(1.0, abs(least)) else keep


def direct_forest(edges: list[tuple[int, int]], n: int, root: int | None = None) -> list[tuple[int, ...]]:
    """Direct every edge away from the root of its component; return each node's parents.

    The root of a component is ``root`` where it lies there, else its lowest node.

    >>> direct_forest([(0, 2), (1, 2)], 4, root=1)
    [(2,), (), (1,), ()]
    """
    parents: list[tuple[int, ...]] = [()] * n
    joined: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        joined[i].append(j)
        joined[j].append(i)
    seen = [False] * n
    for start in [*([] if root is None else [root]), *range(n)]:
        waiting = [] if seen[start] else [start]
        seen[start] = True
        while waiting:
            node = waiting.pop()
            for other in joined[node]:
                if not seen[other]:
                    seen[other], parents[other] = True, (node,)
                    waiting.append(other)
    return parents


def maximum_branching(gains: Floats, *, root: int | None = None, at_least: float = 1e-9) -> list[tuple[int, ...]]:
    """Choose for each node the parent, or none, of highest total gain without a cycle.

    Parameters
    ----------
    gains : (n, n) array
        ``gains[i, j]`` is the gain of the arc i -> j; the two directions may differ.
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
    weights = _with_root(np.where(gains > at_least, gains, -np.inf), 0.0)
    if root is not None:
        weights[:n, root] = -np.inf
    return [() if parent == n else (parent,) for parent in _heaviest_tree(weights, one_by_one=False)[:n].tolist()]


def maximum_arborescence(weights: Floats) -> list[int]:
    """Find the heaviest directed spanning tree; return the parent of every node, -1 for the root.

    Parameters
    ----------
    weights : (n, n) array
        ``weights[a, b]`` is that of a -> b; the diagonal is not read. All must be finite.

    Notes
    -----
    Chu and Liu (1965), Edmonds (1967). Ties go to the lowest root, then to the lowest parents, as far as no cycle
    decides.

    >>> maximum_arborescence(np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 4.0, 0.0]]))
    [-1, 2, 0]
    """
    n = len(weights)
    if n == 0:
        return []
    start = -2.0 * (n + 1) * (1.0 + float(np.abs(weights).max()))  # so low that one arc of the root is used, no more
    found = _heaviest_tree(_with_root(weights, start), one_by_one=True)[:n].tolist()
    return [-1 if parent == n else parent for parent in found]


def _with_root(weights: Floats, start: float) -> Floats:
    """Add a last node, with arcs of weight ``start`` to all others, that stands for having no parent."""
    n = len(weights)
    score = np.full((n + 1, n + 1), -np.inf)
    score[:n, :n] = weights
    score[n, :n] = start
    np.fill_diagonal(score, -np.inf)
    return score


def _heaviest_tree(weights: Floats, *, one_by_one: bool) -> Integers:
    """Return the parent of every node but the last in the heaviest tree that leads away from the last node.

    Every node takes its best arc in; cycles are contracted to one node each, and where the tree enters a cycle the arc
    of the cycle into that node goes. Whether cycles are contracted one by one or all at once matters for ties only.
    """
    root = len(weights) - 1
    best: Integers = np.asarray(weights.argmax(axis=0), np.int64)
    best[root] = root
    group = _contract(best, one_by_one)
    if group is None:
        return best
    sizes = np.bincount(group)
    kept = np.where(sizes[group] > 1, weights[best, np.arange(root + 1)], 0.0)
    above = _heaviest_tree(_merge(weights - kept, group), one_by_one=one_by_one)
    single = np.unique(group, return_index=True)[1]
    parents = best.copy()
    parents[single] = single[above]
    for node in np.flatnonzero((sizes > 1) | (sizes[above] > 1)).tolist():
        tails, heads = np.flatnonzero(group == above[node]), np.flatnonzero(group == node)
        part = weights[np.ix_(tails, heads)] - kept[heads]
        tail, head = np.unravel_index(int(part.argmax()), part.shape)
        parents[heads] = best[heads]
        parents[heads[head]] = tails[tail]
    return parents


def _merge(entry: Floats, group: Integers) -> Floats:
    """Return the heaviest arc between every two groups; there is none within a group."""
    first, sizes = np.unique(group, return_index=True, return_counts=True)[1:]
    cycles = [(number, np.flatnonzero(group == number)) for number in np.flatnonzero(sizes > 1)]
    by_head = entry[:, first]
    for number, members in cycles:
        by_head[:, number] = entry[:, members].max(axis=1)
    merged: Floats = by_head[first]
    for number, members in cycles:
        merged[number] = by_head[members].max(axis=0)
    np.fill_diagonal(merged, -np.inf)
    return merged


def _contract(best: Integers, one_by_one: bool) -> Integers | None:
    """Number the nodes so that those of one cycle have the same number, and the root the last; None without cycles.

    All cycles are numbered in place; one by one, only the first of them, and after the other nodes.
    """
    n = len(best)
    label, seen = np.arange(n, dtype=np.float64), np.full(n, -1)
    found = False
    for start in range(n):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = int(best[node])
        if seen[node] == start and best[node] != node:
            first, found = node, True
            label[first] = n - 1.5 if one_by_one else first
            node = int(best[first])
            while node != first:
                label[node] = label[first]
                node = int(best[node])
            if one_by_one:
                break
    return np.asarray(np.unique(label, return_inverse=True)[1], np.int64) if found else None
